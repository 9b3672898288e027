//! From records to spans: each is made when what it is of has ended. Of what began in another process, the beginning is when this
//! one first saw it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_domain::execution::{ExecutionEvent, Header, StateChanged};
use windlass_domain::{CallId, ExecutionId, TaskId, Usage, Wall};

use super::span::{Span, span_id, trace_id};
use crate::semantic;

#[derive(Debug, Clone)]
pub struct Spans {
    task: TaskId,
    executions: BTreeMap<ExecutionId, Open>,
}

#[derive(Debug, Clone, Default)]
struct Open {
    began: Wall,
    agent: String,
    model: String,
    parent: Option<String>,
    asked: Option<Wall>,
    started: BTreeMap<CallId, Wall>,
}

impl Spans {
    pub const fn new(task: TaskId) -> Self {
        Self { task, executions: BTreeMap::new() }
    }

    pub fn execution(&mut self, id: ExecutionId, event: &ExecutionEvent, at: Wall) -> Option<Span> {
        let task = self.task;
        let open = self.executions.entry(id).or_insert_with(|| Open { began: at, ..Open::default() });
        match event {
            ExecutionEvent::Header(header) => open.head(header),
            ExecutionEvent::ModelRequested(_) => open.asked = Some(at),
            ExecutionEvent::ToolStarted(started) => {
                open.started.insert(started.call_id.clone(), at);
            }
            ExecutionEvent::ModelResponded(response) => {
                return Some(open.asked(task, id, response.iteration, Some(response.usage), at));
            }
            ExecutionEvent::ModelFailed(failed) => return Some(open.asked(task, id, failed.iteration, None, at)),
            ExecutionEvent::ToolFinished(finished) => {
                let began = open.started.remove(&finished.call_id).unwrap_or(at);
                let mut attributes = vec![
                    (semantic::OPERATION, json!(semantic::EXECUTE_TOOL)),
                    (semantic::TOOL_NAME, json!(finished.tool)),
                    (semantic::TOOL_CALL_ID, json!(finished.call_id)),
                ];
                let failed = finished.status.is_error();
                if failed {
                    attributes.push((semantic::ERROR_TYPE, json!(finished.status)));
                }
                let name = format!("{} {}", semantic::EXECUTE_TOOL, finished.tool);
                let of = format!("call/{}", finished.call_id);
                return Some(Span { failed, ..below(task, id, &of, name, (began, at), attributes) });
            }
            ExecutionEvent::StateChanged(change) if change.to.is_over() => {
                let open = self.executions.remove(&id)?;
                return Some(open.ended(task, id, change, at));
            }
            _ => {}
        }
        None
    }
}

impl Open {
    fn head(&mut self, header: &Header) {
        self.agent.clone_from(&header.agent_id);
        self.model.clone_from(&header.model);
        self.parent = header.parent.as_ref().map(|parent| match &parent.call_id {
            Some(call_id) => span_id(parent.execution_id, &format!("call/{call_id}")),
            None => span_id(parent.execution_id, ""),
        });
    }

    fn asked(&mut self, task: TaskId, id: ExecutionId, iteration: u32, usage: Option<Usage>, at: Wall) -> Span {
        let mut attributes =
            vec![(semantic::OPERATION, json!(semantic::CHAT)), (semantic::REQUEST_MODEL, json!(self.model))];
        if let Some(usage) = usage {
            attributes.push((semantic::INPUT_TOKENS, json!(usage.input)));
            attributes.push((semantic::OUTPUT_TOKENS, json!(usage.output)));
        }
        let (began, name) = (self.asked.take().unwrap_or(at), format!("{} {}", semantic::CHAT, self.model));
        let span = below(task, id, &format!("model/{iteration}"), name, (began, at), attributes);
        Span { is_client: true, failed: usage.is_none(), ..span }
    }

    fn ended(self, task: TaskId, id: ExecutionId, change: &StateChanged, at: Wall) -> Span {
        let attributes = vec![
            (semantic::OPERATION, json!(semantic::INVOKE_AGENT)),
            (semantic::AGENT_NAME, json!(self.agent)),
            (semantic::AGENT_ID, json!(id)),
            (semantic::REQUEST_MODEL, json!(self.model)),
        ];
        let name = format!("{} {}", semantic::INVOKE_AGENT, self.agent);
        let span = below(task, id, "", name, (self.began, at), attributes);
        let failed = change.to == windlass_domain::execution::Lifecycle::Failed;
        Span { parent_id: self.parent, failed, ..span }
    }
}

/// One below its execution's.
fn below(
    task: TaskId,
    id: ExecutionId,
    of: &str,
    name: String,
    (began, ended): (Wall, Wall),
    attributes: Vec<(&'static str, Value)>,
) -> Span {
    let (trace_id, span_id, parent_id) = (trace_id(task), span_id(id, of), Some(span_id(id, "")));
    Span { trace_id, span_id, parent_id, name, is_client: false, began, ended, attributes, failed: false }
}
