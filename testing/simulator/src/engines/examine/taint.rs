//! Taint only rises: an execution that has heard words from outside, or what a program with network said, is external from
//! then on, in every record of it, and so is what its attempt leaves behind.

use windlass_domain::Taint;
use windlass_domain::execution::{ExecutionEvent, ExecutionState};

use super::court::{Bench, Court};
use crate::examine::folded::Execution;

pub fn check(court: &Court<'_>) -> Vec<String> {
    court
        .tenants
        .iter()
        .flat_map(|bench| {
            let of_executions = bench.folded.executions.iter().flat_map(|execution| along(bench, execution));
            of_executions.chain(attempts(bench)).collect::<Vec<_>>()
        })
        .collect()
}

fn along(bench: &Bench<'_>, execution: &Execution) -> Vec<String> {
    let mut complaints = Vec::new();
    let rows = bench.end.events.iter().filter(|row| row.stream == execution.stream);
    let mut state = ExecutionState::default();
    let mut least = Taint::Owner;
    let mut with_network = Vec::new();
    for (row, (at, event)) in rows.zip(&execution.events) {
        let before = state.taint;
        state.apply(event, *at);
        least = least.join(read(event, &mut with_network));
        if state.taint < before || state.taint < least || row.taint < least || row.taint < state.taint {
            complaints.push(format!("{} lost its taint at {}: {:?}", execution.stream, row.kind, row.taint));
        }
    }
    complaints
}

/// The least that whatever follows must carry.
fn read<'a>(event: &'a ExecutionEvent, with_network: &mut Vec<&'a windlass_domain::CallId>) -> Taint {
    match event {
        ExecutionEvent::InjectionReceived(received) => received.taint,
        ExecutionEvent::MessageAccepted(accepted) => accepted.taint,
        ExecutionEvent::ToolStarted(started) if started.reach.can_carry_out() => {
            with_network.push(&started.call_id);
            Taint::Owner
        }
        ExecutionEvent::ToolFinished(finished) if with_network.contains(&&finished.call_id) => Taint::External,
        _ => Taint::Owner,
    }
}

fn attempts(bench: &Bench<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for (task, state) in &bench.tasks {
        for attempt in &state.attempts {
            let id = attempt.execution_id.to_string();
            let execution = bench.folded.executions.iter().find(|execution| execution.stream.id() == id);
            let (Some(ended), Some(execution)) = (&attempt.ended, execution) else { continue };
            let mut with_network = Vec::new();
            let events = execution.events.iter().map(|(_, event)| read(event, &mut with_network));
            if ended.taint < events.fold(Taint::Owner, Taint::join) {
                complaints.push(format!("attempt {} of task {task} lost its taint", attempt.number));
            }
        }
    }
    complaints
}
