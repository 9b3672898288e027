//! What a tenant remembers that bears on a task, for an agent that has not asked. It is stricter than a search: what comes unasked must be
//! about the same thing and from the same folder, and must not make whoever reads it less trustworthy than it was. It goes by words
//! alone, so that beginning a task sends nothing to anybody.

use windlass_domain::known::{ContextItem, MOST_RECALLED, is_relevant, telling_words};
use windlass_domain::task::{TaskCreated, TaskEvent};
use windlass_domain::{Memory, MemorySource, Seq, Taint, TaskId};

use super::recall::MOST_RANKED;
use super::recollection::{Recollection, look, seq};
use crate::Error;
use crate::attempt::task_stream;
use crate::engine::Shared;

/// Best first, one of each task.
pub(crate) async fn known_here(
    shared: &Shared,
    created: &TaskCreated,
    label: Taint,
) -> Result<Vec<ContextItem>, Error> {
    let mut told: Vec<(TaskId, ContextItem)> = Vec::new();
    for memory in bearing_on(shared, &created.command.goal, label).await? {
        let MemorySource::Task(task) = memory.source;
        let is_told = told.iter().any(|(other, _)| *other == task);
        if is_told || !has_worked_in(shared, task, &created.workspace).await? {
            continue;
        }
        told.push((task, ContextItem { source: memory.origin(), taint: memory.taint, text: memory.text }));
        if told.len() == MOST_RECALLED {
            break;
        }
    }
    Ok(told.into_iter().map(|(_, item)| item).collect())
}

async fn bearing_on(shared: &Shared, goal: &str, label: Taint) -> Result<Vec<Memory>, Error> {
    let goal = goal.to_owned();
    look(shared, move |Recollection { memories, index, .. }| {
        if memories.is_empty() {
            return Ok(Vec::new());
        }
        let ranked = index.ranked(&telling_words(&goal).join(" "), MOST_RANKED)?;
        let found = ranked.into_iter().filter_map(|number| memories.get(seq(number)));
        Ok(found.filter(|memory| memory.taint <= label && is_relevant(&goal, memory)).cloned().collect())
    })
    .await
}

async fn has_worked_in(shared: &Shared, task: TaskId, folder: &str) -> Result<bool, Error> {
    let first = shared.store.stream(&shared.tenant, &task_stream(task), Seq(0), 1).await?;
    let Some(row) = first.first() else { return Ok(false) };
    Ok(match TaskEvent::decode(&row.kind, row.version, &row.data)? {
        TaskEvent::Created(created) => created.workspace == folder,
        _ => false,
    })
}
