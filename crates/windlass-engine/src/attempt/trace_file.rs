//! Seed 000 §16.1's trace as a file, outside the agent's reach: written from the journal whenever an execution comes to
//! rest, whole, so that it never says anything the journal does not.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::{ExecutionId, Image, Wall, trace};

use super::driver::Driver;
use super::screenshots::screenshots;
use crate::read::JournalRecord;

impl Driver {
    /// A trace that cannot be written is said and is no part of the result; the work does not depend on it.
    pub(super) async fn write_trace(&mut self) {
        let written = self.try_write_trace().await;
        if let Err(detail) = &written {
            self.watcher.trouble(&format!("the trace could not be written: {detail}"));
        }
        self.has_trace = written.is_ok();
        self.keep_screenshots(written.unwrap_or_default()).await;
    }

    /// Returns the screenshots that it tells of.
    async fn try_write_trace(&self) -> Result<Vec<Image>, String> {
        let mut lines = Vec::new();
        let mut shown = Vec::new();
        for attempt in &self.journal.state.attempts {
            // One execution after the other: whoever was spawned stands behind whoever spawned it.
            let records = self.engine.family_records(attempt.execution_id).await;
            let records = records.map_err(|error| error.to_string())?;
            shown.extend(records.iter().filter_map(event_of).flat_map(|(event, _)| screenshots(event)).cloned());
            for execution in records.chunk_by(|one, next| execution_of(one) == execution_of(next)) {
                for entry in trace(execution.iter().filter_map(event_of)) {
                    serde_json::to_writer(&mut lines, &entry).expect("a trace entry is plain data");
                    lines.push(b'\n');
                }
            }
        }
        let path = self.trace_path();
        let written = self.engine.shared.blocking(move || write(&path, &lines)).await;
        written.map(|()| shown).map_err(|error| error.to_string())
    }
}

fn event_of(record: &JournalRecord) -> Option<(&ExecutionEvent, Wall)> {
    match record {
        JournalRecord::Execution { event, at, .. } => Some((event.as_ref(), *at)),
        JournalRecord::Task { .. } | JournalRecord::Graph { .. } => None,
    }
}

const fn execution_of(record: &JournalRecord) -> Option<ExecutionId> {
    match record {
        JournalRecord::Execution { execution, .. } => Some(*execution),
        JournalRecord::Task { .. } | JournalRecord::Graph { .. } => None,
    }
}

/// For its owner alone: it has everything that was said.
fn write(path: &std::path::Path, lines: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().expect("traces stand in a folder");
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let unfinished = path.with_extension("jsonl.new");
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?.write_all(lines)?;
    std::fs::rename(&unfinished, path)
}
