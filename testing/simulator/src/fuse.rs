//! The fuse: it counts a process's calls across ports, and at one of them the process meets its fate. A call has two
//! sides, before and after what it does, and each counts: a process that dies after a commit has committed and does not
//! know it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass_engine::TripwirePoint;

use crate::executor::ProcessId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Dies,
    /// Goes on after so long, as if nothing had been.
    Stalls(Duration),
    /// The same with its whole machine: its monotonic clock stood still as well.
    Freezes(Duration),
}

/// What befalls a process where it calls across a port.
pub trait Fortune: Send + Sync {
    /// Counts a call, made after so many changes of the world; says what happens to the process there, if anything.
    fn count(&self, process: ProcessId, point: Point, changes: u64) -> Option<Fate>;

    /// By how many milliseconds its wall clock is wrong.
    fn wrong_by(&self) -> i64 {
        0
    }
}

/// Where a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    Store(&'static str, Side),
    Sandbox(&'static str, Side),
    Model(Side),
    /// The answer is being streamed.
    Delta,
    Tripwire(TripwirePoint),
    Block(Side),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Before,
    After,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::After => "after",
        })
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(verb, side) => write!(f, "{side} store.{verb}"),
            Self::Sandbox(verb, side) => write!(f, "{side} sandbox.{verb}"),
            Self::Model(side) => write!(f, "{side} the model's answer"),
            Self::Delta => f.write_str("in the middle of the model's answer"),
            Self::Tripwire(point) => write!(f, "at {}", point.name()),
            Self::Block(side) => write!(f, "{side} blocking work"),
        }
    }
}

#[derive(Debug, Default)]
pub struct Fuse {
    /// At which call, counted from one.
    burns: Option<(u64, Fate)>,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    calls: u64,
    /// The last call in each state of the world.
    last_calls: BTreeMap<u64, u64>,
    passed: BTreeSet<Point>,
    burnt: Option<(Fate, Point)>,
}

impl Fuse {
    pub fn new(burns: Option<(u64, Fate)>) -> Self {
        Self { burns, counted: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// The calls at which a death leaves a world that no other death leaves: in between nothing changes but memory, and
    /// that is lost anyway.
    pub fn distinct_deaths(&self) -> Vec<u64> {
        self.lock().last_calls.values().copied().collect()
    }

    /// Every kind of place it was at.
    pub fn passed(&self) -> BTreeSet<Point> {
        self.lock().passed.clone()
    }

    pub fn burnt(&self) -> Option<(Fate, Point)> {
        self.lock().burnt
    }
}

impl Fortune for Fuse {
    fn count(&self, _: ProcessId, point: Point, changes: u64) -> Option<Fate> {
        let mut counted = self.lock();
        counted.calls += 1;
        counted.passed.insert(point);
        let calls = counted.calls;
        counted.last_calls.insert(changes, calls);
        let (_, fate) = self.burns.filter(|(at, _)| *at == counted.calls)?;
        counted.burnt = Some((fate, point));
        Some(fate)
    }
}
