//! The one place of this crate that reads a clock: monotonic time, for deadlines and durations only.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to real processes, which no simulated clock can hurry"
)]

use std::time::{Duration, Instant};

/// Longer than any command may run; a caller who asks for more gets this, so that adding it to an instant cannot overflow.
pub(crate) const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

pub(crate) fn now() -> Instant {
    Instant::now()
}
