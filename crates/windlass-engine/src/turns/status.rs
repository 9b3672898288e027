//! News of a task for the session it belongs to: kept in its stream, in the runtime's own words. No model is asked how to say it.

use windlass_domain::queue::{MessageKind, QueuePayload, StatusPayload};
use windlass_domain::session::{SessionAction, StatusTold};
use windlass_store::queue::Leased;
use windlass_store::{Commit, DeliveryChange, Error as StoreError};

use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;

impl Engine {
    /// Takes a message for the proxy that is no user's out of the queue, and into the session where it tells something.
    pub(crate) async fn hear_news(&self, leased: &Leased) -> Result<(), Error> {
        let shared = &self.shared;
        loop {
            let mut rider = Rider { deliveries: vec![DeliveryChange::Ack(leased.delivery)], ..Rider::default() };
            if let Some(told) = told(leased)
                && let Ok(state) = self.task(told.task).await
                && let Some(created) = state.created
            {
                let mut journal = self.session_journal(created.command.session_id).await?;
                if journal.state.workspace.is_some() {
                    let tell = [SessionAction::Tell(told)];
                    journal.ride(&mut rider, tell, &shared.redactor, leased.message.taint, shared.wall())?;
                }
            }
            let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
            rider.ride(&mut commit);
            match shared.commit(commit).await {
                Ok(_) => return Ok(()),
                // Somebody spoke at that moment.
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn told(leased: &Leased) -> Option<StatusTold> {
    let message = &leased.message;
    let task = message.parent_task_id.or(message.task_id)?;
    match (&message.payload, message.message_kind) {
        (Some(QueuePayload::Status(StatusPayload { status, detail, .. })), MessageKind::ExecutionStatusChange) => {
            Some(StatusTold { task, status: *status, detail: detail.clone().unwrap_or_default() })
        }
        _ => None,
    }
}
