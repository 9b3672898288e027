//! A call that had leave and that its tool would not make, because what it would have called is no longer what was accepted (an
//! MCP server that changed a definition). It is audited like what a gate stops.

use serde_json::json;
use windlass_domain::{CallOutcome, CallStatus, Host as _};
use windlass_store::NewEvent;
use windlass_store::queue::{Actor, AuditType};

use super::execution_host::ExecutionHost;
use crate::approvals::Audited;

impl ExecutionHost {
    pub(super) fn audit_refused_call(&self, outcome: &CallOutcome) -> Option<NewEvent> {
        if outcome.status != CallStatus::Denied {
            return None;
        }
        let state = self.state();
        let tool = state.open_call(&outcome.call_id).map(|open| open.call.tool.clone());
        let details = json!({"tool": tool, "call_id": outcome.call_id, "execution_id": self.execution});
        let (event_type, actor) = (AuditType::GateBlock, Actor::GateRunner);
        let audited = Audited { event_type, actor, decision: "block", reason: &outcome.content, details };
        Some(audited.about(self.task, &self.shared, state.taint, self.shared.wall()))
    }
}
