//! When an owner elsewhere counts as gone: its heart has not beaten for the whole time to live, as seen by one observer on
//! that observer's own monotonic clock. No two clocks are compared. Pure: whoever looks at the row also brings the time.

use std::collections::BTreeMap;
use std::time::Duration;

use windlass_domain::{Instant, OwnerId};

use crate::owner::{Abandoned, Owner, OwnerRow};

/// Silence between two looks counts for at most this part of the time to live. A longer gap says that the observer slept
/// (a suspended laptop, a stopped process), and then the owner may have slept as well and needs time to beat again.
const LONGEST_GAP_PARTS: u32 = 3;

#[derive(Debug, Clone)]
pub struct Observer {
    time_to_live: Duration,
    sightings: BTreeMap<OwnerId, Sighting>,
}

#[derive(Debug, Clone, Copy)]
struct Sighting {
    owner: Owner,
    beat: u64,
    last_look: Instant,
    silent_for: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// Nothing says that it is gone; look again.
    Alive,
    Gone(Abandoned),
}

impl Observer {
    pub const fn new(time_to_live: Duration) -> Self {
        Self { time_to_live, sightings: BTreeMap::new() }
    }

    /// Takes one look at an owner's row. A verdict needs several, no more than a third of the time to live apart.
    pub fn look(&mut self, row: &OwnerRow, now: Instant) -> Judgement {
        let owner = Owner { id: row.id, epoch: row.epoch };
        let fresh = Sighting { owner, beat: row.beat, last_look: now, silent_for: Duration::ZERO };
        let sighting = self.sightings.entry(row.id).or_insert(fresh);
        if (sighting.owner, sighting.beat) != (owner, row.beat) {
            *sighting = fresh;
        }
        let gap = (now - sighting.last_look).min(self.time_to_live / LONGEST_GAP_PARTS);
        sighting.silent_for = sighting.silent_for.saturating_add(gap);
        sighting.last_look = sighting.last_look.max(now);
        if row.retired || sighting.silent_for >= self.time_to_live {
            Judgement::Gone(Abandoned::last_seen(row))
        } else {
            Judgement::Alive
        }
    }

    /// Drops what is known about an owner that no longer matters.
    pub fn forget(&mut self, owner: OwnerId) {
        self.sightings.remove(&owner);
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::Wall;

    use super::*;
    use crate::lease::Epoch;

    /// Looks in the notation `seconds:beat`, or `seconds:beat.epoch`; the last look's judgement is what counts. The time
    /// to live is nine seconds.
    fn check(looks: &str, expect_gone: bool) {
        let mut observer = Observer::new(Duration::from_secs(9));
        let mut last = None;
        for look in looks.split_whitespace() {
            let (second, seen) = look.split_once(':').expect("seconds:beat");
            let (beat, epoch) = seen.split_once('.').unwrap_or((seen, "1"));
            let row = row(beat.parse().expect("a beat"), epoch.parse().expect("an epoch"));
            let now = Instant::since_start(Duration::from_secs(second.parse().expect("seconds")));
            last = Some(observer.look(&row, now));
        }
        let gone = matches!(last, Some(Judgement::Gone(_)));
        assert_eq!(gone, expect_gone, "{looks}");
    }

    fn row(beat: u64, epoch: u64) -> OwnerRow {
        OwnerRow {
            id: OwnerId::new(Wall::from_millis(1), 1),
            epoch: Epoch(epoch),
            host: "ship".into(),
            boot_id: "b".into(),
            pid: 1,
            beat,
            beat_at: Wall::default(),
            retired: false,
            level: 1,
        }
    }

    #[test]
    fn an_owner_is_gone_only_after_silence_that_was_watched() {
        check("0:7", false);
        check("0:7 3:7 6:7 8:7", false);
        check("0:7 3:7 6:7 9:7", true);
        // A beat in between starts the count anew.
        check("0:7 3:7 6:8 9:8 12:8", false);
        check("0:7 3:7 6:8 9:8 12:8 15:8", true);
        // So does another incarnation at the same beat.
        check("0:7 3:7 6:7.2 9:7.2", false);
        // A beat that went down is a beat.
        check("0:7 3:7 6:7 9:1", false);
    }

    #[test]
    fn an_observer_that_slept_does_not_blame_the_owner() {
        check("0:7 1000:7", false);
        check("0:7 1000:7 1001:7", false);
        check("0:7 1000:7 2000:7 3000:7", true);
    }

    #[test]
    fn a_retired_owner_is_gone_at_first_sight() {
        let mut observer = Observer::new(Duration::from_secs(9));
        let row = OwnerRow { retired: true, ..row(1, 1) };
        assert!(matches!(observer.look(&row, Instant::default()), Judgement::Gone(_)));
    }
}
