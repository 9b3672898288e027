//! Looking at tasks without touching them: folds of what is stored, for people and for `resume`.

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::graph::GraphEvent;
use windlass_domain::task::{TaskEvent, TaskState, TaskStatus};
use windlass_domain::{ExecutionId, Seq, Taint, TaskId, Wall};
use windlass_store::owner::Judgement;
use windlass_store::{LeaseName, OwnerRow, Position, Standing, StoredEvent, StreamId};

use crate::Error;
use crate::attempt::TaskJournal;
use crate::engine::Engine;
use crate::follow::Following;

const PAGE: usize = 1_000;

#[derive(Debug, Clone)]
pub struct TaskSummary {
    pub task_id: TaskId,
    pub state: TaskState,
}

/// Where a message is that has a task worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// In its queue, for whoever takes it next.
    Waits,
    /// In the hands of a process that lives.
    Taken,
    /// In those of one that is gone, or given up.
    Left,
}

/// One record of a task's story, whichever stream it stands in.
#[derive(Debug, Clone)]
pub enum JournalRecord {
    Task {
        at: Wall,
        task: TaskId,
        event: Box<TaskEvent>,
        row: StoredEvent,
    },
    /// Of the plan that a task is carried out by.
    Graph {
        at: Wall,
        task: TaskId,
        event: Box<GraphEvent>,
        row: StoredEvent,
    },
    Execution {
        at: Wall,
        execution: ExecutionId,
        event: Box<ExecutionEvent>,
        row: StoredEvent,
    },
}

impl JournalRecord {
    /// What a row says; none where its stream tells no story of a task's.
    pub fn read(row: StoredEvent) -> Result<Option<Self>, Error> {
        let (at, id) = (row.at, row.stream.id());
        Ok(match (row.stream.kind(), id.parse::<TaskId>(), id.parse::<ExecutionId>()) {
            ("task", Ok(task), _) => {
                let event = Box::new(TaskEvent::decode(&row.kind, row.version, &row.data)?);
                Some(Self::Task { at, task, event, row })
            }
            ("graph", Ok(task), _) => {
                let event = Box::new(GraphEvent::decode(&row.kind, row.version, &row.data)?);
                Some(Self::Graph { at, task, event, row })
            }
            ("execution", _, Ok(execution)) => {
                let event = Box::new(ExecutionEvent::decode(&row.kind, row.version, &row.data)?);
                Some(Self::Execution { at, execution, event, row })
            }
            _ => None,
        })
    }

    pub const fn at(&self) -> Wall {
        match self {
            Self::Task { at, .. } | Self::Graph { at, .. } | Self::Execution { at, .. } => *at,
        }
    }

    pub const fn row(&self) -> &StoredEvent {
        match self {
            Self::Task { row, .. } | Self::Graph { row, .. } | Self::Execution { row, .. } => row,
        }
    }

    pub(crate) const fn position(&self) -> Position {
        self.row().position
    }
}

impl Engine {
    pub async fn task(&self, task: TaskId) -> Result<TaskState, Error> {
        Ok(self.task_journal(task).await?.state)
    }

    /// Whether somebody asked for it who is not the owner.
    pub async fn is_from_outside(&self, task: TaskId) -> Result<bool, Error> {
        let stream = TaskJournal::new(task).stream;
        let first = self.shared.store.stream(&self.shared.tenant, &stream, Seq(0), 1).await?;
        Ok(first.first().ok_or(Error::NoSuchTask(task))?.taint == Taint::External)
    }

    pub(crate) async fn task_journal(&self, task: TaskId) -> Result<TaskJournal, Error> {
        let mut journal = TaskJournal::new(task);
        for row in self.rows(&journal.stream).await? {
            journal.state.apply(&TaskEvent::decode(&row.kind, row.version, &row.data)?, row.at);
            journal.head = row.seq;
        }
        match journal.state.created {
            Some(_) => Ok(journal),
            None => Err(Error::NoSuchTask(task)),
        }
    }

    /// The ids of all tasks, newest first, `most` of them.
    pub async fn task_ids(&self, most: usize) -> Result<Vec<TaskId>, Error> {
        let heads = self.shared.store.streams(&self.shared.tenant, "task", None, most).await?;
        Ok(heads.iter().filter_map(|head| head.stream.id().parse().ok()).collect())
    }

    /// Every task, newest first, `most` of them.
    pub async fn tasks(&self, most: usize) -> Result<Vec<TaskSummary>, Error> {
        let ids = self.task_ids(most).await?;
        let mut summaries = Vec::with_capacity(ids.len());
        for task_id in ids {
            summaries.push(TaskSummary { task_id, state: self.task(task_id).await? });
        }
        Ok(summaries)
    }

    /// The same without those that work for another one, and without the turns of conversations.
    pub async fn wholes(&self, most: usize) -> Result<Vec<TaskSummary>, Error> {
        let mut summaries = Vec::new();
        let mut before: Option<StreamId> = None;
        loop {
            let page = self.shared.store.streams(&self.shared.tenant, "task", before.as_ref(), PAGE).await?;
            for task_id in page.iter().filter_map(|head| head.stream.id().parse().ok()) {
                let state = self.task(task_id).await?;
                if !state.is_part() && !state.is_turn() {
                    summaries.push(TaskSummary { task_id, state });
                }
                if summaries.len() == most {
                    return Ok(summaries);
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => before = Some(last.stream.clone()),
                _ => return Ok(summaries),
            }
        }
    }

    /// Fails with `HeldElsewhere` when a process that is not known to be gone works on it.
    pub async fn nobody_drives(&self, task: TaskId) -> Result<(), Error> {
        let lease = self.shared.store.lease(&self.shared.tenant, &LeaseName::new("task", task)).await?;
        let Some(holder) = lease.and_then(|lease| lease.holder) else { return Ok(()) };
        match self.is_alive(&holder).await? {
            true => Err(Error::HeldElsewhere { task, host: holder.host, pid: holder.pid }),
            false => Ok(()),
        }
    }

    /// Where the message is that has it worked on; none where nobody needs to work on it.
    pub async fn sending(&self, task: TaskId) -> Result<Option<Sending>, Error> {
        let Some((_, message)) = self.letter(task).await? else { return Ok(None) };
        let owner = match message.standing {
            Standing::Leased { owner, .. } => owner,
            Standing::Dead { .. } => return Ok(Some(Sending::Left)),
            _ => return Ok(Some(Sending::Waits)),
        };
        let is_alive = match self.shared.store.owner(owner).await? {
            Some(holder) => self.is_alive(&holder).await?,
            None => false,
        };
        Ok(Some(if is_alive { Sending::Taken } else { Sending::Left }))
    }

    pub(crate) async fn is_alive(&self, holder: &OwnerRow) -> Result<bool, Error> {
        // Whose process is gone works on nothing, though what it started may still be dying.
        if self.shared.process.is_dead_neighbour(holder) {
            return Ok(false);
        }
        let mut witness = self.shared.process.witness.lock().await;
        Ok(matches!(witness.look(holder, self.shared.runtime.now())?, Judgement::Alive))
    }

    /// Not one that works for another: whoever goes on with the whole goes on with it. Nor a turn: whoever speaks next does.
    pub async fn newest_unfinished(&self) -> Result<Option<TaskId>, Error> {
        let mut before: Option<StreamId> = None;
        loop {
            let page = self.shared.store.streams(&self.shared.tenant, "task", before.as_ref(), PAGE).await?;
            for task_id in page.iter().filter_map(|head| head.stream.id().parse().ok()) {
                let state = self.task(task_id).await?;
                let is_open = state.status.is_some_and(|status| !TaskStatus::is_over(status));
                if is_open && !state.is_part() && !state.is_turn() {
                    return Ok(Some(task_id));
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => before = Some(last.stream.clone()),
                _ => return Ok(None),
            }
        }
    }

    /// The whole story of a task, the journals of its executions and of all who work for it included, in the order in which it was
    /// committed.
    pub async fn story(&self, task: TaskId) -> Result<Vec<JournalRecord>, Error> {
        let records = self.news(&mut Following::task(task)).await?;
        if records.is_empty() { Err(Error::NoSuchTask(task)) } else { Ok(records) }
    }

    /// The story of one execution and of the agents it spawned, in the order in which it was committed.
    pub async fn execution_story(&self, execution: ExecutionId) -> Result<Vec<JournalRecord>, Error> {
        let mut records = self.family_records(execution).await?;
        records.sort_by_key(JournalRecord::position);
        Ok(records)
    }

    /// The ids of all executions, newest first, `most` of them.
    pub async fn execution_ids(&self, most: usize) -> Result<Vec<ExecutionId>, Error> {
        let heads = self.shared.store.streams(&self.shared.tenant, "execution", None, most).await?;
        Ok(heads.iter().filter_map(|head| head.stream.id().parse().ok()).collect())
    }

    /// An execution's records, and after each generation the next.
    pub(crate) async fn family_records(&self, execution: ExecutionId) -> Result<Vec<JournalRecord>, Error> {
        let mut records = self.execution_records(execution).await?;
        let mut looked_at = 0;
        while let Some(record) = records.get(looked_at) {
            looked_at += 1;
            if let JournalRecord::Execution { event, .. } = record
                && let ExecutionEvent::SubagentSpawned(child) = event.as_ref()
            {
                let child = self.execution_records(child.execution_id).await?;
                records.extend(child);
            }
        }
        Ok(records)
    }

    pub(crate) async fn execution_records(&self, execution: ExecutionId) -> Result<Vec<JournalRecord>, Error> {
        let rows = self.rows(&StreamId::new("execution", execution)).await?;
        let decode = |row: StoredEvent| {
            let event = ExecutionEvent::decode(&row.kind, row.version, &row.data)?;
            Ok(JournalRecord::Execution { at: row.at, execution, event: Box::new(event), row })
        };
        rows.into_iter().map(decode).collect()
    }

    async fn rows(&self, stream: &StreamId) -> Result<Vec<StoredEvent>, Error> {
        self.rows_after(stream, Seq(0)).await
    }

    pub(crate) async fn rows_after(&self, stream: &StreamId, head: Seq) -> Result<Vec<StoredEvent>, Error> {
        let mut rows: Vec<StoredEvent> = Vec::new();
        loop {
            let after = rows.last().map_or(head, |row| row.seq);
            let page = self.shared.store.stream(&self.shared.tenant, stream, after, PAGE).await?;
            let is_last = page.len() < PAGE;
            rows.extend(page);
            if is_last {
                return Ok(rows);
            }
        }
    }

    /// The rows of a stream after those that somebody knows, and whether these are all. None: what they know is not there, since the store
    /// was put back.
    pub(crate) async fn rows_since(
        &self,
        stream: &StreamId,
        mark: Mark,
    ) -> Result<Option<(Vec<StoredEvent>, bool)>, Error> {
        self.rows_upto(stream, mark, Seq(u64::MAX)).await
    }

    /// The same, and none after `upto`.
    pub(crate) async fn rows_upto(
        &self,
        stream: &StreamId,
        mark: Mark,
        upto: Seq,
    ) -> Result<Option<(Vec<StoredEvent>, bool)>, Error> {
        let after = Seq(mark.seq.0.saturating_sub(1));
        let most = usize::try_from(upto.0.saturating_sub(after.0)).map_or(PAGE, |most| most.min(PAGE));
        let mut rows = self.shared.store.stream(&self.shared.tenant, stream, after, most).await?;
        let is_last = rows.len() < most;
        if mark != Mark::default() {
            if rows.first().map(Mark::of) != Some(mark) {
                return Ok(None);
            }
            rows.remove(0);
        }
        Ok(Some((rows, is_last)))
    }
}

/// The last record of a stream that somebody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mark {
    pub seq: Seq,
    position: Position,
}

impl Mark {
    pub const fn of(row: &StoredEvent) -> Self {
        Self { seq: row.seq, position: row.position }
    }
}
