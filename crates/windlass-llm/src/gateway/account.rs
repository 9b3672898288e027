//! One request's account with the meter, which is closed exactly once. Both ends are reached in tasks of their own: an agent
//! that goes away while the meter is still writing must neither lose a ticket nor break off the writing.

use std::sync::Arc;

use tokio::sync::oneshot;
use windlass_domain::{Runtime, Usage};

use crate::chat::Metering;
use crate::gateway::meter::{Asked, Meter, Metered, Outcome, Refusal, Ticket};
use crate::models::Model;

/// Where accounts are opened.
pub struct Accounts {
    pub meter: Arc<dyn Meter>,
    pub runtime: Arc<dyn Runtime>,
    /// The model that answers.
    pub name: String,
    pub model: Model,
}

impl Accounts {
    pub async fn open(&self, estimated_input: u64) -> Result<Account, Refusal> {
        let estimated_cost = self.model.cost(&Usage { input: estimated_input, ..Usage::default() }).unwrap_or_default();
        let asked = Asked { model: self.name.clone(), estimated_input, estimated_cost };
        let (meter, runtime, model) = (Arc::clone(&self.meter), Arc::clone(&self.runtime), self.model);
        let (tell, told) = oneshot::channel();
        self.runtime.spawn(Box::pin(async move {
            let opened = meter.open(asked).await.map(|ticket| Account {
                ticket: Some(ticket),
                used: (Usage::default(), Metering::Estimated),
                meter: Arc::clone(&meter),
                runtime,
                model,
            });
            // Where nobody waits any longer, the account comes back here and is closed by being dropped.
            let _ = tell.send(opened);
        }));
        told.await.unwrap_or_else(|_| Err(Refusal { message: "this gateway is closing".to_owned() }))
    }
}

pub struct Account {
    /// Gone once the account is closed.
    ticket: Option<Ticket>,
    /// What is charged if nobody waits for the end.
    used: (Usage, Metering),
    meter: Arc<dyn Meter>,
    runtime: Arc<dyn Runtime>,
    model: Model,
}

impl Account {
    /// What is known or thought to have been used by now.
    pub const fn note(&mut self, usage: Usage, metering: Metering) {
        self.used = (usage, metering);
    }

    /// Returns when the meter has it.
    pub async fn close(mut self, usage: Usage, metering: Metering, outcome: Outcome) {
        self.used = (usage, metering);
        if let Some(written) = self.settle(outcome) {
            // The task ends with the runtime or with the sentence that it was written.
            let _ = written.await;
        }
    }

    fn settle(&mut self, outcome: Outcome) -> Option<oneshot::Receiver<()>> {
        let ticket = self.ticket.take()?;
        let (usage, metering) = self.used;
        let metered = Metered { usage, metering, cost: self.model.cost(&usage), outcome };
        let meter = Arc::clone(&self.meter);
        let (tell, told) = oneshot::channel();
        self.runtime.spawn(Box::pin(async move {
            meter.close(ticket, metered).await;
            let _ = tell.send(());
        }));
        Some(told)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let _ = self.settle(Outcome::Abandoned);
    }
}
