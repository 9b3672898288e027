//! Whose word it is that a foreign tool may be offered: the definitions of an MCP server that an operator accepted, by digest.

use std::collections::BTreeMap;

use serde_json::{Map, json};
use windlass_domain::{Digest, Taint, TraceId};
use windlass_store::Commit;
use windlass_store::queue::{Actor, AuditType, RuntimeAuditEvent};

use crate::Error;
use crate::engine::Engine;

impl Engine {
    /// `tools` are all that is accepted of this server from now on.
    pub async fn audit_pinned(&self, server: &str, tools: &BTreeMap<String, Digest>, user: &str) -> Result<(), Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let event = RuntimeAuditEvent {
            event_type: AuditType::Approval,
            trace_id: TraceId::new(now, shared.runtime.random()),
            message_id: None,
            scope_id: shared.tenant.clone(),
            actor: Actor::User,
            decision: Some("pinned".to_owned()),
            reason: Some(format!("{user} accepts {} tools of the MCP server {server}", tools.len())),
            details: Map::from_iter([("server".to_owned(), json!(server)), ("tools".to_owned(), json!(tools))]),
            created_at: now,
        };
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        commit.events.push(event.on("mcp", Taint::Auth));
        shared.commit(commit).await?;
        Ok(())
    }
}
