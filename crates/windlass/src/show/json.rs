//! One JSON object a line, for scripts: each record as it is stored, and at the end the result.

use std::io::Write as _;

use serde_json::{Value, json};
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{Delta, Encoded, ExecutionId, TaskId, TaskResult, Wall};
use windlass_engine::{JournalRecord, Watcher};

use super::teller::Teller;

#[derive(Debug, Clone, Copy)]
pub struct JsonTeller;

impl Watcher for JsonTeller {
    fn task(&self, task: TaskId, event: &TaskEvent, at: Wall) {
        print(&entry(&event.encode(), at, "task_id", &task.to_string()));
    }

    fn execution(&self, execution: ExecutionId, event: &ExecutionEvent, at: Wall) {
        print(&entry(&event.encode(), at, "execution_id", &execution.to_string()));
    }

    fn delta(&self, _: ExecutionId, _: Delta) {}
}

impl Teller for JsonTeller {
    fn begin(&self, story: &[JournalRecord]) {
        story.iter().for_each(|taken_in| print(&record(taken_in)));
    }

    fn so_far(&self, _: &[JournalRecord]) {}

    fn remark(&self, _: &str) {}

    fn tick(&self, _: std::time::Duration) {}

    fn end(&self, ended: &TaskResult) {
        print(&result(ended));
    }
}

/// A stored record.
pub fn record(record: &JournalRecord) -> Value {
    match record {
        JournalRecord::Task { event, at, row } => entry(&event.encode(), *at, "task_id", row.stream.id()),
        JournalRecord::Execution { event, at, row, .. } => entry(&event.encode(), *at, "execution_id", row.stream.id()),
    }
}

/// The last line of every command that has a result.
pub fn result(result: &TaskResult) -> Value {
    let mut fields = json!(result);
    fields["type"] = json!("result");
    fields
}

fn entry(encoded: &Encoded, at: Wall, owner: &str, id: &str) -> Value {
    json!({"type": encoded.kind, "at": at.to_rfc3339(), owner: id, "data": encoded.data})
}

/// A reader that has gone away is no reason to stop the work.
pub fn print(value: &Value) {
    let _read_by_nobody = writeln!(std::io::stdout().lock(), "{value}");
}
