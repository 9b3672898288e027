//! What the loop does next, from the fold of its journal and the length of the conversation alone. A run that goes on after a
//! crash asks the same question of the same state; there is no other way to resume.

use windlass_domain::execution::{CompactionReason, Cycle, DoomLoopDetected, ExecutionState, OpenCall, Outcome};
use windlass_domain::pattern::{Around, PatternNudged, PatternStepped};
use windlass_domain::{ErrorCode, ErrorDetails, Exhausted, Message, Role, StopReason, Wall};

use crate::compact::{Circumstances as Compacting, Step, does_not_fit, step};
use crate::doom;
use crate::lead;
use crate::runner::Settings;
use crate::tactician::ending;

#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// The transcript is complete: ask the model.
    CallModel,
    /// Calls that were in flight when a process vanished: find out what became of each.
    Recover(Vec<OpenCall>),
    /// Calls that nobody has begun, in order.
    RunTools(Vec<OpenCall>),
    /// The conversation is too long.
    Compact(Step),
    /// The agent repeats itself, and is told.
    Warn(DoomLoopDetected),
    /// Its pattern goes on.
    Step(PatternStepped),
    /// The agent does not keep to its pattern, and is told.
    Nudge(PatternNudged),
    /// A person has to answer first.
    Wait,
    Finish(Outcome),
}

/// What is not in the journal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circumstances<'a> {
    pub now: Wall,
    pub settings: &'a Settings,
    pub compacting: Compacting,
    pub form: Form,
    /// What the pattern's conditions ask for.
    pub around: &'a Around,
}

/// How the model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It is given tools.
    Native,
    /// It is given none, and decides on one call at a time.
    Tactician,
}

impl Form {
    pub const fn of(role: Role) -> Self {
        match role {
            Role::Tactician => Self::Tactician,
            _ => Self::Native,
        }
    }
}

pub fn next(state: &ExecutionState, circumstances: &Circumstances<'_>) -> Next {
    if let Some(about_calls) = next_call(state) {
        return about_calls;
    }
    if let Some(cycle) = &state.compactions.open {
        return go_on_compacting(state, cycle, circumstances);
    }
    if let Some(Message::Assistant { text, .. }) = state.transcript.last().map(AsRef::as_ref) {
        let outcome = match circumstances.form {
            Form::Native => last_words(text, state.last_stop.as_ref()),
            Form::Tactician => ending(text),
        };
        let is_said = matches!(outcome, Outcome::Completed { .. });
        let not_yet = is_said.then(|| lead::not_yet(state, circumstances.around)).flatten();
        return not_yet.unwrap_or(Next::Finish(outcome));
    }
    if let Some(led) = lead::next(state, circumstances.around, circumstances.form) {
        return led;
    }
    if let Some(exhausted) = exhausted(state, circumstances.now) {
        return Next::Finish(Outcome::Failed(exhausted.details()));
    }
    if let Some(doom) = state.habits.doom(&circumstances.settings.doom_loop) {
        return doom::answer(doom).map_or_else(Next::Finish, Next::Warn);
    }
    let Compacting { room, tokens, .. } = circumstances.compacting;
    match tokens > room.begins_above(state.compactions.left) {
        true => Next::Compact(Step::Start(CompactionReason::Threshold)),
        false => Next::CallModel,
    }
}

fn next_call(state: &ExecutionState) -> Option<Next> {
    let in_flight: Vec<_> = state.open_calls.iter().filter(|open| open.started().is_some()).cloned().collect();
    if !in_flight.is_empty() {
        return Some(Next::Recover(in_flight));
    }
    // What comes after a call that waits must see what that call did.
    let ready: Vec<_> = state.open_calls.iter().take_while(|open| open.waits_for().is_none()).cloned().collect();
    if !ready.is_empty() {
        return Some(Next::RunTools(ready));
    }
    (!state.open_calls.is_empty()).then_some(Next::Wait)
}

fn go_on_compacting(state: &ExecutionState, cycle: &Cycle, circumstances: &Circumstances<'_>) -> Next {
    if let Some(reason) = &cycle.failed {
        return Next::Finish(Outcome::Failed(does_not_fit(reason)));
    }
    let next = step(state, cycle, &circumstances.compacting);
    match (next, exhausted(state, circumstances.now)) {
        (Step::AskAgent | Step::Summarise(_), Some(exhausted)) => Next::Finish(Outcome::Failed(exhausted.details())),
        (next, _) => Next::Compact(next),
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
