//! A planned task's graph: the fold so far, and how actions become rows.

use windlass_domain::graph::{GraphAction, GraphEvent, GraphRejected, GraphState, decide};
use windlass_domain::{Seq, Taint, TaskId, Unreadable, Wall};
use windlass_policy::Redactor;
use windlass_store::{NewEvent, StreamId};

use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;
use crate::redacted::redacted;

pub struct GraphJournal {
    pub task: TaskId,
    pub stream: StreamId,
    pub state: GraphState,
    pub head: Seq,
}

#[derive(Debug, thiserror::Error)]
pub enum NotDecided {
    #[error(transparent)]
    Rejected(#[from] GraphRejected),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl GraphJournal {
    pub fn new(task: TaskId) -> Self {
        Self { task, stream: graph_stream(task), state: GraphState::default(), head: Seq(0) }
    }

    /// Decides one action after the other and applies them: whoever does not commit the rows forgets the journal.
    pub fn advance(
        &mut self,
        actions: impl IntoIterator<Item = GraphAction>,
        redactor: &Redactor,
        taint: Taint,
        at: Wall,
    ) -> Result<Vec<NewEvent>, NotDecided> {
        let mut rows = Vec::new();
        for action in actions {
            let event = decide(&self.state, action)?;
            let (event, encoded) = redacted(event, redactor)?;
            self.state.apply(&event);
            rows.push(NewEvent { stream: self.stream.clone(), encoded, taint, at });
        }
        Ok(rows)
    }

    /// The same as part of a commit that holds only if nobody else writes first.
    pub fn ride(
        &mut self,
        rider: &mut Rider,
        actions: impl IntoIterator<Item = GraphAction>,
        redactor: &Redactor,
        taint: Taint,
        at: Wall,
    ) -> Result<(), Error> {
        let before = self.head;
        let rows = self.advance(actions, redactor, taint, at);
        let rows = rows.map_err(|refused| Error::Broken { task: self.task, detail: refused.to_string() })?;
        // What the same commit added before is not there yet for it to expect.
        if rider.expect.iter().all(|(stream, _)| *stream != self.stream) {
            rider.expect.push((self.stream.clone(), before));
        }
        self.head = Seq(before.0 + rows.len() as u64);
        rider.events.extend(rows);
        Ok(())
    }
}

pub fn graph_stream(task: TaskId) -> StreamId {
    StreamId::new("graph", task)
}

impl Engine {
    pub(crate) async fn graph_journal(&self, task: TaskId) -> Result<GraphJournal, Error> {
        let mut journal = GraphJournal::new(task);
        for row in self.rows_after(&journal.stream, Seq(0)).await? {
            journal.state.apply(&GraphEvent::decode(&row.kind, row.version, &row.data)?);
            journal.head = row.seq;
        }
        Ok(journal)
    }

    /// The work graph of a planned task, as it stands.
    pub async fn graph(&self, task: TaskId) -> Result<GraphState, Error> {
        Ok(self.graph_journal(task).await?.state)
    }
}
