//! What may happen to a task, as `next_move` says what should. Total and pure: whatever the driver believes, a task does
//! not complete on checks that have not passed, does not begin more attempts than it has, and does not go on after its end.

use crate::id::{ExecutionId, TaskId};
use crate::known::ContextGathered;
use crate::port::TreeId;
use crate::question::Awaited;
use crate::research::{Arrival, NotAsked, ResearchLimits};
use crate::result::{ErrorDetails, TaskResult, TaskResultStatus};
use crate::role_output::VerifierReport;
use crate::task::{
    AttemptEnded, AttemptInterrupted, AttemptStarted, AttemptWaiting, AttemptWoken, CandidateOutdated, ChecksRecorded,
    ConsultAnswered, ConsultAsked, Deadline, DeadlineAction, DeadlineSet, Help, HelpAnswered, HelpAsked,
    ResearchAnswered, ResearchAsked, ResearchExpired, ResearchTimedOut, TaskChanged, TaskCreated, TaskEvent,
    TaskFinished, TaskState, TaskStatus, TimeLimit, TimeUp,
};

/// What is asked of a task by whoever holds its lease.
#[derive(Debug, Clone)]
pub enum TaskAction {
    Create(Box<TaskCreated>),
    StartAttempt {
        execution_id: ExecutionId,
        base: Option<TreeId>,
    },
    /// What is known about it, before anybody works on it.
    TakeContext(Box<ContextGathered>),
    EndAttempt(AttemptEnded),
    /// A crash or an outage cut the work off; it goes on where it was.
    Interrupt(ErrorDetails),
    RecordChecks(ChecksRecorded),
    /// What passed is to be checked again, on top of what others did meanwhile.
    Outdate,
    AskConsult(ConsultAsked),
    AnswerConsult(ConsultAnswered),
    AskHelp(HelpAsked),
    AnswerHelp(HelpAnswered),
    AskResearch(ResearchAsked),
    AnswerResearch(ResearchAnswered),
    /// Nobody found it out in time.
    GiveUpResearch(ResearchTimedOut),
    /// The plan takes too long.
    ExpireResearch,
    /// Nobody works on it until one of these is answered.
    Park {
        waits_for: Vec<Awaited>,
    },
    /// Somebody works on it again.
    Wake,
    Pause {
        reason: String,
    },
    /// The same, by somebody who says when it goes on.
    Stop {
        reason: String,
    },
    Resume,
    /// Of one that is begun later than it was taken in.
    SetDeadline(Deadline),
    /// One of its limits is up.
    TimeUp(TimeUp),
    Finish(Box<TaskResult>),
}

impl TaskAction {
    /// Why it rests, of one that has it rest.
    pub const fn reason(&self) -> &str {
        match self {
            Self::Pause { reason } | Self::Stop { reason } => reason.as_str(),
            _ => "",
        }
    }
}

/// Why nothing was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TaskRejected {
    #[error("the task has ended")]
    Over,
    #[error("the task was not created")]
    NotCreated,
    #[error("the task was created before")]
    AlreadyCreated,
    #[error("the task is paused")]
    Paused,
    #[error("the task is not paused")]
    NotPaused,
    #[error("nobody asks what is known about it, or it was said before")]
    ContextUnasked,
    #[error("an attempt has not ended")]
    AttemptOpen,
    #[error("no such attempt is open")]
    NoOpenAttempt,
    #[error("no attempts are left")]
    NoAttemptsLeft,
    #[error("no interruptions are left")]
    NoInterruptionsLeft,
    #[error("the task waits for nothing")]
    NotParked,
    #[error("the planner is not asked about this")]
    NotConsulted,
    #[error("no person is asked about this")]
    NoHelp,
    #[error(transparent)]
    NotAsked(NotAsked),
    #[error("nobody waits for this answer")]
    NotAwaited,
    #[error("these checks do not belong to the attempt that ended last")]
    OtherChecks,
    #[error("this time is not up, or was up before")]
    NotUp,
    #[error("it has a deadline already")]
    DeadlineIsSet,
    #[error("its time is up")]
    TimeIsUp,
    #[error("the result says more than the checks do")]
    Unproven,
    #[error("this is no end of a task")]
    NoEnd,
}

pub fn decide(task: &TaskState, action: TaskAction) -> Result<TaskEvent, TaskRejected> {
    let Some(created) = &task.created else {
        return match action {
            TaskAction::Create(created) => Ok(TaskEvent::Created(*created)),
            _ => Err(TaskRejected::NotCreated),
        };
    };
    if task.is_over() {
        return Err(TaskRejected::Over);
    }
    match action {
        TaskAction::Create(_) => Err(TaskRejected::AlreadyCreated),
        TaskAction::StartAttempt { execution_id, base } => start(task, created, execution_id, base),
        TaskAction::TakeContext(gathered) => take_context(task, created, *gathered),
        TaskAction::EndAttempt(ended) => end(task, ended),
        TaskAction::Interrupt(error) => interrupt(task, error),
        TaskAction::RecordChecks(recorded) => record(task, created, recorded),
        TaskAction::Outdate => outdate(task, created),
        TaskAction::AskConsult(asked) => consult(task, created, asked),
        TaskAction::AnswerConsult(answered) => match task.open_consult() {
            Some(open) if open.run == answered.run => Ok(TaskEvent::ConsultAnswered(answered)),
            _ => Err(TaskRejected::NotConsulted),
        },
        TaskAction::AskHelp(asked) => help(task, asked),
        TaskAction::AnswerHelp(answered) => match task.open_help() {
            Some(open) if open.card == answered.card => Ok(TaskEvent::HelpAnswered(answered)),
            _ => Err(TaskRejected::NoHelp),
        },
        TaskAction::AskResearch(asked) => ask_research(task, asked),
        TaskAction::AnswerResearch(answered) => {
            awaited(task, answered.run).map(|()| TaskEvent::ResearchAnswered(answered))
        }
        TaskAction::GiveUpResearch(late) => awaited(task, late.run).map(|()| TaskEvent::ResearchTimedOut(late)),
        TaskAction::ExpireResearch if task.research.is_expired() => Err(TaskRejected::NotAwaited),
        TaskAction::ExpireResearch => Ok(TaskEvent::ResearchExpired(ResearchExpired {})),
        TaskAction::Pause { reason } => running(task).map(|()| paused(reason, false)),
        TaskAction::Stop { reason } => running(task).map(|()| paused(reason, true)),
        TaskAction::Park { waits_for } => park(task, &waits_for),
        TaskAction::Wake => wake(task),
        TaskAction::Resume => resume(task),
        TaskAction::SetDeadline(Deadline { at, action }) => match created.command.execution_config.deadline() {
            None => Ok(TaskEvent::DeadlineSet(DeadlineSet { deadline: at, deadline_action: action })),
            Some(_) => Err(TaskRejected::DeadlineIsSet),
        },
        TaskAction::TimeUp(up) => time_up(task, created, up),
        TaskAction::Finish(result) => finish(task, created, *result),
    }
}

fn running(task: &TaskState) -> Result<(), TaskRejected> {
    match task.status {
        Some(TaskStatus::Running) => Ok(()),
        _ => Err(TaskRejected::Paused),
    }
}

fn start(
    task: &TaskState,
    created: &TaskCreated,
    execution_id: ExecutionId,
    base: Option<TreeId>,
) -> Result<TaskEvent, TaskRejected> {
    running(task)?;
    if task.ends_by().is_some() {
        return Err(TaskRejected::TimeIsUp);
    }
    if task.open_attempt().is_some() || task.open_consult().is_some() || task.open_help().is_some() {
        return Err(TaskRejected::AttemptOpen);
    }
    let made = u32::try_from(task.attempts.len()).unwrap_or(u32::MAX);
    if made >= created.budget.max_attempts.saturating_add(task.granted()) {
        return Err(TaskRejected::NoAttemptsLeft);
    }
    Ok(TaskEvent::AttemptStarted(AttemptStarted { attempt: made + 1, execution_id, base }))
}

/// Once, for all attempts: what the first was told, later ones are told as well.
fn take_context(task: &TaskState, created: &TaskCreated, gathered: ContextGathered) -> Result<TaskEvent, TaskRejected> {
    running(task)?;
    let is_asked = created.wants_context() && task.attempts.is_empty() && task.context.is_none();
    if is_asked { Ok(TaskEvent::ContextGathered(gathered)) } else { Err(TaskRejected::ContextUnasked) }
}

fn end(task: &TaskState, ended: AttemptEnded) -> Result<TaskEvent, TaskRejected> {
    match task.open_attempt() {
        Some(open) if open.number == ended.attempt => Ok(TaskEvent::AttemptEnded(ended)),
        _ => Err(TaskRejected::NoOpenAttempt),
    }
}

const fn paused(reason: String, stopped: bool) -> TaskEvent {
    TaskEvent::Changed(TaskChanged { status: TaskStatus::Paused, reason, stopped })
}

/// Once for each limit; and a deadline only if it is the one that was set.
fn time_up(task: &TaskState, created: &TaskCreated, up: TimeUp) -> Result<TaskEvent, TaskRejected> {
    let is_set = match up.limit {
        TimeLimit::Deadline => created.command.execution_config.deadline().map(TimeUp::from) == Some(up),
        TimeLimit::Monitor => !created.planned,
    };
    if is_set && !task.is_up(up.limit) { Ok(TaskEvent::TimeUp(up)) } else { Err(TaskRejected::NotUp) }
}

fn resume(task: &TaskState) -> Result<TaskEvent, TaskRejected> {
    match task.status {
        Some(TaskStatus::Paused) => {
            let reason = "resumed".to_owned();
            Ok(TaskEvent::Changed(TaskChanged { status: TaskStatus::Running, reason, stopped: false }))
        }
        _ => Err(TaskRejected::NotPaused),
    }
}

fn park(task: &TaskState, waits_for: &[Awaited]) -> Result<TaskEvent, TaskRejected> {
    running(task)?;
    if waits_for.is_empty() {
        return Err(TaskRejected::NotParked);
    }
    let attempt = task.open_attempt().ok_or(TaskRejected::NoOpenAttempt)?.number;
    let cards = waits_for.iter().copied().filter_map(Awaited::card).collect();
    let questions = waits_for.iter().copied().filter_map(Awaited::question).collect();
    let research = waits_for.iter().copied().filter_map(Awaited::research).collect();
    let monitor = waits_for.iter().copied().find_map(Awaited::monitor);
    Ok(TaskEvent::AttemptWaiting(AttemptWaiting { attempt, cards, questions, research, monitor }))
}

fn wake(task: &TaskState) -> Result<TaskEvent, TaskRejected> {
    match task.open_attempt() {
        Some(open) if task.is_parked() => Ok(TaskEvent::AttemptWoken(AttemptWoken { attempt: open.number })),
        _ => Err(TaskRejected::NotParked),
    }
}

fn interrupt(task: &TaskState, error: ErrorDetails) -> Result<TaskEvent, TaskRejected> {
    running(task)?;
    let attempt = task.attempts.last().ok_or(TaskRejected::NoOpenAttempt)?;
    if task.interruptions_left() == 0 {
        return Err(TaskRejected::NoInterruptionsLeft);
    }
    Ok(TaskEvent::AttemptInterrupted(AttemptInterrupted { attempt: attempt.number, error }))
}

fn record(task: &TaskState, created: &TaskCreated, recorded: ChecksRecorded) -> Result<TaskEvent, TaskRejected> {
    // What ends though it rests is checked where it rests.
    if task.ends_by().is_none() {
        running(task)?;
    }
    let judged = task.attempts.last().filter(|attempt| attempt.number == recorded.attempt);
    let awaits_checks = judged.is_some_and(|attempt| attempt.ended.is_some() && attempt.checks.is_none());
    // What could not be merged was not checked; only an atom's work is merged.
    let expected = if recorded.conflicts.is_empty() { created.base_case.0.len() } else { 0 };
    let is_merged = recorded.onto.is_some() || !recorded.conflicts.is_empty();
    if !awaits_checks || recorded.results.len() != expected || is_merged != created.is_atom() {
        return Err(TaskRejected::OtherChecks);
    }
    // Whoever works for others hands them a report.
    let report = created.is_atom().then(|| VerifierReport::of(&recorded.results, &recorded.conflicts));
    Ok(TaskEvent::ChecksRecorded(ChecksRecorded { report, ..recorded }))
}

fn outdate(task: &TaskState, created: &TaskCreated) -> Result<TaskEvent, TaskRejected> {
    running(task)?;
    match task.attempts.last() {
        Some(attempt) if attempt.merged.is_some() && attempt.passed(&created.base_case) => {
            Ok(TaskEvent::CandidateOutdated(CandidateOutdated { attempt: attempt.number }))
        }
        _ => Err(TaskRejected::OtherChecks),
    }
}

/// About the attempt that failed last, once, and as often as the budget says.
fn consult(task: &TaskState, created: &TaskCreated, asked: ConsultAsked) -> Result<TaskEvent, TaskRejected> {
    running(task)?;
    let is_last = task.attempts.last().is_some_and(|attempt| attempt.number == asked.attempt);
    let is_new = task.consults.iter().all(|consult| consult.attempt != asked.attempt);
    let is_left = task.consults.len() < created.budget.max_planner_calls as usize;
    if task.open_attempt().is_some() || !is_last || !is_new || !is_left {
        return Err(TaskRejected::NotConsulted);
    }
    Ok(TaskEvent::ConsultAsked(asked))
}

/// About the attempt that failed last, once about each.
fn help(task: &TaskState, asked: HelpAsked) -> Result<TaskEvent, TaskRejected> {
    running(task)?;
    let is_last = task.attempts.last().is_some_and(|attempt| attempt.number == asked.attempt);
    let is_same = |help: &Help| help.attempt == asked.attempt && help.about == asked.about;
    if task.open_attempt().is_some() || task.open_help().is_some() || !is_last || task.helps.iter().any(is_same) {
        return Err(TaskRejected::NoHelp);
    }
    Ok(TaskEvent::HelpAsked(asked))
}

fn ask_research(task: &TaskState, asked: ResearchAsked) -> Result<TaskEvent, TaskRejected> {
    task.open_attempt().ok_or(TaskRejected::NoOpenAttempt)?;
    let may = task.research.may_ask(asked.key, &ResearchLimits::default());
    may.map(|()| TaskEvent::ResearchAsked(asked)).map_err(TaskRejected::NotAsked)
}

/// What is late, repeated or was never asked for changes nothing.
fn awaited(task: &TaskState, run: TaskId) -> Result<(), TaskRejected> {
    let inquiry = task.open_research().find(|inquiry| inquiry.run == run);
    match inquiry.map(|inquiry| task.research.arrival(inquiry.key)) {
        Some(Arrival::Wanted) => Ok(()),
        Some(Arrival::Ignored) | None => Err(TaskRejected::NotAwaited),
    }
}

fn finish(task: &TaskState, created: &TaskCreated, result: TaskResult) -> Result<TaskEvent, TaskRejected> {
    if task.open_attempt().is_some() {
        return Err(TaskRejected::AttemptOpen);
    }
    // Only a deadline ends what rests, but for somebody who gives it up.
    if result.status != TaskResultStatus::Cancelled && task.ends_by().is_none() {
        running(task)?;
    }
    let is_partial = task.ends_by().is_some_and(|up| up.action == DeadlineAction::CompletePartial);
    let is_completed = result.status == TaskResultStatus::Completed;
    if result.partial != (is_completed && is_partial) || (is_completed && task.ends_by().is_some() && !is_partial) {
        return Err(TaskRejected::Unproven);
    }
    // What a plan came to is proved by its graph.
    if created.planned {
        return Ok(TaskEvent::Finished(TaskFinished { result }));
    }
    let passed = task.attempts.last().is_some_and(|attempt| attempt.passed(&created.base_case));
    let unchecked = created.base_case.0.is_empty();
    match (result.status, result.verified) {
        (TaskResultStatus::Completed, true) if unchecked || !passed => Err(TaskRejected::Unproven),
        (TaskResultStatus::Completed, false) if !unchecked && (!is_partial || created.is_atom()) => {
            Err(TaskRejected::Unproven)
        }
        (TaskResultStatus::Failed | TaskResultStatus::Cancelled, true) => Err(TaskRejected::Unproven),
        (TaskResultStatus::Paused | TaskResultStatus::BlockedUser, _) => Err(TaskRejected::NoEnd),
        (TaskResultStatus::Completed | TaskResultStatus::Failed | TaskResultStatus::Cancelled, _) => {
            Ok(TaskEvent::Finished(TaskFinished { result }))
        }
    }
}
