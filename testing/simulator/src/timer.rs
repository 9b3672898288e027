//! The timers of a virtual clock, in the order in which they are due; those of the same instant in the order in which they
//! were set.

use std::collections::BTreeMap;
use std::task::Waker;
use std::time::Duration;

/// Which timer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    due: Duration,
    number: u64,
}

#[derive(Default)]
pub struct Timers {
    waiting: BTreeMap<Turn, Waker>,
    set: u64,
}

impl Timers {
    pub fn set(&mut self, due: Duration, waker: Waker) -> Turn {
        self.set += 1;
        let turn = Turn { due, number: self.set };
        self.waiting.insert(turn, waker);
        turn
    }

    pub fn cancel(&mut self, turn: Turn) {
        self.waiting.remove(&turn);
    }

    pub fn next(&self) -> Option<Duration> {
        self.waiting.keys().next().map(|turn| turn.due)
    }

    pub fn take_due(&mut self, now: Duration) -> Vec<Waker> {
        let later = self.waiting.split_off(&Turn { due: now, number: u64::MAX });
        std::mem::replace(&mut self.waiting, later).into_values().collect()
    }
}
