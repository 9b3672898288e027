//! Who descends from whom, and killing what should not be there.
//!
//! The process table is read from `/proc` and is old as soon as it is read. Killing therefore goes in rounds:
//! everything found is stopped first, whole process groups at once, and only when a round finds nothing new is it all
//! killed. A stopped process keeps its place in the process limit, so even a command that forks for ever, each time
//! into a new group, runs out of room.
//!
//! A pid could in theory be used again between reading and signalling. It takes a whole turn of the pid counter within
//! a few milliseconds, and in a confined sandbox only the sandbox's own processes could be hit.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// One process.
pub(crate) struct Entry {
    pub(crate) parent: i32,
    /// Its process group.
    pub(crate) group: i32,
    pub(crate) threads: u64,
    pub(crate) is_zombie: bool,
}

pub(crate) type Table = BTreeMap<i32, Entry>;

pub(crate) fn read_table() -> Table {
    pids().filter_map(|pid| Some((pid, read_entry(pid)?))).collect()
}

/// Every pid below `root`, without `root` itself and without the subtrees that start at `spared`.
pub(crate) fn below(table: &Table, root: i32, spared: &BTreeSet<i32>) -> BTreeSet<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (pid, entry) in table {
        children.entry(entry.parent).or_default().push(*pid);
    }
    let mut found = BTreeSet::new();
    let mut to_visit = vec![root];
    while let Some(pid) = to_visit.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if !spared.contains(child) && found.insert(*child) {
                to_visit.push(*child);
            }
        }
    }
    found
}

/// For every pid below one of `roots`, which one.
pub(crate) fn belonging(table: &Table, roots: &BTreeSet<i32>) -> BTreeMap<i32, i32> {
    let mut found = BTreeMap::new();
    for pid in table.keys() {
        let ancestors = std::iter::successors(Some(*pid), |pid| Some(table.get(pid)?.parent));
        // A torn table may have a cycle; no real tree is deeper than it has processes.
        let mut ancestors = ancestors.skip(1).take(table.len());
        found.extend(ancestors.find(|ancestor| roots.contains(ancestor)).map(|root| (*pid, root)));
    }
    found
}

/// The children of the calling process, which has one thread.
pub(crate) fn own_children(own_pid: i32) -> BTreeSet<i32> {
    match fs::read_to_string(format!("/proc/{own_pid}/task/{own_pid}/children")) {
        Ok(text) => text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect(),
        // Kernels built without it; slower, same answer.
        Err(_) => read_table().into_iter().filter(|(_, entry)| entry.parent == own_pid).map(|(pid, _)| pid).collect(),
    }
}

pub(crate) fn signal_all(pids: &BTreeSet<i32>, signal: Signal) {
    for pid in pids.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        // It may be gone already.
        let _ = kill_process(pid, signal);
    }
}

/// One round against the strays below `root`. Returns what is stopped now; give it back in the next round.
pub(crate) fn stop_or_kill(root: i32, spared: &BTreeSet<i32>, stopped: BTreeSet<i32>) -> BTreeSet<i32> {
    let table = read_table();
    let strays = below(&table, root, spared);
    let is_running = |pid: &i32| {
        let entry = table.get(pid);
        !stopped.contains(pid) && entry.is_some_and(|entry| !entry.is_zombie)
    };
    if strays.iter().any(is_running) {
        signal_groups(&table, root, &strays, Signal::STOP);
        signal_all(&strays, Signal::STOP);
        strays
    } else {
        signal_groups(&table, root, &strays, Signal::KILL);
        signal_all(&strays, Signal::KILL);
        BTreeSet::new()
    }
}

/// The kernel signals a process group in one go: what forks while it is signalled forks after it was stopped. Each
/// command is a session of its own, so no group has members of two commands, or of a command and `root`.
fn signal_groups(table: &Table, root: i32, strays: &BTreeSet<i32>, signal: Signal) {
    let own = table.get(&root).map(|entry| entry.group);
    let groups: BTreeSet<i32> = strays
        .iter()
        .filter_map(|pid| table.get(pid))
        .map(|entry| entry.group)
        .filter(|group| *group > 1 && Some(*group) != own)
        .collect();
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, signal);
    }
}

pub(crate) fn pids() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn read_entry(pid: i32) -> Option<Entry> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// `pid (name) state parent …`. The name is whatever the process likes, brackets and bytes that are no text
/// included, so the last `)` counts and only what follows is read as text.
fn parse_stat(stat: &[u8]) -> Option<Entry> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let fields: Vec<&str> = str::from_utf8(&stat[name_end + 1..]).ok()?.split_ascii_whitespace().collect();
    Some(Entry {
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        threads: fields.get(17)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(i32, i32)]) -> Table {
        let entry = |parent| Entry { parent, group: 1, threads: 1, is_zombie: false };
        rows.iter().map(|(pid, parent)| (*pid, entry(*parent))).collect()
    }

    fn check(name: &[u8]) {
        let rest = b") R 42 7 7 0 -1 4194304 90 0 0 0 0 0 0 0 20 0 3 0 100 0 0";
        let entry = parse_stat(&[b"7 (", name, rest].concat()).expect("parses");
        assert_eq!((entry.parent, entry.group, entry.threads, entry.is_zombie), (42, 7, 3, false));
    }

    #[test]
    fn a_process_cannot_hide_behind_its_name() {
        check(b"bash");
        check(b"a) S 1 (x");
        check(b"\xff\xfe");
        check(b"two\nlines");
    }

    #[test]
    fn below_spares_whole_subtrees() {
        let table = table(&[(2, 1), (3, 2), (4, 3), (5, 1), (6, 5), (9, 8)]);
        assert_eq!(below(&table, 1, &BTreeSet::from([2])), BTreeSet::from([5, 6]));
        assert_eq!(below(&table, 1, &BTreeSet::new()), BTreeSet::from([2, 3, 4, 5, 6]));
    }

    #[test]
    fn belonging_finds_the_root_above() {
        let table = table(&[(2, 1), (3, 2), (4, 3), (5, 1), (6, 5), (9, 8)]);
        let expected = BTreeMap::from([(3, 2), (4, 2), (6, 5)]);
        assert_eq!(belonging(&table, &BTreeSet::from([2, 5])), expected);
    }

    #[test]
    fn a_cycle_in_a_torn_table_ends() {
        let table = table(&[(2, 3), (3, 2)]);
        assert_eq!(belonging(&table, &BTreeSet::from([7])), BTreeMap::new());
        assert_eq!(below(&table, 2, &BTreeSet::new()), BTreeSet::from([2, 3]));
    }
}
