//! One JSON object a line, for scripts: each record as it is stored, and at the end the result.

use std::io::Write as _;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{Delta, Encoded, ExecutionId, TaskId, TaskResult, Wall};
use windlass_engine::{JournalRecord, Watcher};

use super::teller::Teller;

/// A stored record as a line. Its data goes out as it is stored, without being read again.
#[derive(Debug, Serialize)]
pub struct Entry {
    #[serde(rename = "type")]
    kind: &'static str,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_id: Option<String>,
    data: Box<RawValue>,
}

#[derive(Debug, Clone, Copy)]
pub struct JsonTeller;

impl Watcher for JsonTeller {
    fn task(&self, task: TaskId, event: &TaskEvent, at: Wall) {
        print(&of_task(event.encode(), at, task.to_string()));
    }

    fn execution(&self, execution: ExecutionId, event: &ExecutionEvent, at: Wall) {
        print(&of_execution(event.encode(), at, execution.to_string()));
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

pub fn record(record: &JournalRecord) -> Entry {
    match record {
        JournalRecord::Task { event, at, row } => of_task(event.encode(), *at, row.stream.id().to_owned()),
        JournalRecord::Execution { event, at, row, .. } => {
            of_execution(event.encode(), *at, row.stream.id().to_owned())
        }
    }
}

fn of_task(encoded: Encoded, at: Wall, id: String) -> Entry {
    Entry { kind: encoded.kind, at: at.to_rfc3339(), task_id: Some(id), execution_id: None, data: encoded.data }
}

fn of_execution(encoded: Encoded, at: Wall, id: String) -> Entry {
    Entry { kind: encoded.kind, at: at.to_rfc3339(), task_id: None, execution_id: Some(id), data: encoded.data }
}

/// The last line of every command that has a result.
pub fn result(result: &TaskResult) -> Value {
    let mut fields = json!(result);
    fields["type"] = json!("result");
    fields
}

/// A line in one piece, so that a reader wakes once for it. One that has gone away is no reason to stop the work.
pub fn print(value: &impl Serialize) {
    let mut line = serde_json::to_vec(value).expect("plain data is always JSON, and memory takes it");
    line.push(b'\n');
    let _read_by_nobody = std::io::stdout().lock().write_all(&line);
}
