//! Bringing an execution's journal to `running` from wherever it stands.

use windlass_domain::execution::{ExecutionCommand, ExecutionState, Lifecycle};

pub const GONE: &str = "the process that ran it is gone";

/// Whether whoever had it running is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    CutOff,
    AtRest,
}

pub fn to_running(state: &ExecutionState, before: Before) -> Vec<ExecutionCommand> {
    match (state.lifecycle, before) {
        (Lifecycle::AwaitingInput, _) => vec![move_to(Lifecycle::Running, "answered")],
        (Lifecycle::Paused, _) => vec![move_to(Lifecycle::Running, "resumed")],
        (_, Before::CutOff) => vec![
            move_to(Lifecycle::Lost, GONE),
            move_to(Lifecycle::Launching, "recovered"),
            move_to(Lifecycle::Running, "equipped"),
        ],
        (_, Before::AtRest) => {
            vec![move_to(Lifecycle::Launching, "launched"), move_to(Lifecycle::Running, "equipped")]
        }
    }
}

/// Whoever was answered a moment ago, and saw the commit that held the answer refused, goes on as if it had rested: what was asked is
/// asked again.
pub fn to_asking_again() -> Vec<ExecutionCommand> {
    vec![
        move_to(Lifecycle::Paused, "something came in beside the last answer"),
        move_to(Lifecycle::Running, "it is asked again"),
    ]
}

pub fn move_to(to: Lifecycle, reason: &str) -> ExecutionCommand {
    ExecutionCommand::Move { to, reason: reason.to_owned() }
}
