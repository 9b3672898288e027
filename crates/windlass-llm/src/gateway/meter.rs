//! The port to whoever keeps the budget. A request is opened before anything of it is sent, and each one that was opened is
//! closed once, however it ends.

use windlass_domain::{Asking, BoxFuture, Usage, Usd};

use crate::chat::Metering;

pub trait Meter: Send + Sync + 'static {
    /// Whether this may be asked. The request waits for as long as this takes.
    fn open(&self, asked: Asked) -> BoxFuture<'_, Result<Leave, Refusal>>;

    /// Who is to answer from now on, where that is another than the gateway was made for.
    fn model(&self) -> Option<String>;

    /// What came of it. Called once for each ticket; the agent sees the end of its answer only after this has returned.
    fn close(&self, ticket: Ticket, metered: Metered) -> BoxFuture<'_, ()>;
}

/// A request that is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The model that answers, whatever the agent called it.
    pub model: String,
    pub asking: Asking,
}

/// A request may be sent, and answered with so many tokens. Where that is less than was asked for, the request is told so.
#[derive(Debug, PartialEq, Eq)]
pub struct Leave {
    pub ticket: Ticket,
    pub most_output: u64,
}

/// The meter's own name for a request that it let through. It cannot be copied, so that it cannot be closed twice.
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket(pub u64);

/// Why a request may not be sent: a sentence for the agent, which will be told not to ask again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Metered {
    pub usage: Usage,
    pub metering: Metering,
    /// Nothing is known about the price of the model when it is absent.
    pub cost: Option<Usd>,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The whole answer has come.
    Answered,
    /// Upstream refused, broke off or cannot be reached.
    Failed { reason: String },
    /// Nobody waited for the end: the agent has gone, or the gateway was taken away. The usage is what was spent until then,
    /// as far as is known or can be thought.
    Abandoned,
}
