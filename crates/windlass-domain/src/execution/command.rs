//! What can be asked of an execution, and why it may be refused. A runner may ask for little of it: lifecycle, leave,
//! taint and what comes from outside are the host's.

use crate::budget::{Exhausted, Left};
use crate::call::{CallOutcome, Effect};
use crate::digest::Digest;
use crate::execution::{
    CallDecision, Compaction, ContextRef, DoomLoopDetected, EgressRefused, ExchangeClosed, ExchangeWanted, Forked,
    Header, InjectionReceived, Lifecycle, MOST_CHILDREN, MessageAccepted, MessageDelivery, Observed, OwnerEffect,
    Purpose, RiskChecked, RunnerNoted, SubagentFinished, SubagentSpawned,
};
use crate::id::{CardId, ExecutionId, MessageId};
use crate::image::Image;
use crate::message::{CallId, Reasoning, StopReason, ToolCall};
use crate::pattern::{PatternNudged, PatternStepped};
use crate::reach::Reach;
use crate::taint::Taint;
use crate::usage::{Usage, Usd};

#[derive(Debug, Clone)]
pub enum ExecutionCommand {
    Create(Box<Header>),
    /// It goes on with the conversation of another.
    Fork(Box<Forked>),
    Move {
        to: Lifecycle,
        reason: String,
    },
    Accept(MessageAccepted),
    Inject(InjectionReceived),
    Ask(Question),
    Answer(Answer),
    GiveUp(NoAnswer),
    CheckRisk(RiskChecked),
    Decide(CallDecision),
    StartCall {
        call_id: CallId,
        effect: Effect,
        reach: Reach,
    },
    FinishCall {
        outcome: CallOutcome,
        taint: Taint,
    },
    Keep(OwnerEffect),
    /// A call of this execution's begins an agent of its own.
    Spawn(SubagentSpawned),
    /// What a child has used and left behind.
    Charge(Box<SubagentFinished>),
    Compact(Compaction),
    /// It is told that it repeats itself.
    Warn(DoomLoopDetected),
    /// Its pattern goes on.
    Step(PatternStepped),
    /// It is told to keep to its pattern.
    Nudge(PatternNudged),
    /// What its commands did not reach.
    NoteRefusal(EgressRefused),
    /// The program that carries it was started.
    Note(RunnerNoted),
    /// Something is told about it, and how far that is to be trusted.
    Observe {
        observed: Box<Observed>,
        taint: Taint,
    },
    /// The program asks for leave to make a call of its own.
    Propose(ToolCall),
    OpenExchange {
        wanted: ExchangeWanted,
        /// To those it works for, where there are such.
        left: Option<Left>,
    },
    CloseExchange(ExchangeClosed),
    NoteDelivery(MessageDelivery),
    /// Another model is asked from here on.
    SwitchModel {
        message_id: MessageId,
        to: String,
    },
}

/// What a runner may record.
#[derive(Debug, Clone)]
pub enum RunnerCommand {
    /// The message that opens the transcript.
    Open {
        content: String,
        images: Vec<Image>,
    },
    Ask(Question),
    Answer(Answer),
    GiveUp(NoAnswer),
    FinishCall(CallOutcome),
    Compact(Compaction),
    Warn(DoomLoopDetected),
    Step(PatternStepped),
    Nudge(PatternNudged),
    /// The program that carries the execution was started.
    Note(RunnerNoted),
    Observe(Box<Observed>),
    /// A call that the program wants leave for.
    Propose(ToolCall),
    OpenExchange(ExchangeWanted),
    CloseExchange(ExchangeClosed),
    NoteDelivery(MessageDelivery),
}

/// The prompt is the transcript as it stands; the state knows its digest and length.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    pub purpose: Purpose,
    pub context: ContextRef,
    pub estimated_input: u64,
    pub estimated_cost: Usd,
}

/// A question that was given up.
#[derive(Debug, Clone)]
pub struct NoAnswer {
    pub reason: String,
    /// What the tries are known or thought to have used.
    pub usage: Usage,
    pub cost: Usd,
    /// What the model hears about an answer that could not be used.
    pub told: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub reasoning: Vec<Reasoning>,
    pub stop: StopReason,
    pub usage: Usage,
    /// By tries before it that failed.
    pub lost: Usage,
    /// Of both. None where the price is not known, which is not a price of nothing.
    pub cost: Option<Usd>,
    pub retries: u32,
    pub duration_ms: u64,
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
    #[error("a conversation is taken over before anything is said")]
    BegunAlready,
    #[error("the journal has no header yet")]
    NotCreated,
    #[error("the call {0} waits for a person's answer")]
    Unanswered(CallId),
    #[error("the call {0} does not wait for the card {1}")]
    OtherCard(CallId, CardId),
    #[error("the call {0} is past being changed")]
    TooLate(CallId),
    #[error("the call {0} was begun with another effect")]
    AnotherCall(CallId),
    #[error("an execution spawns at most {MOST_CHILDREN} agents")]
    TooManyChildren,
    #[error("the agent {0} has ended, and been paid for")]
    AlreadyCharged(ExecutionId),
    #[error("the pattern is not at the step `{0}`")]
    NotThere(String),
    #[error("this compaction {0}")]
    Compaction(&'static str),
    #[error("the call {0} has no result yet")]
    Unfinished(CallId),
    #[error("this was told before")]
    ToldBefore,
    #[error("what is left of the budget is set aside for answers that are being given")]
    SetAside,
    #[error("there is no open exchange {0}")]
    NoSuchExchange(u64),
    #[error("only the program that carries an execution {0}")]
    NotForeign(&'static str),
    #[error("the context prompt {0} is not the one this execution began with")]
    ContextChanged(Digest),
}
