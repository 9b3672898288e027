//! The execution: one run of one agent, as a journal and the fold over it. `decide` says what a command leads to,
//! `apply` what an event means; resuming is folding and going on.

mod child;
mod command;
mod compaction;
mod decide;
mod doom;
mod egress;
mod essentials;
mod event;
mod foreign;
mod inspect;
mod launch;
mod lifecycle;
mod message;
mod observation;
mod state;

pub use child::{Child, ChildLeft, ChildStatus, MOST_CHILDREN, Parent, SubagentFinished, SubagentSpawned};
pub use command::{Answer, ExecutionCommand, NoAnswer, Question, Rejected, RunnerCommand};
pub(crate) use compaction::decide_compaction;
pub use compaction::{
    Cleared, Compaction, CompactionCleared, CompactionFailed, CompactionFinished, CompactionFlushed,
    CompactionFlushing, CompactionReason, CompactionSkipped, CompactionStarted, Compactions, Cycle, Extent, Flush,
    Purpose, Rewritten,
};
pub use decide::decide;
pub use doom::{Doom, DoomLoopConfig, DoomLoopDetected, Habits, Pattern};
pub use egress::EgressRefused;
pub use essentials::{ErrorText, Essentials, OpenQuestion, Said};
pub use event::{
    CallDecision, ContextRef, DecisionOutcome, ExecutionEvent, Header, InjectionReceived, MessageAccepted, MessageKind,
    ModelFailed, ModelRequested, ModelResponded, OwnerEffect, RiskChecked, StateChanged, ToolStarted,
};
pub use foreign::{
    Carrier, Delivery, ExchangeClosed, ExchangeOpened, ExchangeOutcome, Foreign, MessageDelivery, News, RunnerNoted,
};
pub use inspect::{ContextZone, inspect};
pub use launch::{AgentInjection, Asked, InjectionType, Launch, Outcome, TaskMessage};
pub use lifecycle::{Activity, Attention, Lifecycle};
pub use message::{CannotDeliver, DeliveryMode, Descriptor, Direction, Hearer};
pub use observation::{
    Claim, ClaimKind, Failure, MOST_OBSERVED, Observation, ObservationDecision, ObservationRecorded, Observed, Source,
    TurnEnd,
};
pub use state::{CallPhase, ExecutionState, OpenCall};
