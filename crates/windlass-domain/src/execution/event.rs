//! The journal's records (contracts §6), one enum for every family of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::budget::Limits;
use crate::call::{Effect, Finished};
use crate::digest::Digest;
use crate::event::events;
use crate::execution::{
    AgentInjection, Carrier, CompactionCleared, CompactionFailed, CompactionFinished, CompactionFlushed,
    CompactionFlushing, CompactionSkipped, CompactionStarted, DoomLoopDetected, EgressRefused, ExchangeClosed,
    ExchangeOpened, Forked, Lifecycle, MessageDelivery, ModelSwitched, ObservationRecorded, Parent, Purpose,
    RunnerNoted, SubagentFinished, SubagentSpawned,
};
use crate::id::{CardId, ExecutionId, MessageId, RequestId, TaskId};
use crate::image::Image;
use crate::labels::Labels;
use crate::message::{CallId, Reasoning, StopReason, ToolCall};
use crate::pattern::{Pattern, PatternNudged, PatternStepped};
use crate::reach::Reach;
use crate::result::Deliverable;
use crate::risk::{GateSaid, Level, Ruling};
use crate::scope::{Role, Scope};
use crate::taint::Taint;
use crate::usage::{Usage, Usd};

events! {
    pub enum ExecutionEvent {
        Header(Header) = "journal.header",
        MessageAccepted(MessageAccepted) = "message.accepted",
        StateChanged(StateChanged) = "state.changed",
        ModelRequested(ModelRequested) = "model.requested",
        ModelResponded(ModelResponded) = "model.responded",
        ModelFailed(ModelFailed) = "model.failed",
        RiskChecked(RiskChecked) = "risk.checked",
        DecisionRecorded(CallDecision) = "decision.recorded",
        ToolStarted(ToolStarted) = "tool.started",
        ToolFinished(Finished) = "tool.finished",
        InjectionReceived(InjectionReceived) = "injection.received",
        SubagentSpawned(SubagentSpawned) = "subagent.spawned",
        SubagentFinished(SubagentFinished) = "subagent.finished",
        OwnerEffect(OwnerEffect) = "owner-effect.recorded",
        CompactionStarted(CompactionStarted) = "compaction.started",
        CompactionCleared(CompactionCleared) = "compaction.cleared",
        CompactionFlushing(CompactionFlushing) = "compaction.flushing",
        CompactionFlushed(CompactionFlushed) = "compaction.flushed",
        CompactionSkipped(CompactionSkipped) = "compaction.skipped",
        CompactionFinished(CompactionFinished) = "compaction.finished",
        CompactionFailed(CompactionFailed) = "compaction.failed",
        DoomLoopDetected(DoomLoopDetected) = "doom_loop.detected",
        EgressRefused(EgressRefused) = "egress.refused",
        PatternStepped(PatternStepped) = "pattern.stepped",
        PatternNudged(PatternNudged) = "pattern.nudged",
        RunnerNoted(RunnerNoted) = "runner.noted",
        ObservationRecorded(Box<ObservationRecorded>) = "observation.recorded",
        CallProposed(ToolCall) = "call.proposed",
        ExchangeOpened(ExchangeOpened) = "exchange.opened",
        ExchangeClosed(ExchangeClosed) = "exchange.closed",
        MessageDelivery(MessageDelivery) = "message.delivery",
        Forked(Box<Forked>) = "execution.forked",
        ModelSwitched(ModelSwitched) = "model.switched",
    }
}

/// Who runs, for whom, with what: never changed afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub execution_id: ExecutionId,
    pub agent_id: String,
    pub role: Role,
    pub scope: Scope,
    pub agent_version: String,
    pub model: String,
    pub configuration_digest: Digest,
    pub limits: Limits,
    /// Of the workspace's files when it began.
    #[serde(default, skip_serializing_if = "Labels::is_baseline")]
    pub labels: Labels,
    /// Whose child it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// Who keeps its conversation.
    #[serde(default, skip_serializing_if = "Carrier::is_native")]
    pub carrier: Carrier,
    /// What leads it, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Arc<Pattern>>,
}

/// A message to the agent, accepted for delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageAccepted {
    pub message_id: MessageId,
    pub kind: MessageKind,
    pub content: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    Prompt,
    Reply,
    Resume,
    Checkpoint,
    Nudge,
    Interrupt,
    Stop,
    Model,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChanged {
    pub from: Lifecycle,
    pub to: Lifecycle,
    pub reason: String,
}

/// A model is about to be asked. The prompt itself is the fold of what stands before this record; here is its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequested {
    /// From 1.
    pub iteration: u32,
    #[serde(default, skip_serializing_if = "Purpose::is_turn")]
    pub purpose: Purpose,
    pub prompt: Digest,
    /// How many messages of the transcript it holds.
    pub messages: usize,
    /// Given with the first request and whenever it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextRef>,
    /// Charged if the answer is lost, as is `estimated_cost`.
    pub estimated_input: u64,
    #[serde(default, skip_serializing_if = "Usd::is_zero")]
    pub estimated_cost: Usd,
}

/// The unchanging head of every prompt, kept as blobs, so that a resumed run asks with the very same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRef {
    pub system: Digest,
    pub tools: Digest,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelResponded {
    pub iteration: u32,
    #[serde(default, skip_serializing_if = "Purpose::is_turn")]
    pub purpose: Purpose,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// What its provider wants to be told again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Reasoning>,
    pub stop: StopReason,
    pub usage: Usage,
    /// By tries before it that failed.
    #[serde(default, skip_serializing_if = "Usage::is_zero")]
    pub lost: Usage,
    /// Of both. Missing where the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u32,
    pub duration_ms: u64,
}

/// No answer came, after all tries. What those are known to have used is charged, instead of the estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFailed {
    pub iteration: u32,
    pub reason: String,
    pub usage: Usage,
    pub cost: Usd,
    /// An answer did come, but could not be used, and the model hears this about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
const fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// What the rules made of a call that is more than harmless: how risky it is and why, and what each gate said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RiskChecked {
    pub call_id: CallId,
    pub tool: String,
    pub level: Level,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    pub ruling: Ruling,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateSaid>,
}

/// Something was decided about a call that has not run yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallDecision {
    pub call_id: CallId,
    #[serde(rename = "decision")]
    pub outcome: DecisionOutcome,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionOutcome {
    /// Gates changed what it is given. What the model asked for stands in its answer.
    Rewritten { gates: Vec<String>, arguments: Box<RawValue> },
    /// A person is asked.
    Waiting { card_id: CardId },
    /// A person is asked for an answer, which is all that the call is about.
    Question { request_id: RequestId },
    /// Nobody works on it until its monitor, or anybody else, has something to say.
    Monitoring { task_id: TaskId },
    /// A person said yes.
    Approved { card_id: CardId },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolStarted {
    pub call_id: CallId,
    pub tool: String,
    #[serde(flatten)]
    pub effect: Effect,
    #[serde(default = "Reach::missing")]
    pub reach: Reach,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectionReceived {
    pub message_id: MessageId,
    #[serde(flatten)]
    pub injection: AgentInjection,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}

/// Something that the owner of the execution keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OwnerEffect {
    Delivered {
        deliverable: Deliverable,
        content: Digest,
    },
    /// Said to the user in the midst of the work, by this call.
    Told {
        call_id: CallId,
        message: String,
    },
}
