//! What a tenant remembers of its tasks (contracts §9): what each came to, what failed in it, and what people said to its
//! plans. It is worked out when a task ends, short, and as trustworthy as what the task had read. Nothing is remembered that
//! a provider said of itself, and nothing of a task that works for another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::check::CheckResult;
use crate::event::events;
use crate::graph::{GraphEvent, PlanAnswer};
use crate::id::{MemoryId, TaskId};
use crate::port::Seq;
use crate::result::{ErrorCode, ErrorDetails, TaskResult, TaskResultStatus};
use crate::taint::Taint;
use crate::time::Wall;
use crate::visible::visible;

/// In characters; every part of a text has its own bound, and this is more than all of them together.
pub const LONGEST_MEMORY: usize = 1_500;
const LONGEST_LINE: usize = 200;
const LONGEST_SUMMARY: usize = 1_000;
const MOST_CHECKS: usize = 4;
const LONGEST_CHECK: usize = 240;
/// The newest: a plan that was sent back often is told by how that ended.
const MOST_DECISIONS: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    pub id: MemoryId,
    pub kind: MemoryKind,
    /// What the task or the plan was about, on a line of its own, and then what became of it.
    pub text: String,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
    pub source: MemorySource,
    pub created_at: Wall,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// What a task came to.
    Outcome,
    /// What a person said to a plan, and why.
    Decision,
    /// What failed, and how.
    Failure,
}

impl MemoryKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Outcome => "outcome",
            Self::Decision => "decision",
            Self::Failure => "failure",
        }
    }
}

/// Where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemorySource {
    Task(TaskId),
}

impl Memory {
    /// What it is about, and the rest.
    pub fn parts(&self) -> (&str, &str) {
        self.text.split_once('\n').unwrap_or((&self.text, ""))
    }

    /// What it is, of which task, and of which day.
    pub fn origin(&self) -> String {
        let MemorySource::Task(task) = self.source;
        let day: String = self.created_at.to_rfc3339().chars().take("2026-11-16".len()).collect();
        format!("{} of task {task}, {day}", self.kind.as_str())
    }
}

/// A person wants it to be found no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryForgotten {
    pub id: MemoryId,
    /// Who said so.
    pub user: String,
}

events! {
    pub enum MemoryEvent {
        Recorded(Memory) = "memory.recorded",
        Forgotten(MemoryForgotten) = "memory.forgotten",
    }
}

/// Everything that is remembered, in the order in which it was: a fold over the tenant's stream of it.
#[derive(Debug, Clone, Default)]
pub struct Memories {
    kept: BTreeMap<Seq, Memory>,
}

impl Memories {
    pub fn apply(&mut self, seq: Seq, event: &MemoryEvent) {
        match event {
            MemoryEvent::Recorded(memory) => drop(self.kept.insert(seq, memory.clone())),
            MemoryEvent::Forgotten(forgotten) => self.kept.retain(|_, memory| memory.id != forgotten.id),
        }
    }

    pub fn get(&self, seq: Seq) -> Option<&Memory> {
        self.kept.get(&seq)
    }

    pub fn oldest(&self) -> Option<Seq> {
        self.kept.keys().next().copied()
    }

    pub fn remove(&mut self, seq: Seq) {
        self.kept.remove(&seq);
    }

    /// Where the memory of this id stands.
    pub fn place(&self, id: MemoryId) -> Option<Seq> {
        self.kept.iter().find(|(_, memory)| memory.id == id).map(|(seq, _)| *seq)
    }

    pub fn newest_first(&self) -> impl Iterator<Item = (Seq, &Memory)> {
        self.kept.iter().rev().map(|(seq, memory)| (*seq, memory))
    }

    pub fn len(&self) -> usize {
        self.kept.len()
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

/// What a person said to a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDecision {
    pub title: String,
    pub answer: PlanAnswer,
}

/// A task that has come to its end.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    pub goal: &'a str,
    pub result: &'a TaskResult,
    pub decisions: &'a [PlanDecision],
    /// Of everything that was read for it.
    pub taint: Taint,
    /// Of the workspace's files: checks quote them.
    pub files: Taint,
    pub at: Wall,
}

/// What is to be remembered of a task that has ended.
pub fn remember(ended: &Ended<'_>) -> Vec<Memory> {
    let newest = ended.decisions.len().saturating_sub(MOST_DECISIONS);
    let decisions = ended.decisions.iter().skip(newest);
    let decisions = decisions.map(|decision| (MemoryKind::Decision, decided(decision), ended.taint));
    let failure = (ended.result.status == TaskResultStatus::Failed)
        .then(|| (MemoryKind::Failure, failed(ended), ended.taint.join(ended.files)));
    let outcome = (MemoryKind::Outcome, came_to(ended), ended.taint);
    let task = ended.result.task_id;
    let memory = |(nth, (kind, text, taint))| Memory {
        id: MemoryId::of(task, nth, ended.at),
        kind,
        text,
        taint,
        source: MemorySource::Task(task),
        created_at: ended.at,
    };
    decisions.chain(failure).chain([outcome]).enumerate().map(memory).collect()
}

/// What people said to the plans of a work graph, oldest first.
pub fn plan_decisions<'a>(events: impl IntoIterator<Item = &'a GraphEvent>) -> Vec<PlanDecision> {
    let mut title = String::new();
    let mut decisions = Vec::new();
    for event in events {
        match event {
            GraphEvent::PlanProposed(proposed) => {
                title = proposed.plan.as_ref().map(|plan| plan.0.title.clone()).unwrap_or_default();
            }
            GraphEvent::PlanAnswered(answered) => {
                decisions.push(PlanDecision { title: title.clone(), answer: answered.answer.clone() });
            }
            _ => {}
        }
    }
    decisions
}

fn came_to(ended: &Ended<'_>) -> String {
    let TaskResult { status, verified, checks, final_message, .. } = ended.result;
    let status = match status {
        TaskResultStatus::Completed => "completed",
        TaskResultStatus::Failed => "failed",
        TaskResultStatus::Cancelled => "cancelled",
        TaskResultStatus::Paused | TaskResultStatus::BlockedUser => "left open",
    };
    let verified = match (verified, checks.len()) {
        (false, _) => "not verified".to_owned(),
        (true, 1) => "verified by 1 check".to_owned(),
        (true, count) => format!("verified by {count} checks"),
    };
    let summary = final_message.as_deref().map(|message| cut(message, LONGEST_SUMMARY));
    lines([Some(line(ended.goal)), Some(format!("{status}, {verified}")), summary])
}

fn failed(ended: &Ended<'_>) -> String {
    let why = ended.result.error_details.as_ref().map(reason);
    let checks = ended.result.checks.iter().filter(|check| !check.passed).take(MOST_CHECKS).map(failing);
    lines([Some(line(ended.goal)), why].into_iter().chain(checks.map(Some)))
}

fn failing(check: &CheckResult) -> String {
    cut(&format!("check \"{}\": {}", line(&check.name), line(&check.reason)), LONGEST_CHECK)
}

/// What a provider or the machine said is for people alone, and no prompt's business (contracts §5).
fn reason(error: &ErrorDetails) -> String {
    match error.error_code {
        ErrorCode::ModelUnavailable => "the model could not be reached".to_owned(),
        ErrorCode::ModelRejected => "the model's provider refused the request".to_owned(),
        ErrorCode::SandboxUnavailable => "there was no sandbox to work in".to_owned(),
        ErrorCode::RunnerUnavailable => "the agent was not there to work on it".to_owned(),
        ErrorCode::ContextUnavailable => "the context service could not be asked".to_owned(),
        ErrorCode::Internal => "windlass itself failed".to_owned(),
        _ => line(&error.message),
    }
}

fn decided(decision: &PlanDecision) -> String {
    let (word, why) = match &decision.answer {
        PlanAnswer::Approved => ("the plan was approved", ""),
        PlanAnswer::Declined { reason } => ("the plan was declined", reason.as_str()),
        PlanAnswer::EditRequested { note } => ("the plan was sent back to be changed", note.as_str()),
    };
    lines([Some(line(&decision.title)), Some(word.to_owned()), Some(cut(why, LONGEST_SUMMARY))])
}

/// The first line that says something.
fn line(text: &str) -> String {
    cut(text.trim().lines().next().unwrap_or_default(), LONGEST_LINE)
}

fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    let beginning = text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end]);
    let shown = visible(beginning);
    let end = shown.char_indices().nth(most).map_or(shown.len(), |(end, _)| end);
    let is_whole = beginning.len() == text.len() && end == shown.len();
    format!("{}{}", &shown[..end], if is_whole { "" } else { "…" })
}

fn lines(parts: impl IntoIterator<Item = Option<String>>) -> String {
    let mut parts = parts.into_iter().flatten();
    let first = parts.next().unwrap_or_default();
    std::iter::once(first).chain(parts.filter(|part| !part.is_empty())).collect::<Vec<_>>().join("\n")
}
