//! Stopping work from outside: a `Canceller` raises the flag once, every `CancelSignal` sees it, at once or when polled.
//! Written on `std` alone, because the domain knows no runtime.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use serde::{Deserialize, Serialize};

/// Why work should stop, the stronger reason last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    Pause,
    Cancel,
    /// The lease is another's now: leave everything as it is, record nothing.
    LeaseLost,
}

#[derive(Debug, Default)]
struct Shared {
    stop: Option<Stop>,
    wakers: Vec<Waker>,
}

#[derive(Debug, Clone, Default)]
pub struct Canceller {
    shared: Arc<Mutex<Shared>>,
}

impl Canceller {
    /// The strongest reason stands: who asks to cancel what is being paused means it, and once the lease is lost nothing
    /// may be recorded any more.
    pub fn stop(&self, reason: Stop) {
        let wakers = {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.stop = shared.stop.max(Some(reason));
            std::mem::take(&mut shared.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// What it was raised for is done: unless somebody has a stronger reason, it can be raised anew.
    pub fn heeded(&self, reason: Stop) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.stop <= Some(reason) {
            shared.stop = None;
        }
    }

    pub fn signal(&self) -> CancelSignal {
        CancelSignal { shared: Arc::clone(&self.shared) }
    }
}

#[derive(Debug, Clone)]
pub struct CancelSignal {
    shared: Arc<Mutex<Shared>>,
}

impl CancelSignal {
    /// A signal that is never raised.
    pub fn never() -> Self {
        Canceller::default().signal()
    }

    pub fn raised(&self) -> Option<Stop> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).stop
    }

    /// Waits until it is raised.
    pub fn wait(&self) -> Wait {
        Wait { shared: Arc::clone(&self.shared) }
    }
}

#[derive(Debug)]
pub struct Wait {
    shared: Arc<Mutex<Shared>>,
}

impl Future for Wait {
    type Output = Stop;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Stop> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        match shared.stop {
            Some(stop) => Poll::Ready(stop),
            None => {
                let waker = context.waker();
                if !shared.wakers.iter().any(|known| known.will_wake(waker)) {
                    shared.wakers.push(waker.clone());
                }
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_reason_stands() {
        let canceller = Canceller::default();
        let signal = canceller.signal();
        let mut waiting = std::pin::pin!(signal.wait());
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Pending);
        canceller.stop(Stop::Pause);
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Ready(Stop::Pause));
        canceller.stop(Stop::Cancel);
        canceller.stop(Stop::Pause);
        assert_eq!(signal.raised(), Some(Stop::Cancel));
        canceller.heeded(Stop::Pause);
        assert_eq!(signal.raised(), Some(Stop::Cancel), "that was not what it was raised for");
        canceller.heeded(Stop::Cancel);
        assert_eq!(signal.raised(), None);
        canceller.stop(Stop::LeaseLost);
        canceller.heeded(Stop::Cancel);
        assert_eq!(signal.raised(), Some(Stop::LeaseLost));
    }
}
