//! A session and its tasks as seed 000 §3.4 has them, for any front door.

use windlass_domain::coordinate::SessionView;
use windlass_domain::task::{TaskEvent, TaskState};
use windlass_domain::{Seq, SessionId, TaskId, Wall};

use crate::Error;
use crate::attempt::task_stream;
use crate::engine::Engine;

/// What a session and its tasks are called where they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// As its caller calls them, where they have names of their own for them.
    Callers,
    /// By their ids, as everything else is here.
    Ids,
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

    /// With the time at which its status changed last.
    async fn dated(&self, task: TaskId) -> Result<(TaskState, Wall), Error> {
        let (mut state, mut changed) = (TaskState::default(), Wall::default());
        for row in self.rows_after(&task_stream(task), Seq(0)).await? {
            let before = state.status;
            state.apply(&TaskEvent::decode(&row.kind, row.version, &row.data)?, row.at);
            if state.status != before {
                changed = row.at;
            }
        }
        Ok((state, changed))
    }
}
