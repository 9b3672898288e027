//! A task's own stream: the fold so far, and how events become rows.

use windlass_domain::task::{TaskEvent, TaskState};
use windlass_domain::{Encoded, Seq, Taint, TaskId, Unreadable, Wall};
use windlass_policy::Redactor;
use windlass_store::{NewEvent, StreamId};

pub struct TaskJournal {
    pub stream: StreamId,
    pub state: TaskState,
    pub head: Seq,
}

impl TaskJournal {
    /// `events` as they may be kept, and their rows. The fold is unchanged until they are `applied`.
    pub fn rows(
        &self,
        events: Vec<TaskEvent>,
        redactor: &Redactor,
        taint: Taint,
        at: Wall,
    ) -> Result<(Vec<TaskEvent>, Vec<NewEvent>), Unreadable> {
        let row = |event| {
            let (event, encoded) = redacted_task_event(event, redactor)?;
            Ok((event, NewEvent { stream: self.stream.clone(), encoded, taint, at }))
        };
        events.into_iter().map(row).collect()
    }

    pub fn applied(&mut self, events: &[TaskEvent], at: Wall) {
        for event in events {
            self.state.apply(event, at);
        }
        self.head = Seq(self.head.0 + events.len() as u64);
    }
}

pub fn task_stream(task: TaskId) -> StreamId {
    StreamId::new("task", task)
}

/// The event as it may be stored, and its stored form.
pub fn redacted_task_event(event: TaskEvent, redactor: &Redactor) -> Result<(TaskEvent, Encoded), Unreadable> {
    let encoded = event.encode();
    match redactor.redact_json(encoded.data.get()) {
        std::borrow::Cow::Borrowed(_) => Ok((event, encoded)),
        std::borrow::Cow::Owned(text) => {
            let event = TaskEvent::decode(encoded.kind, encoded.version, &text)?;
            let encoded = event.encode();
            Ok((event, encoded))
        }
    }
}
