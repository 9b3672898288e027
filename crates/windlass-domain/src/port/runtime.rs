//! The port to time, tasks and chance. Tokio stands behind it in production (`windlass-runtime`), the seeded simulator
//! in tests; nothing else in Windlass may spawn, sleep, read a clock or roll dice.

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
