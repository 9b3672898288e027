//! All promises, one after another.

use super::folded::Folded;
use super::{acknowledged, effects, ending, files, journal, leases, messages, trace_file};
use crate::history::History;

/// `clean` is the same scenario without any misfortune.
pub fn examine(history: &History, clean: &History) -> Vec<String> {
    let mut complaints = Vec::new();
    let (folded, unreadable) = Folded::of(&history.rows);
    let (clean_folded, _) = Folded::of(&clean.rows);
    complaints.extend(unreadable);
    complaints.extend(ending::examine(history, &folded, &clean_folded));
    complaints.extend(journal::examine(history, &folded));
    complaints.extend(acknowledged::examine(history, &folded));
    complaints.extend(effects::examine(history, &folded));
    complaints.extend(files::examine(history, &folded, clean));
    complaints.extend(leases::examine(history));
    complaints.extend(messages::examine(history, &folded));
    complaints.extend(trace_file::examine(history, &folded));
    complaints
}
