//! Records, put together as a reader wants them: a section for each execution, in it what was said and each call with what became
//! of it.

use std::collections::BTreeMap;

use windlass_domain::execution::{
    DecisionOutcome, ExecutionEvent, MessageKind, ModelResponded, Observation, OwnerEffect, RiskChecked, StateChanged,
    TurnEnd,
};
use windlass_domain::graph::GraphEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{CallId, CheckResult, ExecutionId, Finished, TaskId, TaskResult, Usage, Usd, Wall, grouped};
use windlass_engine::JournalRecord;

use crate::show::{duration, part_name, word};

#[derive(Debug, Default)]
pub struct Story {
    pub goal: String,
    pub status: String,
    pub model: String,
    pub usage: Usage,
    /// As far as prices were known.
    pub cost: Usd,
    pub times: Option<(Wall, Wall)>,
    pub sections: Vec<Section>,
    pub checks: Vec<CheckResult>,
    pub result: Option<TaskResult>,
    /// Whose page it is, and those who work for it, by name.
    subject: Option<TaskId>,
    parts: BTreeMap<TaskId, String>,
}

#[derive(Debug)]
pub struct Section {
    pub execution: ExecutionId,
    pub title: String,
    pub items: Vec<(Wall, Item)>,
    calls: BTreeMap<CallId, usize>,
}

#[derive(Debug)]
pub enum Item {
    Turn {
        iteration: u32,
        is_summary: bool,
        text: String,
        usage: Usage,
        duration_ms: u64,
    },
    Call(Box<Call>),
    /// Something that happened beside, in a word and in whole.
    Note {
        what: String,
        text: String,
    },
    Child {
        execution: ExecutionId,
        label: String,
    },
}

#[derive(Debug)]
pub struct Call {
    pub tool: String,
    pub arguments: String,
    pub risk: Option<RiskChecked>,
    pub decisions: Vec<&'static str>,
    pub finished: Option<Finished>,
}

impl Story {
    pub fn told(records: &[JournalRecord]) -> Self {
        let mut story = Self::default();
        for record in records {
            let at = record.at();
            story.times = Some((story.times.map_or(at, |(first, _)| first), at));
            match record {
                JournalRecord::Task { event, task, .. } => story.any_task(*task, event),
                JournalRecord::Graph { event, .. } => story.plan(event),
                JournalRecord::Execution { event, execution, .. } => story.execution(*execution, event, at),
            }
        }
        story
    }

    fn any_task(&mut self, task: TaskId, event: &TaskEvent) {
        if *self.subject.get_or_insert(task) == task {
            return self.task(event);
        }
        match event {
            TaskEvent::Created(created) => {
                let name = created.part_of.as_ref().map(|of| part_name(&of.part)).unwrap_or_default();
                self.parts.insert(task, name);
            }
            TaskEvent::AttemptStarted(started) => {
                let name = self.parts.get(&task).cloned().unwrap_or_default();
                self.section(started.execution_id).title = match started.attempt {
                    1 => name,
                    attempt => format!("{name}, attempt {attempt}"),
                };
            }
            _ => {}
        }
    }

    /// What the whole is judged by.
    fn plan(&mut self, event: &GraphEvent) {
        if let GraphEvent::JoinChecked(checked) = event {
            self.checks.clone_from(&checked.results);
        }
    }

    fn task(&mut self, event: &TaskEvent) {
        match event {
            TaskEvent::Created(created) => {
                self.goal.clone_from(&created.command.goal);
                self.status = "RUNNING".to_owned();
            }
            TaskEvent::AttemptStarted(started) => {
                self.section(started.execution_id).title = format!("Attempt {}", started.attempt);
            }
            TaskEvent::Changed(change) => self.status = word(&change.status),
            TaskEvent::ChecksRecorded(checks) => self.checks.clone_from(&checks.results),
            TaskEvent::Finished(finished) => {
                self.status = word(&finished.result.status);
                self.result = Some(finished.result.clone());
            }
            _ => {}
        }
    }

    fn section(&mut self, execution: ExecutionId) -> &mut Section {
        let found = self.sections.iter().position(|section| section.execution == execution);
        let index = found.unwrap_or_else(|| {
            let title = format!("Execution {}", execution.short());
            self.sections.push(Section { execution, title, items: Vec::new(), calls: BTreeMap::new() });
            self.sections.len() - 1
        });
        &mut self.sections[index]
    }

    fn execution(&mut self, id: ExecutionId, event: &ExecutionEvent, at: Wall) {
        match event {
            ExecutionEvent::Header(header) if self.model.is_empty() => self.model.clone_from(&header.model),
            ExecutionEvent::MessageAccepted(message) if self.goal.is_empty() && message.kind == MessageKind::Prompt => {
                self.goal.clone_from(&message.content);
            }
            ExecutionEvent::ModelResponded(response) => {
                self.usage += response.usage;
                self.usage += response.lost;
                self.cost += response.cost.unwrap_or_default();
            }
            ExecutionEvent::SubagentSpawned(child) => {
                self.section(child.execution_id).title = format!("Sub-agent {}", child.label);
            }
            // A task's own word stands; an execution by itself has only this.
            ExecutionEvent::StateChanged(change) if self.is_of(id) => self.status = word(&change.to),
            _ => {}
        }
        self.section(id).take(event, at);
    }

    /// The page is about this execution and those it spawned, not about a task.
    fn is_of(&self, execution: ExecutionId) -> bool {
        let is_task = self.status.chars().next().is_some_and(char::is_uppercase);
        !is_task && self.sections.first().is_some_and(|first| first.execution == execution)
    }
}

impl Section {
    fn take(&mut self, event: &ExecutionEvent, at: Wall) {
        match event {
            ExecutionEvent::ModelResponded(response) => self.answered(response, at),
            ExecutionEvent::RiskChecked(checked) => {
                self.on_call(&checked.call_id, |call| call.risk = Some(checked.clone()));
            }
            ExecutionEvent::DecisionRecorded(decision) => {
                let said = match &decision.outcome {
                    DecisionOutcome::Rewritten { .. } => "rewritten by a gate",
                    DecisionOutcome::Waiting { .. } => "waited for approval",
                    DecisionOutcome::Question { .. } => "asked a person",
                    DecisionOutcome::Monitoring { .. } => "waited for its next look",
                    DecisionOutcome::Approved { .. } => "approved",
                };
                self.on_call(&decision.call_id, |call| call.decisions.push(said));
            }
            ExecutionEvent::ToolFinished(finished) => {
                self.on_call(&finished.call_id, |call| call.finished = Some(finished.clone()));
            }
            ExecutionEvent::SubagentSpawned(child) => {
                self.items.push((at, Item::Child { execution: child.execution_id, label: child.label.clone() }));
            }
            _ => {
                if let Some((what, text)) = note(event) {
                    self.items.push((at, Item::Note { what, text }));
                }
            }
        }
    }

    fn answered(&mut self, response: &ModelResponded, at: Wall) {
        let ModelResponded { iteration, purpose, text, usage, duration_ms, calls, .. } = response;
        let (iteration, usage, duration_ms) = (*iteration, *usage, *duration_ms);
        let is_summary = !purpose.is_turn();
        self.items.push((at, Item::Turn { iteration, is_summary, text: text.clone(), usage, duration_ms }));
        for call in calls {
            self.calls.insert(call.call_id.clone(), self.items.len());
            let (tool, arguments) = (call.tool.clone(), call.arguments.get().to_owned());
            let call = Call { tool, arguments, risk: None, decisions: Vec::new(), finished: None };
            self.items.push((at, Item::Call(Box::new(call))));
        }
    }

    fn on_call(&mut self, call: &CallId, change: impl FnOnce(&mut Call)) {
        let item = self.calls.get(call).and_then(|index| self.items.get_mut(*index));
        if let Some((_, Item::Call(call))) = item {
            change(call);
        }
    }
}

fn note(event: &ExecutionEvent) -> Option<(String, String)> {
    let (what, text) = match event {
        ExecutionEvent::MessageAccepted(message) => ("message".to_owned(), message.content.clone()),
        ExecutionEvent::InjectionReceived(received) => {
            (word(&received.injection.injection_type).replace('_', " "), received.injection.content.clone())
        }
        ExecutionEvent::ModelFailed(failed) => ("no answer".to_owned(), failed.reason.clone()),
        ExecutionEvent::CompactionFinished(ended) => (
            "compaction".to_owned(),
            format!("{} tokens became {}", ended.tokens_before, ended.tokens_after)
                + &ended.rewritten.as_ref().map(|new| format!("\n\n{}", new.summary)).unwrap_or_default(),
        ),
        ExecutionEvent::CompactionFailed(failed) => ("compaction failed".to_owned(), failed.reason.clone()),
        ExecutionEvent::CompactionFlushed(flushed) => {
            ("memory flush".to_owned(), format!("{} files written", flushed.files_written))
        }
        ExecutionEvent::EgressRefused(refused) => {
            ("not reached".to_owned(), format!("{}:{}: {}", refused.host, refused.port, refused.reason))
        }
        ExecutionEvent::RunnerNoted(noted) => (
            format!("{} {}", noted.program, noted.version),
            noted.resumes.as_ref().map_or_else(|| "begins".to_owned(), |session| format!("goes on with {session}")),
        ),
        ExecutionEvent::ObservationRecorded(recorded) => return observed(&recorded.observation),
        ExecutionEvent::Forked(forked) => (
            format!("forked from execution {}", forked.from.execution_id.short()),
            format!("turn {}", forked.from.turn),
        ),
        ExecutionEvent::ModelSwitched(switched) => ("model".to_owned(), format!("{} → {}", switched.from, switched.to)),
        ExecutionEvent::MessageDelivery(delivery) => ("message".to_owned(), word(&delivery.outcome)),
        ExecutionEvent::PatternStepped(stepped) => {
            (format!("step {} {}", stepped.from, stepped.why.as_str()), stepped.to.clone().unwrap_or_default())
        }
        ExecutionEvent::PatternNudged(nudged) => ("told to keep to its pattern".to_owned(), nudged.message.clone()),
        ExecutionEvent::DoomLoopDetected(detected) => ("doom loop".to_owned(), detected.pattern.to_string()),
        ExecutionEvent::SubagentFinished(child) if child.status.is_some() => (
            format!("sub-agent {}", child.label),
            format!(
                "{} after {}, {} tokens",
                word(&child.status),
                duration(child.duration_ms),
                grouped(child.usage.total())
            ),
        ),
        ExecutionEvent::OwnerEffect(OwnerEffect::Delivered { deliverable, .. }) => {
            ("deliverable".to_owned(), format!("{}: {}", deliverable.filepath, deliverable.description))
        }
        ExecutionEvent::OwnerEffect(OwnerEffect::Told { message, .. }) => ("told the user".to_owned(), message.clone()),
        ExecutionEvent::StateChanged(StateChanged { to, reason, .. }) => (word(to).replace('_', " "), reason.clone()),
        _ => return None,
    };
    Some((what, text))
}

/// What a program that carries an execution tells of itself.
fn observed(observation: &Observation) -> Option<(String, String)> {
    Some(match observation {
        Observation::Said { text } => ("the agent".to_owned(), text.clone()),
        Observation::Called { tool, input, .. } => (format!("calls {tool}"), input.to_string()),
        Observation::CallEnded { output, is_error, .. } => {
            (if *is_error { "it failed" } else { "it came to" }.to_owned(), output.clone())
        }
        Observation::Claimed(claim) => {
            (claim.kind.as_str().replace('_', " "), claim.words().unwrap_or_default().to_owned())
        }
        Observation::Noticed { text } | Observation::Unheeded { text } | Observation::Doubted { why: text, .. } => {
            ("noticed".to_owned(), text.clone())
        }
        Observation::TurnEnded { end: TurnEnd::Failed { reason, .. } } => {
            ("the agent stopped".to_owned(), reason.clone())
        }
        Observation::TurnEnded { .. }
        | Observation::Session { .. }
        | Observation::Used { .. }
        | Observation::Equipped => return None,
    })
}
