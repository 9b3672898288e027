//! The gates that a plan sets for one of its items. They stand in the record of the task that works on it, which is held against
//! the approved plan before each attempt; so that nobody can take one out. One that cannot be read stops the work.

use serde_json::Value;
use windlass_domain::task::{TaskCreated, TaskEvent};
use windlass_domain::{Seq, TaskId};
use windlass_policy::gate::{BadGates, Gate, read_gates};

use crate::Error;
use crate::attempt::task_stream;
use crate::engine::Shared;

/// Of a task whose record is still to be read: its first row is enough.
pub async fn gates_of(shared: &Shared, task: TaskId) -> Result<Vec<Gate>, Error> {
    let rows = shared.store.stream(&shared.tenant, &task_stream(task), Seq(0), 1).await?;
    let Some(row) = rows.first() else { return Ok(Vec::new()) };
    match TaskEvent::decode(&row.kind, row.version, &row.data)? {
        TaskEvent::Created(created) => own_gates(&created).map_err(|detail| Error::Broken { task, detail }),
        _ => Ok(Vec::new()),
    }
}

pub fn own_gates(created: &TaskCreated) -> Result<Vec<Gate>, String> {
    let written = created.part_of.as_ref().map(|of| of.part.gates()).unwrap_or_default();
    let read = written.iter().map(read_own_gate).collect::<Result<Vec<_>, _>>()?;
    Ok(read.into_iter().flatten().collect())
}

/// One at a time: an item and what holds it may call theirs the same.
pub fn read_own_gate(gate: &Value) -> Result<Vec<Gate>, String> {
    // A list of one, as a gate file would have it: JSON is YAML.
    let list = Value::Array(vec![gate.clone()]).to_string();
    read_gates(&list).map_err(|BadGates(problems)| {
        let told: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
        format!("this is not a gate: {}", told.join("; "))
    })
}
