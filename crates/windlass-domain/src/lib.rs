//! What Windlass is, as values and rules: ids, records, events and their folds, budgets, results, and the ports behind
//! which the rest of the world stands. Everything here is pure: no runtime, no I/O, no clock, no dice, no environment.

pub mod approval;
mod attachment;
mod budget;
mod call;
mod caller;
mod check;
pub mod coordinate;
mod delegation;
mod digest;
mod event;
pub mod execution;
pub mod goal;
pub mod graph;
mod grounds;
mod id;
mod image;
mod kinds;
pub mod known;
mod labels;
mod memory;
mod message;
pub mod monitor;
pub mod pattern;
pub mod plan;
mod port;
mod question;
pub mod queue;
mod reach;
pub mod research;
mod result;
pub mod risk;
pub mod role_output;
mod scope;
mod secret;
pub mod session;
mod skill;
mod spill;
mod taint;
pub mod task;
mod time;
pub mod timeline;
pub mod tool_name;
mod trace;
mod usage;
mod visible;

pub use attachment::Attachment;
pub use budget::{Asking, Budget, Exhausted, Left, Limits, SHORTEST_ANSWER, Spent};
pub use call::{Call, CallOutcome, CallStatus, Effect, Finished, Intent, Permit, Probe, Recovery, Verdict};
pub use caller::{CallerName, NotAName};
pub use check::{
    BaseCase, Check, CheckProbe, CheckResult, DEFAULT_TIMEOUT, Expectation, FileExpectation, KEPT_OUTPUT_CHARS,
};
pub use delegation::Delegation;
pub use digest::{Digest, NotADigest};
pub use event::{Encoded, EventFamily, JOURNAL_LEVEL, Older, Unreadable};
pub use grounds::{GroundCleared, GroundEvent, GroundLabelled, GroundSettled, Grounds};
pub use id::{
    CommandId, ExecutionId, GoalId, MemoryId, MessageId, NotAnId, OwnerId, RequestId, SessionId, TaskId, Tenant,
    TraceId,
};
pub use image::{Image, MediaType};
pub use kinds::record_kinds;
pub use labels::Labels;
pub use memory::{
    Ended, LONGEST_MEMORY, Memories, Memory, MemoryEvent, MemoryForgotten, MemoryKind, MemorySource, PlanDecision,
    plan_decisions, remember,
};
pub use message::{CallId, Dialect, Message, Reasoning, StopReason, ToolCall, ToolResult, ToolSpec};
pub use port::{
    Applied, BoxFuture, CancelSignal, Canceller, Candidate, ContextService, Delta, Drawing, Drawn, Embedder, Holdings,
    Host, HostReply, HostRequest, HostWork, Kept, Look, Merge, Refused, Runner, Runtime, Seq, Spawn, Stop, TreeId,
    Wait, Workspace, WorkspaceError,
};
pub use question::{
    Awaited, QuestionAnswered, QuestionAsked, QuestionEvent, QuestionRejected, QuestionState, QuestionWithdrawn,
    UserQuestion,
};
pub use reach::{Prepared, Program, Reach};
pub use result::{
    Deliverable, DeliverableType, ErrorCategory, ErrorCode, ErrorDetails, EvidenceRef, EvidenceType, HitlRequest,
    TaskResult, TaskResultStatus,
};
pub use scope::{Account, Role, Scope, ScopeKind};
pub use secret::Secret;
pub use skill::SkillSeen;
pub use spill::spill_path;
pub use taint::Taint;
pub use time::{Instant, NotAMoment, Wall, millis};
pub use trace::{TraceEntry, TraceEventType, trace};
pub use usage::{Usage, UsageMetrics, Usd, grouped};
pub use visible::{is_hidden, visible, visible_line};
