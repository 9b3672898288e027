//! Every kind of record that a journal may hold, by the name under which it is stored: for whoever has to have words for each.

use crate::approval::ApprovalEvent;
use crate::coordinate::{OutboxEvent, UserEvent};
use crate::execution::ExecutionEvent;
use crate::goal::GoalEvent;
use crate::graph::GraphEvent;
use crate::grounds::GroundEvent;
use crate::memory::MemoryEvent;
use crate::monitor::MonitorEvent;
use crate::question::QuestionEvent;
use crate::session::SessionEvent;
use crate::task::{Control, TaskEvent};

/// In the order of the families; a kind that two families have is there once.
pub fn record_kinds() -> Vec<&'static str> {
    let mut kinds: Vec<&'static str> = Vec::new();
    for kind in FAMILIES.iter().copied().flatten() {
        if !kinds.contains(kind) {
            kinds.push(kind);
        }
    }
    kinds
}

const FAMILIES: [&[&str]; 13] = [
    TaskEvent::KINDS,
    Control::KINDS,
    GraphEvent::KINDS,
    ExecutionEvent::KINDS,
    SessionEvent::KINDS,
    ApprovalEvent::KINDS,
    QuestionEvent::KINDS,
    GoalEvent::KINDS,
    MonitorEvent::KINDS,
    MemoryEvent::KINDS,
    GroundEvent::KINDS,
    OutboxEvent::KINDS,
    UserEvent::KINDS,
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn families_in(folder: &Path) -> usize {
        let entries =
            fs::read_dir(folder).expect("a folder of this crate").map(|entry| entry.expect("an entry").path());
        entries
            .map(|path| match path.is_dir() {
                true => families_in(&path),
                false => {
                    let text = fs::read_to_string(&path).expect("a source file");
                    text.lines().filter(|line| line.starts_with("events! {")).count()
                }
            })
            .sum()
    }

    #[test]
    fn no_family_is_left_out() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        assert_eq!(FAMILIES.len(), families_in(&sources), "a family of events is missing in `FAMILIES`");
    }

    #[test]
    fn each_kind_is_there_once() {
        let kinds = record_kinds();
        let distinct: std::collections::BTreeSet<_> = kinds.iter().collect();
        assert_eq!(kinds.len(), distinct.len());
        assert!(kinds.contains(&"status.told") && kinds.contains(&"user.session_rested"), "{kinds:?}");
    }
}
