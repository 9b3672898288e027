//! The port to time, tasks and chance. Tokio stands behind it in production (`windlass-runtime`), the seeded simulator
//! in tests; nothing else in Windlass may spawn, sleep, read a clock or roll dice.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::port::BoxFuture;
use crate::time::{Instant, Wall};

pub trait Runtime: Send + Sync + 'static {
    /// Starts a task that nobody waits for; what it has to say it sends.
    fn spawn(&self, task: BoxFuture<'static, ()>);

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()>;

    /// Runs work that blocks (files, SQLite) where it holds up nobody else.
    fn block(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()>;

    fn now(&self) -> Instant;

    fn wall(&self) -> Wall;

    fn random(&self) -> u128;

    fn sleep(&self, length: Duration) -> BoxFuture<'static, ()> {
        self.sleep_until(self.now() + length)
    }
}

impl dyn Runtime + '_ {
    /// `block`, and what the work answers. A runtime that is stopping runs nothing more and drops who waits for it: there
    /// this never returns.
    pub async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let slot = Arc::new(Mutex::new(None));
        let filled = Arc::clone(&slot);
        let fill = move || {
            let value = work();
            *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        };
        self.block(Box::new(fill)).await;
        let value = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        match value {
            Some(value) => value,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Blocks {
        Running,
        Stopping,
    }

    impl Runtime for Blocks {
        fn spawn(&self, _: BoxFuture<'static, ()>) {}

        fn sleep_until(&self, _: Instant) -> BoxFuture<'static, ()> {
            Box::pin(std::future::pending())
        }

        fn block(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
            let work = Some(work).filter(|_| *self == Self::Running);
            Box::pin(async move { work.into_iter().for_each(|work| work()) })
        }

        fn now(&self) -> Instant {
            Instant::default()
        }

        fn wall(&self) -> Wall {
            Wall::default()
        }

        fn random(&self) -> u128 {
            0
        }
    }

    #[test]
    fn blocking_work_answers_unless_it_was_never_run() {
        let asked = |blocks: Blocks| {
            let runtime: &dyn Runtime = &blocks;
            pin!(runtime.blocking(|| 7)).poll(&mut Context::from_waker(Waker::noop()))
        };
        assert_eq!(asked(Blocks::Running), Poll::Ready(7));
        assert_eq!(asked(Blocks::Stopping), Poll::Pending);
    }
}
