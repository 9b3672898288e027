//! A graph between two passes, while those who work for it are at work: whoever drives it next goes on from where the last one was, and
//! reads only what was written since. Only this process knows it, and only of a few; nothing is lost with it. Of a graph that waits
//! for people alone nothing is held.

use windlass_domain::graph::{Chronicle, GraphEvent};
use windlass_domain::{Seq, TaskId};

use super::journal::{GraphJournal, graph_stream};
use super::pass::GraphDriver;
use crate::Error;
use crate::attempt::Driven;
use crate::engine::Engine;

/// Of so many the fold is kept.
const MOST: usize = 8;

pub(crate) struct Resting {
    pub graph: GraphJournal,
    pub history: History,
}

/// How the graph came about, as far as somebody asked.
#[derive(Default)]
pub(crate) struct History {
    pub chronicle: Chronicle,
    head: Seq,
}

impl History {
    /// With all that was written since.
    pub async fn go_on(&mut self, engine: &Engine, task: TaskId) -> Result<(), Error> {
        for row in engine.rows_after(&graph_stream(task), self.head).await? {
            self.chronicle.apply(row.at, &GraphEvent::decode(&row.kind, row.version, &row.data)?);
            self.head = row.seq;
        }
        Ok(())
    }
}

impl Engine {
    /// As it stands, folded from where it was left.
    pub(crate) async fn graph_to_drive(&self, task: TaskId) -> Result<Resting, Error> {
        let key = (self.shared.tenant.clone(), task);
        let kept = self.shared.lock_resting().remove(&key);
        let Some(mut resting) = kept else {
            return Ok(Resting { graph: self.graph_journal(task).await?, history: History::default() });
        };
        let graph = &mut resting.graph;
        for row in self.rows_after(&graph.stream, graph.head).await? {
            graph.state.apply(&GraphEvent::decode(&row.kind, row.version, &row.data)?);
            graph.head = row.seq;
        }
        Ok(resting)
    }
}

impl GraphDriver {
    /// Leaves the graph to who drives it next, where that is soon.
    pub(super) fn leave(&mut self, driven: &Result<Driven, Error>) {
        let is_awaited = matches!(driven, Ok(Driven::Waiting(_))) && !self.graph.state.running().is_empty();
        if !is_awaited {
            return;
        }
        let graph = std::mem::replace(&mut self.graph, GraphJournal::new(self.task));
        let resting = Resting { graph, history: std::mem::take(&mut self.history) };
        let mut all = self.engine.shared.lock_resting();
        all.insert((self.engine.shared.tenant.clone(), self.task), resting);
        while all.len() > MOST {
            all.pop_first();
        }
    }
}
