//! What the loop does next, from the fold of its journal alone. A run that goes on after a crash asks the same question
//! of the same state; there is no other way to resume.

use windlass_domain::execution::{ExecutionState, OpenCall, Outcome};
use windlass_domain::{ErrorCode, ErrorDetails, Exhausted, Message, StopReason, Wall};

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
        return Next::Finish(last_words(text, state.last_stop.as_ref()));
    }
    match exhausted(state, now) {
        Some(exhausted) => Next::Finish(Outcome::Failed(out_of(exhausted))),
        None => Next::CallModel,
    }
}

/// An answer without calls is the agent's last word, if it is a whole one.
fn last_words(text: &str, stop: Option<&StopReason>) -> Outcome {
    let cut_short = match stop {
        Some(StopReason::MaxTokens) => "the model's answer was cut off at its length limit",
        Some(StopReason::Refusal) => "the model declined to answer",
        _ if text.trim().is_empty() => "the model answered nothing",
        _ => return Outcome::Completed { message: text.to_owned() },
    };
    Outcome::Failed(ErrorDetails::new(ErrorCode::AnswerIncomplete, cut_short))
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
