//! `objective.md` beside the trace: what was agreed on and how far it is, made of the journal whenever somebody drives the task, before each
//! round of moves and when it comes to rest, and when somebody redirects it. A file that cannot be written is no reason to stop; nothing is ever read from it.

use windlass_domain::TaskId;
use windlass_domain::graph::Chronicle;
use windlass_plan::{ObjectivePage, write_objective};

use super::pass::GraphDriver;
use crate::Error;
use crate::attempt::Driven;
use crate::engine::Engine;
use crate::page_file::replace_page;

impl GraphDriver {
    /// Until it is over, or rests.
    pub async fn drive(&mut self) -> Result<Driven, Error> {
        let driven = Box::pin(self.pass()).await;
        self.write_objective().await;
        driven
    }

    pub(super) async fn write_objective(&self) {
        if self.graph.state.objective.is_none() {
            return;
        }
        if let Err(error) = self.engine.write_objective(self.task).await {
            self.watcher.trouble(&format!("objective.md could not be written: {error}"));
        }
    }
}

impl Engine {
    /// As it stands in the journal now.
    pub(crate) async fn write_objective(&self, task: TaskId) -> Result<(), Error> {
        let (page, path) = (self.objective_page(task).await?, self.objective_file(task));
        let written = self.shared.blocking(move || replace_page(&path, &page)).await;
        written.map_err(|error| Error::Workspace(error.to_string()))
    }

    pub(crate) async fn objective_page(&self, task: TaskId) -> Result<String, Error> {
        let records = self.graph_records(task).await?;
        let chronicle = Chronicle::of(records.iter().map(|(at, event)| (*at, event)));
        let state = self.task(task).await?;
        let page = write_objective(&ObjectivePage {
            chronicle: &chronicle,
            status: state.status,
            stopped: state.rests_for.as_deref(),
            is_redirected: false,
            as_of: self.shared.wall(),
        });
        Ok(self.shared.redactor.redact(&page).into_owned())
    }
}
