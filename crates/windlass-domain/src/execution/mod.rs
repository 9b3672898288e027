//! The execution: one run of one agent, as a journal and the fold over it. `decide` says what a command leads to,
//! `apply` what an event means; resuming is folding and going on.

mod child;
mod claim;
mod command;
mod compaction;
mod conversation;
mod decide;
mod doom;
mod egress;
mod essentials;
mod event;
mod expense;
mod foreign;
mod fork;
mod inspect;
mod launch;
mod lifecycle;
mod message;
mod model_switch;
mod observation;
mod state;

pub use child::{Child, ChildLeft, ChildStatus, MOST_CHILDREN, Parent, SubagentFinished, SubagentSpawned};
pub use claim::{Extra, LONGEST_CLAIM, LONGEST_LISTED, MOST_ARTIFACTS, MOST_CHOICES};
pub use command::{Answer, ExecutionCommand, NoAnswer, Question, Rejected, RunnerCommand};
pub(crate) use compaction::decide_compaction;
pub use compaction::{
    Cleared, Compaction, CompactionCleared, CompactionFailed, CompactionFinished, CompactionFlushed,
    CompactionFlushing, CompactionReason, CompactionSkipped, CompactionStarted, Compactions, Cycle, Extent, Flush,
    Purpose, Rewritten,
};
pub use conversation::Conversation;
pub use decide::decide;
pub use doom::{Doom, DoomLoopConfig, DoomLoopDetected, Habits, Pattern};
pub use egress::EgressRefused;
pub use essentials::{ErrorText, Essentials, OpenQuestion, Said};
pub use event::{
    CallDecision, ContextRef, DecisionOutcome, ExecutionEvent, Header, InjectionReceived, MessageAccepted, MessageKind,
    ModelFailed, ModelRequested, ModelResponded, OwnerEffect, RiskChecked, StateChanged, ToolStarted,
};
pub use expense::{EXPENSES, Expense};
pub use foreign::{
    Carrier, Delivery, ExchangeClosed, ExchangeOpened, ExchangeOutcome, ExchangeWanted, Foreign, MessageDelivery, News,
    RunnerNoted,
};
pub use fork::{CannotFork, ForkPoint, Forked, ForkedFrom, TakenOver, fork_point};
pub use inspect::{ContextZone, inspect};
pub use launch::{AgentInjection, Asked, InjectionType, Launch, Outcome, TaskMessage};
pub use lifecycle::{Activity, Attention, Lifecycle};
pub use message::{AnsweredBy, CannotDeliver, DeliveryMode, Descriptor, Direction, Hearer};
pub use model_switch::ModelSwitched;
pub(crate) use model_switch::without_sealed_thoughts;
pub use observation::{
    Claim, ClaimKind, Doubt, Failure, MOST_OBSERVED, Observation, ObservationDecision, ObservationRecorded, Observed,
    Source, TurnEnd,
};
pub use state::{CallPhase, ExecutionState, OpenCall};
