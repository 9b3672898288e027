//! What happens to a world of queues, as data. All of it is drawn from a seed (`draw`), and any act can be taken out: acts
//! name workers by their number and by the count of their calls, so that what is left keeps its meaning.

use std::time::Duration;

use windlass_domain::Taint;
use windlass_domain::queue::Urgency;

use crate::plan::Hints;
use crate::queues::Bug;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuePlan {
    /// For the order of steps, for ids and for small delays.
    pub seed: u64,
    pub workers: u8,
    pub hints: Hints,
    pub acts: Vec<Act>,
    pub bug: Bug,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Asks(Request),
    /// At the worker's `call`-th call across the port, counted over all its lives.
    Befalls {
        worker: u8,
        call: u32,
        blow: Blow,
    },
    /// The wall clock of one worker, or of all, is set.
    Jumps {
        worker: Option<u8>,
        at: Duration,
        by_millis: i64,
    },
    /// Somebody wants to spend one use of an approval.
    Races {
        token: u8,
        worker: u8,
        at: Duration,
    },
    /// A tenant tries to be done with a message of another.
    Meddles {
        tenant: u8,
        at: Duration,
    },
}

/// What a client wants, and what it costs to do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub number: u16,
    pub tenant: u8,
    pub at: Duration,
    /// So many messages in one commit.
    pub messages: u16,
    pub taint: Taint,
    pub urgency: Urgency,
    /// One for each message in a row.
    pub works: Vec<Work>,
    /// The client does not hear the answer so often, and asks again.
    pub lost_answers: u8,
    /// Two connections of the client send the same thing.
    pub has_twin: bool,
}

/// Handling one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    pub length: Duration,
    /// So many attempts come to nothing.
    pub failures: u8,
    /// It reads something from outside.
    pub reads_external: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blow {
    /// Killed; after so long it is started again.
    Dies { after: Duration, comes_back: Return },
    /// Stopped and continued.
    Stops(Duration),
    /// The whole machine sleeps, its monotonic clock as well.
    Freezes(Duration),
    /// Its next commit finds no room on the disk.
    DiskFull,
    /// It is told to end, and ends cleanly; another comes.
    Leaves,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Return {
    AsAnother,
    /// With the owner's id that it had.
    AsItself,
}

impl QueuePlan {
    #[must_use]
    pub const fn with_bug(mut self, bug: Bug) -> Self {
        self.bug = bug;
        self
    }

    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.acts.iter().filter_map(|act| match act {
            Act::Asks(request) => Some(request),
            _ => None,
        })
    }

    /// When the last of what has a time begins.
    pub fn last_moment(&self) -> Duration {
        let moment = |act: &Act| match act {
            Act::Asks(Request { at, .. }) | Act::Jumps { at, .. } | Act::Races { at, .. } | Act::Meddles { at, .. } => {
                Some(*at)
            }
            Act::Befalls { .. } => None,
        };
        self.acts.iter().filter_map(moment).max().unwrap_or_default()
    }
}
