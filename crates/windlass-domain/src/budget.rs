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

/// What a question may come to: what there is to read, and the longest answer that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asking {
    pub input: u64,
    pub input_cost: Usd,
    pub output: u64,
    /// For a million tokens; nothing where the price is not known.
    pub output_price: Usd,
}

/// What may still be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    pub tokens: u64,
    pub cost: Usd,
}

/// An answer that is cut off sooner than this is of no use to anybody.
pub const SHORTEST_ANSWER: u64 = 256;

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

    pub const fn left(&self, spent: &Spent) -> Left {
        Left { tokens: self.max_tokens.saturating_sub(spent.usage.total()), cost: self.max_cost_usd.minus(spent.cost) }
    }
}

impl Asking {
    /// What an answer of this length costs, rounded up.
    pub fn cost_of_answer(&self, output: u64) -> Usd {
        let nanos = u128::from(output) * u128::from(self.output_price.as_nanos());
        Usd::from_nanos(u64::try_from(nanos.div_ceil(MILLION)).unwrap_or(u64::MAX))
    }
}

impl Left {
    #[must_use]
    pub fn or_less(self, other: Self) -> Self {
        Self { tokens: self.tokens.min(other.tokens), cost: self.cost.min(other.cost) }
    }

    /// How long the answer may be: as long as is wanted, or as what is left pays for once the question has been read. What pays
    /// for no useful answer is refused.
    pub fn answer(self, asking: &Asking) -> Result<u64, Exhausted> {
        let shortest = SHORTEST_ANSWER.min(asking.output);
        let by_tokens = self.tokens.checked_sub(asking.input).filter(|tokens| *tokens >= shortest);
        let by_money = (self.cost >= asking.input_cost)
            .then(|| affordable(self.cost.minus(asking.input_cost), asking.output_price))
            .filter(|tokens| *tokens >= shortest);
        let tokens = by_tokens.ok_or(Exhausted::Tokens)?;
        Ok(asking.output.min(tokens).min(by_money.ok_or(Exhausted::Money)?))
    }
}

const MILLION: u128 = 1_000_000;

fn affordable(cost: Usd, price: Usd) -> u64 {
    let tokens = (u128::from(cost.as_nanos()) * MILLION).checked_div(u128::from(price.as_nanos()));
    tokens.map_or(u64::MAX, |tokens| u64::try_from(tokens).unwrap_or(u64::MAX))
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
    #[test]
    fn an_answer_is_as_long_as_is_wanted_or_as_what_is_left_pays_for() {
        let left = |tokens, nanos| Left { tokens, cost: Usd::from_nanos(nanos) };
        // A token of the answer costs two nano-dollars, the question ten.
        let price = Usd::from_nanos(2_000_000);
        let asking = Asking { input: 100, input_cost: Usd::from_nanos(10), output: 1_000, output_price: price };
        let check = |left: Left, expected| assert_eq!(left.answer(&asking), expected, "{left:?}");
        check(left(1_100, 2_010), Ok(1_000));
        check(left(u64::MAX, u64::MAX), Ok(1_000));
        check(left(1_099, 2_010), Ok(999));
        check(left(1_100, 2_009), Ok(999));
        check(left(356, 2_010), Ok(256));
        check(left(355, 2_010), Err(Exhausted::Tokens));
        check(left(99, 2_010), Err(Exhausted::Tokens));
        check(left(1_100, 522), Ok(256));
        check(left(1_100, 521), Err(Exhausted::Money));
        check(left(1_100, 9), Err(Exhausted::Money));
        assert_eq!(asking.cost_of_answer(1_000), Usd::from_nanos(2_000));
        // Who wants a word needs no more than that.
        let word = Asking { output: 4, ..asking };
        assert_eq!((left(104, 18).answer(&word), left(103, 18).answer(&word)), (Ok(4), Err(Exhausted::Tokens)));
        let unpriced = Asking { input_cost: Usd::ZERO, output_price: Usd::ZERO, ..asking };
        assert_eq!(left(1_100, 0).answer(&unpriced), Ok(1_000));
        assert_eq!(left(5, 9).or_less(left(9, 5)), left(5, 5));
    }
}
