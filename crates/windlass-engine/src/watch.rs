//! For those who watch a task while it runs. Records are shown once they are durable; deltas as they come, and may be lost.

use std::sync::Arc;

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::{TaskEvent, TaskState};
use windlass_domain::{Delta, ExecutionId, TaskId, Wall};

pub trait Watcher: Send + Sync {
    fn task(&self, task: TaskId, event: &TaskEvent, at: Wall);
    fn execution(&self, execution: ExecutionId, event: &ExecutionEvent, at: Wall);
    fn delta(&self, execution: ExecutionId, delta: Delta);

    /// This process begins to work on it; so much had happened before.
    fn begins(&self, _task: TaskId, _so_far: &TaskState) {}

    /// Who watches a task that works for this one. None: the same.
    fn for_part(&self, _part: TaskId) -> Option<Arc<dyn Watcher>> {
        None
    }

    /// Something that the work does not depend on went wrong.
    fn trouble(&self, _what: &str) {}
}

#[derive(Debug, Clone, Copy)]
pub struct NobodyWatches;

impl Watcher for NobodyWatches {
    fn task(&self, _: TaskId, _: &TaskEvent, _: Wall) {}
    fn execution(&self, _: ExecutionId, _: &ExecutionEvent, _: Wall) {}
    fn delta(&self, _: ExecutionId, _: Delta) {}
}
