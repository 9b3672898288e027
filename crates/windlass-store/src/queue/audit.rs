//! What is kept of queues for good, with seed 001 §2.5's fields: an event in the very commit that did it, hence part of the
//! tenant's chain. The other types of that schema are written by those who approve, verify and gate, on the same kind of
//! stream.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use windlass_domain::queue::{QueueMessage, Sender};
use windlass_domain::{Encoded, MessageId, OwnerId, Taint, Tenant, TraceId, Wall};

use crate::commit::NewEvent;
use crate::queue::{Queue, queue_of};
use crate::record::{Standing, StoredMessage};
use crate::stream::StreamId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditType {
    Enqueue,
    Dequeue,
    Approval,
    Verify,
    Check,
    GateBlock,
}

impl AuditType {
    const fn kind(self) -> &'static str {
        match self {
            Self::Enqueue => "audit.enqueue",
            Self::Dequeue => "audit.dequeue",
            Self::Approval => "audit.approval",
            Self::Verify => "audit.verify",
            Self::Check => "audit.check",
            Self::GateBlock => "audit.gate_block",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    User,
    Proxy,
    Planner,
    Executor,
    Runtime,
    ApprovalEngine,
    GateRunner,
    VerificationRunner,
}

impl From<Sender> for Actor {
    fn from(sender: Sender) -> Self {
        match sender {
            Sender::User => Self::User,
            Sender::Proxy => Self::Proxy,
            Sender::Planner => Self::Planner,
            Sender::Executor => Self::Executor,
            Sender::Runtime => Self::Runtime,
        }
    }
}

/// Who takes from a queue: the role whose it is.
impl From<Queue> for Actor {
    fn from(queue: Queue) -> Self {
        match queue {
            Queue::Proxy => Self::Proxy,
            Queue::Planner => Self::Planner,
            Queue::Executor => Self::Executor,
            Queue::Runtime => Self::Runtime,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuntimeAuditEvent {
    pub event_type: AuditType,
    pub trace_id: TraceId,
    pub message_id: Option<MessageId>,
    pub scope_id: Tenant,
    pub actor: Actor,
    pub decision: Option<String>,
    pub reason: Option<String>,
    pub details: Map<String, Value>,
    pub created_at: Wall,
}

/// One stream for each subject: a queue's name here. It has no row per message, and nobody expects it to stand anywhere, so
/// those who write to it do not meet.
pub fn audit_stream(subject: &str) -> StreamId {
    StreamId::new("audit", subject)
}

impl RuntimeAuditEvent {
    /// Ready to be committed; `taint` is that of what it is about.
    pub fn on(&self, subject: &str, taint: Taint) -> NewEvent {
        let data = serde_json::value::to_raw_value(self).expect("audit events are plain data");
        let encoded = Encoded { kind: self.event_type.kind(), version: 1, data, since: 1, older: &[] };
        NewEvent { stream: audit_stream(subject), encoded, taint, at: self.created_at }
    }
}

pub(super) fn enqueued(queue: Queue, message: &QueueMessage, at: Wall) -> NewEvent {
    handover(AuditType::Enqueue, message.sender.into(), queue, message, &[], at)
}

pub(super) fn dequeued(queue: Queue, message: &QueueMessage, owner: OwnerId, at: Wall) -> NewEvent {
    handover(AuditType::Dequeue, queue.into(), queue, message, &[("owner", json!(owner.to_string()))], at)
}

/// A message changed hands. The content stays in the queue: an audit is read by more people than a message.
fn handover(
    event_type: AuditType,
    actor: Actor,
    queue: Queue,
    message: &QueueMessage,
    details: &[(&str, Value)],
    at: Wall,
) -> NewEvent {
    let kind = [
        ("queue", json!(queue.name())),
        ("message_kind", json!(message.message_kind)),
        ("sender", json!(message.sender)),
    ];
    let placement = message.placement.iter().map(|place| ("placement", json!(place)));
    let details = kind.into_iter().chain(placement).chain(details.iter().cloned());
    let details = details.map(|(key, value)| (key.to_owned(), value)).collect();
    let event = RuntimeAuditEvent {
        event_type,
        trace_id: message.trace_id,
        message_id: Some(message.message_id),
        scope_id: message.scope_id.clone(),
        actor,
        decision: None,
        reason: None,
        details,
        created_at: at,
    };
    event.on(queue.name(), message.taint)
}

/// A person did something with a dead letter. It may be one that nobody here can read, so only its row is looked at.
pub(super) fn decided(event_type: AuditType, decision: &str, letter: &StoredMessage, at: Wall) -> NewEvent {
    let reason = match &letter.standing {
        Standing::Dead { reason, .. } => Some(reason.clone()),
        Standing::Ready | Standing::Delayed { .. } | Standing::Leased { .. } => None,
    };
    let event = RuntimeAuditEvent {
        event_type,
        trace_id: letter.trace_id,
        message_id: Some(letter.message_id),
        scope_id: letter.tenant.clone(),
        actor: Actor::User,
        decision: Some(decision.to_owned()),
        reason,
        details: Map::from_iter([("queue".to_owned(), json!(queue_of(&letter.queue)))]),
        created_at: at,
    };
    event.on(queue_of(&letter.queue), letter.taint)
}
