//! The state of a task: a fold over its stream.

use std::sync::Arc;

use crate::check::{BaseCase, CheckResult};
use crate::id::{CardId, ExecutionId, TaskId};
use crate::known::ContextGathered;
use crate::labels::Labels;
use crate::plan::Trouble;
use crate::port::TreeId;
use crate::question::Awaited;
use crate::research::{Research, ResearchEvent};
use crate::result::{ErrorCode, ErrorDetails, TaskResult, TaskResultStatus};
use crate::role_output::VerifierReport;
use crate::taint::Taint;
use crate::task::{
    AttemptEnded, ConsultAsked, Deadline, HelpAbout, HelpAnswer, HelpAsked, ResearchAsked, TaskCreated, TaskEvent,
    TaskStatus, TimeLimit, TimeUp,
};
use crate::time::Wall;
use crate::usage::{UsageMetrics, Usd};

/// Of one atom. Each is work that may have been paid for and came to nothing.
const MAX_INTERRUPTIONS: u32 = 20;

#[derive(Debug, Clone, Default)]
pub struct TaskState {
    pub created: Option<TaskCreated>,
    pub created_at: Wall,
    pub status: Option<TaskStatus>,
    /// Why it is paused, while it is.
    pub rests_for: Option<String>,
    /// Whether somebody stopped it, and says when it goes on.
    pub is_stopped: bool,
    /// What was known about it before anybody worked on it, if anything was.
    pub context: Option<Arc<ContextGathered>>,
    pub attempts: Vec<Attempt>,
    /// How often the work was cut off by a crash or an outage.
    pub interruptions: u32,
    /// What the open attempt, or the task between two, is parked for; empty while it is worked on.
    pub waits_for: Vec<Awaited>,
    /// What the planner was asked, oldest first.
    pub consults: Vec<Consult>,
    /// What people were asked about attempts that failed, oldest first.
    pub helps: Vec<Help>,
    /// What a planner has others find out, as far as that has come.
    pub research: Research,
    /// Every question, oldest first.
    pub inquiries: Vec<ResearchAsked>,
    /// Those of its limits whose time is up.
    pub time_up: Vec<TimeUp>,
    pub result: Option<TaskResult>,
}

#[derive(Debug, Clone)]
pub struct Attempt {
    pub number: u32,
    pub execution_id: ExecutionId,
    /// The work of all that it began with, where it has a folder of its own.
    pub base: Option<TreeId>,
    pub ended: Option<AttemptEnded>,
    pub checks: Option<Vec<CheckResult>>,
    /// What was checked, and what it was merged into.
    pub merged: Option<(TreeId, TreeId)>,
    pub conflicts: Vec<String>,
    /// What verification said of it.
    pub report: Option<VerifierReport>,
}

/// A question to the planner about an attempt that failed.
#[derive(Debug, Clone)]
pub struct Consult {
    pub attempt: u32,
    pub run: TaskId,
    pub answer: Option<Result<String, ErrorDetails>>,
    pub taint: Taint,
}

/// A question to a person about an attempt that failed.
#[derive(Debug, Clone)]
pub struct Help {
    pub attempt: u32,
    pub card: CardId,
    pub about: HelpAbout,
    pub answer: Option<HelpAnswer>,
}

impl Attempt {
    /// A gate ended it: whatever it left, and whatever checks say of that, is not taken.
    pub fn is_blocked(&self) -> bool {
        let error = self.ended.as_ref().and_then(|ended| ended.error.as_ref());
        error.is_some_and(|error| error.error_code == ErrorCode::GateBlocked)
    }

    /// How it went wrong, where it did.
    pub fn trouble(&self) -> Trouble {
        let error = self.ended.as_ref().and_then(|ended| ended.error.as_ref());
        match error {
            _ if self.is_blocked() || !self.conflicts.is_empty() => Trouble::Blocked,
            Some(_) => Trouble::Failed,
            None => Trouble::VerificationFailed,
        }
    }

    /// Every check has a result, and every result is a pass: no results are not good results.
    pub fn passed(&self, base_case: &BaseCase) -> bool {
        let all_pass = |results: &Vec<CheckResult>| {
            results.len() >= base_case.0.len() && results.iter().all(|result| result.passed)
        };
        !self.is_blocked() && self.conflicts.is_empty() && self.checks.as_ref().is_some_and(all_pass)
    }
}

impl TaskState {
    pub fn apply(&mut self, event: &TaskEvent, at: Wall) {
        // An end is an end, whatever lost the race against it.
        if self.is_over() {
            return;
        }
        match event {
            TaskEvent::Created(created) => {
                self.created = Some(created.clone());
                self.created_at = at;
                self.status = Some(TaskStatus::Running);
            }
            TaskEvent::Changed(change) => {
                self.status = Some(change.status);
                self.rests_for = (change.status == TaskStatus::Paused).then(|| change.reason.clone());
                self.is_stopped = change.stopped;
            }
            TaskEvent::ContextGathered(gathered) => self.context = Some(Arc::new(gathered.clone())),
            TaskEvent::AttemptStarted(started) => self.attempts.push(Attempt {
                number: started.attempt,
                execution_id: started.execution_id,
                base: started.base,
                ended: None,
                checks: None,
                merged: None,
                conflicts: Vec::new(),
                report: None,
            }),
            TaskEvent::AttemptInterrupted(_) => self.interruptions = self.interruptions.saturating_add(1),
            TaskEvent::AttemptWaiting(waiting) => {
                let cards = waiting.cards.iter().copied().map(Awaited::Card);
                let questions = waiting.questions.iter().copied().map(Awaited::Question);
                let research = waiting.research.iter().copied().map(Awaited::Research);
                let monitor = waiting.monitor.map(Awaited::Monitor);
                self.waits_for = cards.chain(questions).chain(research).chain(monitor).collect();
            }
            TaskEvent::AttemptWoken(_) => self.waits_for.clear(),
            TaskEvent::AttemptEnded(ended) => {
                self.waits_for.clear();
                self.with_attempt(ended.attempt, |attempt| attempt.ended = Some(ended.clone()));
            }
            TaskEvent::ChecksRecorded(recorded) => self.with_attempt(recorded.attempt, |attempt| {
                attempt.checks = Some(recorded.results.clone());
                attempt.merged = recorded.onto.map(|onto| (recorded.tree, onto));
                attempt.conflicts.clone_from(&recorded.conflicts);
                attempt.report = Some(recorded.report());
            }),
            TaskEvent::CandidateOutdated(outdated) => self.with_attempt(outdated.attempt, |attempt| {
                (attempt.checks, attempt.merged, attempt.report) = (None, None, None);
            }),
            TaskEvent::ConsultAsked(asked) => {
                let ConsultAsked { attempt, run } = *asked;
                self.consults.push(Consult { attempt, run, answer: None, taint: Taint::External });
            }
            TaskEvent::ConsultAnswered(answered) => {
                let open = self.consults.iter_mut().find(|consult| consult.run == answered.run);
                if let Some(consult) = open.filter(|consult| consult.answer.is_none()) {
                    (consult.answer, consult.taint) = (Some(answered.guidance.clone()), answered.taint);
                }
            }
            TaskEvent::HelpAsked(asked) => {
                let HelpAsked { attempt, card, about } = *asked;
                self.waits_for = vec![Awaited::Card(card)];
                self.helps.push(Help { attempt, card, about, answer: None });
            }
            TaskEvent::HelpAnswered(answered) => {
                if let Some(help) = self.helps.iter_mut().find(|help| help.card == answered.card) {
                    self.waits_for.clear();
                    help.answer.get_or_insert_with(|| answered.answer.clone());
                }
            }
            TaskEvent::ResearchAsked(asked) => {
                self.research.apply(ResearchEvent::Requested { key: asked.key });
                self.inquiries.push(asked.clone());
            }
            TaskEvent::ResearchAnswered(answered) => self.research.apply(ResearchEvent::Answered { key: answered.key }),
            TaskEvent::ResearchTimedOut(late) => self.research.apply(ResearchEvent::TimedOut { key: late.key }),
            TaskEvent::ResearchExpired(_) => self.research.apply(ResearchEvent::Expired),
            TaskEvent::DeadlineSet(set) => {
                if let Some(created) = &mut self.created {
                    let config = &mut created.command.execution_config;
                    (config.deadline, config.deadline_action) = (Some(set.deadline), set.deadline_action);
                }
            }
            TaskEvent::TimeUp(up) => self.time_up.push(*up),
            TaskEvent::Finished(finished) => {
                self.status = Some(match finished.result.status {
                    TaskResultStatus::Completed => TaskStatus::Completed,
                    TaskResultStatus::Cancelled => TaskStatus::Cancelled,
                    TaskResultStatus::Failed | TaskResultStatus::BlockedUser | TaskResultStatus::Paused => {
                        TaskStatus::Failed
                    }
                });
                self.result = Some(finished.result.clone());
            }
        }
    }

    fn with_attempt(&mut self, number: u32, change: impl FnOnce(&mut Attempt)) {
        if let Some(attempt) = self.attempts.iter_mut().find(|attempt| attempt.number == number) {
            change(attempt);
        }
    }

    pub fn is_over(&self) -> bool {
        self.status.is_some_and(TaskStatus::is_over)
    }

    /// What ends it though nobody says that it is done.
    pub fn ends_by(&self) -> Option<&TimeUp> {
        self.time_up.iter().find(|up| up.action.ends())
    }

    pub fn is_up(&self, limit: TimeLimit) -> bool {
        self.time_up.iter().any(|up| up.limit == limit)
    }

    /// The deadline that has not come yet, or was not noticed.
    pub fn deadline(&self) -> Option<Deadline> {
        let deadline = self.created.as_ref()?.command.execution_config.deadline();
        deadline.filter(|_| !self.is_over() && !self.is_up(TimeLimit::Deadline))
    }

    pub fn open_attempt(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.ended.is_none())
    }

    /// Whether nobody needs to work on it until somebody answers.
    pub fn is_parked(&self) -> bool {
        !self.waits_for.is_empty() || self.open_consult().is_some()
    }

    /// Whether it is parked until there is something for its agent to hear.
    pub fn is_monitoring(&self) -> bool {
        self.waits_for.iter().any(|awaited| awaited.monitor().is_some())
    }

    /// The planner has not answered yet.
    pub fn open_consult(&self) -> Option<&Consult> {
        self.consults.last().filter(|consult| consult.answer.is_none())
    }

    /// A person has not answered yet.
    pub fn open_help(&self) -> Option<&Help> {
        self.helps.last().filter(|help| help.answer.is_none())
    }

    /// What a person said about the newest attempt, asked about this.
    pub fn help(&self, about: HelpAbout) -> Option<&HelpAnswer> {
        let newest = self.attempts.last()?.number;
        let is_meant = |help: &&Help| help.attempt == newest && help.about == about;
        self.helps.iter().find(is_meant)?.answer.as_ref()
    }

    /// Attempts that people allowed beside those of its budget.
    pub fn granted(&self) -> u32 {
        let is_granted =
            |help: &&Help| help.about == HelpAbout::OneMore && matches!(help.answer, Some(HelpAnswer::GoOn { .. }));
        u32::try_from(self.helps.iter().filter(is_granted).count()).unwrap_or(u32::MAX)
    }

    /// Whether it works for another task.
    pub fn is_part(&self) -> bool {
        self.created.as_ref().is_some_and(|created| created.part_of.is_some())
    }

    /// Whether it decides what becomes of something that a user said.
    pub fn is_turn(&self) -> bool {
        self.created.as_ref().is_some_and(|created| created.turn.is_some())
    }

    /// Those who work for it now.
    pub fn open_parts(&self) -> Vec<TaskId> {
        let consult = self.open_consult().map(|consult| consult.run);
        consult.into_iter().chain(self.open_research().map(|inquiry| inquiry.run)).collect()
    }

    /// What others are looking into. Of a question that was asked again, the newest counts.
    pub fn open_research(&self) -> impl Iterator<Item = &ResearchAsked> {
        let newest = |key| self.inquiries.iter().rev().find(|inquiry| inquiry.key == key);
        self.research.in_flight().filter_map(newest)
    }

    /// Whether something that it is parked for has come.
    pub fn is_research_back(&self) -> bool {
        let is_open = |run| self.open_research().any(|inquiry| inquiry.run == run);
        self.waits_for.iter().copied().filter_map(Awaited::research).any(|run| !is_open(run))
    }

    /// What the planner and people have said so far, oldest first.
    pub fn guidance(&self) -> Vec<String> {
        let planners = |consult: &Consult| Some((consult.attempt, consult.answer.as_ref()?.as_ref().ok()?.clone()));
        let persons = |help: &Help| match &help.answer {
            Some(HelpAnswer::GoOn { said }) if !said.is_empty() => {
                Some((help.attempt, format!("A person says: {said}")))
            }
            _ => None,
        };
        let consults = self.consults.iter().filter_map(planners);
        let mut said: Vec<(u32, String)> = consults.chain(self.helps.iter().filter_map(persons)).collect();
        said.sort_by_key(|(attempt, _)| *attempt);
        said.into_iter().map(|(_, words)| words).collect()
    }

    /// Of what attempts are told about the task and about earlier ones, and of the files those left behind.
    pub fn inherited(&self) -> (Taint, Labels) {
        let ended = self.attempts.iter().filter_map(|attempt| attempt.ended.as_ref());
        let guided = self.consults.iter().filter(|consult| consult.answer.is_some()).map(|consult| consult.taint);
        let known = self.context.iter().map(|gathered| gathered.context.taint());
        let taint = ended.map(|ended| ended.taint).chain(guided).chain(known).fold(Taint::Auth, Taint::join);
        let newest = self.attempts.iter().rev().find_map(|attempt| attempt.ended.as_ref());
        (taint, newest.map(|ended| ended.labels.clone()).unwrap_or_default())
    }

    pub const fn interruptions_left(&self) -> u32 {
        MAX_INTERRUPTIONS.saturating_sub(self.interruptions)
    }

    /// How the task stands, as a caller is told. An attempt that has not ended is not counted.
    pub fn report(&self, status: TaskResultStatus, verified: bool, error: Option<ErrorDetails>) -> Option<TaskResult> {
        let command = &self.created.as_ref()?.command;
        let (usage, cost) = self.used();
        let unpriced = self.attempts.iter().filter_map(|attempt| attempt.ended.as_ref()).any(|ended| ended.unpriced);
        let last = self.attempts.last();
        let ended = last.and_then(|attempt| attempt.ended.as_ref());
        let final_message = ended.and_then(|ended| ended.final_message.clone());
        let cut_short = self.ends_by().filter(|_| status == TaskResultStatus::Completed);
        Some(TaskResult {
            task_id: command.task_id,
            session_id: command.session_id,
            command_id: command.command_id,
            status,
            verified,
            partial: cut_short.is_some(),
            checks: last.and_then(|attempt| attempt.checks.clone()).unwrap_or_default(),
            deliverables: ended.map(|ended| ended.deliverables.clone()).unwrap_or_default(),
            final_message: match cut_short {
                Some(up) => Some(up.partly(final_message)),
                None => final_message,
            },
            evidence_refs: Vec::new(),
            usage,
            cost_usd: (!unpriced).then_some(cost),
            error_details: error,
            hitl_request: None,
        })
    }

    /// What ended attempts have used.
    pub fn used(&self) -> (UsageMetrics, Usd) {
        let mut used = (UsageMetrics::default(), Usd::ZERO);
        for ended in self.attempts.iter().filter_map(|attempt| attempt.ended.as_ref()) {
            used.0 += ended.usage;
            used.1 += ended.cost;
        }
        used
    }

    /// What ended attempts ran into, in words for the next one.
    pub fn failures(&self) -> Vec<String> {
        self.attempts.iter().filter_map(describe_failure).collect()
    }
}

fn describe_failure(attempt: &Attempt) -> Option<String> {
    let ended = attempt.ended.as_ref()?;
    let mut lines = vec![format!("Attempt {}:", attempt.number)];
    lines.extend(ended.error.as_ref().map(|ErrorDetails { message, .. }| format!("- ended with an error: {message}")));
    lines.extend(
        ended.interrupted.iter().map(|call| format!("- interrupted, so that it may or may not have happened: {call}")),
    );
    let failures = attempt.report.iter().flat_map(|report| &report.failures);
    lines.extend(failures.map(|failure| format!("- {failure}")));
    (lines.len() > 1).then(|| lines.join("\n"))
}
