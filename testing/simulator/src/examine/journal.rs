//! The journal is whole: numbered without gaps, every call answered once, what was spent stays spent, and folding it gives
//! the very state that the process held in memory.

use std::collections::BTreeMap;

use windlass_domain::execution::{ExecutionEvent, ExecutionState, Lifecycle};
use windlass_domain::{CallStatus, Effect, Spent};
use windlass_store::StoredEvent;

use super::folded::{Execution, Folded};
use crate::history::History;
use crate::witness::Ending;

pub fn examine(history: &History, folded: &Folded) -> Vec<String> {
    whole(&history.rows, folded).into_iter().chain(states(history, folded)).collect()
}

/// As far as it can be told from the records alone.
pub fn whole(rows: &[StoredEvent], folded: &Folded) -> Vec<String> {
    let mut complaints = numbering(rows);
    for execution in &folded.executions {
        complaints.extend(calls(execution));
        complaints.extend(spending(execution));
        complaints.extend(rest(execution));
    }
    complaints
}

fn numbering(rows: &[StoredEvent]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut heads = BTreeMap::new();
    let mut position = 0;
    for row in rows {
        let head = heads.entry(&row.stream).or_insert(0);
        if row.seq.0 != *head + 1 {
            complaints.push(format!("{}: {} follows {head}", row.stream, row.seq.0));
        }
        *head = row.seq.0;
        if row.position.0 <= position {
            complaints.push(format!("position {} follows {position}", row.position.0));
        }
        position = row.position.0;
    }
    complaints
}

fn calls(execution: &Execution) -> Vec<String> {
    let mut complaints = Vec::new();
    let is_over = !matches!(last_lifecycle(execution), Lifecycle::Cancelled | Lifecycle::Failed);
    for call in execution.calls() {
        let (name, finishes) = (call.name(), call.finished.len());
        let may_be_open = !is_over && call.started.is_empty();
        if finishes != 1 && !(finishes == 0 && may_be_open) {
            complaints.push(format!("{name} has {finishes} results and was started {} times", call.started.len()));
        }
        let once = call.started.iter().filter(|effect| ***effect == Effect::Once).count();
        if once > 1 {
            complaints.push(format!("{name} may run once and was started {once} times"));
        }
        let is_once = once > 0;
        if call.finished.contains(&CallStatus::Interrupted) && !is_once {
            complaints.push(format!("{name} can be run again or looked up, and is said to be interrupted"));
        }
        // A question is put in place of leave, and its answer is the call's end; so it is with a monitor and its next word.
        let only_waits = call.tool_is("ask_user") || call.tool_is("monitor");
        if call.finished.contains(&CallStatus::Ok) && call.started.is_empty() && !only_waits {
            complaints.push(format!("{name} succeeded without leave"));
        }
    }
    complaints
}

fn last_lifecycle(execution: &Execution) -> Lifecycle {
    let change = execution.events.iter().rev().find_map(|(_, event)| match event {
        ExecutionEvent::StateChanged(change) => Some(change.to),
        _ => None,
    });
    change.unwrap_or(Lifecycle::Created)
}

/// Once the task is over, so are its executions.
fn rest(execution: &Execution) -> Vec<String> {
    let lifecycle = last_lifecycle(execution);
    (!lifecycle.is_over()).then(|| format!("{} was left {lifecycle:?}", execution.stream)).into_iter().collect()
}

fn spending(execution: &Execution) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut state = ExecutionState::default();
    let mut before = Spent::default();
    let mut requests = 0;
    for (at, event) in &execution.events {
        state.apply(event, *at);
        requests += u32::from(matches!(event, ExecutionEvent::ModelRequested(_)));
        // Without what is only set aside for an open question: an answer may cost less.
        let now = state.spent;
        let fell = now.iterations < before.iterations
            || now.active_ms < before.active_ms
            || now.usage.total() < before.usage.total()
            || now.cost < before.cost;
        if fell {
            complaints.push(format!("{}: spending fell from {before:?} to {now:?}", execution.stream));
        }
        before = now;
    }
    if before.iterations != requests {
        let counted = before.iterations;
        complaints.push(format!("{}: {requests} questions and {counted} iterations", execution.stream));
    }
    complaints
}

/// A process that ended by itself had in memory what the journal has: everything before the record of the run's end.
fn states(history: &History, folded: &Folded) -> Vec<String> {
    let testimony = &history.testimony;
    let ended_well = |process| {
        let endings = testimony.endings.iter().filter(|(ended, _)| *ended == process);
        endings.into_iter().any(|(_, ending)| matches!(ending, Ending::Finished(_) | Ending::Paused(_)))
    };
    let believed = testimony.states.iter().filter(|(process, _, _)| ended_well(*process));
    let wrong = believed.filter_map(|(process, execution, state)| {
        let id = execution.to_string();
        let journal = folded.executions.iter().find(|journal| journal.stream.id() == id)?;
        let is_there = ends_of_runs(journal).contains(state);
        (!is_there).then(|| format!("process {} held a state that the journal does not give: {state}", process.0))
    });
    wrong.collect()
}

fn ends_of_runs(journal: &Execution) -> Vec<String> {
    let mut state = ExecutionState::default();
    let mut ends = Vec::new();
    for (at, event) in &journal.events {
        let ends_a_run = match event {
            ExecutionEvent::StateChanged(change) => {
                change.to.is_over() || matches!(change.to, Lifecycle::Paused | Lifecycle::AwaitingInput)
            }
            // It may be what makes the runner go on after its last word.
            ExecutionEvent::InjectionReceived(_) => true,
            _ => false,
        };
        if ends_a_run {
            ends.push(format!("{state:?}"));
        }
        state.apply(event, *at);
    }
    ends
}
