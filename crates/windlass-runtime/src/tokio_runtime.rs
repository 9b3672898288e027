//! `Runtime` on Tokio. Cheap to clone; all clones share one monotonic origin.

#![expect(clippy::disallowed_methods, reason = "the home of Tokio's tasks and timers and of the system's clocks")]

use std::time::{Instant as SystemInstant, SystemTime, UNIX_EPOCH};

use tokio::runtime::Handle;
use windlass_domain::{BoxFuture, Instant, Runtime, Wall, millis};

/// How many threads carry a program's tasks. What blocks has threads of its own either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// For a program that does one thing: no step ever waits for another thread to wake up.
    One,
    PerCore,
}

/// Threads for what blocks, at most. Disks and databases do not become faster by being asked more at once, and every thread
/// takes memory.
const BLOCKING_THREADS: usize = 16;

/// What carries a whole program: tasks, sockets, processes and timers.
pub fn executor(threads: Threads) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = match threads {
        Threads::One => tokio::runtime::Builder::new_current_thread(),
        Threads::PerCore => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.max_blocking_threads(BLOCKING_THREADS).enable_all().build()
}

#[derive(Debug, Clone)]
pub struct TokioRuntime {
    handle: Handle,
    origin: SystemInstant,
}

impl TokioRuntime {
    /// On the Tokio runtime that `handle` belongs to.
    pub fn new(handle: Handle) -> Self {
        Self { handle, origin: SystemInstant::now() }
    }

    /// On the Tokio runtime that is running here.
    pub fn current() -> Self {
        Self::new(Handle::current())
    }
}

impl Runtime for TokioRuntime {
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.handle.spawn(task);
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        match self.origin.checked_add(deadline.elapsed_since_start()) {
            Some(deadline) => Box::pin(tokio::time::sleep_until(deadline.into())),
            // Later than any clock goes.
            None => Box::pin(std::future::pending()),
        }
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        let blocking = self.handle.spawn_blocking(work);
        Box::pin(async move {
            // Work that panicked must not look finished to whoever waits for it.
            if let Err(failed) = blocking.await
                && let Ok(panic) = failed.try_into_panic()
            {
                std::panic::resume_unwind(panic);
            }
        })
    }

    fn now(&self) -> Instant {
        Instant::since_start(self.origin.elapsed())
    }

    fn wall(&self) -> Wall {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Wall::from_millis(millis(since_epoch))
    }

    fn random(&self) -> u128 {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).expect("the operating system has randomness");
        u128::from_ne_bytes(bytes)
    }
}
