//! A planned task's graph, as a stream of its own.

use std::path::PathBuf;

use windlass_domain::graph::{FormerPlans, GraphAction, GraphEvent, GraphRejected, GraphState, decide};
use windlass_domain::{Seq, TaskId, Wall};
use windlass_store::StreamId;

use crate::Error;
use crate::engine::Engine;
use crate::stream_journal::{StreamJournal, Streamed, stream_of};

pub struct Graph;

pub type GraphJournal = StreamJournal<Graph>;

impl Streamed for Graph {
    const KIND: &'static str = "graph";
    type Id = TaskId;
    type State = GraphState;
    type Action = GraphAction;
    type Event = GraphEvent;
    type Rejected = GraphRejected;

    fn decide(state: &GraphState, action: GraphAction) -> Result<GraphEvent, GraphRejected> {
        decide(state, action)
    }

    fn apply(state: &mut GraphState, event: &GraphEvent) {
        state.apply(event);
    }

    fn refused(task: TaskId, rejected: GraphRejected) -> Error {
        Error::Broken { task, detail: rejected.to_string() }
    }
}

pub fn graph_stream(task: TaskId) -> StreamId {
    stream_of::<Graph>(task)
}

impl Engine {
    pub(crate) async fn graph_journal(&self, task: TaskId) -> Result<GraphJournal, Error> {
        self.journal_of(task).await
    }

    /// Of a planned task that is planned once more.
    pub(crate) async fn former_plans(&self, task: TaskId) -> Result<FormerPlans, Error> {
        let mut former = FormerPlans::default();
        for row in self.rows_after(&graph_stream(task), Seq(0)).await? {
            former.apply(&GraphEvent::decode(&row.kind, row.version, &row.data)?);
        }
        Ok(former)
    }

    /// The work graph of a planned task, as it stands.
    pub async fn graph(&self, task: TaskId) -> Result<GraphState, Error> {
        Ok(self.graph_journal(task).await?.state)
    }

    /// Where the objective of a task is written for people, while it has one.
    pub fn objective_file(&self, task: TaskId) -> PathBuf {
        self.shared.data_dir.join("traces").join(task.to_string()).join("objective.md")
    }

    /// The records of a planned task's work graph with the times they were written, for those who want to know how it came about.
    pub async fn graph_records(&self, task: TaskId) -> Result<Vec<(Wall, GraphEvent)>, Error> {
        let rows = self.rows_after(&graph_stream(task), Seq(0)).await?;
        rows.iter().map(|row| Ok((row.at, GraphEvent::decode(&row.kind, row.version, &row.data)?))).collect()
    }
}
