//! The records of a task's own stream. An execution's records stand in the execution's journal.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::attachment::Attachment;
use crate::budget::Budget;
use crate::check::{BaseCase, CheckResult};
use crate::digest::Digest;
use crate::event::events;
use crate::execution::ForkedFrom;
use crate::id::{CardId, ExecutionId, GoalId, MessageId, RequestId, TaskId};
use crate::known::ContextGathered;
use crate::labels::Labels;
use crate::message::CallId;
use crate::pattern::Pattern;
use crate::port::TreeId;
use crate::research::{ResearchKey, ResearchQuestion};
use crate::result::{Deliverable, ErrorDetails, TaskResult};
use crate::role_output::{VerifierReport, WorkerReport};
use crate::scope::Role;
use crate::skill::SkillSeen;
use crate::taint::Taint;
use crate::task::{DeadlineAction, Part, PartOf, TaskCommand, TimeUp};
use crate::time::{Wall, moment};
use crate::usage::{UsageMetrics, Usd};

events! {
    #[expect(clippy::large_enum_variant, reason = "a task is created once, and nobody holds many of its events")]
    pub enum TaskEvent {
        Created(TaskCreated) = "task.created",
        Changed(TaskChanged) = "task.changed",
        ContextGathered(ContextGathered) = "context.gathered",
        AttemptStarted(AttemptStarted) = "attempt.started",
        AttemptInterrupted(AttemptInterrupted) = "attempt.interrupted",
        AttemptWaiting(AttemptWaiting) = "attempt.waiting",
        AttemptWoken(AttemptWoken) = "attempt.woken",
        AttemptEnded(AttemptEnded) = "attempt.ended",
        ChecksRecorded(ChecksRecorded) = "checks.recorded",
        CandidateOutdated(CandidateOutdated) = "candidate.outdated",
        ConsultAsked(ConsultAsked) = "consult.asked",
        ConsultAnswered(ConsultAnswered) = "consult.answered",
        HelpAsked(HelpAsked) = "help.asked",
        HelpAnswered(HelpAnswered) = "help.answered",
        ResearchAsked(ResearchAsked) = "research.asked",
        ResearchAnswered(ResearchAnswered) = "research.answered",
        ResearchTimedOut(ResearchTimedOut) = "research.timed_out",
        ResearchExpired(ResearchExpired) = "research.expired",
        DeadlineSet(DeadlineSet) = "deadline.set",
        TimeUp(TimeUp) = "task.time_up",
        Finished(TaskFinished) = "task.finished",
    }
}

/// All that `resume` needs to go on as the task was started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskCreated {
    pub command: TaskCommand,
    pub agent_id: String,
    pub role: Role,
    pub model: ModelChoice,
    /// The folder the agent works in.
    pub workspace: String,
    pub base_case: BaseCase,
    pub budget: Budget,
    /// The sandbox it was started with, by name.
    pub sandbox: String,
    /// The workspace as it was, which protected paths are restored from.
    pub baseline: Option<TreeId>,
    /// Where its folder is, as queues name places; anywhere without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
    /// What the user put beside the goal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The approval by which its attempts begin; without one, the issuer's word was not signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<CardId>,
    /// What its agents may read up on, as it was when the task began.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub skills: Box<[SkillSeen]>,
    /// A plan is carried out: it has a work graph, and no attempts of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planned: bool,
    /// What is wanted is found out with the user before anything is planned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aligns: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<PartOf>,
    /// What a user said in its session, where it is the turn that decides what becomes of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<MessageId>,
    /// The goal that it mends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalId>,
    /// Whose conversation its agents go on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<ForkedFrom>,
}

impl TaskCreated {
    /// As what its agent works: an executor whose model is given no tools decides one call at a time.
    pub fn works_as(&self) -> Role {
        match self.role {
            Role::Executor if self.command.execution_config.tactician => Role::Tactician,
            role => role,
        }
    }

    /// What leads its agent, if anything does; or the name that stands for nothing.
    pub fn leading(&self) -> Result<Option<&Arc<Pattern>>, String> {
        match self.role {
            Role::Executor => self.command.execution_config.leading(),
            _ => Ok(None),
        }
    }

    /// Whether its agent is told what is known about the task: who begins with what a user wants is. All others work from what those
    /// hand on to them.
    pub fn wants_context(&self) -> bool {
        match self.part_of.as_ref().map(|of| &of.part) {
            None => self.role == Role::Executor && self.turn.is_none(),
            Some(part) => matches!(part, Part::Plan { .. }),
        }
    }

    /// Whether what it makes is merged into the work of others.
    pub fn is_atom(&self) -> bool {
        self.part_of.as_ref().is_some_and(|of| of.part.is_atom())
    }
}

/// Which provider answers. A rehearsal's script is kept as a blob, so that the file may change or go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "provider", rename_all = "snake_case")]
pub enum ModelChoice {
    /// OpenAI-compatible chat completions; the key is the operator's.
    #[serde(rename = "openai")]
    OpenAi {
        model: String,
        base_url: String,
    },
    /// OpenAI responses, with the same key.
    #[serde(rename = "openai_responses")]
    OpenAiResponses {
        model: String,
        base_url: String,
    },
    /// Anthropic messages.
    Anthropic {
        model: String,
        base_url: String,
    },
    Rehearsal {
        script: Digest,
    },
}

impl ModelChoice {
    /// The same provider, asked for this model. A script plays all of them.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        let name = name.to_owned();
        match self {
            Self::OpenAi { base_url, .. } => Self::OpenAi { model: name, base_url: base_url.clone() },
            Self::OpenAiResponses { base_url, .. } => Self::OpenAiResponses { model: name, base_url: base_url.clone() },
            Self::Anthropic { base_url, .. } => Self::Anthropic { model: name, base_url: base_url.clone() },
            Self::Rehearsal { script } => Self::Rehearsal { script: *script },
        }
    }
}

/// Seed 000 §3.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskStatus {
    Running,
    Paused,
    Completed,
    Failed,
    Cancelled,
}

impl TaskStatus {
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// RUNNING ⇄ PAUSED; the ends are `task.finished`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskChanged {
    pub status: TaskStatus,
    pub reason: String,
    /// Somebody stopped it, and says when it goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

/// An attempt is spent when it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptStarted {
    /// From 1.
    pub attempt: u32,
    pub execution_id: ExecutionId,
    /// The work of all as it was then, where the attempt has a folder of its own made from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<TreeId>,
}

/// Cut off through no fault of the agent's: the process vanished, the model could not be reached. It goes on where it was,
/// and a task can bear only so many of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptInterrupted {
    pub attempt: u32,
    pub error: ErrorDetails,
}

/// It is parked until a person answers: nobody works on it, and it costs nothing. The task stays RUNNING.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptWaiting {
    pub attempt: u32,
    pub cards: Vec<CardId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<RequestId>,
    /// Those who look into what a planner wants to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub research: Vec<TaskId>,
    /// The task itself, where it is its monitor that is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<TaskId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptWoken {
    pub attempt: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptEnded {
    pub attempt: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_message: Option<String>,
    /// What a worker says of its atom, where it said so in the form that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<WorkerReport>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetails>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliverables: Vec<Deliverable>,
    /// Calls of which nobody knows whether they took effect, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupted: Vec<String>,
    pub usage: UsageMetrics,
    /// As far as prices were known.
    pub cost: Usd,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// Joined over everything it had read.
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
    /// Of the workspace's files as it left them.
    #[serde(default, skip_serializing_if = "Labels::is_baseline")]
    pub labels: Labels,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecksRecorded {
    pub attempt: u32,
    /// The tree they ran on.
    pub tree: TreeId,
    pub results: Vec<CheckResult>,
    /// The work of all that the candidate was merged into, where there is such a thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onto: Option<TreeId>,
    /// Why it was not taken; nothing was checked then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// What that comes to. Whoever records it need not say so, and old records do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<VerifierReport>,
}

impl ChecksRecorded {
    pub fn report(&self) -> VerifierReport {
        self.report.clone().unwrap_or_else(|| VerifierReport::of(&self.results, &self.conflicts))
    }
}

/// Others' work came in meanwhile: what was checked is not what would be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateOutdated {
    pub attempt: u32,
}

/// The planner is asked what to do about an attempt that failed. Nobody works on the task until there is an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsultAsked {
    pub attempt: u32,
    /// Who thinks about it.
    pub run: TaskId,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsultAnswered {
    pub run: TaskId,
    pub guidance: Result<String, ErrorDetails>,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}

/// A person is asked about an attempt that failed, because its plan wants that. Nobody works on the task until there is an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelpAsked {
    pub attempt: u32,
    pub card: CardId,
    pub about: HelpAbout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HelpAbout {
    /// What the next attempt should do differently.
    NextAttempt,
    /// Whether there is to be one more than its budget has.
    OneMore,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelpAnswered {
    pub card: CardId,
    pub answer: HelpAnswer,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HelpAnswer {
    /// There is another attempt, which is told this.
    GoOn { said: String },
    /// The item has failed.
    GiveUp { why: String },
}

/// A planner wants to know something, and goes on meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResearchAsked {
    pub key: ResearchKey,
    /// Who looks into it.
    pub run: TaskId,
    pub question: ResearchQuestion,
    /// The call that asked: made again after a crash, it has the same answer.
    pub call_id: CallId,
    /// Of what the planner had read when it wrote the question.
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}

/// It has come back in time, as an answer or as the reason that there is none; the words themselves go to the mailbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResearchAnswered {
    pub key: ResearchKey,
    pub run: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetails>,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResearchTimedOut {
    pub key: ResearchKey,
    pub run: TaskId,
}

/// The plan takes too long: nothing more is looked into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResearchExpired {}

/// Whoever begins what was agreed on says until when; it is part of what they approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlineSet {
    #[serde(with = "moment")]
    pub deadline: Wall,
    pub deadline_action: DeadlineAction,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskFinished {
    pub result: TaskResult,
}
