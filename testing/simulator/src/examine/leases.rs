//! One process at a time: under one epoch of a task's lease only one process commits, an epoch that has passed commits
//! nothing any more, and nobody writes to a task without the lease but whoever created it. And whoever lives keeps the
//! lease: only those that stalled may lose it.

use std::collections::BTreeMap;

use windlass_store::Epoch;

use crate::commit_log::LoggedCommit;
use crate::executor::ProcessId;
use crate::history::History;
use crate::witness::Ending;

pub fn examine(history: &History) -> Vec<String> {
    robbed(history).into_iter().chain(one_at_a_time(&history.commits)).collect()
}

pub fn one_at_a_time(commits: &[LoggedCommit]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut epoch_of_lease = BTreeMap::new();
    let mut writers: BTreeMap<(String, Epoch), ProcessId> = BTreeMap::new();
    for commit in commits {
        for (lease, epoch) in &commit.taken {
            let before = epoch_of_lease.insert(lease.as_str().to_owned(), *epoch);
            if before.is_some_and(|before| before >= *epoch) {
                complaints.push(format!("{lease} was taken at {epoch:?} after {before:?}"));
            }
        }
        let Some(fence) = &commit.fence else {
            // The audit and what people say to cards and questions is anybody's to write, and so is what follows from it: that
            // a plan goes on, was given by whoever submits it, begins or is redirected, that nobody waits for a planner any more,
            // or that a time has come.
            let anybodys = ["audit.", "approval.", "question.", "monitor."];
            let whole = [
                "task.created",
                "objective.aligned",
                "plan.proposed",
                "plan.asked",
                "plan.answered",
                "change.sought",
                "graph.rebased",
                "graph.corrected",
                "graph.woken",
                "consult.answered",
                "research.timed_out",
                "research.expired",
                "helpers.dismissed",
                "deadline.set",
                // Of what rests: nobody holds it.
                "task.time_up",
            ];
            let needs_none =
                |kind: &str| whole.contains(&kind) || anybodys.iter().any(|family| kind.starts_with(family));
            if !commit.rows.iter().all(|row| needs_none(&row.kind)) {
                complaints.push(format!("process {} wrote records without a lease", commit.process.0));
            }
            continue;
        };
        let current = epoch_of_lease.get(fence.lease.as_str());
        if current != Some(&fence.epoch) {
            let process = commit.process.0;
            complaints.push(format!("process {process} wrote at {:?} when it was {current:?}", fence.epoch));
        }
        let writer = *writers.entry((fence.lease.as_str().to_owned(), fence.epoch)).or_insert(commit.process);
        if writer != commit.process {
            let (one, other) = (writer.0, commit.process.0);
            complaints.push(format!("processes {one} and {other} wrote under one epoch {:?}", fence.epoch));
        }
    }
    complaints
}

fn robbed(history: &History) -> Vec<String> {
    let stalled = |process: ProcessId| history.burnt.iter().any(|burnt| burnt.process == process);
    let endings = history.testimony.endings.iter();
    let lost = endings.filter(|(process, ending)| *ending == Ending::LeaseLost && !stalled(*process));
    lost.map(|(process, _)| format!("process {} lost its lease while it was at work", process.0)).collect()
}
