//! A task that is watched: records go in as they stand in a journal, and what operators see comes out.

use serde_json::{Value, json};
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::{TaskEvent, TaskState};
use windlass_domain::{ExecutionId, TaskId, Wall};
use windlass_telemetry::{Format, LogLine, Observed, Registry, Seen, Span, Spans, TaskLabels};

pub const TASK: &str = "0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11";
pub const CHILD: &str = "0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e22";
const EXECUTION: &str = "0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e33";

pub struct Watched {
    seen: Seen,
    spanned: Spans,
    pub spans: Vec<Span>,
    at: u64,
    pub registry: Registry,
    pub logs: Vec<LogLine>,
}

impl Watched {
    pub fn new(task_labels: TaskLabels) -> Self {
        let task: TaskId = TASK.parse().expect("an id");
        let (spanned, spans) = (Spans::new(task), Vec::new());
        Self {
            spanned,
            spans,
            seen: Seen::new(task, task_labels),
            at: 0,
            registry: Registry::default(),
            logs: Vec::new(),
        }
    }

    /// From its creation on.
    pub fn created(goal: &str) -> Self {
        let created = json!({
            "command": {"command_id": TASK, "session_id": TASK, "task_id": TASK, "goal": goal,
                        "execution_config": {"model": "gpt-4o"}},
            "agent_id": "executor", "role": "executor",
            "model": {"provider": "openai", "model": "gpt-4o", "base_url": "http://localhost"},
            "workspace": "/w", "base_case": [], "sandbox": "bubblewrap", "baseline": null,
            "budget": {},
        });
        let event = TaskEvent::decode("task.created", 1, &created.to_string()).expect("a record");
        let mut state = TaskState::default();
        state.apply(&event, Wall::default());
        let mut watched = Self::new(TaskLabels::Off);
        watched.seen.begins(&state);
        watched
    }

    pub fn after(mut self, millis: u64) -> Self {
        self.at += millis;
        self
    }

    pub fn task(mut self, kind: &str, data: &Value) -> Self {
        let event = TaskEvent::decode(kind, 1, &data.to_string()).expect("a record");
        let observed = self.seen.task(&event);
        self.take(observed)
    }

    pub fn execution(mut self, kind: &str, data: &Value) -> Self {
        let event = ExecutionEvent::decode(kind, 1, &data.to_string()).expect("a record");
        let execution: ExecutionId = EXECUTION.parse().expect("an id");
        self.spans.extend(self.spanned.execution(execution, &event, Wall::from_millis(self.at)));
        let observed = self.seen.execution(execution, &event, Wall::from_millis(self.at));
        self.take(observed)
    }

    fn take(mut self, observed: Vec<Observed>) -> Self {
        for seen in observed {
            match seen {
                Observed::Metric(metric) => self.registry.add(metric),
                Observed::Log(line) => self.logs.push(line),
            }
        }
        self
    }

    /// The model asks for a call.
    pub fn calls(self, tool: &str) -> Self {
        let call = json!({"call_id": "a", "tool": tool, "arguments": "{}"});
        self.execution(
            "model.responded",
            &json!({"iteration": 1, "text": "", "calls": [call], "stop": "tool_calls",
                    "usage": {"input": 70, "output": 7}, "lost": {"input": 30, "output": 0}, "duration_ms": 1200}),
        )
    }

    pub fn risk(self, level: &str) -> Self {
        let checked = json!({"call_id": "a", "tool": "bash", "level": level, "ruling": "require_approval"});
        self.execution("risk.checked", &checked)
    }

    pub fn finished(self, tool: &str, status: &str, content: &str) -> Self {
        let ended = json!({"call_id": "a", "tool": tool, "status": status, "content": content, "duration_ms": 40});
        self.execution("tool.finished", &ended)
    }

    pub fn starts(self, tool: &str) -> Self {
        self.execution("tool.started", &json!({"call_id": "a", "tool": tool, "effect": "once"}))
    }

    pub fn asks(self) -> Self {
        let asked = json!({"iteration": 1, "prompt": "0".repeat(64), "messages": 1, "estimated_input": 1});
        self.execution("model.requested", &asked)
    }

    pub fn moved(self, to: &str) -> Self {
        self.execution("state.changed", &json!({"from": "running", "to": to, "reason": ""}))
    }

    pub fn spawned(self) -> Self {
        self.execution("subagent.spawned", &json!({"call_id": "a", "execution_id": CHILD, "label": "scout"}))
    }

    pub fn child_ended(self) -> Self {
        self.execution(
            "subagent.finished",
            &json!({"execution_id": CHILD, "role": "subagent", "usage": {"input": 1, "output": 1}, "cost": 0.0,
                    "label": "scout", "status": "timeout", "duration_ms": 900}),
        )
    }

    pub fn compacted(self) -> Self {
        self.execution("compaction.finished", &json!({"cycle": 1, "tokens_before": 90_000, "tokens_after": 9_000}))
    }

    pub fn in_a_loop(self) -> Self {
        let pattern = json!({"kind": "failures", "last": "bash", "times": 5});
        self.execution("doom_loop.detected", &json!({"pattern": pattern, "intervention": 1, "message": "Think."}))
    }

    /// The last line, in JSON, without its time.
    pub fn last(&self) -> Value {
        let line = self.logs.last().expect("a line").written(Format::Json, Wall::default());
        let mut line: Value = serde_json::from_str(&line).expect("JSON");
        line.as_object_mut().expect("an object").remove("timestamp").expect("a time");
        line
    }
}
