//! How a task stands, read from its records: whether it is over, who is asked, and whether anybody who is alive works on it or for it.

use windlass_domain::task::{TaskState, TaskStatus};
use windlass_domain::{Awaited, TaskId};

use super::dialogue::why_closed;
use super::find::is_driven;
use crate::stands::{Member, Stands, goes_on};
use crate::wiring::Windlass;

pub fn is_planned(state: &TaskState) -> bool {
    state.created.as_ref().is_some_and(|created| created.planned)
}

pub async fn standing(windlass: &Windlass, task: TaskId, state: &TaskState) -> anyhow::Result<Stands> {
    let over = match state.status {
        Some(TaskStatus::Completed) if state.result.as_ref().is_some_and(|result| result.verified) => Stands::Verified,
        Some(TaskStatus::Completed) => Stands::Completed,
        Some(TaskStatus::Failed) => Stands::Failed,
        Some(TaskStatus::Cancelled) => Stands::Cancelled,
        Some(TaskStatus::Paused | TaskStatus::Running) | None => return open(windlass, task, state).await,
    };
    Ok(over)
}

async fn open(windlass: &Windlass, task: TaskId, state: &TaskState) -> anyhow::Result<Stands> {
    if let Some(asked) = asked(windlass, task, state).await? {
        return Ok(asked);
    }
    if state.status == Some(TaskStatus::Paused) {
        return Ok(if state.is_stopped { Stands::Stopped } else { Stands::Paused });
    }
    if is_driven(windlass, task).await? {
        return Ok(Stands::Running);
    }
    if is_planned(state) && windlass.engine.graph(task).await?.is_aligned() {
        return Ok(Stands::Agreed);
    }
    Ok(goes_on(&members(windlass, task).await?))
}

/// What a person is asked by the task or by those who work for it.
async fn asked(windlass: &Windlass, task: TaskId, state: &TaskState) -> anyhow::Result<Option<Stands>> {
    let waits_for: Vec<Awaited> = match is_planned(state) {
        true => windlass.engine.asks(task).await?.into_iter().map(|(_, about)| about).collect(),
        false => state.waits_for.clone(),
    };
    for about in &waits_for {
        if why_closed(windlass, *about).await?.is_none() {
            return Ok(Some(Stands::Waiting(*about)));
        }
    }
    Ok((!waits_for.is_empty()).then_some(Stands::Answered))
}

async fn members(windlass: &Windlass, task: TaskId) -> anyhow::Result<Vec<Member>> {
    let mut members = Vec::new();
    for member in windlass.engine.members(task).await? {
        let state = windlass.engine.task(member).await?;
        members.push(Member {
            has_begun: !state.attempts.is_empty(),
            is_paused: state.status == Some(TaskStatus::Paused),
            sending: windlass.engine.sending(member).await?,
        });
    }
    Ok(members)
}

/// One who works for a task that stands so. A person who stopped the whole stopped them.
pub async fn standing_of_part(windlass: &Windlass, run: TaskId, whole: Stands) -> anyhow::Result<Stands> {
    let state = windlass.engine.task(run).await?;
    let stands = standing(windlass, run, &state).await?;
    Ok(if stands == Stands::Paused && whole == Stands::Stopped { Stands::Stopped } else { stands })
}
