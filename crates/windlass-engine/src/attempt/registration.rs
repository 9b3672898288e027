//! What this process works on: how each is stopped, and when it has stopped.

use std::sync::Arc;

use windlass_domain::{Canceller, Stop, TaskId};

use crate::engine::{Engine, Shared};

/// Somebody of this process at work on a task.
pub(crate) struct AtWork {
    pub canceller: Canceller,
    /// Raised when nobody is any more.
    left: Canceller,
}

/// While it lives, this process is known to drive the task, and stops with all it does.
pub(crate) struct Registration {
    shared: Arc<Shared>,
    task: TaskId,
    left: Canceller,
}

impl Registration {
    pub fn new(shared: &Arc<Shared>, task: TaskId, canceller: Canceller) -> Self {
        let left = Canceller::default();
        shared.lock_driven().insert(task, AtWork { canceller, left: left.clone() });
        shared.lock_tenants().insert(task, shared.tenant.clone());
        Self { shared: Arc::clone(shared), task, left }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.shared.lock_driven().remove(&self.task);
        self.shared.lock_tenants().remove(&self.task);
        self.left.stop(Stop::LeaseLost);
    }
}

impl Engine {
    /// For whoever has just taken the lease. A process that slept may have lost it to another, who had the task rest since: then
    /// somebody is still at it here, who can write nothing any more and has not heard of it yet.
    pub(super) async fn after_whoever_lost_it(&self, task: TaskId) {
        let left = self.shared.lock_driven().get(&task).map(|earlier| {
            earlier.canceller.stop(Stop::LeaseLost);
            earlier.left.signal()
        });
        if let Some(left) = left {
            left.wait().await;
        }
    }
}
