//! The fuse: it counts a process's calls across ports, and at one of them the process meets its fate. A call has two
//! sides, before and after what it does, and each counts: a process that dies after a commit has committed and does not
//! know it.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass_engine::TripwirePoint;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Dies,
    /// Goes on after so long, as if nothing had been.
    Stalls(Duration),
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
    burnt_at: Option<Point>,
}

impl Fuse {
    pub fn new(burns: Option<(u64, Fate)>) -> Self {
        Self { burns, counted: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call; says what happens to the process there, if anything.
    pub fn count(&self, point: Point) -> Option<Fate> {
        let mut counted = self.lock();
        counted.calls += 1;
        let (_, fate) = self.burns.filter(|(at, _)| *at == counted.calls)?;
        counted.burnt_at = Some(point);
        Some(fate)
    }

    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    pub fn burnt_at(&self) -> Option<Point> {
        self.lock().burnt_at
    }
}
