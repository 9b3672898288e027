//! How long, and how often, something is tried again.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{Instant, Runtime};

const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(2);

pub(super) struct Patience {
    runtime: Arc<dyn Runtime>,
    until: Instant,
    next: Duration,
}

impl Patience {
    pub(super) fn new(runtime: &Arc<dyn Runtime>, length: Duration) -> Self {
        Self { runtime: Arc::clone(runtime), until: runtime.now() + length, next: FIRST }
    }

    /// Waits, longer from time to time. `false`: it has waited long enough.
    pub(super) async fn has_more(&mut self) -> bool {
        if self.runtime.now() >= self.until {
            return false;
        }
        self.runtime.sleep(self.next).await;
        self.next = (self.next * 2).min(LONGEST);
        true
    }
}
