//! What is looked at: a task, or one of its executions.

use std::fmt;

use windlass_domain::execution::{ExecutionEvent, StateChanged};
use windlass_domain::task::TaskEvent;
use windlass_domain::{ExecutionId, TaskId};
use windlass_engine::{Engine, Following, JournalRecord};

use super::drive::explain;
use super::find::{find, find_execution};
use crate::exit::WrongUse;

/// A task, or one of its executions: what an agent that was spawned did, by itself.
#[derive(Debug, Clone, Copy)]
pub enum Subject {
    Task(TaskId),
    Execution(ExecutionId),
}

impl Subject {
    /// From the beginning.
    pub fn followed(self) -> Following {
        match self {
            Self::Task(task) => Following::task(task),
            Self::Execution(execution) => Following::execution(execution),
        }
    }

    /// All of it so far.
    pub async fn story(self, engine: &Engine) -> anyhow::Result<Vec<JournalRecord>> {
        let story = match self {
            Self::Task(task) => engine.story(task).await,
            Self::Execution(execution) => engine.execution_story(execution).await,
        };
        story.map_err(explain)
    }

    pub fn ends_with(self, record: &JournalRecord) -> bool {
        match (self, record) {
            (Self::Task(subject), JournalRecord::Task { task, event, .. }) => {
                *task == subject && matches!(event.as_ref(), TaskEvent::Finished(_))
            }
            (Self::Execution(subject), JournalRecord::Execution { event, execution, .. }) => {
                let is_over = |change: &StateChanged| *execution == subject && change.to.is_over();
                matches!(event.as_ref(), ExecutionEvent::StateChanged(change) if is_over(change))
            }
            _ => false,
        }
    }
}

pub async fn subject(engine: &Engine, named: Option<&str>) -> anyhow::Result<Subject> {
    let task = match named {
        None => {
            let newest = engine.wholes(1).await?.first().map(|newest| newest.task_id);
            newest.ok_or_else(|| WrongUse::new("there are no tasks yet").hint("`windlass demo` makes one"))?
        }
        Some(named) => match find_execution(engine, named).await? {
            Some(execution) => return Ok(Subject::Execution(execution)),
            None => find(engine, named).await?,
        },
    };
    engine.task(task).await.map_err(explain)?;
    Ok(Subject::Task(task))
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(task) => task.fmt(f),
            Self::Execution(execution) => execution.fmt(f),
        }
    }
}
