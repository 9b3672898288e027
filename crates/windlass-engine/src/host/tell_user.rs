//! Answering `tell_user`: an agent's words on their way to the user in the midst of its work. They pass the operator's gates as its
//! last word would, and are shown once they are durable, hence once: a call that is run again after a crash finds them told.

use windlass_domain::execution::{ExecutionCommand, OwnerEffect};
use windlass_domain::{CallId, CallStatus, Host, HostReply, Refused};
use windlass_policy::gate::Trigger;

use super::execution_host::ExecutionHost;
use super::gates::{Held, Passed, pass_words};
use super::rider::Rider;

impl ExecutionHost {
    pub(super) async fn tell_user(&self, call_id: CallId, message: String) -> Result<HostReply, Refused> {
        let told = || HostReply::Answered { status: CallStatus::Ok, content: "The user has been told.".to_owned() };
        if self.state().has_told(&call_id) {
            return Ok(told());
        }
        let about = (self.task, self.taint());
        let Passed { text, audited } =
            pass_words(&self.shared, Trigger::EveryAgentResponse, message, about, Held::execution(self)).await;
        let rider = Rider { events: audited.into_iter().collect(), ..Rider::default() };
        match text {
            Ok(message) => {
                let keep = ExecutionCommand::Keep(OwnerEffect::Told { call_id, message });
                self.commit(vec![keep], rider).await?;
                Ok(told())
            }
            Err(why) => {
                self.commit(Vec::new(), rider).await?;
                Ok(HostReply::Declined(format!("not told: {why}")))
            }
        }
    }
}
