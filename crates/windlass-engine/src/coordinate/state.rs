//! A session and its tasks as seed 000 §3.4 has them, for any front door.

use windlass_domain::coordinate::SessionView;
use windlass_domain::task::{TaskEvent, TaskState};
use windlass_domain::{Seq, SessionId, TaskId, Wall};
use windlass_store::StoredEvent;

use crate::Error;
use crate::attempt::task_stream;
use crate::engine::Engine;
use crate::read::Mark;

/// What a session and its tasks are called where they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// As its caller calls them, where they have names of their own for them.
    Callers,
    /// By their ids, as everything else is here.
    Ids,
}

/// A task as it stood when somebody last looked.
#[derive(Default)]
pub(crate) struct Dated {
    state: TaskState,
    changed: Wall,
    mark: Mark,
    /// Of all that it is folded from, of which it keeps no more.
    bytes: usize,
}

impl Dated {
    pub const fn weight(&self) -> usize {
        self.bytes
    }

    fn take(&mut self, row: &StoredEvent) -> Result<(), Error> {
        let before = self.state.status;
        self.state.apply(&TaskEvent::decode(&row.kind, row.version, &row.data)?, row.at);
        if self.state.status != before {
            self.changed = row.at;
        }
        self.bytes += row.data.len();
        self.mark = Mark::of(row);
        Ok(())
    }
}

/// The newest.
const MOST_TASKS: usize = 100;

impl Engine {
    /// None where nobody has opened it.
    pub async fn session_state(&self, session_id: SessionId, naming: Naming) -> Result<Option<SessionView>, Error> {
        let mut session = self.session(session_id).await?;
        if naming == Naming::Ids {
            (session.called, session.names) = Default::default();
        }
        if session.workspace.is_none() {
            return Ok(None);
        }
        let mut tasks = Vec::new();
        for task in session.tasks.iter().skip(session.tasks.len().saturating_sub(MOST_TASKS)) {
            tasks.push(self.dated(*task).await?);
        }
        Ok(Some(SessionView::of(session_id, &session, &tasks)))
    }

    /// With the time at which its status changed last. Who looks again reads what was written since.
    async fn dated(&self, task: TaskId) -> Result<(TaskState, Wall), Error> {
        let stream = task_stream(task);
        let mut known = self.shared.dated.hold((self.shared.tenant.clone(), task)).await;
        loop {
            let Some((rows, is_last)) = self.rows_since(&stream, known.mark).await? else {
                *known = Dated::default();
                continue;
            };
            for row in rows {
                known.take(&row)?;
            }
            if is_last {
                return Ok((known.state.clone(), known.changed));
            }
        }
    }

    /// As it stood when this record was new. Whoever asks for one after the other, as they were written, reads each once.
    pub(super) async fn task_at(&self, task: TaskId, seq: Seq) -> Result<TaskState, Error> {
        let stream = task_stream(task);
        let mut told = self.shared.told.hold((self.shared.tenant.clone(), task)).await;
        if told.mark.seq > seq {
            *told = Dated::default();
        }
        loop {
            let Some((rows, is_last)) = self.rows_upto(&stream, told.mark, seq).await? else {
                *told = Dated::default();
                continue;
            };
            for row in rows {
                told.take(&row)?;
            }
            if is_last || told.mark.seq >= seq {
                return Ok(told.state.clone());
            }
        }
    }
}
