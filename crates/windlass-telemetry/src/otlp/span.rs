//! A span: something that began and ended, and below what. Its id follows from what it is of, so that whoever sees the same
//! thing twice says the same.

use serde_json::Value;
use windlass_domain::{Digest, ExecutionId, TaskId, Wall};

#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub trace_id: String,
    pub span_id: String,
    pub parent_id: Option<String>,
    pub name: String,
    /// It asks somebody outside.
    pub is_client: bool,
    pub began: Wall,
    pub ended: Wall,
    pub attributes: Vec<(&'static str, Value)>,
    pub failed: bool,
}

/// The task's own number.
pub fn trace_id(task: TaskId) -> String {
    task.to_string().replace('-', "")
}

/// Of an execution (`what` is empty), or of something in it.
pub fn span_id(execution: ExecutionId, what: &str) -> String {
    let digest = Digest::of(execution.to_string().as_bytes()).chain(what.as_bytes());
    digest.as_bytes()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
