//! From records to what operators see: each record of seed 000 §16.2 and §16.3 makes its metrics and log lines, and others make
//! none. `Seen` is what must be remembered of a task between two records; of what another process saw, it knows nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use windlass_domain::execution::{ExecutionEvent, Lifecycle, StateChanged};
use windlass_domain::risk::Level as Risk;
use windlass_domain::task::{TaskEvent, TaskFinished, TaskState};
use windlass_domain::{CallId, CallStatus, ExecutionId, Finished, TaskId, TaskResultStatus, Usage, Wall, millis};

use crate::log_line::{Level, LogLine};
use crate::metric::Metric;
use crate::semantic::{self, Chat};

#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    Metric(Metric),
    Log(LogLine),
}

/// Whether metrics say which task they are of: a series for each task is more than many a store of metrics bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskLabels {
    #[default]
    Off,
    On,
}

#[derive(Debug, Clone)]
pub struct Seen {
    task: TaskId,
    task_labels: TaskLabels,
    goal: String,
    model: String,
    provider: &'static str,
    executions: BTreeMap<ExecutionId, Execution>,
}

#[derive(Debug, Clone, Default)]
struct Execution {
    model: Option<String>,
    running_since: Option<Wall>,
    ran_for_ms: u64,
    asked_at: Option<Wall>,
    iterations: u64,
    asked: BTreeSet<CallId>,
    risks: BTreeMap<CallId, Risk>,
}

impl Seen {
    pub fn new(task: TaskId, task_labels: TaskLabels) -> Self {
        Self { task, task_labels, goal: String::new(), model: String::new(), provider: "", executions: BTreeMap::new() }
    }

    /// The task as it is when this process begins to work on it.
    pub fn begins(&mut self, state: &TaskState) {
        if let Some(created) = &state.created {
            self.goal.clone_from(&created.command.goal);
            self.model.clone_from(&created.command.execution_config.model);
            self.provider = semantic::provider(&created.model);
        }
    }

    pub fn task(&mut self, event: &TaskEvent) -> Vec<Observed> {
        match event {
            TaskEvent::AttemptStarted(started) if started.attempt == 1 => {
                let line = self.line(Level::Info, "Task started");
                vec![Observed::Log(line.with("goal", self.goal.as_str()).with("model", self.model.as_str()))]
            }
            TaskEvent::Finished(finished) => vec![Observed::Log(self.finished(finished))],
            TaskEvent::Created(_)
            | TaskEvent::Changed(_)
            | TaskEvent::ContextGathered(_)
            | TaskEvent::AttemptStarted(_)
            | TaskEvent::AttemptInterrupted(_)
            | TaskEvent::AttemptWaiting(_)
            | TaskEvent::AttemptWoken(_)
            | TaskEvent::AttemptEnded(_)
            | TaskEvent::ChecksRecorded(_)
            | TaskEvent::CandidateOutdated(_)
            | TaskEvent::ConsultAsked(_)
            | TaskEvent::ConsultAnswered(_)
            | TaskEvent::HelpAsked(_)
            | TaskEvent::HelpAnswered(_)
            | TaskEvent::ResearchAsked(_)
            | TaskEvent::ResearchAnswered(_)
            | TaskEvent::ResearchTimedOut(_)
            | TaskEvent::ResearchExpired(_)
            | TaskEvent::DeadlineSet(_) => Vec::new(),
            TaskEvent::TimeUp(up) => {
                let line = self.line(Level::Warn, "Task out of time");
                vec![Observed::Log(line.with("reason", up.in_words()))]
            }
        }
    }

    fn finished(&self, finished: &TaskFinished) -> LogLine {
        let result = &finished.result;
        if result.status == TaskResultStatus::Failed {
            let line = self.line(Level::Error, "Task failed");
            let error = result.error_details.as_ref();
            let kind = error.map_or(Value::Null, |error| json!(error.error_code));
            return line.with("error_type", kind).with("message", error.map_or("", |error| &error.message));
        }
        self.line(Level::Info, "Task completed")
            .with("status", json!(result.status))
            .with("iterations", result.usage.iterations)
            .with("duration_ms", result.usage.duration_ms)
    }

    pub fn execution(&mut self, id: ExecutionId, event: &ExecutionEvent, at: Wall) -> Vec<Observed> {
        let execution = self.executions.entry(id).or_default();
        match event {
            ExecutionEvent::Header(header) => {
                execution.model = Some(header.model.clone());
                Vec::new()
            }
            ExecutionEvent::ModelRequested(request) => {
                execution.iterations += u64::from(request.purpose.is_turn());
                execution.asked_at = Some(at);
                Vec::new()
            }
            ExecutionEvent::ModelResponded(response) => {
                execution.asked.extend(response.calls.iter().map(|call| call.call_id.clone()));
                let model = execution.model.as_ref().unwrap_or(&self.model);
                let chat = Chat { provider: self.provider, model };
                let mut used = response.usage;
                used += response.lost;
                let latency = Metric::measure("agent.llm.latency_ms", response.duration_ms).with("model", model);
                let asked = chat.token_usage(used).into_iter().chain([chat.duration(response.duration_ms), latency]);
                asked.chain(tokens(used)).map(Observed::Metric).collect()
            }
            ExecutionEvent::ExchangeOpened(_) => {
                execution.iterations += 1;
                Vec::new()
            }
            ExecutionEvent::ExchangeClosed(closed) => {
                let model = execution.model.as_ref().unwrap_or(&self.model);
                let asked = Chat { provider: self.provider, model }.token_usage(closed.usage);
                asked.into_iter().chain(tokens(closed.usage)).map(Observed::Metric).collect()
            }
            ExecutionEvent::CallProposed(call) => {
                execution.asked.insert(call.call_id.clone());
                Vec::new()
            }
            ExecutionEvent::ModelFailed(failed) => {
                let chat = Chat { provider: self.provider, model: execution.model.as_ref().unwrap_or(&self.model) };
                let lasted = execution.asked_at.take().map(|asked| chat.failure(millis(at.since(asked))));
                let asked = chat.token_usage(failed.usage).into_iter().chain(lasted);
                asked.chain(tokens(failed.usage)).map(Observed::Metric).collect()
            }
            ExecutionEvent::RiskChecked(checked) => {
                execution.risks.insert(checked.call_id.clone(), checked.level);
                Vec::new()
            }
            ExecutionEvent::ToolFinished(finished) => {
                let risk = execution.risk_of(&finished.call_id);
                self.tool_finished(finished, risk)
            }
            ExecutionEvent::InjectionReceived(received) => {
                let line = self.line(Level::Info, "Injection received");
                vec![Observed::Log(line.with("injection_type", json!(received.injection.injection_type)))]
            }
            ExecutionEvent::CompactionFinished(ended) => self.compacted(ended.tokens_before, ended.tokens_after),
            ExecutionEvent::CompactionFailed(ended) => self.compacted(ended.tokens_before, ended.tokens_after),
            ExecutionEvent::CompactionFlushed(flushed) => {
                let line = self.line(Level::Info, "Memory flush");
                vec![Observed::Log(line.with("files_written", flushed.files_written))]
            }
            ExecutionEvent::SubagentSpawned(child) => {
                let line = self.line(Level::Info, "Sub-agent spawned").with("label", child.label.as_str());
                vec![
                    Observed::Metric(Metric::count("agent.subagent.spawned", 1)),
                    Observed::Log(line.with("sub_agent_id", child.execution_id.to_string())),
                ]
            }
            ExecutionEvent::SubagentFinished(child) => {
                let Some(status) = child.status else { return Vec::new() };
                let line = self.line(Level::Info, "Sub-agent completed").with("label", child.label.as_str());
                let lasted = Metric::measure("agent.subagent.duration_ms", child.duration_ms);
                vec![
                    Observed::Metric(lasted.with("status", word(&json!(status)))),
                    Observed::Log(line.with("status", json!(status)).with("duration_ms", child.duration_ms)),
                ]
            }
            ExecutionEvent::DoomLoopDetected(detected) => {
                let line = self.line(Level::Warn, "Doom loop detected");
                vec![
                    Observed::Metric(Metric::count("agent.doom_loop.detected", 1)),
                    Observed::Log(line.with("pattern", detected.pattern.to_string())),
                ]
            }
            ExecutionEvent::StateChanged(change) => self.state_changed(id, change, at),
            ExecutionEvent::MessageAccepted(_)
            | ExecutionEvent::DecisionRecorded(_)
            | ExecutionEvent::ToolStarted(_)
            | ExecutionEvent::OwnerEffect(_)
            | ExecutionEvent::CompactionStarted(_)
            | ExecutionEvent::CompactionCleared(_)
            | ExecutionEvent::CompactionFlushing(_)
            | ExecutionEvent::CompactionSkipped(_)
            | ExecutionEvent::EgressRefused(_)
            | ExecutionEvent::PatternStepped(_)
            | ExecutionEvent::PatternNudged(_)
            | ExecutionEvent::RunnerNoted(_)
            | ExecutionEvent::ObservationRecorded(_)
            | ExecutionEvent::MessageDelivery(_)
            | ExecutionEvent::Forked(_)
            | ExecutionEvent::ModelSwitched(_) => Vec::new(),
        }
    }

    /// A loop is measured when it comes to rest: at its end, and when it pauses or waits.
    fn state_changed(&mut self, id: ExecutionId, change: &StateChanged, at: Wall) -> Vec<Observed> {
        let execution = self.executions.entry(id).or_default();
        if change.to == Lifecycle::Running {
            execution.running_since = Some(at);
            return Vec::new();
        }
        if let Some(since) = execution.running_since.take() {
            execution.ran_for_ms += millis(at.since(since));
        }
        if !change.to.is_over() && !matches!(change.to, Lifecycle::Paused | Lifecycle::AwaitingInput) {
            return Vec::new();
        }
        let (turns, lasted) = (std::mem::take(&mut execution.iterations), std::mem::take(&mut execution.ran_for_ms));
        if change.to.is_over() {
            self.executions.remove(&id);
        }
        let status = word(&json!(change.to));
        let turns = self.labelled(Metric::count("agent.loop.iterations", turns)).with("status", status.as_str());
        let lasted = Metric::measure("agent.loop.duration_ms", lasted).with("status", status);
        vec![Observed::Metric(turns), Observed::Metric(lasted)]
    }

    fn tool_finished(&self, finished: &Finished, risk: &'static str) -> Vec<Observed> {
        let Finished { tool, status, duration_ms, content, .. } = finished;
        let calls = Metric::count("agent.tool.calls", 1).with("tool_name", tool).with("risk_level", risk);
        let lasted = Metric::measure("agent.tool.duration_ms", *duration_ms).with("tool_name", tool);
        let mut observed = vec![Observed::Metric(calls), Observed::Metric(lasted)];
        if status.is_error() {
            let error_type = word(&json!(status));
            let failed = Metric::count("agent.tool.errors", 1).with("tool_name", tool).with("error_type", error_type);
            observed.push(Observed::Metric(failed));
        }
        let line = |level, event| self.line(level, event).with("tool_name", tool.as_str());
        observed.push(Observed::Log(match status {
            CallStatus::Ok => line(Level::Debug, "Tool executed").with("duration_ms", *duration_ms),
            CallStatus::Denied => line(Level::Warn, "Risk denied").with("risk_level", risk),
            CallStatus::Error | CallStatus::TimedOut | CallStatus::Cancelled | CallStatus::Interrupted => {
                line(Level::Warn, "Tool failed").with("error", content.as_str())
            }
        }));
        observed
    }

    fn compacted(&self, before: u64, after: u64) -> Vec<Observed> {
        let line = self.line(Level::Info, "Compaction triggered");
        vec![
            Observed::Metric(self.labelled(Metric::count("agent.compaction.count", 1))),
            Observed::Metric(Metric::measure("agent.compaction.tokens_before", before)),
            Observed::Metric(Metric::measure("agent.compaction.tokens_after", after)),
            Observed::Log(line.with("tokens_before", before).with("tokens_after", after)),
        ]
    }

    fn line(&self, level: Level, event: &'static str) -> LogLine {
        LogLine::new(level, event).with("task_id", self.task.to_string())
    }

    fn labelled(&self, metric: Metric) -> Metric {
        match self.task_labels {
            TaskLabels::On => metric.with("task_id", self.task.to_string()),
            TaskLabels::Off => metric,
        }
    }
}

impl Execution {
    /// What is harmless leaves no record of its check. Of a call that was asked for in another process nobody here knows.
    fn risk_of(&mut self, call: &CallId) -> &'static str {
        match (self.risks.remove(call), self.asked.remove(call)) {
            (Some(risk), _) => risk.as_str(),
            (None, true) => Risk::Low.as_str(),
            (None, false) => "unknown",
        }
    }
}

fn tokens(used: Usage) -> impl Iterator<Item = Metric> {
    let of = |direction: &str, count| Metric::count("agent.llm.tokens", count).with("direction", direction);
    [of("input", used.input), of("output", used.output)].into_iter()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
