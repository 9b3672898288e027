//! What processes were told and believed, kept outside them: the records they were shown as durable, the states their runs
//! ended in, how each of them ended, and which of the operator's messages were accepted.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_domain::execution::{ExecutionEvent, ExecutionState};
use windlass_domain::task::TaskEvent;
use windlass_domain::{Delta, ExecutionId, TaskId, TaskResult, Wall};
use windlass_engine::Watcher;
use windlass_store::StreamId;

use crate::commit_log::LoggedRow;
use crate::executor::ProcessId;
use crate::operator::Act;

/// How a process that was not killed came to its end.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    Finished(TaskResult),
    Paused(TaskResult),
    LeaseLost,
    /// Nothing should lead here.
    Broken(String),
}

#[derive(Debug, Clone, Default)]
pub struct Testimony {
    pub shown: Vec<(ProcessId, LoggedRow)>,
    pub states: Vec<(ProcessId, ExecutionId, String)>,
    pub endings: Vec<(ProcessId, Ending)>,
    /// When each of those came to it.
    pub ended_at: Vec<(ProcessId, Wall)>,
    pub accepted: Vec<Accepted>,
}

/// A message of the operator that the store has taken.
#[derive(Debug, Clone)]
pub struct Accepted {
    pub act: Act,
    pub at: Wall,
}

#[derive(Debug, Clone, Default)]
pub struct Witness {
    testimony: Arc<Mutex<Testimony>>,
    runs: Arc<Mutex<Runs>>,
}

/// Which executions run, in which process.
#[derive(Debug, Default)]
struct Runs {
    now: BTreeSet<(ProcessId, ExecutionId)>,
    twice: Vec<(ProcessId, ExecutionId)>,
}

impl Witness {
    fn lock(&self) -> MutexGuard<'_, Testimony> {
        self.testimony.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn run_began(&self, process: ProcessId, execution: ExecutionId) {
        let mut runs = self.lock_runs();
        if !runs.now.insert((process, execution)) {
            runs.twice.push((process, execution));
        }
    }

    /// What a process ran while it was running it already.
    pub fn run_twice(&self) -> Vec<(ProcessId, ExecutionId)> {
        self.lock_runs().twice.clone()
    }

    pub fn run_ended(&self, process: ProcessId, execution: ExecutionId, state: &ExecutionState) {
        self.lock_runs().now.remove(&(process, execution));
        self.lock().states.push((process, execution, format!("{state:?}")));
    }

    pub fn process_ended(&self, process: ProcessId, ending: Ending, at: Wall) {
        let mut testimony = self.lock();
        testimony.endings.push((process, ending));
        testimony.ended_at.push((process, at));
    }

    pub fn accepted(&self, accepted: Accepted) {
        self.lock().accepted.push(accepted);
    }

    pub fn is_finished(&self) -> bool {
        self.lock().endings.iter().any(|(_, ending)| matches!(ending, Ending::Finished(_)))
    }

    pub fn testimony(&self) -> Testimony {
        self.lock().clone()
    }
}

/// The eyes of one process.
pub struct ProcessWatcher {
    pub process: ProcessId,
    pub witness: Witness,
}

impl ProcessWatcher {
    fn show(&self, stream: StreamId, encoded: &windlass_domain::Encoded) {
        let row = LoggedRow { stream, kind: encoded.kind.to_owned(), data: encoded.data.get().to_owned() };
        self.witness.lock().shown.push((self.process, row));
    }
}

impl Watcher for ProcessWatcher {
    fn task(&self, task: TaskId, event: &TaskEvent, _: Wall) {
        self.show(StreamId::new("task", task), &event.encode());
    }

    fn execution(&self, execution: ExecutionId, event: &ExecutionEvent, _: Wall) {
        self.show(StreamId::new("execution", execution), &event.encode());
    }

    fn delta(&self, _: ExecutionId, _: Delta) {}
}
