//! The gateway's meter over the host: what a program asks of a model is committed before it is sent, against the same limits as
//! everything else, and what it came to is committed before the program sees the end of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use windlass_domain::execution::{ExchangeClosed, ExchangeOpened, ExchangeOutcome, RunnerCommand};
use windlass_domain::{BoxFuture, Host, Refused, Runtime};
use windlass_llm::gateway::{Asked, Meter, Metered, Outcome, Refusal, Ticket};

/// Agents let others work for them beside each other; more than these wait.
const MOST_AT_ONCE: usize = 4;

pub struct HostMeter {
    host: Arc<dyn Host>,
    runtime: Arc<dyn Runtime>,
    last: AtomicU64,
    /// What is asked at once is paid at once: so many questions may overspend, and no more.
    places: Arc<Semaphore>,
    taken: Mutex<BTreeMap<u64, OwnedSemaphorePermit>>,
    /// Why the host let nothing through, the first time.
    refused: Mutex<Option<Refused>>,
}

impl HostMeter {
    pub fn new(host: Arc<dyn Host>, runtime: Arc<dyn Runtime>) -> Self {
        let last = AtomicU64::new(host.state().foreign.last_exchange);
        let places = Arc::new(Semaphore::new(MOST_AT_ONCE));
        Self { host, runtime, places, taken: Mutex::default(), last, refused: Mutex::default() }
    }

    /// The reason that the program's questions are refused, if they are.
    pub fn take_refusal(&self) -> Option<Refused> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// In a task of its own: whoever asked may go away in the middle of a commit, which nobody may drop.
    async fn record(&self, command: RunnerCommand) -> Result<(), Refused> {
        let (told, result) = oneshot::channel();
        let host = Arc::clone(&self.host);
        self.runtime.spawn(Box::pin(async move {
            let _nobody_waits_any_more = told.send(host.record(vec![command]).await.map(drop));
        }));
        // A runtime that is stopping runs nothing more.
        result.await.unwrap_or(Err(Refused::Fenced))
    }

    fn refuse(&self, refused: Refused) -> Refusal {
        let message = refused.to_string();
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(refused);
        Refusal { message }
    }
}

impl Meter for HostMeter {
    fn open(&self, asked: Asked) -> BoxFuture<'_, Result<Ticket, Refusal>> {
        Box::pin(async move {
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
                return Err(self.refuse(Refused::Fenced));
            };
            let exchange = self.last.fetch_add(1, Ordering::Relaxed) + 1;
            let Asked { model, estimated_input, estimated_cost } = asked;
            let opened = ExchangeOpened { exchange, model, estimated_input, estimated_cost };
            match self.record(RunnerCommand::OpenExchange(opened)).await {
                Ok(()) => {
                    self.taken.lock().unwrap_or_else(PoisonError::into_inner).insert(exchange, place);
                    Ok(Ticket(exchange))
                }
                Err(refused) => Err(self.refuse(refused)),
            }
        })
    }

    fn close(&self, ticket: Ticket, metered: Metered) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Metered { usage, cost, outcome, .. } = metered;
            let outcome = match outcome {
                Outcome::Answered => ExchangeOutcome::Answered,
                Outcome::Failed { reason } => ExchangeOutcome::Failed { reason },
                Outcome::Abandoned => ExchangeOutcome::Abandoned,
            };
            let closed = ExchangeClosed { exchange: ticket.0, usage, cost, outcome };
            // Once the execution rests or ends, what was open has been charged as it was thought to cost.
            let _charged_already = self.record(RunnerCommand::CloseExchange(closed)).await;
            self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&ticket.0);
        })
    }
}
