//! How a task stands, as the engine reads it.

use windlass_domain::TaskId;
use windlass_domain::task::TaskState;

use crate::stands::Stands;
use crate::wiring::Windlass;

pub fn is_planned(state: &TaskState) -> bool {
    state.created.as_ref().is_some_and(|created| created.planned)
}

pub async fn standing(windlass: &Windlass, task: TaskId, state: &TaskState) -> anyhow::Result<Stands> {
    Ok(windlass.engine.how_it_stands(task, state).await?)
}

/// One who works for a task that stands so.
pub async fn standing_of_part(windlass: &Windlass, run: TaskId, whole: Stands) -> anyhow::Result<Stands> {
    Ok(windlass.engine.standing_of_part(run, whole).await?)
}
