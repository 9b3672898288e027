//! One atom: how it stands and why, what it needs and who needs it, what was tried, what it came to, and what is left for it.

use serde_json::{Value, json};
use windlass_domain::graph::{AtomOutcome, AtomRun, Node};
use windlass_domain::plan::AtomId;

use super::known::Known;
use super::whole::{last_failure, section};
use super::why::{before, otherwise, why};
use crate::draw::{Mark, is_done, meant};
use crate::show::{Line, Style, counted, headline, quoted};

pub fn atom_in_lines(known: &Known, node: &Node) -> Vec<Line> {
    let mark = mark(known, node.id());
    let head = Line::new().add(Style::Bold, format!("{} {}", mark.sign(), node.id())).plain("  ");
    let head = head.plain(headline(&node.item.title)).gap().facts(Style::Dim, [mark.word()]);
    let plain = |words: String| Line::new().plain(words);
    let sections: [(&str, Vec<Line>); 8] = [
        ("why", why(&known.chronicle, node).iter().map(|reason| plain(headline(reason))).collect()),
        ("needs", needs(known, node)),
        ("needed by", needed_by(known, node).iter().map(|id| plain(id.to_string())).collect()),
        ("checks", node.item.verify.0.iter().map(|check| plain(check.probe.in_words())).collect()),
        ("tried", runs(known, node).iter().flat_map(|run| tried(known, run, !node.item.verify.0.is_empty())).collect()),
        ("came to", came_to(known, node).into_iter().flat_map(|said| quoted(said).collect::<Vec<_>>()).collect()),
        ("left", left(known, node).into_iter().map(plain).collect()),
        ("is told", quoted(&node.item.briefing.what_to_do).collect()),
    ];
    let filled = sections.into_iter().filter(|(_, lines)| !lines.is_empty());
    std::iter::once(head).chain(filled.flat_map(|(name, lines)| section(name, lines))).collect()
}

fn mark(known: &Known, id: &AtomId) -> Mark {
    let picture = known.picture();
    let found = picture
        .as_ref()
        .and_then(|picture| picture.atoms().into_iter().find(|atom| atom.id == *id).map(|atom| atom.mark));
    found.unwrap_or(Mark::Waiting)
}

fn needs(known: &Known, node: &Node) -> Vec<Line> {
    let graph = &known.chronicle.graph;
    let line = |name: &AtomId| {
        let (style, sign) = if is_done(&graph.work, name) { (Style::Good, "✔ ") } else { (Style::Dim, "○ ") };
        let line = Line::marked(style, sign).plain(name.as_str());
        match graph.progress(name).and_then(|progress| progress.summary()) {
            Some(summary) => line.plain("  ").giving_way(Style::Dim, headline(summary)),
            None => line,
        }
    };
    before(&known.chronicle, node).iter().map(line).collect()
}

/// Those that name it, or a group that it is in.
fn needed_by(known: &Known, node: &Node) -> Vec<AtomId> {
    let work = &known.chronicle.graph.work;
    let line = work.line(node.id());
    let is_meant = |name: &AtomId| line.iter().any(|item| item.id == *name || item.any_of.as_ref() == Some(name));
    let waits = |other: &&Node| {
        let names = other.item.depends_on.iter().map(|name| meant(work, other.id(), name));
        names.into_iter().any(|name| is_meant(&name))
    };
    work.nodes().iter().filter(waits).map(|other| other.id().clone()).collect()
}

fn runs<'a>(known: &'a Known, node: &Node) -> &'a [AtomRun] {
    known.chronicle.graph.progress(node.id()).map(|progress| progress.runs.as_slice()).unwrap_or_default()
}

fn tried(known: &Known, run: &AtomRun, is_checked: bool) -> Vec<Line> {
    let attempts = known.chronicle.attempts.get(&run.task).copied().unwrap_or_default();
    let void = run.is_void.then(|| "it does not count any more".to_owned());
    let facts = [Some(counted(attempts.into(), "attempt")), Some(format!("task {}", run.task.short())), void];
    let line = match run.ended.as_ref().map(|ended| &ended.outcome) {
        None => {
            let mark = known.mark_of(run.task);
            Line::marked(mark.style(), &format!("{} ", mark.sign())).plain(mark.word())
        }
        Some(AtomOutcome::Resolved { .. }) if is_checked => Line::marked(Style::Good, "✔ ").plain("its checks passed"),
        Some(AtomOutcome::Resolved { .. }) => {
            Line::marked(Style::Good, "✔ ").plain("whoever did it says so, and nothing is checked")
        }
        Some(outcome) if outcome.is_called_off() => Line::marked(Style::Dim, "⊘ ").plain("called off"),
        Some(AtomOutcome::Failed(error)) => {
            Line::marked(Style::Bad, "✘ ").giving_way(Style::Plain, headline(&error.message))
        }
    };
    let is_called_off = run.ended.as_ref().is_some_and(|ended| ended.outcome.is_called_off());
    let failed = known.runs.get(&run.task).filter(|_| !is_called_off).and_then(last_failure);
    let failed = failed
        .map(|said| Line::marked(Style::Dim, "    ").dim("the last attempt that failed: ").plain(headline(&said)));
    std::iter::once(line.gap().facts(Style::Dim, facts.into_iter().flatten())).chain(failed).collect()
}

fn came_to<'a>(known: &'a Known, node: &Node) -> Option<&'a str> {
    known.chronicle.graph.progress(node.id()).and_then(|progress| progress.summary())
}

fn left(known: &Known, node: &Node) -> Vec<String> {
    use windlass_domain::graph::Standing::{Dropped, Resolved};
    if !node.is_leaf() || matches!(node.standing, Resolved | Dropped) {
        return Vec::new();
    }
    let (tokens, cost) = known.chronicle.graph.left_of(&node.item);
    let left = &node.left;
    vec![
        format!(
            "{} of {}, {} to the planner, {} to look first, {} to split it",
            left.attempts,
            counted(node.item.budget.max_attempts.into(), "attempt"),
            counted(left.consults.into(), "question"),
            counted(left.probes.into(), "chance"),
            counted(left.searches.min(left.splits).into(), "chance"),
        ),
        format!("{} and {cost} of its budget", counted(tokens, "token")),
        format!("if it fails for good: {}", otherwise(&known.chronicle, node)),
    ]
}

pub fn atom_as_json(known: &Known, node: &Node) -> Value {
    let run = |run: &AtomRun| {
        json!({
            "task_id": run.task,
            "attempts": known.chronicle.attempts.get(&run.task),
            "counts": !run.is_void,
            "outcome": run.ended.as_ref().map(|ended| &ended.outcome),
        })
    };
    let left = &node.left;
    json!({
        "type": "result",
        "task_id": known.task,
        "atom": node.id(),
        "title": node.item.title,
        "standing": mark(known, node.id()),
        "why": why(&known.chronicle, node),
        "needs": before(&known.chronicle, node),
        "needed_by": needed_by(known, node),
        "runs": runs(known, node).iter().map(run).collect::<Vec<_>>(),
        "summary": came_to(known, node),
        "left": {
            "attempts": left.attempts,
            "consults": left.consults,
            "probes": left.probes,
            "splits": left.splits,
            "interruptions": left.interruptions,
        },
        "if_it_fails": otherwise(&known.chronicle, node),
    })
}
