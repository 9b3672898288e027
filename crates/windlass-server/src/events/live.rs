//! What is being said at this very moment: pieces of a model's answer and of what tools print, as they come. They are no records. They have
//! no ids, nobody keeps them, and whoever is slow or away misses some; what counts stands in the record that follows. They are those of
//! tasks that this process works on: others have nobody here to tell of theirs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::{TaskEvent, TaskState};
use windlass_domain::{Delta, ExecutionId, TaskId, Tenant, Wall};
use windlass_engine::Watcher;

const BUFFER: usize = 1_024;

/// Whoever has it tells of tasks, or hears.
#[derive(Debug, Clone, Default)]
pub struct Live(Arc<Mutex<BTreeMap<Tenant, broadcast::Sender<Piece>>>>);

/// Ready to be sent.
#[derive(Debug, Clone)]
pub struct Piece {
    pub task: String,
    pub bytes: Bytes,
}

impl Live {
    /// `watcher`, and beside it whoever listens.
    pub fn watch(&self, tenant: &Tenant, task: TaskId, watcher: Arc<dyn Watcher>) -> Arc<dyn Watcher> {
        Arc::new(Telling { sender: self.of(tenant), task, root: OnceLock::new(), watcher })
    }

    pub(super) fn listen(&self, tenant: &Tenant) -> broadcast::Receiver<Piece> {
        self.of(tenant).subscribe()
    }

    fn of(&self, tenant: &Tenant) -> broadcast::Sender<Piece> {
        let mut tenants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tenants.entry(tenant.clone()).or_insert_with(|| broadcast::Sender::new(BUFFER)).clone()
    }
}

/// So many were missed.
pub fn missed(pieces: u64) -> Bytes {
    written(&json!({"kind": "missed", "pieces": pieces, "lossy": true}))
}

fn written(data: &Value) -> Bytes {
    format!("event: delta\ndata: {data}\n\n").into()
}

struct Telling {
    sender: broadcast::Sender<Piece>,
    task: TaskId,
    /// The planned task that it is a part of, known once it begins; none of one that is a whole.
    root: OnceLock<TaskId>,
    watcher: Arc<dyn Watcher>,
}

impl Telling {
    fn tell(&self, execution: ExecutionId, delta: &Delta) {
        if self.sender.receiver_count() == 0 {
            return;
        }
        let (kind, more) = match delta {
            Delta::Text(text) => ("text", json!({"text": text})),
            Delta::Reasoning(text) => ("reasoning", json!({"text": text})),
            Delta::ToolOutput { call_id, text } => ("tool_output", json!({"text": text, "call_id": call_id.0})),
            Delta::Retrying { reason, delay_ms } => ("retrying", json!({"reason": reason, "delay_ms": delay_ms})),
        };
        let (task, execution) = (self.task.to_string(), execution.to_string());
        let whole = self.root.get().unwrap_or(&self.task).to_string();
        let mut data = json!({"kind": kind, "whole": whole, "task_id": task, "execution_id": execution, "lossy": true});
        if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
            data.extend(more);
        }
        // Whoever listened may be gone by now.
        let _heard = self.sender.send(Piece { task, bytes: written(&data) });
    }
}

impl Watcher for Telling {
    fn task(&self, task: TaskId, event: &TaskEvent, at: Wall) {
        self.watcher.task(task, event, at);
    }

    fn execution(&self, execution: ExecutionId, event: &ExecutionEvent, at: Wall) {
        self.watcher.execution(execution, event, at);
    }

    fn delta(&self, execution: ExecutionId, delta: Delta) {
        self.tell(execution, &delta);
        self.watcher.delta(execution, delta);
    }

    fn begins(&self, task: TaskId, so_far: &TaskState) {
        let part_of = so_far.created.as_ref().and_then(|created| created.part_of.as_ref());
        if let Some(of) = part_of.filter(|_| task == self.task) {
            self.root.get_or_init(|| of.root);
        }
        self.watcher.begins(task, so_far);
    }

    fn for_part(&self, part: TaskId) -> Option<Arc<dyn Watcher>> {
        let watcher = self.watcher.for_part(part).unwrap_or_else(|| Arc::clone(&self.watcher));
        Some(Arc::new(Self { sender: self.sender.clone(), task: part, root: OnceLock::new(), watcher }))
    }

    fn trouble(&self, what: &str) {
        self.watcher.trouble(what);
    }
}
