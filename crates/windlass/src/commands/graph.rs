//! `windlass graph [TASK]`: the work of a planned task, drawn on the terminal, as SVG, as a Mermaid flowchart, or told to a script.

use std::path::Path;

use serde_json::{Value, json};
use windlass_domain::graph::{GraphState, PlanStanding};

use super::planned_task::{no_plan_yet, planned_task};
use crate::arguments::{self, Output};
use crate::draw::{Atom, Folding, Group, Mark, Part, Picture, mermaid, svg, tree};
use crate::exit::WrongUse;
use crate::explain::Known;
use crate::show::{Line, Sheet, Style, counted, headline};
use crate::text_file::replace;
use crate::wiring::Windlass;

/// A drawing for a file is its text, and the task that it is of.
pub async fn graph(windlass: &Windlass, arguments: &arguments::Graph) -> anyhow::Result<Sheet> {
    let known = planned_task(windlass, arguments.task.as_deref()).await?;
    let picture = known.picture().ok_or_else(|| no_plan_yet(&known))?;
    let mut sheet = Sheet::new();
    if arguments.svg.is_some() {
        sheet.print_text(svg(&picture, &title(&known)));
        sheet.object(&json!({"type": "result", "task_id": known.task}));
    } else if arguments.output.json {
        told(&picture.root, None).iter().for_each(|record| sheet.object(record));
        sheet.object(&result(&known, &picture));
    } else if arguments.mermaid {
        sheet.print_text(mermaid(&picture));
    } else {
        let folding = if arguments.all { Folding::All } else { Folding::Folded };
        sheet.print(&head(&known, &picture));
        tree(&picture, folding).iter().for_each(|line| sheet.print(line));
    }
    Ok(sheet)
}

/// Puts a drawing into the file that was named.
pub fn keep_drawing(path: &Path, drawn: Sheet, output: Output) -> anyhow::Result<Sheet> {
    let (drawn, result) = drawn.apart();
    let mut result = result.unwrap_or_default();
    replace(path, drawn.into_text().unwrap_or_default().as_bytes()).map_err(|error| {
        WrongUse::new(format!("{} cannot be written: {error}", path.display())).hint("name another file with --svg")
    })?;
    let path = std::path::absolute(path)?;
    let mut sheet = Sheet::new();
    match output.json {
        true => {
            result["path"] = json!(path);
            sheet.object(&result);
        }
        false => sheet.print_whole(&Line::new().plain(path.display().to_string())),
    }
    Ok(sheet)
}

/// All of it as one object; none where there is no plan yet.
pub(super) fn as_object(known: &Known) -> Option<Value> {
    let picture = known.picture()?;
    let mut object = result(known, &picture);
    object["parts"] = told(&picture.root, None).into();
    Some(object)
}

fn title(known: &Known) -> String {
    match &known.chronicle.graph.objective {
        Some(agreed) => agreed.goal.clone(),
        None => known.chronicle.graph.work.root().map(|root| root.item.title.clone()).unwrap_or_default(),
    }
}

fn head(known: &Known, picture: &Picture) -> Line {
    let graph = &known.chronicle.graph;
    let (done, all) = progress(picture);
    let passes =
        graph.work.constraints().max_iterations.map(|most| format!("pass {} of {most}", graph.passes.iteration));
    let revision = (graph.revision > 1).then(|| format!("revision {}", graph.revision));
    let rests = known.rests();
    let facts = [Some(format!("{done} of {} done", counted(all, "item"))), revision, passes, asks(graph), rests];
    let mark = picture.root.mark;
    let style = if mark == Mark::Done { Style::Good } else { Style::Accent };
    let head = Line::marked(style, &format!("{} ", mark.sign())).add(Style::Bold, headline(&title(known)));
    head.gap().facts(Style::Dim, facts.into_iter().flatten())
}

fn asks(graph: &GraphState) -> Option<String> {
    let card = graph.asks()?.short();
    Some(match graph.standing {
        PlanStanding::Asked(_) => format!("the plan waits for you: card {card}"),
        _ => format!("it waits for you: card {card}"),
    })
}

/// Of those that somebody works on, and that may be needed.
fn progress(picture: &Picture) -> (u64, u64) {
    let leaves = || picture.atoms().into_iter().filter(|atom| atom.parts.is_empty());
    let done = leaves().filter(|atom| atom.mark == Mark::Done).count();
    let aside = leaves().filter(|atom| matches!(atom.mark, Mark::Aside | Mark::GivenUp)).count();
    (done as u64, (leaves().count() - aside) as u64)
}

/// A record for each group and each atom, what holds others before its parts.
fn told(atom: &Atom, holder: Option<&Value>) -> Vec<Value> {
    let mut record = json!({
        "type": "atom",
        "id": atom.id,
        "title": atom.title,
        "standing": atom.mark,
        "after": atom.after,
        "waits_for": atom.waits_for,
        "attempts": atom.attempts,
        "note": atom.note,
        "is_leaf": atom.parts.is_empty(),
    });
    if let Some(Value::Object(of)) = holder {
        of.iter().for_each(|(name, value)| record[name] = value.clone());
    }
    let within = json!({"within": atom.id});
    let parts = atom.parts.iter().flat_map(|part| match part {
        Part::Atom(part) => told(part, Some(&within)),
        Part::Group(group) => told_group(group, atom),
    });
    std::iter::once(record).chain(parts).collect()
}

fn told_group(group: &Group, holder: &Atom) -> Vec<Value> {
    let choices: Vec<_> = group.choices.iter().map(|choice| &choice.id).collect();
    let record = json!({
        "type": "group",
        "id": group.id,
        "within": holder.id,
        "choices": choices,
        "selected": group.taken,
        "speculative": group.is_race,
        "is_done": group.is_done,
    });
    let of = json!({"within": holder.id, "or_group": group.id});
    std::iter::once(record).chain(group.choices.iter().flat_map(|choice| told(choice, Some(&of)))).collect()
}

fn result(known: &Known, picture: &Picture) -> Value {
    let (done, all) = progress(picture);
    json!({
        "type": "result",
        "task_id": known.task,
        "status": known.state.status,
        "standing": known.stands,
        "title": title(known),
        "revision": known.chronicle.graph.revision,
        "done": done,
        "items": all,
    })
}
