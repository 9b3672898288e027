//! Everything that an explanation is made of, read beforehand.

use std::collections::BTreeMap;

use windlass_domain::graph::{Bill, Chronicle, GraphEvent, GraphMove, next_moves};
use windlass_domain::task::TaskState;
use windlass_domain::{TaskId, Wall};

use super::bound::Bound;
use crate::draw::{Mark, Picture};
use crate::stands::{InWords as _, Stands};

#[derive(Debug)]
pub struct Known {
    pub task: TaskId,
    pub state: TaskState,
    pub stands: Stands,
    /// Whether somebody works on it or for it.
    pub is_driven: bool,
    pub records: Vec<(Wall, GraphEvent)>,
    pub chronicle: Chronicle,
    /// Those who work for it, and those who worked on what is asked about.
    pub runs: BTreeMap<TaskId, TaskState>,
    /// What those have used who work for it and have sent no bill.
    pub unbilled: Vec<Bill>,
    /// How those stand who work for it now.
    pub present: BTreeMap<TaskId, Stands>,
}

impl Known {
    /// What would be done next if somebody were there to do it.
    pub fn next(&self) -> Vec<GraphMove> {
        let graph = &self.chronicle.graph;
        let places = graph.work.constraints().max_parallel_agents.max(1) as usize;
        if self.state.is_over() { Vec::new() } else { next_moves(graph, places) }
    }

    /// What to type next, where that is all there is to do.
    pub fn command(&self) -> Option<String> {
        self.stands.command(self.task, self.chronicle.graph.objective.is_some())
    }

    /// The same in a sentence.
    pub fn next_command(&self) -> Option<String> {
        self.stands.next(self.task, self.chronicle.graph.objective.is_some())
    }

    /// How somebody stands who works for it; whoever is not known to does not any more.
    pub fn mark_of(&self, run: TaskId) -> Mark {
        self.present.get(&run).map_or(Mark::GivenUp, |stands| Mark::of_run(*stands))
    }

    /// How it stands, where nobody is there to go on with it; with the reason that somebody gave.
    pub fn rests(&self) -> Option<String> {
        self.stands.rests(self.state.rests_for.as_deref())
    }

    pub fn bound(&self) -> Option<Bound> {
        Bound::of(&self.chronicle, &self.unbilled)
    }

    pub fn picture(&self) -> Option<Picture> {
        Picture::of(&self.chronicle, &self.present)
    }

    pub fn goal(&self) -> String {
        let graph = &self.chronicle.graph;
        let asked = || self.state.created.as_ref().map(|created| created.command.goal.clone()).unwrap_or_default();
        graph.objective.as_ref().map_or_else(asked, |agreed| agreed.goal.clone())
    }
}
