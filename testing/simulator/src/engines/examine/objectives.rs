//! Objectives: each redirect that somebody was told of is there once, undoes what they were told and nothing else, and leaves what
//! the rest came to as it was; nothing that is done is begun again; and what is reached is in the user's folder.

use std::collections::{BTreeMap, BTreeSet};

use windlass_domain::graph::{Change, Corrected, GraphEvent, GraphState, Node};
use windlass_domain::plan::AtomId;
use windlass_domain::{CheckProbe, TaskId, TaskResultStatus};

use super::court::{Bench, Court};
use super::plans::graphs;
use crate::engines::history::EngineWhat;

pub fn check(court: &Court<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for bench in &court.tenants {
        for (root, events) in graphs(bench) {
            complaints.extend(along(court, root, &events));
            complaints.extend(reached(court, bench, root, &events));
        }
    }
    complaints.extend(told(court));
    complaints
}

/// Everything that is done, with what it came to.
fn done(graph: &GraphState) -> BTreeMap<AtomId, Option<String>> {
    let leaves = graph.work.nodes().iter().filter(|node| node.is_leaf() && node.is_resolved());
    let binding = |atom: &AtomId| graph.progress(atom).and_then(|progress| progress.summary()).map(str::to_owned);
    leaves.map(|node| (node.id().clone(), binding(node.id()))).collect()
}

fn merged(graph: &GraphState) -> BTreeSet<AtomId> {
    graph.merged().cloned().collect()
}

fn along(court: &Court<'_>, root: TaskId, events: &[GraphEvent]) -> Vec<String> {
    let (mut graph, mut complaints) = (GraphState::default(), Vec::new());
    for event in events {
        if let GraphEvent::AtomStarted(started) = event
            && graph.work.find(&started.atom).is_some_and(Node::is_resolved)
        {
            complaints.push(format!("{} of task {root} was done, and was begun again", started.atom));
        }
        let (before, merged) = (done(&graph), merged(&graph));
        graph.apply(event);
        if let GraphEvent::Corrected(corrected) = event {
            let after = done(&graph);
            complaints.extend(turned(court, root, corrected, (&before, &after)));
            let is_lost = |atom: &&AtomId| merged.contains(*atom) && !graph.merged().any(|kept| kept == *atom);
            let lost = after.keys().filter(is_lost);
            complaints.extend(lost.map(|atom| format!("a redirect of task {root} lost the work of {atom}")));
        }
    }
    complaints
}

type Done = BTreeMap<AtomId, Option<String>>;

fn turned(court: &Court<'_>, root: TaskId, corrected: &Corrected, (before, after): (&Done, &Done)) -> Vec<String> {
    let told = court.history.records.iter().find_map(|record| match &record.what {
        EngineWhat::Redirected { words, undone, .. } if *words == corrected.description => Some(undone),
        _ => None,
    });
    let mut complaints = Vec::new();
    let undone: BTreeSet<&AtomId> = before.keys().filter(|atom| !after.contains_key(*atom)).collect();
    // Whoever said it may have died before they heard of it.
    if told.is_some_and(|told| told.iter().collect::<BTreeSet<_>>() != undone) {
        complaints.push(format!("a redirect of task {root} undid {undone:?}, and said that it undoes {told:?}"));
    }
    let overridden = match &corrected.change {
        Change::Binding { atom, .. } => Some(atom),
        _ => None,
    };
    let lost = after.iter().filter(|(atom, came_to)| overridden != Some(*atom) && before.get(*atom) != Some(*came_to));
    complaints.extend(lost.map(|(atom, _)| format!("a redirect of task {root} changed what {atom} had come to")));
    complaints
}

fn told(court: &Court<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for record in &court.history.records {
        let EngineWhat::Redirected { task, words, .. } = &record.what else { continue };
        let events = court.tenants.iter().find_map(|bench| graphs(bench).remove(task)).unwrap_or_default();
        let is_it = |event: &&GraphEvent| matches!(event, GraphEvent::Corrected(it) if it.description == *words);
        let times = events.iter().filter(is_it).count();
        if times != 1 {
            complaints.push(format!("somebody heard that task {task} was redirected, and it was {times} times"));
        }
    }
    complaints
}

/// Known without the engine: where its finish line is that a file has a line, the user has that file.
fn reached(court: &Court<'_>, bench: &Bench<'_>, root: TaskId, events: &[GraphEvent]) -> Vec<String> {
    let is_done = |it: &windlass_domain::TaskResult| it.status == TaskResultStatus::Completed;
    let result = bench.tasks.get(&root).and_then(|state| state.result.as_ref()).filter(|result| is_done(result));
    let project = court.history.records.iter().find_map(|record| match record.what {
        EngineWhat::Submitted { job, task } if task == root => Some(job),
        _ => None,
    });
    let plans = court.history.plan.projects().zip(&court.history.folders);
    let files = plans.filter(|(it, _)| Some(it.number) == project).map(|(_, files)| files).next();
    let (Some(_), Some(files)) = (result, files) else { return Vec::new() };
    let mut graph = GraphState::default();
    events.iter().for_each(|event| graph.apply(event));
    let Some(objective) = &graph.objective else { return Vec::new() };
    let holds = |line: &str| {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("expect"), Some(file), Some(text)) => {
                files.get(file).is_some_and(|there| there.lines().any(|line| line == text))
            }
            _ => false,
        }
    };
    let lines = objective.base_case.0.iter().filter_map(|check| match &check.probe {
        CheckProbe::Run { run, .. } => Some(run),
        CheckProbe::File { .. } => None,
    });
    let missing = lines.filter(|line| !holds(line));
    missing.map(|line| format!("task {root} is done, and `{line}` does not hold in its user's folder")).collect()
}
