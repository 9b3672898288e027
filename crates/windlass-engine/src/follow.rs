//! Reading a story as it grows: what was read once is not read again, and journals that begin meanwhile are found.

use std::collections::BTreeMap;

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::graph::GraphEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{ExecutionId, Seq, TaskId};
use windlass_store::{StoredEvent, StreamId};

use crate::Error;
use crate::attempt::task_stream;
use crate::engine::Engine;
use crate::graph::graph_stream;
use crate::read::JournalRecord;

/// How far each journal of a story has been read.
#[derive(Debug, Clone)]
pub struct Following {
    heads: BTreeMap<Journal, Seq>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Journal {
    Task(TaskId),
    /// The plan of a task, which says who works for it.
    Graph(TaskId),
    Execution(ExecutionId),
}

impl Journal {
    pub fn stream(self) -> StreamId {
        match self {
            Self::Task(task) => task_stream(task),
            Self::Graph(task) => graph_stream(task),
            Self::Execution(execution) => StreamId::new("execution", execution),
        }
    }

    fn record(self, row: StoredEvent) -> Result<JournalRecord, Error> {
        Ok(match self {
            Self::Task(task) => {
                let event = Box::new(TaskEvent::decode(&row.kind, row.version, &row.data)?);
                JournalRecord::Task { at: row.at, task, event, row }
            }
            Self::Graph(task) => {
                let event = Box::new(GraphEvent::decode(&row.kind, row.version, &row.data)?);
                JournalRecord::Graph { at: row.at, task, event, row }
            }
            Self::Execution(execution) => {
                let event = Box::new(ExecutionEvent::decode(&row.kind, row.version, &row.data)?);
                JournalRecord::Execution { at: row.at, execution, event, row }
            }
        })
    }
}

impl Following {
    /// A task, its executions and all who work for it, from the beginning.
    pub fn task(task: TaskId) -> Self {
        Self { heads: BTreeMap::from([(Journal::Task(task), Seq(0))]) }
    }

    /// An execution and the agents it spawned, from the beginning.
    pub fn execution(execution: ExecutionId) -> Self {
        Self { heads: BTreeMap::from([(Journal::Execution(execution), Seq(0))]) }
    }
}

impl Engine {
    /// What was committed since the last look, in that order.
    pub async fn news(&self, following: &mut Following) -> Result<Vec<JournalRecord>, Error> {
        let mut records = Vec::new();
        let mut unread: Vec<Journal> = following.heads.keys().copied().collect();
        while let Some(journal) = unread.pop() {
            let head = following.heads.get(&journal).copied().unwrap_or(Seq(0));
            for record in self.records_after(journal, head).await? {
                if let Some(begun) = begun_by(&record)
                    && !following.heads.contains_key(&begun)
                {
                    following.heads.insert(begun, Seq(0));
                    unread.push(begun);
                }
                following.heads.insert(journal, record.row().seq);
                records.push(record);
            }
        }
        records.sort_by_key(JournalRecord::position);
        Ok(records)
    }

    async fn records_after(&self, journal: Journal, head: Seq) -> Result<Vec<JournalRecord>, Error> {
        let rows = self.rows_after(&journal.stream(), head).await?;
        rows.into_iter().map(|row| journal.record(row)).collect()
    }
}

/// The records by which journals begin: no other needs to be read by whoever looks for them.
const BEGINNINGS: [&str; 7] = [
    "task.created",
    "attempt.started",
    "consult.asked",
    "research.asked",
    "planner.started",
    "atom.started",
    "subagent.spawned",
];

/// The journal that a row says has begun.
pub(crate) fn begun_by_row(journal: Journal, row: StoredEvent) -> Result<Option<Journal>, Error> {
    if !BEGINNINGS.contains(&row.kind.as_str()) {
        return Ok(None);
    }
    Ok(begun_by(&journal.record(row)?))
}

/// The journal that a record says has begun.
fn begun_by(record: &JournalRecord) -> Option<Journal> {
    Some(match record {
        JournalRecord::Task { task, event, .. } => match event.as_ref() {
            TaskEvent::Created(created) if created.planned => Journal::Graph(*task),
            TaskEvent::AttemptStarted(started) => Journal::Execution(started.execution_id),
            TaskEvent::ConsultAsked(asked) => Journal::Task(asked.run),
            TaskEvent::ResearchAsked(asked) => Journal::Task(asked.run),
            _ => return None,
        },
        JournalRecord::Graph { event, .. } => match event.as_ref() {
            GraphEvent::PlannerStarted(started) => Journal::Task(started.run),
            GraphEvent::AtomStarted(started) => Journal::Task(started.run),
            _ => return None,
        },
        JournalRecord::Execution { event, .. } => match event.as_ref() {
            ExecutionEvent::SubagentSpawned(child) => Journal::Execution(child.execution_id),
            _ => return None,
        },
    })
}
