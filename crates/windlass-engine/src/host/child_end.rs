//! The end of an agent that was spawned, as its parent hears it: the bill first, then the file where its words were wanted, then
//! what it came to.

use windlass_domain::execution::{ChildLeft, ExecutionState, Lifecycle, SubagentFinished};
use windlass_domain::{CallId, Host as _, HostReply, Probe, Refused, Role, Spawn};

use super::child_told::{Told, call_status, status};
use super::execution_host::ExecutionHost;
use super::rider::Rider;

/// Of an output whose fate another process knew.
const CUT_OFF: &str = "the process that was to write it was stopped; the result is here";

impl ExecutionHost {
    /// It has ended: its bill is paid, its words are written where they were wanted, and its parent is told.
    pub(super) async fn hear_end(&self, call_id: &CallId, child: &Self, spawn: &Spawn) -> Result<HostReply, Refused> {
        let state = child.state();
        let wanted = spawn.write_output_to.as_deref().filter(|_| state.lifecycle == Lifecycle::Completed);
        let is_paid = self.state().child_of(call_id).is_some_and(|known| known.ended.is_some());
        let mut refused = None;
        if !is_paid {
            let intent = self.intend_output(wanted, &state).await;
            refused = intent.as_ref().err().cloned();
            let label = self.label_of(call_id);
            self.charge(bill(&label, &state, intent.ok().flatten()))?;
            // Told now, and not when the slowest of those beside it has ended; and before any file is changed.
            self.commit(Vec::new(), Rider::default()).await?;
        }
        let wrote = match (wanted, refused, self.state().child_of(call_id).and_then(|known| known.writes.clone())) {
            (None, ..) => None,
            (Some(_), Some(why), _) => Some(Err(why)),
            (Some(_), None, Some(probe)) => Some(self.write_output(*probe, &state).await),
            (Some(_), None, None) => Some(Err(CUT_OFF.to_owned())),
        };
        let content = Told { label: &self.label_of(call_id), state: &state, wrote }.text();
        Ok(HostReply::Answered { status: call_status(status(&state)), content })
    }

    fn label_of(&self, call_id: &CallId) -> String {
        self.state().child_of(call_id).map(|known| known.label.clone()).unwrap_or_default()
    }
}

/// What a child has used and left behind.
pub fn bill(label: &str, state: &ExecutionState, writes: Option<Probe>) -> SubagentFinished {
    let execution_id = state.header.as_ref().map(|header| header.execution_id).expect("a child has a header");
    SubagentFinished {
        label: label.to_owned(),
        status: Some(status(state)),
        duration_ms: state.spent.active_ms,
        left: Some(Box::new(ChildLeft {
            taint: state.taint,
            labels: state.labels.clone(),
            wrote: writes.as_ref().map(|probe| probe.path.clone()),
            writes: writes.map(Box::new),
            deliverables: state.deliverables.clone(),
            interrupted: state.interrupted.clone(),
            unpriced: state.unpriced,
            sub_agents: state.sub_agents(),
        })),
        ..SubagentFinished::bill(execution_id, Role::Subagent, state.spent.usage, state.spent.cost)
    }
}
