//! Everything that an explanation is made of, read beforehand.

use std::collections::BTreeMap;

use windlass_domain::graph::{Chronicle, GraphEvent, GraphMove, next_moves};
use windlass_domain::task::TaskState;
use windlass_domain::{TaskId, Wall};

#[derive(Debug)]
pub struct Known {
    pub task: TaskId,
    pub state: TaskState,
    /// Whether somebody works on it or for it.
    pub is_driven: bool,
    pub records: Vec<(Wall, GraphEvent)>,
    pub chronicle: Chronicle,
    /// Those who work for it, and those who worked on what is asked about.
    pub runs: BTreeMap<TaskId, TaskState>,
}

impl Known {
    /// What would be done next if somebody were there to do it.
    pub fn next(&self) -> Vec<GraphMove> {
        let graph = &self.chronicle.graph;
        let places = graph.work.constraints().max_parallel_agents.max(1) as usize;
        if self.state.is_over() { Vec::new() } else { next_moves(graph, places) }
    }

    pub fn goal(&self) -> String {
        let graph = &self.chronicle.graph;
        let asked = || self.state.created.as_ref().map(|created| created.command.goal.clone()).unwrap_or_default();
        graph.objective.as_ref().map_or_else(asked, |agreed| agreed.goal.clone())
    }
}
