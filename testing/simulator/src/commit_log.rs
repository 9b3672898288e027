//! Every commit that the store said "done" to, in its order, and who made it: what the processes believe to be durable.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_domain::MessageId;
use windlass_store::{Commit, Epoch, Fence, LeaseName, StreamId};

use crate::executor::ProcessId;

#[derive(Debug, Clone)]
pub struct LoggedCommit {
    pub process: ProcessId,
    /// As the process gave it, whatever the store made of it.
    pub fence: Option<Fence>,
    pub rows: Vec<LoggedRow>,
    pub acks: Vec<MessageId>,
    pub taken: Vec<(LeaseName, Epoch)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRow {
    pub stream: StreamId,
    pub kind: String,
    pub data: String,
}

impl LoggedCommit {
    pub fn new(process: ProcessId, commit: &Commit) -> Self {
        let row = |event: &windlass_store::NewEvent| LoggedRow {
            stream: event.stream.clone(),
            kind: event.encoded.kind.to_owned(),
            data: event.encoded.data.get().to_owned(),
        };
        Self {
            process,
            fence: commit.fence.clone(),
            rows: commit.events.iter().map(row).collect(),
            acks: commit.acks.clone(),
            taken: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct CommitLog {
    commits: Arc<Mutex<Vec<LoggedCommit>>>,
}

impl CommitLog {
    fn lock(&self) -> MutexGuard<'_, Vec<LoggedCommit>> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn enter(&self, commit: LoggedCommit) {
        self.lock().push(commit);
    }

    pub fn commits(&self) -> Vec<LoggedCommit> {
        self.lock().clone()
    }

    pub fn with_events(&self) -> u64 {
        self.lock().iter().filter(|commit| !commit.rows.is_empty()).count() as u64
    }
}
