//! A task's own stream: the fold so far, and how actions become rows.

use windlass_domain::task::{TaskAction, TaskCreated, TaskEvent, TaskRejected, TaskState, decide};
use windlass_domain::{Seq, Taint, TaskId, Unreadable, Wall};
use windlass_policy::Redactor;
use windlass_store::{NewEvent, StreamId};

use crate::redacted::redacted;

pub struct TaskJournal {
    pub stream: StreamId,
    pub state: TaskState,
    pub head: Seq,
}

/// What actions came to and nobody has written yet.
pub struct TaskDecided {
    pub events: Vec<TaskEvent>,
    pub rows: Vec<NewEvent>,
    /// The fold with these events.
    state: TaskState,
}

impl TaskDecided {
    pub fn created(&self) -> Option<&TaskCreated> {
        self.state.created.as_ref()
    }

    /// The task as it is then.
    pub const fn after(&self) -> &TaskState {
        &self.state
    }
}

impl TaskJournal {
    pub fn new(task: TaskId) -> Self {
        Self { stream: task_stream(task), state: TaskState::default(), head: Seq(0) }
    }

    /// Decides one action after the other, each on what the one before it led to. The journal itself is unchanged until the
    /// outcome is `applied`.
    pub fn decide(
        &self,
        actions: Vec<TaskAction>,
        redactor: &Redactor,
        taint: Taint,
        at: Wall,
    ) -> Result<TaskDecided, NotDecided> {
        let mut decided = TaskDecided { events: Vec::new(), rows: Vec::new(), state: self.state.clone() };
        for action in actions {
            let event = decide(&decided.state, action)?;
            let (event, encoded) = redacted(event, redactor)?;
            decided.state.apply(&event, at);
            decided.rows.push(NewEvent { stream: self.stream.clone(), encoded, taint, at });
            decided.events.push(event);
        }
        Ok(decided)
    }

    /// These rows are durable.
    pub fn applied(&mut self, decided: TaskDecided) {
        self.head = Seq(self.head.0 + decided.rows.len() as u64);
        self.state = decided.state;
    }
}

#[derive(Debug, thiserror::Error)]
pub enum NotDecided {
    #[error(transparent)]
    Rejected(#[from] TaskRejected),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

pub fn task_stream(task: TaskId) -> StreamId {
    StreamId::new("task", task)
}
