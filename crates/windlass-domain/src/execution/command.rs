//! What can be asked of an execution, and why it may be refused.

use crate::budget::Exhausted;
use crate::call::{Effect, Finished};
use crate::digest::Digest;
use crate::execution::{ContextRef, Header, InjectionReceived, Lifecycle, MessageAccepted, OwnerEffect};
use crate::message::{CallId, StopReason, ToolCall};
use crate::usage::{Usage, Usd};

#[derive(Debug, Clone)]
pub enum ExecutionCommand {
    Create(Box<Header>),
    Move {
        to: Lifecycle,
        reason: String,
    },
    Accept(MessageAccepted),
    Inject(InjectionReceived),
    /// The prompt is the transcript as it stands; the state knows its digest and length.
    AskModel {
        context: ContextRef,
        estimated_input: u64,
    },
    Answer {
        text: String,
        calls: Vec<ToolCall>,
        stop: StopReason,
        usage: Usage,
        cost: Usd,
        retries: u32,
        duration_ms: u64,
    },
    StartCall {
        call_id: CallId,
        effect: Effect,
    },
    FinishCall(Finished),
    Keep(OwnerEffect),
}

/// Why nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("this execution has ended")]
    Over,
    #[error("an execution that is {from:?} cannot become {to:?}")]
    NoSuchMove { from: Lifecycle, to: Lifecycle },
    #[error("the execution is not running")]
    NotRunning,
    #[error(transparent)]
    OverBudget(#[from] Exhausted),
    #[error("there is no open request to answer")]
    NothingAsked,
    #[error("not while {0}")]
    NotYet(&'static str),
    #[error("the call {0} is not open")]
    NoSuchCall(CallId),
    #[error("the call {0} may be run only once")]
    OnlyOnce(CallId),
    #[error("the call {0} is said to have succeeded without having been started")]
    NeverStarted(CallId),
    #[error("the model's answer uses the call id {0} twice")]
    CallIdTaken(CallId),
    #[error("the journal already has a header")]
    AlreadyCreated,
    #[error("the journal has no header yet")]
    NotCreated,
    #[error("the call {0} is not what was asked for or begun")]
    AnotherCall(CallId),
    #[error("the context prompt {0} is not the one this execution began with")]
    ContextChanged(Digest),
}
