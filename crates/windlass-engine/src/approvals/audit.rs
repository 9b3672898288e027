//! Seed 001 §2.5's events as the engine writes them: one for every decision of a person, use of a token and call that was not
//! let through, in the commit that makes it so.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use windlass_domain::{Taint, TaskId, TraceId, Wall};
use windlass_store::NewEvent;
use windlass_store::queue::{Actor, AuditType, RuntimeAuditEvent};

use crate::engine::Shared;

pub struct Audited<'a> {
    pub event_type: AuditType,
    pub actor: Actor,
    pub decision: &'a str,
    pub reason: &'a str,
    pub details: Value,
}

impl Audited<'_> {
    /// On the task's own audit stream, secrets taken out: notes and rewritten words come from people.
    pub fn about(self, task: TaskId, shared: &Shared, taint: Taint, at: Wall) -> NewEvent {
        let Self { event_type, actor, decision, reason, details } = self;
        let details = match details {
            Value::Object(details) => details,
            _ => Map::new(),
        };
        let event = RuntimeAuditEvent {
            event_type,
            trace_id: trace_of(task),
            message_id: None,
            scope_id: shared.tenant.clone(),
            actor,
            decision: Some(decision.to_owned()),
            reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
            details,
            created_at: at,
        };
        let mut event = event.on(&task.to_string(), taint);
        if let Cow::Owned(redacted) = shared.redactor.redact_json(event.encoded.data.get()) {
            event.encoded.data = RawValue::from_string(redacted).expect("redacted JSON is JSON");
        }
        event
    }
}

/// Everything that follows from a task has the task's own number as its trace.
pub fn trace_of(task: TaskId) -> TraceId {
    task.to_string().parse().expect("every id is a UUID")
}
