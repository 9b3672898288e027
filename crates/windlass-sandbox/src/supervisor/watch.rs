//! Memory and process limits where no control group holds them: count ten times a second, and name the command that
//! uses most. Late by up to a tenth of a second, which is why a control group is better.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{job::Why, memory, tree};
use crate::{Limits, policy::Home};

pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// Which limits are counted here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    pub(crate) memory: Option<Counted>,
    pub(crate) processes: bool,
}

/// Whose memory is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Processes,
    /// And what lasts when they end: the scratch places and the segments are nobody else's.
    Everything(Home),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Use {
    memory_bytes: u64,
    processes: u64,
}

impl Watch {
    pub(crate) fn is_needed(self) -> bool {
        self.memory.is_some() || self.processes
    }

    /// The command to kill, by its minder's pid.
    pub(crate) fn look(self, minders: &BTreeSet<i32>, limits: &Limits) -> Option<(i32, Why)> {
        let table = tree::read_table();
        let mut uses: BTreeMap<i32, Use> = BTreeMap::new();
        let mut shared = memory::Shared::new();
        let belonging = tree::belonging(&table, minders);
        for (&pid, &minder) in &belonging {
            let used = uses.entry(minder).or_default();
            if self.processes {
                used.processes += table.get(&pid).map_or(1, |entry| entry.threads.max(1));
            }
            // Asked before it is counted: what is still its maker's then is counted with its maker.
            let maker = table.get(&pid).map(|entry| entry.parent).filter(|maker| belonging.contains_key(maker));
            if self.memory.is_some() && !maker.is_some_and(|maker| memory::is_one(pid, maker)) {
                used.memory_bytes += memory::of_process(pid, &mut shared);
            }
        }
        let lasting = match self.memory {
            Some(Counted::Everything(home)) => memory::lasting(home),
            Some(Counted::Processes) | None => 0,
        };
        judge(&uses, lasting, limits)
    }
}

/// Whoever filled the scratch places, the command that uses most itself goes: nothing tells whose a file is.
fn judge(uses: &BTreeMap<i32, Use>, lasting_bytes: u64, limits: &Limits) -> Option<(i32, Why)> {
    let over = |of: fn(&Use) -> u64, limit: u64, why| {
        let total: u64 = uses.values().map(of).sum();
        let (largest, _) = uses.iter().max_by_key(|(_, used)| of(used))?;
        (total > limit).then_some((*largest, why))
    };
    over(|used| used.memory_bytes, limits.memory_bytes.saturating_sub(lasting_bytes), Why::OutOfMemory)
        .or_else(|| over(|used| used.processes, limits.processes, Why::TooManyProcesses))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_on_all_together_and_the_largest_goes() {
        let limits = Limits { memory_bytes: 100, processes: 10, ..Limits::default() };
        let uses = |first, second| {
            let of = |(memory_bytes, processes)| Use { memory_bytes, processes };
            BTreeMap::from([(2, of(first)), (3, of(second))])
        };
        assert_eq!(judge(&uses((50, 5), (50, 5)), 0, &limits), None);
        assert_eq!(judge(&uses((60, 1), (50, 1)), 0, &limits), Some((2, Why::OutOfMemory)));
        assert_eq!(judge(&uses((1, 5), (1, 6)), 0, &limits), Some((3, Why::TooManyProcesses)));
        assert_eq!(judge(&BTreeMap::new(), 1000, &limits), None);
        assert_eq!(judge(&uses((40, 1), (50, 1)), 20, &limits), Some((3, Why::OutOfMemory)));
        assert_eq!(judge(&uses((40, 1), (40, 1)), 20, &limits), None);
    }
}
