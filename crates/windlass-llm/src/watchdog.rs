//! A deadline on a future, by the runtime's clock. Pieces of a stream arrive thousands at a time, so a timer is armed only
//! when there is really something to wait for, and one that was armed for an earlier deadline is used until it fires.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use windlass_domain::{BoxFuture, Instant, Runtime};

pub struct Watchdog {
    runtime: Arc<dyn Runtime>,
    armed: Option<(Instant, BoxFuture<'static, ()>)>,
}

/// The deadline passed first.
#[derive(Debug, PartialEq, Eq)]
pub struct Elapsed;

impl Watchdog {
    pub fn new(runtime: Arc<dyn Runtime>) -> Self {
        Self { runtime, armed: None }
    }

    pub async fn guard<F: Future>(&mut self, deadline: Instant, future: F) -> Result<F::Output, Elapsed> {
        let mut future = pin!(future);
        std::future::poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll_deadline(deadline, context).map(Err),
        })
        .await
    }

    fn poll_deadline(&mut self, deadline: Instant, context: &mut Context<'_>) -> Poll<Elapsed> {
        loop {
            let runtime = &self.runtime;
            // A timer for a later deadline than this one would come too late; an earlier one only wakes us for nothing.
            let (due, timer) = match &mut self.armed {
                Some(armed) if armed.0 <= deadline => armed,
                slot => slot.insert((deadline, runtime.sleep_until(deadline))),
            };
            if Pin::new(timer).poll(context).is_pending() {
                return Poll::Pending;
            }
            let due = *due;
            self.armed = None;
            if due >= deadline {
                return Poll::Ready(Elapsed);
            }
        }
    }
}
