//! Seed 000 §16.1's trace as a file, outside the agent's reach: written from the journal whenever an execution comes to
//! rest, whole, so that it never says anything the journal does not.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use windlass_domain::trace;

use super::driver::Driver;
use crate::Error;
use crate::read::JournalRecord;

impl Driver {
    pub(super) async fn write_trace(&self) -> Result<(), Error> {
        let mut lines = Vec::new();
        for attempt in &self.journal.state.attempts {
            let records = self.engine.execution_records(attempt.execution_id).await?;
            let journal = records.iter().filter_map(|record| match record {
                JournalRecord::Execution { event, at, .. } => Some((event.as_ref(), *at)),
                JournalRecord::Task { .. } => None,
            });
            for entry in trace(journal) {
                serde_json::to_writer(&mut lines, &entry).expect("a trace entry is plain data");
                lines.push(b'\n');
            }
        }
        let path = self.trace_path();
        let written = self.engine.shared.blocking(move || write(&path, &lines)).await;
        written.map_err(|error| Error::Workspace(format!("the trace could not be written: {error}")))
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
