//! What was refused before there was a task: it has no effect but this entry.

use serde_json::{Map, json};
use windlass_domain::{Taint, TraceId};
use windlass_store::Commit;
use windlass_store::queue::{Actor, AuditType, RuntimeAuditEvent};

use crate::Error;
use crate::engine::Engine;

impl Engine {
    /// `what` was read and cannot be obeyed: a gate file, a table of risks.
    pub async fn audit_refused(&self, what: &str, why: &str) -> Result<(), Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let event = RuntimeAuditEvent {
            event_type: AuditType::GateBlock,
            trace_id: TraceId::new(now, shared.runtime.random()),
            message_id: None,
            scope_id: shared.tenant.clone(),
            actor: Actor::GateRunner,
            decision: Some("refused".to_owned()),
            reason: Some(shared.redactor.redact(why).into_owned()),
            details: Map::from_iter([("what".to_owned(), json!(what))]),
            created_at: now,
        };
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        commit.events.push(event.on("law", Taint::Auth));
        shared.commit(commit).await?;
        Ok(())
    }
}
