//! One request's account with the meter, which is closed exactly once. Both ends are reached in tasks of their own: an agent
//! that goes away while the meter is still writing must neither lose a ticket nor break off the writing.

use std::sync::Arc;

use tokio::sync::oneshot;
use windlass_domain::{Asking, Runtime, Usage};

use crate::chat::Metering;
use crate::gateway::meter::{Asked, Leave, Meter, Metered, Outcome, Refusal, Ticket};
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
    /// For a request of about so many tokens, whose answer may have so many where it says so.
    pub async fn open(&self, input: u64, said: Option<u64>) -> Result<Account, Refusal> {
        let asking = self.model.asking(input, said);
        let asked = Asked { model: self.name.clone(), asking };
        let (meter, runtime, model) = (Arc::clone(&self.meter), Arc::clone(&self.runtime), self.model);
        let (tell, told) = oneshot::channel();
        self.runtime.spawn(Box::pin(async move {
            let opened = meter.open(asked).await.map(|Leave { ticket, most_output }| Account {
                ticket: Some(ticket),
                used: (Usage { input, ..Usage::default() }, Metering::Estimated),
                asking,
                most_output,
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
    asking: Asking,
    most_output: u64,
    meter: Arc<dyn Meter>,
    runtime: Arc<dyn Runtime>,
    model: Model,
}

impl Account {
    /// How long the answer may be, where that is less than was asked for.
    pub fn shortened(&self) -> Option<u64> {
        (self.most_output < self.asking.output).then_some(self.most_output)
    }

    /// What is charged for an answer of which nothing is ever heard. One that comes in portions is broken off with the
    /// connection; one that comes as a whole may have been made to its end.
    pub fn assume(&mut self, stream: bool) -> Usage {
        let output = if stream { 0 } else { self.most_output };
        let assumed = Usage { input: self.asking.input, output, ..Usage::default() };
        self.note(assumed, Metering::Estimated);
        assumed
    }

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
