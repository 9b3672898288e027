//! Answering `request_research`: the question is on its way or it is not, and the planner is told which at once.

use std::sync::Arc;

use windlass_domain::research::ResearchQuestion;
use windlass_domain::{CallId, CallStatus, HostReply, Refused};

use super::execution_host::ExecutionHost;
use crate::Error;
use crate::engine::Engine;
use crate::parts::{Asking, Dispatched};

impl ExecutionHost {
    /// What they may use is set aside from what the planner has.
    async fn count_helpers(&self, engine: &Engine) -> Result<(), Error> {
        let planner = engine.task(self.task).await?;
        self.set_aside(engine.helpers(&planner).await?);
        Ok(())
    }

    pub(super) async fn research(&self, call_id: CallId, question: ResearchQuestion) -> Result<HostReply, Refused> {
        // An agent that a planner spawned is no planner.
        if self.depth > 0 {
            return Ok(HostReply::Declined("only whoever writes the plan has things looked into".to_owned()));
        }
        let engine = Engine { shared: Arc::clone(&self.shared) };
        let spent = self.spent(self.shared.wall());
        let asking =
            Asking { task: self.task, call_id, fence: self.fence.clone(), taint: self.taint(), spent, question };
        match engine.ask_research(&asking).await {
            Ok(Dispatched::To(run)) => {
                self.count_helpers(&engine).await.map_err(|error| Refused::Store(error.to_string()))?;
                let content = format!("Research dispatched (task_id={run}). Its result will arrive as a message.");
                Ok(HostReply::Answered { status: CallStatus::Ok, content })
            }
            Ok(Dispatched::No(why)) => Ok(HostReply::Declined(why)),
            Err(Error::LeaseLost(_)) => Err(Refused::Fenced),
            Err(error) => Err(Refused::Store(error.to_string())),
        }
    }
}
