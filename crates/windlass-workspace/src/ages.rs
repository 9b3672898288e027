//! Which file in a copy looks older than which. Build tools such as `make` believe a product that is not older than its
//! source, and what an agent left says nothing about when it was made: any time can be set. So the times of the live files
//! are not used. In a copy, what was carried is oldest, then what the agent added, then what is as the baseline has it;
//! newest is what the agent changed.
//!
//! Hence a product that an agent planted is made again wherever its source was there before, and a product that was there
//! before is made again when its source was changed. What times cannot tell: of two files that were both added, or both
//! changed, which is the product; and whether a product that the baseline had was replaced honestly. Only a build from
//! clean can.

use windlass_domain::Wall;

use crate::stat::Timestamp;

/// Oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Age {
    Carried,
    Added,
    Unchanged,
    Changed,
}

/// Tools that know no fractions of a second, and file systems that know only even ones, must see the difference.
const APART: i64 = 2;

impl Age {
    /// In a copy made at `made`. All of them are past then, so that what a check makes itself is newer.
    pub fn time(self, made: Wall) -> Timestamp {
        let before = match self {
            Self::Carried => 4,
            Self::Added => 3,
            Self::Unchanged => 2,
            Self::Changed => 1,
        };
        let seconds = i64::try_from(made.as_millis() / 1_000).unwrap_or(i64::MAX);
        Timestamp { seconds: seconds - before * APART, nanoseconds: 0 }
    }
}
