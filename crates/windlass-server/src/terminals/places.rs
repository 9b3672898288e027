//! Where terminals are, in the data directory: sockets of those that run, recordings of all there were.

use std::path::PathBuf;
use std::{fs, io};

use windlass_domain::ExecutionId;
use windlass_terminal::Sockets;

#[derive(Debug, Clone)]
pub struct TerminalPlaces {
    pub sockets: Sockets,
    pub recordings: PathBuf,
}

impl TerminalPlaces {
    pub fn recording_of(&self, execution: ExecutionId) -> PathBuf {
        self.recordings.join(format!("{execution}.cast"))
    }

    /// Whose terminals were recorded, the newest first: an id begins with the time at which it was made.
    pub fn recorded(&self) -> io::Result<Vec<ExecutionId>> {
        let entries = match fs::read_dir(&self.recordings) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut recorded = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(".cast"));
            recorded.extend(stem.and_then(|stem| stem.parse::<ExecutionId>().ok()));
        }
        recorded.sort_unstable_by(|one, other| other.cmp(one));
        Ok(recorded)
    }
}
