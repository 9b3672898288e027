//! What nobody will ask for again: bodies of blobs that were staged and never committed, and signatures of processes that are
//! long gone. It is done under the writers' lock, so that no commit makes a blob of a body that is just going.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{Instant, Runtime};

use crate::providers::postgres::ledger::Ledger;

/// Soon after a process has begun to write, and then now and again.
const FIRST: Duration = Duration::from_secs(60);
const EVERY: Duration = Duration::from_secs(3_600);

/// What is staged is as a rule committed within a second; a day is for whoever slept. Few at a time: others wait meanwhile.
pub(super) const SWEEP: &str = "
    DELETE FROM blob_parts WHERE body = ANY (ARRAY (
        SELECT body FROM blob_parts AS old
        WHERE number = 0 AND staged_at < clock_timestamp() - interval '1 day'
          AND NOT EXISTS (SELECT FROM blobs WHERE blobs.body = old.body)
        ORDER BY staged_at LIMIT 100));
    DELETE FROM writers WHERE at < clock_timestamp() - interval '1 day'";

pub(super) struct Broom {
    runtime: Arc<dyn Runtime>,
    next: Instant,
}

impl Broom {
    pub(super) fn new(runtime: Arc<dyn Runtime>) -> Self {
        let next = runtime.now() + FIRST;
        Self { runtime, next }
    }

    pub(super) async fn sweep_if_due(&mut self, ledger: &mut Ledger) {
        if self.runtime.now() < self.next {
            return;
        }
        self.next = self.runtime.now() + EVERY;
        // What is not swept now is swept another time.
        let _ = ledger.alone(SWEEP).await;
    }
}
