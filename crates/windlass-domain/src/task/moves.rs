//! What a task does next, from its state alone. The driver performs the move, commits what came of it, and asks again;
//! resuming after a crash is asking again.

use crate::budget::Limits;
use crate::id::ExecutionId;
use crate::plan::OnStuck;
use crate::result::{ErrorCategory, ErrorCode, ErrorDetails, TaskResultStatus};
use crate::task::{Attempt, Part, TaskCreated, TaskState};
use crate::usage::Usd;

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
    /// The planner is thinking.
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
    if task.status != Some(crate::task::TaskStatus::Running) {
        return Move::Nothing;
    }
    while_running(task, created)
}

/// Whether an agent works on it, or will, that hears what is said now. One whose last agent has said its last word may be over
/// before there is another.
pub fn has_a_hearer(task: &TaskState) -> bool {
    let next = task.created.as_ref().map(|created| while_running(task, created));
    !task.is_over() && !matches!(next, None | Some(Move::Verify { .. } | Move::Finish { .. }))
}

fn while_running(task: &TaskState, created: &TaskCreated) -> Move {
    if task.open_consult().is_some() {
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
    // With nothing to check there is nothing to try again against: the agent's word stands, and says so.
    if created.base_case.0.is_empty() && !created.is_atom() {
        return match &ended.error {
            None => Move::Finish { status: TaskResultStatus::Completed, verified: false, error: None },
            // A gate sent it back: another attempt may do better, checks or not.
            Some(error) if error.error_code == ErrorCode::GateBlocked => {
                match start_or_give_up(task, created, Some(error.clone())) {
                    Move::Finish { .. } => failed(error.clone()),
                    again => again,
                }
            }
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
        error => match start_or_give_up(task, created, error.clone()) {
            Move::Start { limits, .. } if wants_guidance(task, created, attempt) => {
                Move::Consult { attempt: attempt.number, limits }
            }
            next => next,
        },
    }
}

/// The second attempt has the failure to go by; each later one also hears the planner, while it may be asked.
fn wants_guidance(task: &TaskState, created: &TaskCreated, attempt: &Attempt) -> bool {
    let Some(Part::Atom { on_stuck, .. }) = created.part_of.as_ref().map(|of| &of.part) else { return false };
    let was_asked = task.consults.iter().any(|consult| consult.attempt == attempt.number);
    let is_left = task.consults.len() < created.budget.max_planner_calls as usize;
    *on_stuck == OnStuck::ConsultPlanner && attempt.number >= 2 && !was_asked && is_left
}

fn start_or_give_up(task: &TaskState, created: &TaskCreated, last_error: Option<ErrorDetails>) -> Move {
    let attempts_made = u32::try_from(task.attempts.len()).unwrap_or(u32::MAX);
    let limits = limits_left(task, created);
    let out_of_budget = limits.max_tokens == 0 || limits.max_cost_usd == Usd::ZERO || limits.timeout_ms == 0;
    if out_of_budget && attempts_made > 0 {
        return failed(last_error.unwrap_or_else(|| out_of("the task's budget is spent")));
    }
    if attempts_made >= created.budget.max_attempts {
        return failed(still_failing(attempts_made, last_error));
    }
    Move::Start { attempt: attempts_made + 1, limits }
}

/// The task's budget is shared by all its attempts; an attempt also has seed 000's own limits.
fn limits_left(task: &TaskState, created: &TaskCreated) -> Limits {
    let (used, cost) = task.used();
    let config = &created.command.execution_config;
    let task_ms = created.budget.max_wall_time_seconds.saturating_mul(1_000).saturating_sub(used.duration_ms);
    Limits {
        max_iterations: config.max_iterations,
        timeout_ms: config.timeout_seconds.saturating_mul(1_000).min(task_ms),
        max_tokens: created.budget.max_tokens.saturating_sub(used.total_tokens),
        max_cost_usd: created.budget.max_cost_usd.minus(cost),
    }
}

fn still_failing(attempts: u32, last_error: Option<ErrorDetails>) -> ErrorDetails {
    let made = if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    let cut_short = last_error.map(|error| format!(", the last of which ended early: {}", error.message));
    let message = format!("the checks still fail after {made}{}", cut_short.unwrap_or_default());
    ErrorDetails::new(ErrorCode::ChecksFailed, message)
}

fn failed(error: ErrorDetails) -> Move {
    Move::Finish { status: TaskResultStatus::Failed, verified: false, error: Some(error) }
}

fn out_of(what: &str) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::BudgetExceeded, what)
}
