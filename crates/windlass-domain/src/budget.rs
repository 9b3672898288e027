//! What a task may use at most. A budget is checked before every action and counts as spent at `>=`; overspend is at
//! most the one model call in flight.

use serde::{Deserialize, Serialize};

use crate::result::{ErrorCode, ErrorDetails};
use crate::usage::{Usage, Usd};

/// Contracts §1, defaults included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    pub max_tokens: u64,
    pub max_cost_usd: Usd,
    pub max_wall_time_seconds: u64,
    pub max_attempts: u32,
    pub max_planner_calls: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            max_tokens: 200_000,
            max_cost_usd: Usd::from_nanos(2_000_000_000),
            max_wall_time_seconds: 1_800,
            max_attempts: 5,
            max_planner_calls: 3,
        }
    }
}

/// What one execution may use: what is left of its task's budget when it starts, and seed 000's own limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub max_iterations: u32,
    pub timeout_ms: u64,
    pub max_tokens: u64,
    pub max_cost_usd: Usd,
}

/// A limit that has been reached. Its words are what a person and a model read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Exhausted {
    #[error("the iteration limit is reached")]
    Iterations,
    #[error("the time limit is reached")]
    Time,
    #[error("the token budget is spent")]
    Tokens,
    #[error("the money budget is spent")]
    Money,
}

/// What has been used so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    pub iterations: u32,
    pub active_ms: u64,
    pub usage: Usage,
    pub cost: Usd,
}

impl Exhausted {
    /// How a person is told that a limit ended the run.
    pub fn details(self) -> ErrorDetails {
        let (code, hint) = match self {
            Self::Iterations => (ErrorCode::MaxIterationsExceeded, "raise it with --max-iterations"),
            Self::Time => (ErrorCode::Timeout, "raise it with --timeout"),
            Self::Tokens => (ErrorCode::BudgetExceeded, "raise it with --max-tokens"),
            Self::Money => (ErrorCode::BudgetExceeded, "raise it with --max-cost"),
        };
        ErrorDetails::new(code, self.to_string()).with_hint(hint)
    }
}

impl Limits {
    /// The first limit that `spent` has reached, if any.
    pub fn exhausted(&self, spent: &Spent) -> Option<Exhausted> {
        let out_of_iterations = (spent.iterations >= self.max_iterations).then_some(Exhausted::Iterations);
        out_of_iterations.or_else(|| self.exhausted_for_calls(spent))
    }

    /// The same for a tool call, which the last iteration may still make.
    pub fn exhausted_for_calls(&self, spent: &Spent) -> Option<Exhausted> {
        [
            (spent.active_ms >= self.timeout_ms, Exhausted::Time),
            (spent.usage.total() >= self.max_tokens, Exhausted::Tokens),
            (spent.cost >= self.max_cost_usd, Exhausted::Money),
        ]
        .into_iter()
        .find_map(|(reached, which)| reached.then_some(which))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_as_spent_when_it_is_reached_not_when_it_is_passed() {
        let limits =
            Limits { max_iterations: 2, timeout_ms: 1_000, max_tokens: 100, max_cost_usd: Usd::from_nanos(10) };
        let check = |spent: Spent, expected| assert_eq!(limits.exhausted(&spent), expected);
        check(Spent::default(), None);
        check(Spent { iterations: 1, ..Spent::default() }, None);
        check(Spent { iterations: 2, ..Spent::default() }, Some(Exhausted::Iterations));
        check(Spent { active_ms: 1_000, ..Spent::default() }, Some(Exhausted::Time));
        let usage = |input| Usage { input, ..Usage::default() };
        check(Spent { usage: usage(99), ..Spent::default() }, None);
        check(Spent { usage: usage(100), ..Spent::default() }, Some(Exhausted::Tokens));
        check(Spent { cost: Usd::from_nanos(10), ..Spent::default() }, Some(Exhausted::Money));
    }
}
