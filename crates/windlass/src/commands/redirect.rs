//! `windlass redirect TASK`: changes what was agreed on while it is worked on. Whoever is at work is interrupted; what is done and is not
//! touched by the change stays.

use serde_json::json;
use windlass_domain::approval::Strength;
use windlass_domain::graph::{Addition, Change, Constraints, GraphState, Objective};
use windlass_domain::plan::AtomId;
use windlass_engine::Preview;
use windlass_plan::parse_atom;

use super::dialogue::one_line;
use super::drive::explain;
use super::find::find;
use super::load::load_to_work;
use super::run::checks;
use crate::arguments::{ConstraintWords, ObjectiveWords, Redirect};
use crate::exit::{Exit, WrongUse};
use crate::keyboard::Keyboard;
use crate::show::{Line, Screen, Style, at_worst, print_json};
use crate::wiring::Windlass;

pub async fn redirect(arguments: Redirect) -> anyhow::Result<Exit> {
    let windlass = Windlass::open_to_work(load_to_work().await?).await?;
    let engine = &windlass.engine;
    let task = find(engine, &arguments.task).await?;
    let graph = engine.graph(task).await.map_err(explain)?;
    let (change, description) = change(&arguments, &graph)?;
    let description = arguments.note.clone().unwrap_or(description);
    let preview = engine.preview_redirect(task, &change).await.map_err(explain)?;
    if !arguments.output.json {
        show(&description, &preview);
    }
    if !arguments.yes && !is_meant(&windlass, "Is that meant? [y/N] ").await? {
        engine.close().await?;
        return Ok(Exit::Stopped);
    }
    let key = windlass.keys.owner().map_err(WrongUse::from)?;
    // It was shown and meant: that is the second step as well.
    let signed = (&key, Strength::Confirmed);
    let redirected = engine.redirect(task, (change, &description), Some(&preview), signed).await.map_err(explain)?;
    if arguments.output.json {
        let fields = json!({"type": "result", "task_id": task, "redirected": true, "interrupted": redirected.interrupted,
            "undone": redirected.undone, "worst_case": preview.worst_case});
        print_json(&fields);
    } else {
        let head = Line::new().add(Style::Good, "REDIRECTED").dim(format!("  task {}", task.short()));
        let mut screen = Screen::new();
        screen.print(&head);
        screen.print(
            &Line::new().dim(format!("whoever drives it goes on with that; else: windlass start {}", task.short())),
        );
    }
    engine.close().await?;
    Ok(Exit::Completed)
}

fn show(description: &str, preview: &Preview) {
    let mut screen = Screen::new();
    screen.print_whole(&Line::new().add(Style::Bold, description));
    if preview.interrupted > 0 {
        screen.print(&Line::new().plain(format!("  {} at work are interrupted", preview.interrupted)));
    }
    let undone: Vec<&str> = preview.undone.iter().map(AtomId::as_str).collect();
    let again = if undone.is_empty() {
        "nothing that is done is done again".to_owned()
    } else {
        format!("taken out, and done again where it is still wanted: {}", undone.join(", "))
    };
    screen.print_whole(&Line::new().plain(format!("  {again}")));
    if preview.trail_cleared {
        screen.print(&Line::new().plain("  choices that were made are open again"));
    }
    screen.print(&Line::new().plain("  from here on at worst ").facts(Style::Plain, at_worst(&preview.worst_case)));
}

/// Where nobody sits, `--yes` says so.
pub(super) async fn is_meant(windlass: &Windlass, question: &str) -> anyhow::Result<bool> {
    let Some(keyboard) = Keyboard::look() else {
        return Err(WrongUse::new("nobody is there to say that it is meant").hint("add --yes").into());
    };
    let said = one_line(windlass, keyboard, question).await?;
    Ok(said.is_some_and(|said| matches!(said.to_lowercase().as_str(), "y" | "yes")))
}

/// What is wanted, of one kind, and a sentence for it.
fn change(arguments: &Redirect, graph: &GraphState) -> Result<(Change, String), WrongUse> {
    let objective = (!arguments.objective.is_empty()).then(|| objective(&arguments.objective, graph)).transpose()?;
    let adjusts = !(arguments.add.is_empty() && arguments.drop.is_empty() && arguments.select.is_empty());
    let adjusted = adjusts.then(|| adjusted(arguments)).transpose()?;
    let limited = (!arguments.limits.is_empty()).then(|| limited(&arguments.limits, graph));
    let bound = arguments.binding.as_deref().map(binding).transpose()?;
    let mut wanted = [objective, adjusted, limited, bound].into_iter().flatten();
    match (wanted.next(), wanted.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(WrongUse::new("nothing is to be different").hint(
            "change the objective (--goal, --base-case, --intent, --deliverable, --done), the graph (--add, --drop, --select), \
             its limits (--max-passes, …), or what an atom came to (--binding)",
        )),
        (Some(_), Some(_)) => Err(WrongUse::new("these are changes of several kinds, and each touches something else")
            .hint("make them one after the other")),
    }
}

fn objective(words: &ObjectiveWords, graph: &GraphState) -> Result<(Change, String), WrongUse> {
    let agreed = graph.objective.clone().ok_or_else(|| WrongUse::new("this task has no objective"))?;
    let base_case = if words.base_case.is_empty() { agreed.base_case.clone() } else { checks(&words.base_case)? };
    let objective = Objective {
        goal: words.goal.clone().unwrap_or(agreed.goal),
        base_case,
        background_intent: words.intent.clone().unwrap_or(agreed.background_intent),
        deliverables: if words.deliverables.is_empty() { agreed.deliverables } else { words.deliverables.join("\n") },
        definition_of_done: words.done.clone().unwrap_or(agreed.definition_of_done),
        ..agreed
    };
    let description = format!("the objective is now: {}", objective.goal);
    Ok((Change::Objective { objective: Box::new(objective) }, description))
}

fn adjusted(arguments: &Redirect) -> Result<(Change, String), WrongUse> {
    let to = arguments.to.as_deref().map(named).transpose()?;
    let add = arguments.add.iter().map(|text| {
        let item = parse_atom(text).map_err(|problems| {
            WrongUse::new(format!("--add `{text}`:\n{problems}")).hint("docs/objectives.md has every field of an atom")
        })?;
        Ok(Addition { to: to.clone(), item })
    });
    let add = add.collect::<Result<Vec<_>, WrongUse>>()?;
    let drop = arguments.drop.iter().map(|id| named(id)).collect::<Result<Vec<_>, _>>()?;
    let select = arguments.select.iter().map(|text| {
        let (group, choice) = text.split_once('=').ok_or_else(|| {
            WrongUse::new(format!("--select `{text}` names no choice")).hint("write it as GROUP=CHOICE")
        })?;
        Ok((named(group)?, named(choice)?))
    });
    let select = select.collect::<Result<Vec<_>, WrongUse>>()?;
    let added = add.iter().map(|addition| format!("with `{}`", addition.item.id));
    let dropped = drop.iter().map(|atom| format!("without `{atom}`"));
    let selected = select.iter().map(|(group, choice)| format!("`{choice}` for `{group}`"));
    let description =
        format!("the graph is now {}", added.chain(dropped).chain(selected).collect::<Vec<_>>().join(", "));
    Ok((Change::Graph { add, drop, select }, description))
}

fn limited(words: &ConstraintWords, graph: &GraphState) -> (Change, String) {
    let agreed = graph.objective.as_ref().map(|agreed| agreed.constraints.clone()).unwrap_or_default();
    let constraints = Constraints {
        max_iterations: words.max_passes.or(agreed.max_iterations),
        max_parallel_agents: words.max_parallel_agents.unwrap_or(agreed.max_parallel_agents),
        max_stall_count: words.max_stall_count.unwrap_or(agreed.max_stall_count),
        max_atoms: words.max_atoms.unwrap_or(agreed.max_atoms),
        max_choices: words.max_choices.unwrap_or(agreed.max_choices),
        max_split_depth: words.max_split_depth.unwrap_or(agreed.max_split_depth),
        max_replan_depth: words.max_replan_depth.unwrap_or(agreed.max_replan_depth),
        ..agreed
    };
    (Change::Constraints { constraints }, "its limits are others now".to_owned())
}

fn binding(text: &str) -> Result<(Change, String), WrongUse> {
    let (atom, summary) = text.split_once('=').ok_or_else(|| {
        WrongUse::new(format!("--binding `{text}` says nothing of an atom")).hint("write it as ATOM=TEXT")
    })?;
    let description = format!("`{}` came to something else: {summary}", atom.trim());
    Ok((Change::Binding { atom: named(atom)?, summary: summary.trim().to_owned() }, description))
}

fn named(id: &str) -> Result<AtomId, WrongUse> {
    AtomId::parse(id.trim()).map_err(|problem| WrongUse::new(format!("`{id}` is no id: {problem}")))
}
