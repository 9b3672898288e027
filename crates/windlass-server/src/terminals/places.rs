//! Where terminals are, in the data directory: sockets of those that run, recordings of all there were.

use std::path::PathBuf;

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
}
