//! What every route has at hand.

use std::sync::Arc;

use tokio::sync::Semaphore;
use windlass_domain::Runtime;
use windlass_engine::{Engine, Error};

use crate::ask::{Rates, Shares};
use crate::auth::{Caller, Names, Tickets};
use crate::events::{Live, Tails};
use crate::http::{Draining, Limits};
use crate::port::{House, Journal, TokenBook};
use crate::problems::Refusal;
use crate::pulse::Pulse;
use crate::terminals::TerminalPlaces;

pub struct Service {
    /// Whoever asks has it by `engine`.
    pub all: Engine,
    pub runtime: Arc<dyn Runtime>,
    pub names: Names,
    pub tokens: Arc<dyn TokenBook>,
    pub journal: Arc<dyn Journal>,
    pub house: Arc<dyn House>,
    pub limits: Limits,
    pub large_bodies: Semaphore,
    /// Of connections, and of places for large bodies.
    pub shares: Arc<Shares>,
    pub shares_of_files: Arc<Shares>,
    pub rates: Rates,
    pub tails: Tails,
    pub live: Live,
    pub tickets: Tickets,
    pub terminals: TerminalPlaces,
    pub draining: Draining,
    pub pulse: Pulse,
}

impl Service {
    /// The engine as the caller's tenant has it, in the caller's name: there is no other way to it.
    pub fn engine(&self, caller: &Caller) -> Engine {
        self.all.for_tenant(caller.tenant.clone()).in_the_name_of(&caller.name)
    }

    /// What is wrong in words for whoever asked; what they can do nothing about is told to the operator instead.
    pub fn refuse(&self, error: Error) -> Refusal {
        Refusal::of(&error).unwrap_or_else(|| {
            let broken = match error.is_outage() {
                true => Refusal::store_gone(),
                false => self.broken("the engine", &error),
            };
            if error.leaves_doubt() { broken.perhaps_done() } else { broken }
        })
    }

    pub fn broken(&self, what: &str, error: &dyn std::fmt::Display) -> Refusal {
        self.journal.trouble(&format!("{what}: {error}"));
        Refusal::broken()
    }
}
