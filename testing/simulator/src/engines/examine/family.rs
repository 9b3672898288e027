//! Agents that agents spawn: each is run by nobody twice at once, ends no later than its parent, and what it used is on its
//! parent's bill once, as much as its own journal says.

use windlass_domain::ExecutionId;
use windlass_domain::execution::{ExecutionEvent, ExecutionState, SubagentFinished};
use windlass_store::StreamId;

use super::court::{Bench, Court};
use crate::engines::history::EngineWhat;
use crate::examine::folded::Execution;

pub fn check(court: &Court<'_>) -> Vec<String> {
    let twice = court.history.run_twice.iter();
    let twice = twice.map(|(process, run)| format!("process {} ran execution {run} twice at once", process.0));
    let of_families = court.tenants.iter().flat_map(|bench| {
        let parents = bench.folded.executions.iter();
        parents.flat_map(|parent| children(court, bench, parent)).collect::<Vec<_>>()
    });
    twice.chain(of_families).collect()
}

fn children(court: &Court<'_>, bench: &Bench<'_>, parent: &Execution) -> Vec<String> {
    let spawned = parent.events.iter().filter_map(|(_, event)| match event {
        ExecutionEvent::SubagentSpawned(spawned) => Some(spawned.execution_id),
        _ => None,
    });
    spawned.flat_map(|child| [bill(bench, parent, child), outlives(court, bench, parent, child)]).flatten().collect()
}

fn bill(bench: &Bench<'_>, parent: &Execution, child: ExecutionId) -> Option<String> {
    let bills: Vec<&SubagentFinished> = parent
        .events
        .iter()
        .filter_map(|(_, event)| match event {
            ExecutionEvent::SubagentFinished(bill) if bill.execution_id == child => Some(bill),
            _ => None,
        })
        .collect();
    let Some(ended) = state_of(bench, child) else {
        return Some(format!("execution {child} was spawned and has no journal"));
    };
    let [bill] = bills.as_slice() else {
        return Some(format!(
            "execution {child} used {:?}, and its parent was charged {} times",
            ended.spent,
            bills.len()
        ));
    };
    let is_right = bill.usage == ended.spent.usage && bill.cost == ended.spent.cost;
    (!is_right)
        .then(|| format!("execution {child} used {:?}, and its parent was charged {:?}", ended.spent, bill.usage))
}

fn state_of(bench: &Bench<'_>, execution: ExecutionId) -> Option<ExecutionState> {
    let id = execution.to_string();
    let journal = bench.folded.executions.iter().find(|journal| journal.stream.id() == id)?;
    let mut state = ExecutionState::default();
    journal.events.iter().for_each(|(at, event)| state.apply(event, *at));
    Some(state)
}

/// One commit may end both.
fn outlives(court: &Court<'_>, bench: &Bench<'_>, parent: &Execution, child: ExecutionId) -> Option<String> {
    let ended = state_of(bench, child)?;
    let is_late = last_change(court, &StreamId::new("execution", child)) > last_change(court, &parent.stream);
    (!ended.lifecycle.is_over() || is_late)
        .then(|| format!("execution {child} outlived its parent: {:?}", ended.lifecycle))
}

/// Which commit made it what it is in the end.
fn last_change(court: &Court<'_>, stream: &StreamId) -> Option<usize> {
    court.history.records.iter().rposition(|record| match &record.what {
        EngineWhat::Committed(both) => {
            both.0.events.iter().any(|event| event.stream == *stream && event.encoded.kind == "state.changed")
        }
        _ => false,
    })
}
