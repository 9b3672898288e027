//! The port to whoever keeps what is known about tasks (seed 000 §19.1). Optional: without one, a tenant's own memories are what is known.

use crate::known::{ContextWanted, TaskContext};
use crate::port::BoxFuture;
use crate::result::ErrorDetails;

pub trait ContextService: Send + Sync {
    /// Asks, and asks again where that may help. Without an answer the task fails with what is said here.
    fn context(&self, wanted: ContextWanted) -> BoxFuture<'_, Result<TaskContext, ErrorDetails>>;
}
