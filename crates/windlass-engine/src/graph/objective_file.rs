//! `objective.md` beside the trace: what was agreed on and how far it is, made of the journal whenever somebody drives the task, before each
//! round of moves and when it comes to rest, and when somebody redirects it. A file that cannot be written is no reason to stop; nothing is ever read from it.

use windlass_domain::TaskId;
use windlass_domain::graph::Chronicle;
use windlass_domain::task::TaskState;
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
        self.leave(&driven);
        driven
    }

    pub(super) async fn write_objective(&mut self) {
        if self.graph.state.objective.is_none() {
            return;
        }
        if let Err(error) = self.try_to_write_objective().await {
            self.watcher.trouble(&format!("objective.md could not be written: {error}"));
        }
    }

    async fn try_to_write_objective(&mut self) -> Result<(), Error> {
        self.history.go_on(&self.engine, self.task).await?;
        let page = self.engine.page_of(&self.history.chronicle, &self.journal.state);
        self.engine.keep_objective(self.task, page).await
    }
}

impl Engine {
    /// As it stands in the journal now.
    pub(crate) async fn write_objective(&self, task: TaskId) -> Result<(), Error> {
        let page = self.objective_page(task).await?;
        self.keep_objective(task, page).await
    }

    pub(crate) async fn objective_page(&self, task: TaskId) -> Result<String, Error> {
        let records = self.graph_records(task).await?;
        let chronicle = Chronicle::of(records.iter().map(|(at, event)| (*at, event)));
        Ok(self.page_of(&chronicle, &self.task(task).await?))
    }

    fn page_of(&self, chronicle: &Chronicle, task: &TaskState) -> String {
        let page = write_objective(&ObjectivePage {
            chronicle,
            status: task.status,
            stopped: task.rests_for.as_deref(),
            is_redirected: false,
            as_of: self.shared.wall(),
        });
        self.shared.redactor.redact(&page).into_owned()
    }

    async fn keep_objective(&self, task: TaskId, page: String) -> Result<(), Error> {
        let path = self.objective_file(task);
        let written = self.shared.blocking(move || replace_page(&path, &page)).await;
        written.map_err(|error| Error::Workspace(error.to_string()))
    }
}
