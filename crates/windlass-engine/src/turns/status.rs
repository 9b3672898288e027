//! News of a task for the session it belongs to: kept in its stream, in the runtime's own words. No model is asked how to say it.

use windlass_domain::TaskId;
use windlass_domain::queue::{MessageKind, QueuePayload, StatusPayload};
use windlass_domain::session::{SessionAction, StatusTold};
use windlass_store::queue::{Leased, Queue};
use windlass_store::{Commit, DeliveryChange, Error as StoreError};

use crate::Error;
use crate::attempt::task_stream;
use crate::dispatch::sends_somebody;
use crate::engine::Engine;
use crate::host::Rider;

impl Engine {
    /// Takes the news of a plan and of all who worked for it out of the queue, where no worker does.
    pub(crate) async fn hear_news_of(&self, root: TaskId) -> Result<(), Error> {
        let shared = &self.shared;
        let mut consumer = shared.consumer(Queue::Proxy).await?;
        let graph = self.graph(root).await?;
        let runs = graph.atoms.values().flat_map(|progress| &progress.runs).map(|run| run.task);
        for task in std::iter::once(root).chain(runs) {
            for message in shared.store.about(&shared.tenant, Queue::Proxy.name(), &task_stream(task)).await? {
                if sends_somebody(&message) {
                    continue;
                }
                let mut witness = shared.process.witness.lock().await;
                let leased =
                    shared.desk().claim(&mut consumer, &mut witness, &shared.tenant, message.message_id).await?;
                drop(witness);
                if let Some(leased) = leased {
                    self.hear_news(&leased).await?;
                }
            }
        }
        Ok(())
    }

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
            let item = message.work_item.as_ref().and_then(|item| item["id"].as_str()).map(str::to_owned);
            let detail = detail.clone().unwrap_or_default();
            Some(StatusTold { task, item, status: *status, detail, taint: message.taint })
        }
        _ => None,
    }
}
