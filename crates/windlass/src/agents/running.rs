//! What an agent of another's finds when it is run here: a home of its own, the words it is told, and its version, which is asked once.

use std::path::{Path, PathBuf};

use windlass_adapters::{Briefed, Briefing};
use windlass_agent::{foreign_instructions, task_message};
use windlass_domain::ExecutionId;

pub use windlass_adapters::Versions;

pub const INSIDE_HOME: &str = "/home/agent";
pub const INSIDE_WORKSPACE: &str = "/workspace";

/// The homes of executions, below the data directory: an agent's conversation is in one, for as long as its task may go on.
#[derive(Debug, Clone)]
pub struct Homes(PathBuf);

impl Homes {
    pub fn new(data_dir: &Path) -> Self {
        Self(data_dir.join("homes"))
    }

    pub fn of(&self, execution: ExecutionId) -> PathBuf {
        self.0.join(execution.to_string())
    }

    /// The same folder each time.
    pub fn make(&self, execution: ExecutionId) -> std::io::Result<PathBuf> {
        use std::os::unix::fs::DirBuilderExt as _;
        let home = self.of(execution);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&home)?;
        Ok(home)
    }
}

pub fn briefing() -> Briefing {
    Box::new(|launch| Briefed {
        instructions: foreign_instructions(launch.asked),
        prompt: task_message(launch.role, &launch.task, None),
    })
}
