//! The runtime's clock for hyper, which closes connections that send no head.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use windlass_domain::{BoxFuture, Runtime};

#[derive(Clone)]
pub struct RuntimeTimer(pub Arc<dyn Runtime>);

/// Behind a lock, because hyper wants to share what it alone polls.
struct Asleep(Mutex<BoxFuture<'static, ()>>);

impl Future for Asleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let asleep = self.get_mut().0.get_mut().unwrap_or_else(PoisonError::into_inner);
        asleep.as_mut().poll(context)
    }
}

impl Sleep for Asleep {}

impl Timer for RuntimeTimer {
    fn sleep(&self, length: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Asleep(Mutex::new(self.0.sleep(length))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        // Only the standard library knows how far its own instant is from now.
        self.sleep(deadline.saturating_duration_since(self.now()))
    }
}
