//! Seed 000 §16.1's trace, projected from the journal: one JSON line for each thing that happened. Never stored as truth.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::execution::{ExecutionEvent, Lifecycle};
use crate::message::ToolCall;
use crate::time::Wall;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceEntry {
    pub timestamp: String,
    pub iteration: u32,
    pub event_type: TraceEventType,
    pub data: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceEventType {
    AgentStart,
    LlmRequest,
    LlmResponse,
    ToolCall,
    ToolResult,
    InjectionReceived,
    SubAgentSpawn,
    SubAgentComplete,
    CompactionStart,
    CompactionEnd,
    MemoryFlush,
    RiskCheck,
    DoomLoopDetected,
    AgentEnd,
}

/// The trace of one execution's journal, in order. Records that the seed has no name for leave no entry; an answer leaves
/// one for itself and one for each call it asks for, whatever became of that.
pub fn trace<'a>(journal: impl IntoIterator<Item = (&'a ExecutionEvent, Wall)>) -> Vec<TraceEntry> {
    let mut iteration = 0;
    let mut entries = Vec::new();
    for (event, at) in journal {
        if let ExecutionEvent::ModelRequested(request) = event {
            iteration = request.iteration;
        }
        let traced = entry(event).into_iter().chain(calls(event));
        entries.extend(traced.filter_map(|(event_type, data)| {
            let Value::Object(data) = data else { return None };
            Some(TraceEntry { timestamp: at.to_rfc3339(), iteration, event_type, data })
        }));
    }
    entries
}

fn calls(event: &ExecutionEvent) -> Vec<(TraceEventType, Value)> {
    let ExecutionEvent::ModelResponded(response) = event else { return Vec::new() };
    let call = |call: &ToolCall| {
        let arguments = json!({"call_id": call.call_id, "tool_name": call.tool, "arguments": call.arguments});
        (TraceEventType::ToolCall, arguments)
    };
    response.calls.iter().map(call).collect()
}

fn entry(event: &ExecutionEvent) -> Option<(TraceEventType, Value)> {
    let traced = match event {
        ExecutionEvent::Header(header) => (
            TraceEventType::AgentStart,
            json!({"execution_id": header.execution_id, "agent_id": header.agent_id, "model": header.model}),
        ),
        ExecutionEvent::ModelRequested(request) => (
            TraceEventType::LlmRequest,
            json!({"purpose": request.purpose, "messages": request.messages, "prompt": request.prompt,
                   "estimated_input": request.estimated_input}),
        ),
        ExecutionEvent::ModelResponded(response) => (
            TraceEventType::LlmResponse,
            json!({"purpose": response.purpose, "text": response.text, "tool_calls": response.calls.len(), "stop": response.stop,
                   "usage": response.usage, "cost_usd": response.cost, "duration_ms": response.duration_ms}),
        ),
        ExecutionEvent::ModelFailed(failed) => (
            TraceEventType::LlmResponse,
            json!({"error": failed.reason, "usage": failed.usage, "cost_usd": failed.cost}),
        ),
        ExecutionEvent::ToolFinished(finished) => (
            TraceEventType::ToolResult,
            json!({"call_id": finished.call_id, "tool_name": finished.tool, "status": finished.status,
                   "content": finished.content, "duration_ms": finished.duration_ms}),
        ),
        ExecutionEvent::CallProposed(call) => (
            TraceEventType::ToolCall,
            json!({"call_id": call.call_id, "tool_name": call.tool, "arguments": call.arguments}),
        ),
        ExecutionEvent::ExchangeOpened(opened) => (
            TraceEventType::LlmRequest,
            json!({"exchange": opened.exchange, "model": opened.model, "estimated_input": opened.estimated_input}),
        ),
        ExecutionEvent::ExchangeClosed(closed) => (
            TraceEventType::LlmResponse,
            json!({"exchange": closed.exchange, "outcome": closed.outcome, "usage": closed.usage, "cost_usd": closed.cost}),
        ),
        ExecutionEvent::InjectionReceived(received) => (
            TraceEventType::InjectionReceived,
            json!({"injection_type": received.injection.injection_type, "content": received.injection.content}),
        ),
        ExecutionEvent::SubagentSpawned(child) => (
            TraceEventType::SubAgentSpawn,
            json!({"call_id": child.call_id, "execution_id": child.execution_id, "label": child.label}),
        ),
        ExecutionEvent::SubagentFinished(child) if child.status.is_some() => (
            TraceEventType::SubAgentComplete,
            json!({"execution_id": child.execution_id, "label": child.label, "status": child.status,
                   "usage": child.usage, "cost_usd": child.cost, "duration_ms": child.duration_ms}),
        ),
        ExecutionEvent::CompactionStarted(started) => (TraceEventType::CompactionStart, json!(started)),
        ExecutionEvent::CompactionFinished(finished) => (TraceEventType::CompactionEnd, json!(finished)),
        ExecutionEvent::CompactionFailed(failed) => (TraceEventType::CompactionEnd, json!(failed)),
        ExecutionEvent::CompactionFlushed(flushed) => (TraceEventType::MemoryFlush, json!(flushed)),
        ExecutionEvent::RiskChecked(checked) => (
            TraceEventType::RiskCheck,
            json!({"call_id": checked.call_id, "tool_name": checked.tool, "risk_level": checked.level,
                   "reasons": checked.reasons, "ruling": checked.ruling, "gates": checked.gates}),
        ),
        ExecutionEvent::DoomLoopDetected(detected) => (TraceEventType::DoomLoopDetected, json!(detected)),
        ExecutionEvent::StateChanged(change) if change.to.is_over() || change.to == Lifecycle::Paused => {
            (TraceEventType::AgentEnd, json!({"status": change.to, "reason": change.reason}))
        }
        ExecutionEvent::StateChanged(_)
        | ExecutionEvent::MessageAccepted(_)
        | ExecutionEvent::DecisionRecorded(_)
        | ExecutionEvent::ToolStarted(_)
        | ExecutionEvent::SubagentFinished(_)
        | ExecutionEvent::CompactionCleared(_)
        | ExecutionEvent::CompactionFlushing(_)
        | ExecutionEvent::CompactionSkipped(_)
        | ExecutionEvent::OwnerEffect(_)
        | ExecutionEvent::EgressRefused(_)
        | ExecutionEvent::PatternStepped(_)
        | ExecutionEvent::PatternNudged(_)
        | ExecutionEvent::RunnerNoted(_)
        | ExecutionEvent::ObservationRecorded(_)
        | ExecutionEvent::MessageDelivery(_)
        | ExecutionEvent::Forked(_)
        | ExecutionEvent::ModelSwitched(_) => return None,
    };
    Some(traced)
}
