//! One JSON object a line, for scripts: each record as it is stored, and at the end the result.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{Delta, Encoded, ErrorDetails, ExecutionId, TaskId, TaskResult, TaskResultStatus, Wall};
use windlass_engine::{JournalRecord, Watcher};
use windlass_policy::surface::Surface;

use super::complain::mention;
use super::output::{WhenFull, output};
use super::teller::{Hush, Teller};

/// A stored record as a line. Its data goes out as it is stored, without being read again.
#[derive(Debug, Serialize)]
pub struct Entry {
    #[serde(rename = "type")]
    kind: &'static str,
    /// Of the data: what its type has been in earlier and will be in later releases.
    version: u16,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_id: Option<String>,
    data: Box<RawValue>,
    #[serde(skip_serializing_if = "<[Surface]>::is_empty")]
    surfaces: &'static [Surface],
}

impl Entry {
    /// The same, with where people see it.
    #[must_use]
    pub const fn on(mut self, surfaces: &'static [Surface]) -> Self {
        self.surfaces = surfaces;
        self
    }
}

#[derive(Debug, Clone, Copy)]
pub struct JsonTeller;

impl Watcher for JsonTeller {
    fn task(&self, task: TaskId, event: &TaskEvent, at: Wall) {
        keep(&of_task(event.encode(), at, task.to_string()));
    }

    fn execution(&self, execution: ExecutionId, event: &ExecutionEvent, at: Wall) {
        keep(&of_execution(event.encode(), at, execution.to_string()));
    }

    fn delta(&self, _: ExecutionId, _: Delta) {}

    fn trouble(&self, what: &str) {
        mention(what);
    }
}

impl Teller for JsonTeller {
    fn begin(&self, story: &[JournalRecord]) {
        story.iter().for_each(|taken_in| keep(&record(taken_in)));
    }

    fn so_far(&self, _: &[JournalRecord]) {}

    fn tell(&self, told: &JournalRecord) {
        keep(&record(told));
    }

    fn can_ask(&self) -> bool {
        false
    }

    fn hush(&self, _: Hush) {}

    fn remark(&self, _: &str) {}

    fn tick(&self, _: std::time::Duration) {}

    fn end(&self, ended: &TaskResult) {
        keep(&result(ended));
    }

    fn cut_off(&self, task: TaskId, known: Option<&TaskResult>, error: &ErrorDetails) {
        // Of a task that cannot even be read there is no more to say.
        let bare = || json!({"type": "result", "task_id": task, "status": TaskResultStatus::Paused, "verified": false, "error_details": error});
        keep(&known.map_or_else(bare, result));
    }
}

pub fn record(record: &JournalRecord) -> Entry {
    match record {
        JournalRecord::Task { event, at, task, .. } => of_task(event.encode(), *at, task.to_string()),
        JournalRecord::Graph { event, at, task, .. } => of_task(event.encode(), *at, task.to_string()),
        JournalRecord::Execution { event, at, row, .. } => {
            of_execution(event.encode(), *at, row.stream.id().to_owned())
        }
    }
}

fn of_task(encoded: Encoded, at: Wall, id: String) -> Entry {
    let Encoded { kind, version, data, .. } = encoded;
    Entry { kind, version, at: at.to_rfc3339(), task_id: Some(id), execution_id: None, data, surfaces: &[] }
}

fn of_execution(encoded: Encoded, at: Wall, id: String) -> Entry {
    let Encoded { kind, version, data, .. } = encoded;
    Entry { kind, version, at: at.to_rfc3339(), task_id: None, execution_id: Some(id), data, surfaces: &[] }
}

/// An enum's name as it is written.
pub fn word(value: &impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

/// The last line of every command that has a result.
pub fn result(result: &TaskResult) -> Value {
    let mut fields = json!(result);
    fields["type"] = json!("result");
    fields
}

/// In one line.
pub(super) fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data is always JSON, and memory takes it")
}

/// A line in one piece, so that a reader wakes once for it.
pub fn print(value: &impl Serialize) {
    send(value, WhenFull::Wait);
}

/// For those who work meanwhile: they are not held up, and no record is left out.
pub(super) fn keep(value: &impl Serialize) {
    send(value, WhenFull::Keep);
}

fn send(value: &impl Serialize, when_full: WhenFull) {
    output().send(format!("{}\n", written(value)).into_bytes(), when_full);
}
