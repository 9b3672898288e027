//! The stored records, decoded and folded by the domain's own rules.

use std::collections::BTreeMap;

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::graph::GraphEvent;
use windlass_domain::task::{TaskEvent, TaskState};
use windlass_domain::{CallId, CallStatus, Effect, GroundEvent, MemoryEvent, TaskResult, ToolCall, Wall};
use windlass_store::{StoredEvent, StreamId};

#[derive(Default)]
pub struct Folded {
    pub tasks: BTreeMap<StreamId, TaskState>,
    pub task_events: Vec<(Wall, TaskEvent)>,
    /// In the order in which they began.
    pub executions: Vec<Execution>,
}

pub struct Execution {
    pub stream: StreamId,
    pub events: Vec<(Wall, ExecutionEvent)>,
}

/// One tool call of an execution and what the journal says of it.
pub struct JournaledCall<'a> {
    pub call: &'a ToolCall,
    pub started: Vec<&'a Effect>,
    pub finished: Vec<CallStatus>,
}

impl Folded {
    /// With what cannot be read.
    pub fn of(rows: &[StoredEvent]) -> (Self, Vec<String>) {
        let mut folded = Self::default();
        let mut unreadable = Vec::new();
        for row in rows {
            let read = match row.stream.kind() {
                "task" => TaskEvent::decode(&row.kind, row.version, &row.data).map(|event| {
                    folded.tasks.entry(row.stream.clone()).or_default().apply(&event, row.at);
                    folded.task_events.push((row.at, event));
                }),
                // For people, and folded by nobody.
                "audit" | "approval" | "question" | "monitor" => Ok(()),
                "memory" => MemoryEvent::decode(&row.kind, row.version, &row.data).map(drop),
                "graph" => GraphEvent::decode(&row.kind, row.version, &row.data).map(drop),
                "ground" => GroundEvent::decode(&row.kind, row.version, &row.data).map(drop),
                _ => ExecutionEvent::decode(&row.kind, row.version, &row.data).map(|event| {
                    folded.execution(&row.stream).events.push((row.at, event));
                }),
            };
            unreadable.extend(read.err().map(|error| format!("{} {}: {error}", row.stream, row.seq.0)));
        }
        (folded, unreadable)
    }

    fn execution(&mut self, stream: &StreamId) -> &mut Execution {
        let found = self.executions.iter().position(|execution| execution.stream == *stream);
        let index = found.unwrap_or_else(|| {
            self.executions.push(Execution { stream: stream.clone(), events: Vec::new() });
            self.executions.len() - 1
        });
        &mut self.executions[index]
    }

    pub fn result(&self) -> Option<&TaskResult> {
        self.tasks.values().next()?.result.as_ref()
    }

    pub fn ended_at(&self) -> Wall {
        self.task_events.last().map(|(at, _)| *at).unwrap_or_default()
    }
}

impl Execution {
    pub fn calls(&self) -> Vec<JournaledCall<'_>> {
        let asked = self.events.iter().filter_map(|(_, event)| match event {
            ExecutionEvent::ModelResponded(response) => Some(&response.calls),
            _ => None,
        });
        asked.flatten().map(|call| self.journaled(call)).collect()
    }

    fn journaled<'a>(&'a self, call: &'a ToolCall) -> JournaledCall<'a> {
        let is_its = |id: &CallId| *id == call.call_id;
        let mut journaled = JournaledCall { call, started: Vec::new(), finished: Vec::new() };
        for (_, event) in &self.events {
            match event {
                ExecutionEvent::ToolStarted(started) if is_its(&started.call_id) => {
                    journaled.started.push(&started.effect);
                }
                ExecutionEvent::ToolFinished(finished) if is_its(&finished.call_id) => {
                    journaled.finished.push(finished.status);
                }
                _ => {}
            }
        }
        journaled
    }
}

impl JournaledCall<'_> {
    pub fn name(&self) -> String {
        format!("{} {}", self.call.tool, self.call.call_id)
    }

    pub fn tool_is(&self, tool: &str) -> bool {
        self.call.tool == tool
    }

    /// An argument that is text.
    pub fn argument(&self, name: &str) -> Option<String> {
        let arguments: serde_json::Value = serde_json::from_str(self.call.arguments.get()).ok()?;
        arguments.get(name)?.as_str().map(str::to_owned)
    }

    /// The journal says for certain that it ran to its end.
    pub fn is_certain(&self) -> bool {
        matches!(self.finished.as_slice(), [CallStatus::Ok | CallStatus::Error]) && !self.started.is_empty()
    }
}
