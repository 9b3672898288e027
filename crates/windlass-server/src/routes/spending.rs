//! `/v1/tasks/{task}/spending`: tokens and money over time. It is told from what is remembered of the task's story, and reads no records that
//! were read before.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use windlass_api::{Spending, SpendingPoint};
use windlass_domain::execution::Expense;
use windlass_domain::{TaskId, Usd, Wall};

use crate::ask::{InPath, named};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

/// More are not told apart on any screen.
const MOST_POINTS: usize = 1_000;

/// What it used and when: by every model that was asked for it, whoever asked, whether or not an answer came.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task}/spending",
    tag = "tasks",
    operation_id = "get_task_spending",
    security(("bearer" = ["read"])),
    params(("task" = String, Path, description = "Its id.")),
    responses((status = 200, description = "Tokens and money as they grew.", body = Spending), Problems)
)]
pub async fn get(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<Spending>, Refusal> {
    let task: TaskId = named("task", &name)?;
    let expenses = service.engine(&caller).expenses_of(task).await.map_err(|error| service.refuse(error))?;
    let unpriced = expenses.iter().any(|(_, expense)| expense.cost.is_none());
    Ok(Json(Spending { task_id: task.to_string(), points: points(&expenses), unpriced }))
}

/// Sums. Of many that follow each other the last stands for all.
fn points(expenses: &[(Wall, Expense)]) -> Vec<SpendingPoint> {
    let (mut tokens, mut cost) = (0_u64, Usd::default());
    let each = expenses.len().div_ceil(MOST_POINTS).max(1);
    let last = expenses.len().saturating_sub(1);
    let sums = expenses.iter().enumerate().filter_map(|(at, (when, expense))| {
        tokens = tokens.saturating_add(expense.usage.total());
        cost += expense.cost.unwrap_or_default();
        let is_shown = at == last || (at + 1) % each == 0;
        is_shown.then(|| SpendingPoint { at: when.to_rfc3339(), tokens, cost_usd: cost.as_dollars() })
    });
    sums.collect()
}

#[cfg(test)]
mod tests {
    use windlass_domain::Usage;

    use super::*;

    fn spent(count: u64) -> Vec<(Wall, Expense)> {
        let expense = |n| Expense {
            usage: Usage { input: 3, output: 1, ..Usage::default() },
            cost: (n % 2 == 0).then(|| Usd::from_dollars(0.5)),
        };
        (0..count).map(|n| (Wall::default(), expense(n))).collect()
    }

    #[test]
    fn few_are_told_one_by_one_and_many_to_the_last() {
        assert!(points(&[]).is_empty());
        let told: Vec<(u64, f64)> = points(&spent(3)).iter().map(|point| (point.tokens, point.cost_usd)).collect();
        assert_eq!(told, [(4, 0.5), (8, 0.5), (12, 1.0)]);
        let many = points(&spent(20_001));
        assert!(many.len() <= MOST_POINTS, "{}", many.len());
        assert_eq!(many.last().map(|point| point.tokens), Some(80_004));
    }
}
