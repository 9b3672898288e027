//! Planned tasks: an item ends by whoever works on it; the work of all grows only by what was merged into that very work and whose
//! checks passed on the merge; every attempt at an item used the approval, once; the whole costs what its parts cost, each of
//! which is on the bill once; nothing is done whose own checks fail; and the user has all of the work or none of it, and
//! everything that they wrote themselves.

use std::collections::BTreeMap;

use windlass_domain::approval::ApprovalEvent;
use windlass_domain::graph::{AtomEnded, AtomOutcome, AtomProgress, GraphEvent, GraphState, PlanStanding};
use windlass_domain::plan::AtomId;
use windlass_domain::task::{Part, TaskState};
use windlass_domain::{TaskId, TaskResultStatus, UsageMetrics};

use super::court::{Bench, Court};
use crate::engines::project::{Author, Draft, Edited, Join, OWN, Project, SHARED};

pub fn check(court: &Court<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for bench in &court.tenants {
        for (root, events) in graphs(bench) {
            complaints.extend(along(bench, root, &events));
            complaints.extend(uses(bench, root));
            complaints.extend(bills(bench, root, &events));
        }
    }
    let projects = court.history.plan.projects().zip(&court.history.folders);
    complaints.extend(projects.flat_map(|(project, files)| folder(court, project, files)));
    complaints
}

pub fn graphs(bench: &Bench<'_>) -> BTreeMap<TaskId, Vec<GraphEvent>> {
    let mut graphs: BTreeMap<TaskId, Vec<GraphEvent>> = BTreeMap::new();
    for row in bench.end.events.iter().filter(|row| row.stream.kind() == "graph") {
        let (Ok(root), Ok(event)) = (row.stream.id().parse(), GraphEvent::decode(&row.kind, row.version, &row.data))
        else {
            continue;
        };
        graphs.entry(root).or_default().push(event);
    }
    graphs
}

fn along(bench: &Bench<'_>, root: TaskId, events: &[GraphEvent]) -> Vec<String> {
    let (mut graph, mut complaints) = (GraphState::default(), Vec::new());
    let mut paid = UsageMetrics::default();
    for event in events {
        match event {
            GraphEvent::AtomEnded(ended) => complaints.extend(ends(bench, &graph, ended)),
            GraphEvent::AtomStarted(_) if graph.standing != PlanStanding::Approved => {
                complaints.push(format!("an item of task {root} was begun without a plan that was agreed to"));
            }
            GraphEvent::Applied(applied) if Some(applied.tip) != graph.tip => {
                complaints.push(format!("task {root} brought over something else than its work"));
            }
            _ => {}
        }
        if let Some((run, usage)) = bill(event) {
            let used = bench.tasks.get(&run).and_then(|state| state.result.as_ref()).map(|it| it.usage);
            if used != Some(usage) {
                complaints.push(format!("task {run} used {used:?}, and {usage:?} was put on the bill"));
            }
            paid += usage;
        }
        graph.apply(event);
    }
    let result = bench.tasks.get(&root).and_then(|state| state.result.as_ref());
    // A bill may come after the end: whoever nobody waited for any more.
    if let Some(result) = result
        && result.status == TaskResultStatus::Completed
        && (result.usage.total_tokens > paid.total_tokens || graph.applied != graph.tip)
    {
        complaints.push(format!("task {root} is done: its result says {:?}, its parts {paid:?}", result.usage));
    }
    complaints
}

/// What it puts on the bill of the whole, and for whom.
const fn bill(event: &GraphEvent) -> Option<(TaskId, UsageMetrics)> {
    match event {
        GraphEvent::AtomEnded(ended) => Some((ended.run, ended.usage)),
        GraphEvent::PlannerCharged(charged) => Some((charged.run, charged.usage)),
        GraphEvent::ProbeEnded(ended) => Some((ended.run, ended.bill.usage)),
        GraphEvent::SplitEnded(ended) => Some((ended.run, ended.bill.usage)),
        _ => None,
    }
}

/// Whoever worked, planned, advised or looked into something is on the bill once, by the commit that ended it.
fn bills(bench: &Bench<'_>, root: TaskId, events: &[GraphEvent]) -> Vec<String> {
    let helps = |state: &TaskState| {
        let part_of = state.created.as_ref().and_then(|created| created.part_of.as_ref());
        part_of.is_some_and(|of| of.root == root)
    };
    let helpers = bench.tasks.iter().filter(|(_, state)| helps(state) && state.is_over());
    let billed = helpers.map(|(run, _)| {
        let is_bill = |event: &&GraphEvent| bill(event).is_some_and(|(whose, _)| whose == *run);
        (run, events.iter().filter(is_bill).count())
    });
    let wrong = billed.filter(|(_, times)| *times != 1);
    wrong.map(|(run, times)| format!("task {run} of a plan is on the bill {times} times")).collect()
}

fn ends(bench: &Bench<'_>, graph: &GraphState, ended: &AtomEnded) -> Vec<String> {
    let (run, mut complaints) = (ended.run, Vec::new());
    // Whoever was told that nobody waits for them brings their bill, and nothing else.
    let leaves = graph.leaving.contains(&run) && matches!(ended.outcome, AtomOutcome::Failed(_));
    if !leaves && graph.progress(&ended.atom).and_then(AtomProgress::running) != Some(run) {
        complaints.push(format!("item {} was ended by task {run}, which does not work on it", ended.atom));
    }
    let Some(state) = bench.tasks.get(&run) else { return vec![format!("item task {run} is not in the store")] };
    if let AtomOutcome::Resolved { tip, .. } = &ended.outcome {
        let merged = state.attempts.last().and_then(|attempt| attempt.merged);
        if merged != graph.tip.map(|onto| (*tip, onto)) {
            complaints.push(format!("task {run} was merged into other work than there was"));
        }
        if !passed(state) {
            complaints.push(format!("task {run} was merged, and its checks had not passed"));
        }
    }
    complaints
}

fn passed(state: &TaskState) -> bool {
    let (Some(created), Some(attempt)) = (&state.created, state.attempts.last()) else { return false };
    attempt.passed(&created.base_case)
}

/// Attempts at items, and uses of the approvals of their plans.
fn uses(bench: &Bench<'_>, root: TaskId) -> Option<String> {
    let of_root = |state: &&TaskState| {
        let part_of = state.created.as_ref().and_then(|created| created.part_of.as_ref());
        part_of.is_some_and(|of| of.root == root && matches!(of.part, Part::Atom { .. }))
    };
    let attempts: usize = bench.tasks.values().filter(of_root).map(|state| state.attempts.len()).sum();
    let id = root.to_string();
    let cards = bench
        .approvals
        .values()
        .filter(|approval| approval.state.card().is_some_and(|card| card.binds.work_item_id == id));
    let used: usize = cards
        .map(|approval| approval.events.iter().filter(|(_, event)| matches!(event, ApprovalEvent::Verified(_))).count())
        .sum();
    (attempts != used).then(|| format!("{attempts} attempts for task {root} began on {used} uses of the approval"))
}

fn folder(court: &Court<'_>, project: &Project, files: &BTreeMap<String, String>) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, (_, what)) in project.edits.iter().enumerate() {
        let file = if *what == Edited::Own { OWN } else { SHARED };
        let line = project.line(number);
        if !files.get(file).is_some_and(|text| text.lines().any(|found| found == line)) {
            complaints.push(format!("`{line}` of the user's is gone from {file}"));
        }
    }
    let submitted = court.history.records.iter().find_map(|record| match record.what {
        crate::engines::EngineWhat::Submitted { job, task } if job == project.number => Some(task),
        _ => None,
    });
    let Some(root) = submitted else { return complaints };
    let Some(bench) = court.tenants.iter().find(|bench| bench.tasks.contains_key(&root)) else { return complaints };
    complaints.extend(all_or_nothing(bench, root, project, files));
    complaints.extend(hopeless(bench, root, project));
    complaints
}

/// Known without the engine: some plans hold checks that nothing can satisfy.
fn hopeless(bench: &Bench<'_>, root: TaskId, project: &Project) -> Option<String> {
    let mut graph = GraphState::default();
    graphs(bench).remove(&root)?.iter().for_each(|event| graph.apply(event));
    let is_done = bench.tasks.get(&root)?.result.as_ref()?.status == TaskResultStatus::Completed;
    let is_hopeless = match project.author {
        // Whatever is planned for it, its own finish line counts.
        Author::Agreed(_) => project.first.join == Join::Fails,
        _ => project.draft(graph.revision).is_some_and(Draft::is_hopeless),
    };
    (is_done && is_hopeless).then(|| format!("task {root} is done, and its own checks fail"))
}

/// The files of items whose work is in the tip.
fn all_or_nothing(
    bench: &Bench<'_>,
    root: TaskId,
    project: &Project,
    files: &BTreeMap<String, String>,
) -> Option<String> {
    let events = graphs(bench).remove(&root)?;
    let (mut graph, mut merged, mut reopened) = (GraphState::default(), Vec::new(), Vec::new());
    for event in &events {
        // The work of a plan that was given up stays; that of a way is taken out.
        if let GraphEvent::PlanProposed(_) = event {
            merged.extend(graph.merged().cloned());
        }
        if let GraphEvent::SinksReopened(again) = event {
            reopened.extend(again.sinks.iter().cloned());
        }
        // Its parts do what it was to do, as it would have.
        if let GraphEvent::SplitEnded(split) = event {
            reopened.push(split.atom.clone());
        }
        graph.apply(event);
    }
    merged.extend(graph.merged().cloned());
    let mark = |atom: &AtomId| format!("{}-{}", project.id(), atom.as_str());
    let merged: Vec<String> = merged.iter().map(mark).filter(|mark| project.writes(mark)).collect();
    // One that goes on passes by what it did before, whatever it does now.
    let again: Vec<String> = reopened.iter().map(|atom| format!("{}.wrong.txt", mark(atom))).collect();
    let is_there = |mark: &&String| files.get(&format!("{mark}.txt")).is_some_and(|text| text.trim() == mark.as_str());
    let there = merged.iter().filter(is_there).count();
    let is_stranger = |name: &&String| name.ends_with(".wrong.txt") && !again.contains(name);
    let strangers = files.keys().filter(is_stranger).count();
    let is_done = bench.tasks.get(&root)?.result.as_ref().is_some_and(|it| it.status == TaskResultStatus::Completed);
    let is_whole = strangers == 0 && (there == merged.len() || (there == 0 && !is_done));
    (!is_whole).then(|| {
        format!("{there} of {} items of task {root} are in its user's folder, and {strangers} others", merged.len())
    })
}
