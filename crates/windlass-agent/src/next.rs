//! What the loop does next, from the fold of its journal alone. A run that goes on after a crash asks the same question
//! of the same state; there is no other way to resume.

use windlass_domain::execution::{ExecutionState, OpenCall, Outcome};
use windlass_domain::{ErrorCode, ErrorDetails, Exhausted, Message, Wall};

#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// The transcript is complete: ask the model.
    CallModel,
    /// Calls that were in flight when a process vanished: find out what became of each.
    Recover(Vec<OpenCall>),
    /// Calls that nobody has begun, in order.
    RunTools(Vec<OpenCall>),
    Finish(Outcome),
}

pub fn next(state: &ExecutionState, now: Wall) -> Next {
    let (in_flight, waiting): (Vec<_>, Vec<_>) =
        state.open_calls.iter().cloned().partition(|open| open.started.is_some());
    if !in_flight.is_empty() {
        return Next::Recover(in_flight);
    }
    if !waiting.is_empty() {
        return Next::RunTools(waiting);
    }
    if let Some(Message::Assistant { text, .. }) = state.transcript.last().map(AsRef::as_ref) {
        return Next::Finish(Outcome::Completed { message: text.clone() });
    }
    match exhausted(state, now) {
        Some(exhausted) => Next::Finish(Outcome::Failed(out_of(exhausted))),
        None => Next::CallModel,
    }
}

fn exhausted(state: &ExecutionState, now: Wall) -> Option<Exhausted> {
    state.header.as_ref()?.limits.exhausted(&state.spent_by(now))
}

/// How a person is told that a limit ended the run.
pub fn out_of(exhausted: Exhausted) -> ErrorDetails {
    let (code, hint) = match exhausted {
        Exhausted::Iterations => (ErrorCode::MaxIterationsExceeded, "raise it with --max-iterations"),
        Exhausted::Time => (ErrorCode::Timeout, "raise it with --timeout"),
        Exhausted::Tokens => (ErrorCode::BudgetExceeded, "raise it with --max-tokens"),
        Exhausted::Money => (ErrorCode::BudgetExceeded, "raise it with --max-cost"),
    };
    ErrorDetails::new(code, exhausted.to_string()).with_hint(hint)
}
