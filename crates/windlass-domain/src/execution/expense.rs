//! What one record of a journal says was used of tokens and money: by a model that answered, by one that did not, and by a program of others
//! that asked through us.

use super::{ExchangeOutcome, ExecutionEvent};
use crate::usage::{Usage, Usd};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expense {
    pub usage: Usage,
    /// Missing where the price is not known.
    pub cost: Option<Usd>,
}

/// The kinds of records that say so: whoever looks for them reads no others.
pub const EXPENSES: [&str; 3] = ["model.responded", "model.failed", "exchange.closed"];

impl Expense {
    pub fn of(event: &ExecutionEvent) -> Option<Self> {
        match event {
            ExecutionEvent::ModelResponded(response) => {
                let mut usage = response.usage;
                usage += response.lost;
                Some(Self { usage, cost: response.cost })
            }
            ExecutionEvent::ModelFailed(failed) => Some(Self { usage: failed.usage, cost: Some(failed.cost) }),
            ExecutionEvent::ExchangeClosed(closed) => {
                // Of one that nobody answered it is not the price that is missing.
                let is_answered = closed.outcome == ExchangeOutcome::Answered;
                Some(Self { usage: closed.usage, cost: closed.cost.or((!is_answered).then(Usd::default)) })
            }
            _ => None,
        }
    }
}
