//! The trace that the result refers to is there, and says what the journal says.

use windlass_domain::trace;

use super::folded::Folded;
use crate::history::History;

pub fn examine(history: &History, folded: &Folded) -> Vec<String> {
    if folded.executions.is_empty() {
        return Vec::new();
    }
    let Some(found) = &history.trace else { return vec!["there is no trace".to_owned()] };
    let entries = folded.executions.iter().flat_map(|execution| {
        trace(execution.events.iter().map(|(at, event)| (event, *at))).into_iter().collect::<Vec<_>>()
    });
    let lines = entries.map(|entry| serde_json::to_string(&entry).expect("a trace entry is plain data") + "\n");
    let expected: String = lines.collect();
    if *found == expected {
        return Vec::new();
    }
    let (have, want) = (found.lines().count(), expected.lines().count());
    vec![format!("the trace has {have} lines and is not the {want} that the journal gives")]
}
