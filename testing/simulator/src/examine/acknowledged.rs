//! Nothing acknowledged is lost: what a process was told is durable, and what its watcher was shown, is in the store, in
//! that order.

use std::collections::BTreeMap;

use windlass_store::StreamId;

use super::folded::Folded;
use crate::commit_log::LoggedRow;
use crate::executor::ProcessId;
use crate::history::History;

pub fn examine(history: &History, _: &Folded) -> Vec<String> {
    let acknowledged = history.commits.iter().flat_map(|commit| &commit.rows);
    let mut complaints = missing(history, acknowledged, "acknowledged");
    let mut shown: BTreeMap<ProcessId, Vec<&LoggedRow>> = BTreeMap::new();
    for (process, row) in &history.testimony.shown {
        shown.entry(*process).or_default().push(row);
    }
    for (process, rows) in shown {
        complaints.extend(missing(history, rows.into_iter(), &format!("shown by process {}", process.0)));
    }
    complaints
}

/// Those of `wanted` that the store does not have, or has in another order.
fn missing<'a>(history: &History, wanted: impl Iterator<Item = &'a LoggedRow>, how: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut places: BTreeMap<&StreamId, usize> = BTreeMap::new();
    for row in wanted {
        let place = places.entry(&row.stream).or_default();
        let stored = history.rows.iter().filter(|stored| stored.stream == row.stream).skip(*place);
        let found = stored.into_iter().position(|stored| stored.kind == row.kind && stored.data == row.data);
        match found {
            Some(further) => *place += further + 1,
            None => complaints.push(format!("{} `{}` was {how} and is not in the store", row.stream, row.kind)),
        }
    }
    complaints
}
