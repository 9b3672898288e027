//! How long, and how often, something is tried again. Only time in which this process could try counts: one that stood still (stopped,
//! or on a machine that slept) cannot tell that the server is gone, and asks once more before it says so.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{Instant, Runtime};

const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(2);
/// Between two questions at most this part of the whole counts: more than that nobody waits who is awake.
const LONGEST_GAP_PARTS: u32 = 3;

pub(super) struct Patience {
    runtime: Arc<dyn Runtime>,
    longest_gap: Duration,
    left: Duration,
    last_asked: Instant,
    next: Duration,
}

impl Patience {
    pub(super) fn new(runtime: &Arc<dyn Runtime>, length: Duration) -> Self {
        let longest_gap = length / LONGEST_GAP_PARTS;
        Self { runtime: Arc::clone(runtime), longest_gap, left: length, last_asked: runtime.now(), next: FIRST }
    }

    /// Waits, longer from time to time. `false`: it has waited long enough.
    pub(super) async fn has_more(&mut self) -> bool {
        let now = self.runtime.now();
        self.left = self.left.saturating_sub((now - self.last_asked).min(self.longest_gap));
        self.last_asked = now;
        if self.left.is_zero() {
            return false;
        }
        self.runtime.sleep(self.next).await;
        self.next = (self.next * 2).min(LONGEST);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Mutex;
    use std::task::{Context, Poll, Waker};

    use windlass_domain::{BoxFuture, Wall};

    use super::*;

    /// Nobody waits: whoever sleeps is at the end of it at once.
    #[derive(Default)]
    struct Fast(Mutex<Instant>);

    impl Fast {
        fn pass(&self, length: Duration) {
            let mut now = self.0.lock().unwrap();
            *now = *now + length;
        }
    }

    impl Runtime for Fast {
        fn spawn(&self, _: BoxFuture<'static, ()>) {
            unreachable!("nobody starts anything")
        }

        fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
            *self.0.lock().unwrap() = deadline;
            Box::pin(std::future::ready(()))
        }

        fn block(&self, _: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
            unreachable!("nobody works")
        }

        fn now(&self) -> Instant {
            *self.0.lock().unwrap()
        }

        fn wall(&self) -> Wall {
            Wall::default()
        }

        fn random(&self) -> u128 {
            0
        }
    }

    /// How often something is tried again, and how long that takes, where each time takes `each` and the first `first`.
    fn check(first: Duration, each: Duration) -> (usize, Duration) {
        let fast = Arc::new(Fast::default());
        let runtime: Arc<dyn Runtime> = Arc::<Fast>::clone(&fast);
        let mut patience = Patience::new(&runtime, Duration::from_secs(30));
        fast.pass(first);
        let mut tries = 0;
        loop {
            let asked = pin!(patience.has_more()).poll(&mut Context::from_waker(Waker::noop()));
            match asked {
                Poll::Ready(true) => tries += 1,
                Poll::Ready(false) => return (tries, fast.now() - Instant::default()),
                Poll::Pending => unreachable!("nobody waits"),
            }
            fast.pass(each);
        }
    }

    #[test]
    fn a_server_that_is_gone_is_waited_for_as_long_as_was_said() {
        for each in [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(5)] {
            let (_, length) = check(each, each);
            assert!((30..38).contains(&length.as_secs()), "{each:?}: {length:?}");
        }
    }

    /// Regression: a worker that was stopped for longer than that took the session that the server had ended meanwhile for a server
    /// that was gone, and told to end it failed.
    #[test]
    fn whoever_stood_still_asks_again_before_it_gives_up() {
        let hour = Duration::from_secs(3_600);
        let (tries, length) = check(hour, Duration::ZERO);
        assert!(tries > 5 && length > hour + Duration::from_secs(15), "{tries} in {length:?}");
    }
}
