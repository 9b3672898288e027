//! Memory and process limits where no control group holds them: count ten times a second, and name the command that
//! uses most. Late by up to a tenth of a second, which is why a control group is better.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::Duration,
};

use super::{job::Why, tree};
use crate::Limits;

pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// Which limits are counted here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    pub(crate) memory: bool,
    pub(crate) processes: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Use {
    memory_bytes: u64,
    processes: u64,
}

impl Watch {
    pub(crate) fn is_needed(self) -> bool {
        self.memory || self.processes
    }

    /// The command to kill, by its minder's pid.
    pub(crate) fn look(self, minders: &BTreeSet<i32>, limits: &Limits) -> Option<(i32, Why)> {
        let table = tree::read_table();
        let mut uses: BTreeMap<i32, Use> = BTreeMap::new();
        for (pid, minder) in tree::belonging(&table, minders) {
            let used = uses.entry(minder).or_default();
            if self.processes {
                used.processes += table.get(&pid).map_or(1, |entry| entry.threads.max(1));
            }
            if self.memory {
                used.memory_bytes += private_bytes(pid).unwrap_or(0);
            }
        }
        judge(&uses, limits)
    }
}

fn judge(uses: &BTreeMap<i32, Use>, limits: &Limits) -> Option<(i32, Why)> {
    let over = |of: fn(&Use) -> u64, limit: u64, why| {
        let total: u64 = uses.values().map(of).sum();
        let (largest, _) = uses.iter().max_by_key(|(_, used)| of(used))?;
        (total > limit).then_some((*largest, why))
    };
    over(|used| used.memory_bytes, limits.memory_bytes, Why::OutOfMemory)
        .or_else(|| over(|used| used.processes, limits.processes, Why::TooManyProcesses))
}

/// Resident memory that is not shared with a file. Libraries would otherwise count once per process.
fn private_bytes(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut fields = text.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some(resident.saturating_sub(shared) * rustix::param::page_size() as u64)
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
        assert_eq!(judge(&uses((50, 5), (50, 5)), &limits), None);
        assert_eq!(judge(&uses((60, 1), (50, 1)), &limits), Some((2, Why::OutOfMemory)));
        assert_eq!(judge(&uses((1, 5), (1, 6)), &limits), Some((3, Why::TooManyProcesses)));
        assert_eq!(judge(&BTreeMap::new(), &limits), None);
    }
}
