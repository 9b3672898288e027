//! Seed 000 §16.1's trace as a file, outside the agent's reach: written from the journal whenever an execution comes to
//! rest, whole, so that it never says anything the journal does not.

use std::io::Write;

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

fn write(path: &std::path::Path, lines: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().expect("traces stand in a folder");
    std::fs::create_dir_all(folder)?;
    let unfinished = path.with_extension("jsonl.new");
    std::fs::File::create(&unfinished)?.write_all(lines)?;
    std::fs::rename(&unfinished, path)
}
