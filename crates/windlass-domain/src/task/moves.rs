//! What a task does next, from its state alone. The driver performs the move, commits what came of it, and asks again;
//! resuming after a crash is asking again.

use crate::budget::{Budget, Limits};
use crate::id::ExecutionId;
use crate::plan::{Escalation, OnStuck};
use crate::result::{ErrorCategory, ErrorCode, ErrorDetails, TaskResultStatus};
use crate::task::{Attempt, DeadlineAction, HelpAbout, HelpAnswer, Part, TaskCreated, TaskState, TaskStatus, TimeUp};
use crate::usage::Usd;

/// So many attempts of an item go by what became of the one before, and by nobody's word.
const WITHOUT_HELP: u32 = 2;

#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    /// Begin attempt `attempt` within `limits`.
    Start {
        attempt: u32,
        limits: Limits,
    },
    /// The attempt's execution is to be carried on to its end.
    Run {
        attempt: u32,
        execution_id: ExecutionId,
    },
    Verify {
        attempt: u32,
    },
    /// Ask the planner about the attempt that failed.
    Consult {
        attempt: u32,
        /// Of the attempt that follows.
        limits: Limits,
    },
    /// Ask a person about the attempt that failed.
    AskHelp {
        attempt: u32,
        about: HelpAbout,
    },
    /// The planner is thinking, or a person is.
    Wait,
    Finish {
        status: TaskResultStatus,
        verified: bool,
        error: Option<ErrorDetails>,
    },
    /// Paused or over.
    Nothing,
}

pub fn next_move(task: &TaskState) -> Move {
    let Some(created) = &task.created else { return Move::Nothing };
    match (task.status, task.ends_by()) {
        (Some(TaskStatus::Running | TaskStatus::Paused), Some(up)) => at_the_end(task, created, up),
        (Some(TaskStatus::Running), None) => while_running(task, created),
        _ => Move::Nothing,
    }
}

/// Its time is up, also where it rests: whoever works is stopped, what is to count is checked, and then it is over.
fn at_the_end(task: &TaskState, created: &TaskCreated, up: &TimeUp) -> Move {
    let last = task.attempts.last();
    if let Some(Attempt { ended: None, number, execution_id, .. }) = last {
        return Move::Run { attempt: *number, execution_id: *execution_id };
    }
    if up.action == DeadlineAction::Fail {
        return failed(up.error());
    }
    let is_checked = !created.base_case.0.is_empty();
    let is_judged = is_checked || created.is_atom();
    match last {
        Some(attempt) if is_judged && attempt.checks.is_none() && !attempt.is_blocked() => {
            Move::Verify { attempt: attempt.number }
        }
        _ => {
            let has_passed = last.is_some_and(|attempt| attempt.passed(&created.base_case));
            // What is not as it should be is added to nobody's work.
            if created.is_atom() && !has_passed {
                return failed(up.error());
            }
            Move::Finish { status: TaskResultStatus::Completed, verified: is_checked && has_passed, error: None }
        }
    }
}

/// Whether an agent works on it, or will, that hears what is said now. One whose last agent has said its last word may be over
/// before there is another.
pub fn has_a_hearer(task: &TaskState) -> bool {
    let next = task.created.as_ref().map(|created| while_running(task, created));
    !task.is_over()
        && task.ends_by().is_none()
        && !matches!(next, None | Some(Move::Verify { .. } | Move::Finish { .. }))
}

fn while_running(task: &TaskState, created: &TaskCreated) -> Move {
    if task.open_consult().is_some() || task.open_help().is_some() {
        return Move::Wait;
    }
    match task.attempts.last() {
        None => start_or_give_up(task, created, None),
        Some(attempt) => after(task, created, attempt),
    }
}

fn after(task: &TaskState, created: &TaskCreated, attempt: &Attempt) -> Move {
    let Some(ended) = &attempt.ended else {
        return Move::Run { attempt: attempt.number, execution_id: attempt.execution_id };
    };
    // What a gate has stopped is not judged: no check can allow what it forbids, and another attempt may do better.
    if attempt.is_blocked() {
        return go_on(task, created, attempt, ended.error.clone());
    }
    // With nothing to check there is nothing to try again against: the agent's word stands, and says so.
    if created.base_case.0.is_empty() && !created.is_atom() {
        return match &ended.error {
            None => Move::Finish { status: TaskResultStatus::Completed, verified: false, error: None },
            Some(error) => failed(error.clone()),
        };
    }
    if attempt.checks.is_none() {
        return Move::Verify { attempt: attempt.number };
    }
    let verified = !created.base_case.0.is_empty();
    // Where nothing is checked, the agent's word is all there is.
    if attempt.passed(&created.base_case) && (verified || ended.error.is_none()) {
        return Move::Finish { status: TaskResultStatus::Completed, verified, error: None };
    }
    match &ended.error {
        Some(error) if error.category != ErrorCategory::AgentLevel => failed(error.clone()),
        error => go_on(task, created, attempt, error.clone()),
    }
}

/// After an attempt that is not good enough: another one, after whoever is to be asked first, as the item's plan has it.
fn go_on(task: &TaskState, created: &TaskCreated, attempt: &Attempt, error: Option<ErrorDetails>) -> Move {
    let said = |about| task.help(about);
    if let Some(HelpAnswer::GiveUp { why }) = said(HelpAbout::NextAttempt).or_else(|| said(HelpAbout::OneMore)) {
        return failed(given_up(attempt.number, why));
    }
    let next = start_or_give_up(task, created, error.clone());
    let Some(Part::Atom { on_stuck, handling, .. }) = created.part_of.as_ref().map(|of| &of.part) else { return next };
    let ask = |about| Move::AskHelp { attempt: attempt.number, about };
    let Move::Start { limits, .. } = &next else {
        let is_asked = handling.when_stuck() == Escalation::EscalateHuman && said(HelpAbout::OneMore).is_none();
        return if is_asked { ask(HelpAbout::OneMore) } else { next };
    };
    let has_been_told = said(HelpAbout::NextAttempt).or_else(|| said(HelpAbout::OneMore)).is_some();
    match (handling.escalation.get(&attempt.trouble()), on_stuck) {
        _ if has_been_told => next,
        // Nobody adds items to a plan that is being carried out: what it says of that is refused when it is read.
        (Some(Escalation::Report | Escalation::SpawnTask), _) => failed(reported(attempt, error)),
        (Some(Escalation::EscalateHuman), _) => ask(HelpAbout::NextAttempt),
        (None, OnStuck::EscalateHuman) if attempt.number >= WITHOUT_HELP => ask(HelpAbout::NextAttempt),
        (None, OnStuck::ConsultPlanner) if wants_guidance(task, created, attempt) => {
            Move::Consult { attempt: attempt.number, limits: limits.clone() }
        }
        (Some(Escalation::Retry) | None, _) => next,
    }
}

/// The second attempt has the failure to go by; each later one also hears the planner, while it may be asked. Whoever says that it
/// is stuck is believed at once.
fn wants_guidance(task: &TaskState, created: &TaskCreated, attempt: &Attempt) -> bool {
    let was_asked = task.consults.iter().any(|consult| consult.attempt == attempt.number);
    let is_left = task.consults.len() < created.budget.max_planner_calls as usize;
    let error = attempt.ended.as_ref().and_then(|ended| ended.error.as_ref());
    let is_stuck = error.is_some_and(|error| error.error_code == ErrorCode::Stuck);
    (attempt.number >= WITHOUT_HELP || is_stuck) && !was_asked && is_left
}

fn start_or_give_up(task: &TaskState, created: &TaskCreated, last_error: Option<ErrorDetails>) -> Move {
    let attempts_made = u32::try_from(task.attempts.len()).unwrap_or(u32::MAX);
    let limits = limits_left(task, created);
    let out_of_budget = limits.max_tokens == 0 || limits.max_cost_usd == Usd::ZERO || limits.timeout_ms == 0;
    if out_of_budget && attempts_made > 0 {
        return failed(last_error.unwrap_or_else(|| out_of("the task's budget is spent")));
    }
    if attempts_made >= created.budget.max_attempts.saturating_add(task.granted()) {
        return failed(still_failing(attempts_made, last_error));
    }
    Move::Start { attempt: attempts_made + 1, limits }
}

/// The task's budget is shared by all its attempts, and one that a person allowed besides brings its share; an attempt also has
/// seed 000's own limits.
fn limits_left(task: &TaskState, created: &TaskCreated) -> Limits {
    let (used, cost) = task.used();
    let config = &created.command.execution_config;
    let (budget, besides, granted) = (&created.budget, share(&created.budget), u64::from(task.granted()));
    let with = |most: u64, share: u64| most.saturating_add(share.saturating_mul(granted));
    let task_ms = with(budget.max_wall_time_seconds, besides.max_wall_time_seconds).saturating_mul(1_000);
    let money = with(budget.max_cost_usd.as_nanos(), besides.max_cost_usd.as_nanos());
    Limits {
        max_iterations: config.max_iterations,
        timeout_ms: config.timeout_seconds.saturating_mul(1_000).min(task_ms.saturating_sub(used.duration_ms)),
        max_tokens: with(budget.max_tokens, besides.max_tokens).saturating_sub(used.total_tokens),
        max_cost_usd: Usd::from_nanos(money).minus(cost),
    }
}

/// What one attempt of a budget comes to.
pub fn share(budget: &Budget) -> Budget {
    let attempts = u64::from(budget.max_attempts.max(1));
    Budget {
        max_tokens: budget.max_tokens.div_ceil(attempts),
        max_cost_usd: Usd::from_nanos(budget.max_cost_usd.as_nanos().div_ceil(attempts)),
        max_wall_time_seconds: budget.max_wall_time_seconds.div_ceil(attempts),
        max_attempts: 1,
        max_planner_calls: 0,
    }
}

fn still_failing(attempts: u32, last_error: Option<ErrorDetails>) -> ErrorDetails {
    // Nothing was checked that a gate has stopped.
    if let Some(blocked) = last_error.clone().filter(|error| error.error_code == ErrorCode::GateBlocked) {
        return blocked;
    }
    let made = if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    let cut_short = last_error.map(|error| format!(", the last of which ended early: {}", error.message));
    let message = format!("the checks still fail after {made}{}", cut_short.unwrap_or_default());
    ErrorDetails::new(ErrorCode::ChecksFailed, message)
}

/// The plan wants to hear of such trouble at once.
fn reported(attempt: &Attempt, error: Option<ErrorDetails>) -> ErrorDetails {
    error.unwrap_or_else(|| {
        let failed = attempt.checks.iter().flatten().filter(|result| !result.passed).map(|result| result.name.as_str());
        let named: Vec<&str> = attempt.conflicts.iter().map(String::as_str).chain(failed).collect();
        let message = format!("attempt {} was not good enough: {}", attempt.number, named.join("; "));
        ErrorDetails::new(ErrorCode::ChecksFailed, message)
    })
}

fn given_up(attempt: u32, why: &str) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::ChecksFailed, format!("a person gave it up after attempt {attempt}: {why}"))
}

fn failed(error: ErrorDetails) -> Move {
    Move::Finish { status: TaskResultStatus::Failed, verified: false, error: Some(error) }
}

fn out_of(what: &str) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::BudgetExceeded, what)
}
