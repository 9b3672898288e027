//! A living owner's message is never taken, however long it works; a dead one's is taken within a second of its expiry. A
//! message expires for a watcher when the holder's heart has been silent for the time to live since the watcher could
//! first see it in those hands.

use std::time::Duration;

use windlass_store::DeliveryChange;
use windlass_store::owner::OwnerChange;

use crate::executor::ProcessId;
use crate::queues::examine::books::{Books, Kept, Standing};
use crate::queues::worker::TIME_TO_LIVE;
use crate::queues::{Blow, QueueHistory, Record, What};

const PROMPTLY: Duration = Duration::from_secs(1);

pub fn check(history: &QueueHistory) -> Vec<String> {
    let watchers = watchers(history);
    let mut complaints = Vec::new();
    Books::walk(history, |books, record, commit| {
        for change in &commit.deliveries {
            let DeliveryChange::Lease { message, from: Some(from), .. } = change else { continue };
            let Some(kept) = books.messages.get(message) else { continue };
            let beat = books.beats.get(&from.holder.owner().id).copied().unwrap_or_default();
            complaints.extend(judge(kept, beat, record, &watchers));
        }
    });
    complaints
}

fn judge(kept: &Kept, beat: Duration, taken: &Record, watchers: &[Watcher]) -> Option<String> {
    let Standing::Held { since, .. } = kept.standing else { return None };
    let (at, errand) = (taken.at, kept.errand);
    if at.saturating_sub(beat) < TIME_TO_LIVE {
        return Some(format!("{errand} was taken from a living owner, {:?} after its last beat", at - beat));
    }
    let late = watchers.iter().find_map(|watcher| {
        let expired = beat.max(since).max(watcher.from) + TIME_TO_LIVE;
        let by = expired + PROMPTLY;
        (at > by && watcher.watches(expired - TIME_TO_LIVE, by)).then(|| at - expired)
    })?;
    Some(format!("{errand} was taken over {late:?} after it had expired"))
}

/// A process that can see the dead.
struct Watcher {
    process: ProcessId,
    from: Duration,
    to: Duration,
    /// When it was stopped, or could not write.
    gaps: Vec<(Duration, Duration)>,
}

impl Watcher {
    fn watches(&self, from: Duration, to: Duration) -> bool {
        let is_free = |(begin, end): &(Duration, Duration)| *end < from || *begin > to;
        self.from <= from && self.to >= to && self.gaps.iter().all(is_free)
    }
}

fn watchers(history: &QueueHistory) -> Vec<Watcher> {
    let mut watchers: Vec<Watcher> = Vec::new();
    for record in &history.records {
        let at = record.at;
        if let What::Started { .. } = record.what {
            watchers.push(Watcher { process: record.process, from: at, to: Duration::MAX, gaps: Vec::new() });
        }
        let Some(watcher) = watchers.iter_mut().find(|watcher| watcher.process == record.process) else { continue };
        match &record.what {
            What::Suffered { blow, .. } => match blow {
                Blow::Dies { .. } => watcher.to = at,
                Blow::Stops(length) | Blow::Freezes(length) => watcher.gaps.push((at, at + *length)),
                Blow::DiskFull | Blow::Leaves => {}
            },
            // It tries again a moment later.
            What::NoRoom => watcher.gaps.push((at, at + PROMPTLY)),
            What::Committed(both) if both.0.owners.iter().any(|change| matches!(change, OwnerChange::Retire(_))) => {
                watcher.to = at;
            }
            _ => {}
        }
    }
    watchers
}
