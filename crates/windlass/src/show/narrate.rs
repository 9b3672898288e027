//! Turns journal records into lines that a person likes to watch. `run` prints them as they are committed, `log` prints
//! them afterwards: the same words for the same record.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use windlass_domain::execution::{
    CallDecision, ChildStatus, DecisionOutcome, EgressRefused, ExecutionEvent, Lifecycle, ModelFailed, ModelResponded,
    Observation, OwnerEffect, RiskChecked, StateChanged, SubagentFinished,
};
use windlass_domain::risk::{GateSaid, Level, Ruling};
use windlass_domain::task::{
    AttemptWaiting, ChecksRecorded, HelpAbout, HelpAnswer, TaskEvent, TaskFinished, TaskStatus,
};
use windlass_domain::tool_name::LAUNCH_AGENT;
use windlass_domain::{
    CallId, CallStatus, CheckResult, Effect, ErrorCode, ExecutionId, Finished, Taint, TaskId, TaskResult,
    TaskResultStatus, ToolCall, Usd, grouped,
};

use windlass_engine::JournalRecord;
use windlass_policy::visible_line;

use super::compaction::compaction;
use super::known::known;
use super::line::{Line, first_line, headline, quoted};
use super::pattern::{nudged, stepped};
use super::planned::{Planned, is_told_of_a_part, name as part_name};
use super::style::Style;
use super::{foreign, fork};

/// What has been told so far; later records refer to earlier ones.
#[derive(Debug, Default)]
pub struct Narrator {
    executions: BTreeMap<ExecutionId, Run>,
    /// Whose story it is; nobody's, where an execution tells its own.
    subject: Option<TaskId>,
    /// Those who work for it, by the names that stand before what they say.
    parts: BTreeMap<TaskId, String>,
    planned: Planned,
}

/// What has been told of one execution. Several may run side by side, and their call ids may be the same.
#[derive(Debug, Default)]
struct Run {
    label: Option<String>,
    speaker: Speaker,
    calls: BTreeMap<CallId, String>,
    started: BTreeMap<CallId, u32>,
    /// The calls that have spawned an agent, of which more is told than of the call.
    spawned: BTreeSet<CallId>,
    /// What a program said last: its last words are the result's to show.
    said: Option<String>,
}

/// Whose execution it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Speaker {
    #[default]
    Task,
    /// Of one who works for it.
    Part,
    /// Of an agent that another one has spawned.
    SubAgent,
}

impl Narrator {
    pub fn tell(&mut self, record: &JournalRecord) -> Vec<Line> {
        match record {
            JournalRecord::Task { task, event, .. } => self.tell_of_task(*task, event),
            JournalRecord::Graph { event, .. } => self.planned.tell(event),
            JournalRecord::Execution { execution, event, .. } => self.tell_execution(*execution, event),
        }
    }

    /// What a call does, in a few words.
    pub fn call(&self, execution: ExecutionId, call_id: &CallId) -> Option<&str> {
        self.executions.get(&execution)?.calls.get(call_id).map(String::as_str)
    }

    /// Who runs it, and by what name; the task itself has none.
    pub fn speaker(&self, execution: ExecutionId) -> (Speaker, &str) {
        let run = self.executions.get(&execution);
        run.map_or((Speaker::Task, ""), |run| (run.speaker, run.label.as_deref().unwrap_or_default()))
    }

    /// The name of one who works for the task.
    pub fn part(&self, task: TaskId) -> Option<&str> {
        self.parts.get(&task).map(String::as_str)
    }

    /// What a spawned agent does stands behind its label, and what one does who works for a plan behind its name.
    pub fn tell_execution(&mut self, execution: ExecutionId, event: &ExecutionEvent) -> Vec<Line> {
        if let ExecutionEvent::SubagentSpawned(child) = event {
            let label = visible_line(&child.label).into_owned();
            let label = match self.speaker(execution) {
                (Speaker::Part, name) => format!("{name} {label}"),
                _ => label,
            };
            let child_run = Run { label: Some(label), speaker: Speaker::SubAgent, ..Run::default() };
            self.executions.insert(child.execution_id, child_run);
        }
        let run = self.executions.entry(execution).or_default();
        let lines = run.tell(event);
        match (&run.label, run.speaker) {
            (Some(name), Speaker::Part) => self.planned.behind(name, lines),
            (Some(label), _) => {
                lines.into_iter().map(|line| line.behind(Style::Dim, &format!("  {label}  "))).collect()
            }
            (None, _) => lines,
        }
    }

    fn tell_of_task(&mut self, task: TaskId, event: &TaskEvent) -> Vec<Line> {
        if *self.subject.get_or_insert(task) == task {
            return self.tell_task(event);
        }
        if let TaskEvent::Created(created) = event {
            let name = created.part_of.as_ref().map(|of| part_name(&of.part)).unwrap_or_default();
            self.parts.insert(task, name);
        }
        let name = self.parts.get(&task).cloned().unwrap_or_default();
        if let TaskEvent::AttemptStarted(started) = event {
            let run = Run { label: Some(name.clone()), speaker: Speaker::Part, ..Run::default() };
            self.executions.insert(started.execution_id, run);
        }
        let lines = if is_told_of_a_part(event) { self.tell_task(event) } else { Vec::new() };
        self.planned.behind(&name, lines)
    }

    #[expect(clippy::unused_self, reason = "the two kinds of record are told alike")]
    pub fn tell_task(&mut self, event: &TaskEvent) -> Vec<Line> {
        match event {
            TaskEvent::Created(created) => {
                let goal = Line::new().add(Style::Bold, headline(&created.command.goal));
                let task = created.command.task_id.short();
                let sandbox = format!("sandbox {}", created.sandbox);
                let facts = [format!("task {task}"), created.workspace.clone(), sandbox];
                vec![goal, Line::new().facts(Style::Dim, facts)]
            }
            TaskEvent::ContextGathered(gathered) => vec![known(gathered)],
            TaskEvent::AttemptStarted(started) if started.attempt > 1 => {
                vec![Line::new(), Line::new().add(Style::Warn, format!("attempt {}", started.attempt))]
            }
            TaskEvent::Changed(change) => {
                let word = match change.status {
                    TaskStatus::Paused => "paused",
                    _ => "going on",
                };
                vec![Line::new().add(Style::Warn, word).point(Style::Dim).dim(&change.reason)]
            }
            TaskEvent::ChecksRecorded(ChecksRecorded { results, conflicts, .. }) => {
                let conflict = |why: &String| Line::marked(Style::Bad, "✗ ").plain(format!("not taken: {why}"));
                conflicts.iter().map(conflict).chain(results.iter().flat_map(check)).collect()
            }
            TaskEvent::CandidateOutdated(_) => {
                vec![Line::new().dim("others' work came in meanwhile: checking once more, on top of it")]
            }
            TaskEvent::ConsultAsked(asked) => {
                let words = format!("asking the planner about attempt {}", asked.attempt);
                vec![Line::new().add(Style::Warn, words)]
            }
            TaskEvent::ConsultAnswered(answered) => vec![match &answered.guidance {
                Ok(said) => Line::marked(Style::Accent, "← ").plain(format!("the planner says: {}", first_line(said))),
                Err(error) => {
                    Line::new().add(Style::Warn, "the planner has no answer").point(Style::Dim).dim(&error.message)
                }
            }],
            TaskEvent::HelpAsked(asked) => {
                let words = match asked.about {
                    HelpAbout::NextAttempt => format!("asking you about attempt {}", asked.attempt),
                    HelpAbout::OneMore => "asking you for one more attempt".to_owned(),
                };
                let card = format!("card {}", asked.card.short());
                vec![Line::marked(Style::Warn, "? ").plain(words).gap().dim(card)]
            }
            TaskEvent::HelpAnswered(answered) => vec![match &answered.answer {
                HelpAnswer::GoOn { said } if said.is_empty() => Line::marked(Style::Good, "✓ ").plain("going on"),
                HelpAnswer::GoOn { said } => {
                    Line::marked(Style::Accent, "← ").plain(format!("you say: {}", first_line(said)))
                }
                HelpAnswer::GiveUp { why } => {
                    Line::marked(Style::Bad, "✘ ").plain("given up").point(Style::Dim).dim(first_line(why))
                }
            }],
            TaskEvent::ResearchAsked(asked) => {
                vec![
                    Line::marked(Style::Accent, "→ ")
                        .plain(format!("looks into: {}", first_line(&asked.question.task))),
                ]
            }
            TaskEvent::ResearchAnswered(answered) => vec![match &answered.error {
                None => Line::marked(Style::Accent, "← ").plain("what was looked into has come back"),
                Some(error) => {
                    Line::new().add(Style::Warn, "nothing was found out").point(Style::Dim).dim(&error.message)
                }
            }],
            TaskEvent::ResearchTimedOut(_) => {
                vec![Line::new().add(Style::Warn, "nothing was found out").point(Style::Dim).dim("it took too long")]
            }
            TaskEvent::ResearchExpired(_) => {
                vec![Line::new().add(Style::Warn, "the plan takes too long").point(Style::Dim).dim("told to finish")]
            }
            TaskEvent::DeadlineSet(set) => {
                vec![Line::new().dim(format!("its deadline is {}", set.deadline.to_rfc3339()))]
            }
            TaskEvent::TimeUp(up) => vec![Line::marked(Style::Warn, "! ").plain(up.in_words())],
            TaskEvent::Finished(TaskFinished { result }) => finish(result),
            TaskEvent::AttemptWaiting(waiting) if !waiting.research.is_empty() => {
                vec![Line::new().dim("goes on once something has been found out")]
            }
            TaskEvent::AttemptWaiting(waiting) if waiting.monitor.is_some() => {
                vec![Line::new().dim("waits for its next look")]
            }
            TaskEvent::AttemptWaiting(waiting) => {
                let asked = waited_for(waiting);
                vec![Line::new().add(Style::Warn, "waiting for an answer").point(Style::Dim).facts(Style::Dim, asked)]
            }
            // An interruption is told by the record beside it: the pause it leads to, or the process that was lost.
            TaskEvent::AttemptStarted(_)
            | TaskEvent::AttemptInterrupted(_)
            | TaskEvent::AttemptWoken(_)
            | TaskEvent::AttemptEnded(_) => Vec::new(),
        }
    }
}

impl Run {
    fn tell(&mut self, event: &ExecutionEvent) -> Vec<Line> {
        let said = if foreign::is_last_word_before(event) { None } else { self.said.take() };
        let mut lines = said.map(|said| foreign::said(&said)).unwrap_or_default();
        lines.extend(self.tell_next(event));
        lines
    }

    fn tell_next(&mut self, event: &ExecutionEvent) -> Vec<Line> {
        match event {
            ExecutionEvent::ModelResponded(response) => self.response(response),
            ExecutionEvent::ToolStarted(started) => self.begun(&started.call_id, &started.effect),
            ExecutionEvent::ToolFinished(finished) => self.finished(finished),
            ExecutionEvent::DecisionRecorded(decision) => self.decided(decision),
            ExecutionEvent::InjectionReceived(received) if received.injection.is_repair() => {
                handed_back(&received.injection.content)
            }
            ExecutionEvent::InjectionReceived(received) => {
                let said = Line::marked(Style::Accent, "← ").plain(first_line(&received.injection.content));
                vec![labelled(said, received.taint)]
            }
            ExecutionEvent::OwnerEffect(OwnerEffect::Delivered { deliverable, .. }) => vec![
                Line::marked(Style::Plain, "  ")
                    .add(Style::Good, "deliverable ")
                    .plain(&deliverable.filepath)
                    .point(Style::Dim)
                    .giving_way(Style::Dim, first_line(&deliverable.description)),
            ],
            ExecutionEvent::OwnerEffect(OwnerEffect::Told { message, .. }) => {
                std::iter::once(Line::new()).chain(quoted(message.trim())).collect()
            }
            ExecutionEvent::RiskChecked(checked) => self.risk(checked),
            ExecutionEvent::StateChanged(change) => changed(change),
            ExecutionEvent::SubagentSpawned(child) => {
                self.spawned.insert(child.call_id.clone());
                let id = child.execution_id.short();
                let said = Line::marked(Style::Accent, "▸ ").plain(format!("spawned {}", child.label));
                vec![said.point(Style::Dim).facts(Style::Dim, [format!("execution {id}")])]
            }
            ExecutionEvent::SubagentFinished(child) => finished_child(child).into_iter().collect(),
            ExecutionEvent::ModelFailed(ModelFailed { reason, told: Some(_), .. }) => {
                let said = Line::marked(Style::Warn, "! ").plain("the answer cannot be used and the model is told so");
                vec![said.gap().dim(reason)]
            }
            ExecutionEvent::EgressRefused(EgressRefused { host, port, reason, times }) => {
                let times = if *times > 1 { format!(" {times} times") } else { String::new() };
                let said = Line::marked(Style::Warn, "! ").plain(format!("not reached{times}: {host}:{port}"));
                vec![said.gap().dim(reason)]
            }
            // What a question that failed leads to is told by the record that follows.
            ExecutionEvent::Header(_)
            | ExecutionEvent::MessageAccepted(_)
            | ExecutionEvent::ModelRequested(_)
            | ExecutionEvent::ModelFailed(_) => Vec::new(),
            ExecutionEvent::CompactionStarted(_)
            | ExecutionEvent::CompactionCleared(_)
            | ExecutionEvent::CompactionFlushing(_)
            | ExecutionEvent::CompactionFlushed(_)
            | ExecutionEvent::CompactionSkipped(_)
            | ExecutionEvent::CompactionFinished(_)
            | ExecutionEvent::CompactionFailed(_)
            | ExecutionEvent::DoomLoopDetected(_) => compaction(event).into_iter().collect(),
            ExecutionEvent::RunnerNoted(noted) => vec![foreign::launched(noted)],
            ExecutionEvent::ObservationRecorded(recorded) => self.observed(&recorded.observation),
            ExecutionEvent::CallProposed(call) => {
                self.calls.insert(call.call_id.clone(), describe(call));
                Vec::new()
            }
            ExecutionEvent::Forked(forked) => vec![fork::forked(&forked.from)],
            ExecutionEvent::ModelSwitched(switched) => vec![fork::switched(switched)],
            ExecutionEvent::MessageDelivery(delivery) => foreign::delivered(delivery),
            ExecutionEvent::ExchangeOpened(_) | ExecutionEvent::ExchangeClosed(_) => Vec::new(),
            ExecutionEvent::PatternStepped(change) => vec![stepped(change)],
            ExecutionEvent::PatternNudged(told) => vec![nudged(told)],
        }
    }

    /// A call of the program's own is told when it has ended; one that needed leave is told by its result.
    fn observed(&mut self, observation: &Observation) -> Vec<Line> {
        match observation {
            Observation::Called { call, tool, input } => {
                let input = serde_json::to_string(input).unwrap_or_default();
                self.calls.insert(CallId(call.clone()), describe(&ToolCall::new(call, tool, &input)));
                Vec::new()
            }
            Observation::CallEnded { call, is_error, output } => {
                let what = self.calls.remove(&CallId(call.clone())).unwrap_or_else(|| "a call".to_owned());
                let style = if *is_error { Style::Bad } else { Style::Accent };
                vec![Line::marked(style, "▸ ").giving_way(Style::Plain, what).gap().dim(first_line(output))]
            }
            Observation::Said { text } => {
                self.said = Some(text.clone());
                Vec::new()
            }
            observation => foreign::observed(observation),
        }
    }

    fn response(&mut self, response: &ModelResponded) -> Vec<Line> {
        for call in &response.calls {
            self.calls.insert(call.call_id.clone(), describe(call));
        }
        let said = response.text.trim();
        // The last words are the result's to show.
        if said.is_empty() || response.calls.is_empty() {
            return Vec::new();
        }
        std::iter::once(Line::new()).chain(quoted(said)).collect()
    }

    /// What is low or medium and not blocked goes on or is asked about, and nobody needs to be told here.
    fn risk(&self, checked: &RiskChecked) -> Vec<Line> {
        let what = self.calls.get(&checked.call_id).unwrap_or(&checked.tool);
        let said = |words: String| Line::marked(Style::Warn, "! ").giving_way(Style::Plain, what).gap().dim(words);
        let risk = || said(format!("{} risk: {}", checked.level.as_str(), checked.reasons.join("; ")));
        let is_blocking = |gate: &&GateSaid| gate.ruling == Ruling::Block;
        let blocked = checked.gates.iter().filter(is_blocking).map(|gate| said(blocked_by(gate)));
        (checked.level >= Level::High).then(risk).into_iter().chain(blocked).collect()
    }

    fn decided(&self, decision: &CallDecision) -> Vec<Line> {
        let what = self.calls.get(&decision.call_id).cloned().unwrap_or_default();
        let said =
            |mark, words: String| vec![Line::marked(Style::Warn, mark).giving_way(Style::Plain, what).gap().dim(words)];
        match &decision.outcome {
            DecisionOutcome::Rewritten { gates, .. } => said("✎ ", format!("rewritten by {}", gates.join(", "))),
            DecisionOutcome::Waiting { card_id } => said("? ", format!("needs approval: card {}", card_id.short())),
            DecisionOutcome::Question { request_id } => said("? ", format!("question {}", request_id.short())),
            DecisionOutcome::Monitoring { .. } => said("⏲ ", "until its next look".to_owned()),
            DecisionOutcome::Approved { card_id } => said("✓ ", format!("approved: card {}", card_id.short())),
        }
    }

    fn begun(&mut self, call_id: &CallId, effect: &Effect) -> Vec<Line> {
        let times = self.started.entry(call_id.clone()).or_default();
        *times += 1;
        if *times == 1 {
            return Vec::new();
        }
        let what = self.calls.get(call_id).cloned().unwrap_or_default();
        let why = match effect {
            // What the agent does from here on is told by itself.
            Effect::Child => return Vec::new(),
            Effect::Read => "it changes nothing",
            Effect::Probe(_) | Effect::Once => "it had not happened",
        };
        vec![
            Line::marked(Style::Warn, "↻ ")
                .giving_way(Style::Plain, what)
                .point(Style::Dim)
                .dim(format!("run again: {why}")),
        ]
    }

    fn finished(&mut self, finished: &Finished) -> Vec<Line> {
        // How the agent ended was told already, and how a program did is told by what follows.
        let is_launch = finished.tool == LAUNCH_AGENT && !finished.status.is_error();
        if is_launch || self.spawned.contains(&finished.call_id) {
            return Vec::new();
        }
        let what = self.calls.remove(&finished.call_id).unwrap_or_else(|| finished.tool.clone());
        let (mark, style) = match finished.status {
            CallStatus::Ok => ("▸ ", Style::Accent),
            CallStatus::Interrupted | CallStatus::Cancelled => ("◌ ", Style::Warn),
            CallStatus::Error | CallStatus::Denied | CallStatus::TimedOut => ("▸ ", Style::Bad),
        };
        let (how, detail) = outcome(finished);
        let how = without_subject(how, &what);
        let mut head = Line::marked(style, mark).giving_way(Style::Plain, what).gap().dim(how);
        if let Some(detail) = detail {
            head = head.point(Style::Dim).giving_way(Style::Dim, detail);
        }
        let head = labelled(head.point(Style::Dim).facts(Style::Dim, [duration(finished.duration_ms)]), finished.taint);
        match (finished.tool.as_str(), finished.status) {
            ("update_plan", CallStatus::Ok) => std::iter::once(head).chain(plan(&finished.content)).collect(),
            // The deliverable itself and the words were told already, and the answer is told by what the user said.
            ("publish_deliverable" | "ask_user" | "tell_user", CallStatus::Ok) => Vec::new(),
            _ => vec![head],
        }
    }
}

fn finished_child(child: &SubagentFinished) -> Option<Line> {
    let (mark, style, how) = match child.status? {
        ChildStatus::Completed => ("✔ ", Style::Good, "completed in"),
        ChildStatus::Failed => ("✘ ", Style::Bad, "failed after"),
        ChildStatus::Timeout => ("✘ ", Style::Bad, "timed out after"),
        ChildStatus::Cancelled => ("◌ ", Style::Warn, "was cancelled after"),
    };
    let seconds = child.duration_ms.div_ceil(1_000);
    let words = format!("{} {how} {seconds}s ({})", child.label, counted(child.usage.total(), "token"));
    Some(Line::marked(style, mark).plain(words))
}

/// What an attempt is parked for, in words.
pub fn waited_for(waiting: &AttemptWaiting) -> Vec<String> {
    let cards = waiting.cards.iter().map(|card| format!("card {}", card.short()));
    cards.chain(waiting.questions.iter().map(|question| format!("question {}", question.short()))).collect()
}

fn blocked_by(gate: &GateSaid) -> String {
    let why = first_line(&gate.reason);
    format!("blocked by the gate {}{}{why}", gate.gate, if why.is_empty() { "" } else { ": " })
}

/// An answer that the agent has to give once more: everything that is wrong with it, without how it is asked.
fn handed_back(told: &str) -> Vec<Line> {
    let paragraphs: Vec<&str> = told.split("\n\n").collect();
    let Some((head, rest)) = paragraphs.split_first() else { return Vec::new() };
    let problems = rest.split_last().map(|(_, problems)| problems).unwrap_or_default();
    let problems = problems.iter().flat_map(|problem| problem.lines()).filter(|line| !line.trim().is_empty());
    let head = Line::marked(Style::Warn, "← ").plain(first_line(head));
    std::iter::once(head).chain(problems.map(|line| Line::marked(Style::Dim, "    ").plain(first_line(line)))).collect()
}

/// What comes from outside says so. What the host itself says, and what came with the task, needs no label.
fn labelled(line: Line, taint: Taint) -> Line {
    if taint == Taint::External { line.gap().add(Style::Warn, "[external]") } else { line }
}

fn describe(call: &ToolCall) -> String {
    format!("{} {}", call.tool, first_line(&subject(&call.tool, call.arguments.get()))).trim_end().to_owned()
}

/// What a call is about; empty where its tool says enough.
pub fn subject(tool: &str, arguments: &str) -> String {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match tool {
        "bash" => command_line(&arguments["command"]),
        // Other programs than this one have other names for it.
        "read" | "write" | "edit" => {
            ["path", "file_path", "filePath"].map(text).into_iter().find(|path| !path.is_empty()).unwrap_or_default()
        }
        LAUNCH_AGENT => text("agent"),
        "glob" | "grep" => text("pattern"),
        "publish_deliverable" => text("filepath"),
        "ask_user" => text("question"),
        "spawn_agent" if arguments.get("label").is_some() => text("label"),
        "spawn_agent" => text("task"),
        "save_memo" => text("filename"),
        "memory_search" | "search_memo" | "web_search" => text("query"),
        "python_exec" => text("script"),
        "skill_exec" => format!("{}/{}", text("skill_name"), text("script_name")),
        "request_research" => text("task"),
        "read_skill" => text("name"),
        "web_fetch" => text("url"),
        "browser" if arguments.get("selector").is_some() => format!("{} {}", text("action"), text("selector")),
        "browser" => format!("{} {}", text("action"), text("url")),
        _ => String::new(),
    }
}

fn command_line(command: &Value) -> String {
    match command {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        command => command.as_str().unwrap_or_default().to_owned(),
    }
}

/// A result in a few words, which are always shown, and what of the rest there is room for.
fn outcome(finished: &Finished) -> (String, Option<String>) {
    let mut lines = finished.content.trim().lines().map(str::trim);
    let first = lines.next().unwrap_or_default().to_owned();
    match (finished.tool.as_str(), finished.status) {
        (_, CallStatus::Interrupted) => ("interrupted: whether it happened is not known".to_owned(), None),
        ("read", CallStatus::Ok) => (counted(finished.content.lines().count() as u64, "line"), None),
        ("update_plan", CallStatus::Ok) => (first, None),
        // A command says at its end how it went.
        ("bash" | "python_exec" | "skill_exec", _) => (first, lines.next_back().map(ToOwned::to_owned)),
        // What was wrong stands in the lines below; the first of them is told.
        (_, CallStatus::Error) if first.ends_with(':') => {
            let detail = lines.next().unwrap_or_default().trim_start_matches("- ");
            let more = if lines.next().is_some() { " …" } else { "" };
            (format!("{first} {detail}{more}"), None)
        }
        _ => (first_line(&finished.content), None),
    }
}

/// Leaves out what stands beside it already: the path or the pattern of the call.
fn without_subject(how: String, call: &str) -> String {
    match call.split_once(' ') {
        Some(("write" | "edit", path)) => how.replacen(&format!("ed {path}"), "ed", 1),
        Some(("grep", pattern)) => how.replacen(&format!(" for {pattern}"), "", 1),
        _ => how,
    }
}

/// The steps of a plan as `update_plan` returns it.
fn plan(content: &str) -> Vec<Line> {
    content
        .lines()
        .filter_map(|line| line.strip_prefix("- ["))
        .filter_map(|step| step.split_once("] "))
        .map(|(mark, step)| {
            let step = step.replace("**", "");
            match mark {
                "x" => Line::marked(Style::Good, "    ✔ ").dim(step),
                ">" => Line::marked(Style::Accent, "    ▸ ").plain(step),
                "!" => Line::marked(Style::Bad, "    ! ").plain(step),
                _ => Line::marked(Style::Dim, "    · ").dim(step),
            }
        })
        .collect()
}

pub(super) fn check(result: &CheckResult) -> Vec<Line> {
    let (mark, style, word) =
        if result.passed { ("✔ ", Style::Good, "passed") } else { ("✘ ", Style::Bad, "failed") };
    let head = Line::marked(style, mark).plain(format!("check `{}` {word}", first_line(&result.name)));
    let mut lines = vec![if result.passed { head } else { head.point(Style::Dim).dim(&result.reason) }];
    if !result.passed {
        lines.extend(last_lines(&result.output).map(|line| line.behind(Style::Dim, "    ")));
    }
    lines.extend(result.tampered.iter().map(|path| {
        let what = match path == ".git" || path.ends_with("/.git") {
            true => "is new, and was left out of the check",
            false => "had been changed, and was restored for the check",
        };
        Line::marked(Style::Bad, "  ! ").plain(format!("{path} {what}"))
    }));
    lines
}

/// With the end of what it said, where it failed.
pub fn check_in_a_line(result: &CheckResult) -> Line {
    if result.passed {
        return Line::marked(Style::Good, "✔ ").plain(format!("check `{}` passed", first_line(&result.name)));
    }
    let line = Line::marked(Style::Bad, "✘ ").plain(format!("check `{}` failed", first_line(&result.name)));
    let line = line.point(Style::Dim).dim(headline(&result.reason));
    match result.output.lines().map(str::trim).rfind(|said| !said.is_empty()) {
        Some(last) => line.point(Style::Dim).giving_way(Style::Dim, headline(last)),
        None => line,
    }
}

fn last_lines(output: &str) -> impl Iterator<Item = Line> {
    const SHOWN: usize = 5;
    let lines = output.trim().lines().count();
    quoted(output).skip(lines.saturating_sub(SHOWN))
}

fn changed(change: &StateChanged) -> Vec<Line> {
    match change.to {
        Lifecycle::Lost => vec![
            Line::marked(Style::Warn, "↻ ").plain("the process that ran this is gone; going on where its journal ends"),
        ],
        _ => Vec::new(),
    }
}

/// How it ended, for a person.
pub fn finish(result: &TaskResult) -> Vec<Line> {
    let (word, style) = match (result.status, result.verified) {
        (TaskResultStatus::Completed, true) if result.partial => ("COMPLETED in part, verified", Style::Warn),
        (TaskResultStatus::Completed, false) if result.partial => ("COMPLETED in part, not verified", Style::Warn),
        (TaskResultStatus::Completed, true) => ("COMPLETED, verified", Style::Good),
        (TaskResultStatus::Completed, false) => ("COMPLETED, not verified", Style::Warn),
        (TaskResultStatus::Failed, _) => ("FAILED", Style::Bad),
        (TaskResultStatus::BlockedUser, _) => ("WAITING FOR YOU", Style::Warn),
        (TaskResultStatus::Paused, _) => ("PAUSED", Style::Warn),
        (TaskResultStatus::Cancelled, _) => ("CANCELLED", Style::Warn),
    };
    let mut lines = vec![Line::new()];
    // Whoever pauses is not told again what the agent said last.
    if result.status != TaskResultStatus::Paused {
        lines.extend(result.final_message.iter().flat_map(|message| quoted(message)));
    }
    if lines.len() > 1 {
        lines.push(Line::new());
    }
    lines.push(Line::new().add(style, word).gap().facts(Style::Dim, totals(result)));
    if let Some(error) = &result.error_details {
        // Of a pause, the line before this has said why.
        if result.status != TaskResultStatus::Paused {
            let mut message = error.message.lines();
            lines.push(Line::new().add(Style::Bad, "error: ").plain(message.next().unwrap_or_default()));
            lines.extend(message.map(|line| Line::marked(Style::Plain, "  ").plain(line)));
        }
        let hint = error.hint.clone().or_else(|| hint(error.error_code, result));
        lines.extend(hint.map(|hint| Line::new().add(Style::Accent, "hint: ").plain(hint)));
    }
    lines
}

/// What to do about an end that does not say so itself.
fn hint(code: ErrorCode, result: &TaskResult) -> Option<String> {
    let log = format!("`windlass log {}`", result.task_id.short());
    match code {
        ErrorCode::ChecksFailed => Some(format!("{log} shows what they said; --max-attempts allows more attempts")),
        ErrorCode::AnswerIncomplete => Some(format!("{log} shows how far it came; try again, or another --model")),
        _ => None,
    }
}

fn totals(result: &TaskResult) -> Vec<String> {
    let usage = &result.usage;
    let sub_agents = (usage.sub_agents_spawned > 0).then(|| counted(usage.sub_agents_spawned.into(), "sub-agent"));
    let calls = [counted(usage.iterations.into(), "model call"), counted(usage.tool_calls.into(), "tool call")];
    let cost = [counted(usage.total_tokens, "token"), money(result.cost_usd), duration(usage.duration_ms)];
    calls.into_iter().chain(sub_agents).chain(cost).collect()
}

pub fn money(cost: Option<Usd>) -> String {
    cost.map_or_else(|| "price unknown".to_owned(), |cost| cost.to_string())
}

pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

pub fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {:02} s", millis / 60_000, millis / 1_000 % 60),
        _ => format!("{} h {:02} min", millis / 3_600_000, millis / 60_000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::Wall;

    use super::*;

    /// What an agent says in the midst of its work is shown whole, and the call that says it is not told again.
    #[test]
    fn what_the_user_is_told_is_shown_once_and_whole() {
        let call_id = CallId("a".to_owned());
        let message = "Looking at the tests.\nThis takes a while.".to_owned();
        let told = ExecutionEvent::OwnerEffect(OwnerEffect::Told { call_id: call_id.clone(), message });
        let finished = |status| {
            ExecutionEvent::ToolFinished(Finished {
                call_id: call_id.clone(),
                tool: "tell_user".to_owned(),
                status,
                content: "The user has been told.".to_owned(),
                full_output: None,
                images: Vec::new(),
                taint: Taint::Owner,
                duration_ms: 1,
            })
        };
        let execution = ExecutionId::new(Wall::default(), 1);
        let mut narrator = Narrator::default();
        let shown: Vec<String> =
            narrator.tell_execution(execution, &told).iter().map(|line| format!("{line:?}")).collect();
        assert!(shown.concat().contains("Looking at the tests.") && shown.concat().contains("This takes a while."));
        assert_eq!(narrator.tell_execution(execution, &finished(CallStatus::Ok)).len(), 0);
        assert_eq!(narrator.tell_execution(execution, &finished(CallStatus::Error)).len(), 1, "what was not told is");
    }

    #[test]
    fn what_is_wrong_with_an_answer_that_is_handed_back_is_told_whole() {
        let told = "Your answer cannot be used as a plan:\n\nnot valid: 2 problems\n- 4:1: one\n- 5:1: two\n\nAnswer once more, please.";
        let shown: Vec<String> = handed_back(told).iter().map(|line| format!("{line:?}")).collect();
        assert_eq!(shown.len(), 4, "{shown:?}");
        assert!(shown[2].contains("4:1: one") && shown[3].contains("5:1: two"), "{shown:?}");
        assert!(!shown.concat().contains("Answer once more"));
    }

    #[test]
    fn times_read_easily() {
        assert_eq!(duration(9), "9 ms");
        assert_eq!(duration(9_250), "9.2 s");
        assert_eq!(duration(125_000), "2 min 05 s");
        assert_eq!(duration(86_340_000), "23 h 59 min");
    }
}
