//! How a task came to rest that others work on: what whoever waits for it is told, as whoever drives it would be.

use serde::{Deserialize, Serialize};
use windlass_domain::{Awaited, TaskId, TaskResult, TaskResultStatus};
use windlass_engine::Sending;

use super::drive::{explain, how_to_answer};
use super::planned_task;
use super::standing::{is_planned, standing};
use crate::exit::Exit;
use crate::explain::Bound;
use crate::stands::{InWords as _, Stands};
use crate::wiring::Windlass;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Rest {
    /// None where only something was agreed on.
    pub result: Option<TaskResult>,
    pub remarks: Vec<String>,
    pub exit: u8,
}

/// None while somebody works on it, or is about to.
pub async fn rest(windlass: &Windlass, task: TaskId) -> anyhow::Result<Option<Rest>> {
    let engine = &windlass.engine;
    let state = engine.task(task).await.map_err(explain)?;
    if let Some(result) = state.result.clone() {
        let bound = planned_task::bound(engine, task).await?;
        let remarks = bound.iter().map(Bound::in_a_sentence).collect();
        return Ok(Some(Rest { exit: Exit::from(result.status).number(), result: Some(result), remarks }));
    }
    let stands = standing(windlass, task, &state).await?;
    if matches!(engine.sending(task).await?, Some(Sending::Waits | Sending::Taken)) || engine.is_driven(task).await? {
        return Ok(None);
    }
    let graph = engine.graph(task).await?;
    let (status, exit, remark) = match stands {
        Stands::Waiting(Awaited::Card(_) | Awaited::Question(_)) => {
            (TaskResultStatus::BlockedUser, Exit::BlockedOnUser, Some(how_to_answer(windlass, task).await?))
        }
        Stands::Stopped | Stands::Paused => {
            let exit = if stands == Stands::Stopped { Exit::Stopped } else { Exit::Paused };
            (TaskResultStatus::Paused, exit, stands.next(task, graph.objective.is_some()))
        }
        Stands::Agreed => {
            let remarks = vec!["it is agreed on".to_owned()];
            return Ok(Some(Rest { result: None, remarks, exit: Exit::Completed.number() }));
        }
        _ => return Ok(None),
    };
    let mut result = state.report(status, false, None);
    if let Some(result) = &mut result {
        let used = if is_planned(&state) { engine.used_for(task).await? } else { engine.used_by(task).await? };
        (result.usage, result.cost_usd) = (used.usage, (!used.unpriced).then_some(used.cost));
    }
    Ok(Some(Rest { result, remarks: remark.into_iter().collect(), exit: exit.number() }))
}
