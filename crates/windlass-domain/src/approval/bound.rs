//! The worst case a task can come to, from what it was given alone. It is shown before anybody approves.

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::check::BaseCase;
use crate::plan::Plan;
use crate::usage::Usd;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorstCase {
    pub attempts: u32,
    pub tokens: u64,
    pub cost_usd: Usd,
    /// Waiting for people is not counted.
    pub wall_time_seconds: u64,
}

/// `one_call` is what a single model call can use at most: a budget is checked before a call, so that the last one may go
/// over it. Checks run after every attempt, each for as long as it may.
pub fn bound(budget: &Budget, base_case: &BaseCase, one_call: (u64, Usd)) -> WorstCase {
    let (tokens, cost) = one_call;
    let checking = base_case.0.iter().fold(0_u64, |sum, check| sum.saturating_add(check.timeout_seconds));
    let mut cost_usd = budget.max_cost_usd;
    cost_usd += cost;
    WorstCase {
        attempts: budget.max_attempts,
        tokens: budget.max_tokens.saturating_add(tokens),
        cost_usd,
        wall_time_seconds: budget
            .max_wall_time_seconds
            .saturating_add(checking.saturating_mul(u64::from(budget.max_attempts))),
    }
}

/// Of a plan: all of its items one after the other, choices that may never be needed among them, and the planner. An item that is to
/// be done again, because a way that it rests on failed, has its attempts again, and what is left of everything else.
pub fn bound_plan(plan: &Plan, one_call: (u64, Usd)) -> WorstCase {
    let planner = &plan.0.plan_budget;
    let nothing = WorstCase { attempts: 0, tokens: 0, cost_usd: Usd::ZERO, wall_time_seconds: 0 };
    let planning = WorstCase { tokens: planner.max_tokens, cost_usd: planner.max_cost_usd, ..nothing };
    let work = plan.lives().into_iter().map(|(item, lives)| {
        let max_attempts = item.budget.max_attempts.saturating_mul(lives);
        bound(&Budget { max_attempts, ..item.budget.clone() }, &item.verify, one_call)
    });
    work.fold(planning, WorstCase::and)
}

impl WorstCase {
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            attempts: self.attempts.saturating_add(other.attempts),
            tokens: self.tokens.saturating_add(other.tokens),
            cost_usd: self.cost_usd.plus(other.cost_usd),
            wall_time_seconds: self.wall_time_seconds.saturating_add(other.wall_time_seconds),
        }
    }
}
