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
    /// A person has to answer first.
    Wait,
    Finish(Outcome),
}

pub fn next(state: &ExecutionState, now: Wall) -> Next {
    let in_flight: Vec<_> = state.open_calls.iter().filter(|open| open.started().is_some()).cloned().collect();
    if !in_flight.is_empty() {
        return Next::Recover(in_flight);
    }
    // What comes after a call that waits must see what that call did.
    let ready: Vec<_> = state.open_calls.iter().take_while(|open| open.waits_for().is_none()).cloned().collect();
    if !ready.is_empty() {
        return Next::RunTools(ready);
    }
    if !state.open_calls.is_empty() {
        return Next::Wait;
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
