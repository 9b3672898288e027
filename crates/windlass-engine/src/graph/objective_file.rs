//! `objective.md` beside the trace: what was agreed on and how far it is, made of the journal whenever somebody drives the task, before each
//! round of moves and when it comes to rest. A file that cannot be written is no reason to stop; nothing is ever read from it.

use windlass_plan::{ObjectivePage, write_objective};

use super::pass::GraphDriver;
use crate::Error;
use crate::attempt::Driven;
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
        let written = match self.page().await {
            Ok(page) => {
                let path = self.engine.objective_file(self.task);
                let written = self.engine.shared.blocking(move || replace_page(&path, &page)).await;
                written.map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = written {
            self.watcher.trouble(&format!("objective.md could not be written: {error}"));
        }
    }

    async fn page(&mut self) -> Result<String, Error> {
        self.history.go_on(&self.engine, self.task).await?;
        let task = &self.journal.state;
        let page = write_objective(&ObjectivePage {
            chronicle: &self.history.chronicle,
            status: task.status,
            stopped: task.rests_for.as_deref(),
            is_redirected: false,
            as_of: self.engine.shared.wall(),
        });
        Ok(self.engine.shared.redactor.redact(&page).into_owned())
    }
}
