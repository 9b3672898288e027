//! All rules together: what a history is held against, one after the other.

use super::court::Court;
use super::{approvals, endings, family, objectives, plans, questions, records, research, rest, schedules, taint};
use crate::engines::EngineHistory;

/// What is wrong with the history; nothing, if all is well.
pub fn examine_engines(history: &EngineHistory) -> Vec<String> {
    let court = Court::new(history);
    let rules = [
        records::check,
        approvals::check,
        taint::check,
        family::check,
        questions::check,
        plans::check,
        objectives::check,
        research::check,
        schedules::check,
        endings::check,
        rest::check,
    ];
    rules.iter().flat_map(|rule| rule(&court)).collect()
}
