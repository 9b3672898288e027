//! What the commit that ends a task says about it to later ones. What was redacted is what is cut and kept: a secret that was
//! cut in two would no longer be known for one.

use windlass_domain::graph::GraphEvent;
use windlass_domain::task::{TaskEvent, TaskFinished, TaskState};
use windlass_domain::{
    Ended, MemoryEvent, Seq, Taint, TaskId, TaskResult, TaskResultStatus, Tenant, plan_decisions, remember,
};
use windlass_store::{NewEvent, StreamId};

use crate::Error;
use crate::engine::Shared;
use crate::grounds::Known;
use crate::redacted::redacted;

const PAGE: usize = 1_000;

pub(super) fn memory_stream(tenant: &Tenant) -> StreamId {
    StreamId::new("memory", tenant)
}

/// The rows of what is to be remembered of a task that ends like this. What became of parts is told with the whole.
pub(crate) async fn remembered(
    shared: &Shared,
    state: &TaskState,
    result: &TaskResult,
) -> Result<Vec<NewEvent>, Error> {
    let Some(created) = state.created.as_ref().filter(|created| created.part_of.is_none() && created.turn.is_none())
    else {
        return Ok(Vec::new());
    };
    let ending = TaskEvent::Finished(TaskFinished { result: result.clone() });
    let (TaskEvent::Finished(TaskFinished { result }), _) = redacted(ending, &shared.redactor)? else {
        return Ok(Vec::new());
    };
    let goal = shared.redactor.redact(&created.command.goal);
    let (story, of_story) = graph(shared, result.task_id).await?;
    let (taint, labels) = state.inherited();
    // Only a failure quotes what checks saw there.
    let files = match result.status {
        TaskResultStatus::Failed => {
            Known::read(shared).await?.grounds.labels_of(&created.workspace).whole().join(labels.whole())
        }
        _ => Taint::Owner,
    };
    let at = shared.wall();
    let (decisions, taint) = (plan_decisions(&story), taint.join(of_story));
    let memories = remember(&Ended { goal: &goal, result: &result, decisions: &decisions, taint, files, at });
    let stream = memory_stream(&shared.tenant);
    let mut rows = Vec::with_capacity(memories.len());
    for memory in memories {
        let taint = memory.taint;
        let (_, encoded) = redacted(MemoryEvent::Recorded(memory), &shared.redactor)?;
        rows.push(NewEvent { stream: stream.clone(), encoded, taint, at });
    }
    Ok(rows)
}

/// The story of its work graph, where it has one, and the label of it all.
async fn graph(shared: &Shared, task: TaskId) -> Result<(Vec<GraphEvent>, Taint), Error> {
    let (mut events, mut taint, mut head) = (Vec::new(), Taint::Owner, Seq(0));
    loop {
        let page = shared.store.stream(&shared.tenant, &StreamId::new("graph", task), head, PAGE).await?;
        for row in &page {
            events.push(GraphEvent::decode(&row.kind, row.version, &row.data)?);
            (taint, head) = (taint.join(row.taint), row.seq);
        }
        if page.len() < PAGE {
            return Ok((events, taint));
        }
    }
}
