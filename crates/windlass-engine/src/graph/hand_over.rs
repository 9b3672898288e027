//! Bringing the work to its user: once, when all of it is done and checked. What they changed meanwhile stays as it is; where that
//! and the work disagree nothing is changed, and the task waits until it can go on. In a git repository the work stands under
//! `refs/windlass/<task>/work` before anything is touched.

use std::sync::Arc;

use windlass_domain::graph::{GraphAction, GraphApplied};
use windlass_domain::plan::Plan;
use windlass_domain::task::TaskAction;
use windlass_domain::{Applied, Drawing, Drawn, ErrorCode, ErrorDetails, Taint, TreeId, Workspace, WorkspaceError};
use windlass_policy::is_obeyed;

use super::pass::{GraphDriver, Made};
use crate::Error;
use crate::grounds::claim_row;
use crate::host::Rider;

/// So many are named.
const MOST_OBEYED: usize = 100;
/// Beside it stands what was salvaged, hence a name of its own.
const WORK: &str = "work";
/// The folder as it was when the work began, untracked files and all: what the work removes is found there.
const BEFORE: &str = "before";

impl GraphDriver {
    pub(super) async fn hand_over(&mut self, from: TreeId, to: TreeId) -> Result<Made, Error> {
        let shared = self.engine.shared.clone();
        let folder = self.created()?.workspace.clone();
        let workspace = match shared.equipment.workspace(folder.as_ref()) {
            Ok(workspace) => workspace,
            Err(error) => return self.later(error).await,
        };
        // Whoever was here before may have brought it, and not come to say so.
        let was_begun = self.graph.state.bringing == Some(to);
        let Made::Done = self.announce(&folder, to).await? else { return Ok(Made::Overtaken) };
        self.draw(Arc::clone(&workspace), BEFORE, from).await;
        let reference = self.draw(Arc::clone(&workspace), WORK, to).await;
        let mut obeyed = self.changes(Arc::clone(&workspace), from, to).await;
        let all = obeyed.len();
        obeyed.retain(|path| is_obeyed(path));
        obeyed.truncate(MOST_OBEYED);
        let (signal, made) = (self.canceller.signal(), shared.wall());
        let applied = shared.blocking(move || workspace.apply(from, to, made, &|| signal.raised().is_some())).await;
        match applied {
            Ok(Applied::Done { changed }) => {
                let changed = if was_begun { changed.max(all) } else { changed };
                let changed = u64::try_from(changed).unwrap_or(u64::MAX);
                let mut rider = Rider::default();
                let applied = GraphApplied { tip: to, changed, obeyed };
                self.ride(&mut rider, [GraphAction::Apply(applied)], Taint::Auth)?;
                self.commit(rider, Vec::new()).await
            }
            Ok(Applied::Conflicts(conflicts)) => self.later(in_the_way(&conflicts, reference.as_deref())).await,
            Ok(Applied::Busy { path }) => self.later(busy(&path)).await,
            Err(WorkspaceError::Stopped) => Ok(Made::Overtaken),
            Err(error) => self.later(ErrorDetails::new(ErrorCode::Internal, error.to_string())).await,
        }
    }

    /// Before a file is there, what it may hold is known; and that it comes, where somebody could want something else meanwhile: a redirect
    /// that came between the files and the word that they are there would take work out that stays in the folder.
    async fn announce(&mut self, folder: &str, tip: TreeId) -> Result<Made, Error> {
        let graph = &self.graph.state;
        let mut rider = Rider::default();
        if !graph.labels.is_baseline() {
            rider.events.push(claim_row(folder, self.task, graph.labels.clone(), self.engine.shared.wall()));
        }
        let is_news = graph.objective.is_some() && graph.bringing != Some(tip);
        if rider.events.is_empty() && !is_news {
            return Ok(Made::Done);
        }
        self.ride(&mut rider, is_news.then_some(GraphAction::Bring(Some(tip))), Taint::Auth)?;
        self.commit(rider, Vec::new()).await
    }

    /// Where that cannot be told, nothing else can be done either.
    async fn changes(&self, workspace: Arc<dyn Workspace>, from: TreeId, to: TreeId) -> Vec<String> {
        self.engine.shared.blocking(move || workspace.changes(from, to)).await.unwrap_or_default()
    }

    /// The work is done and kept, and nothing of it is in the folder; `resume` tries to bring it once more.
    async fn later(&mut self, error: ErrorDetails) -> Result<Made, Error> {
        let reason = error.message.clone();
        let mut rider = Rider::default();
        let was_begun = self.graph.state.bringing.is_some();
        self.ride(&mut rider, was_begun.then_some(GraphAction::Bring(None)), Taint::Auth)?;
        self.rest(TaskAction::Pause { reason }, Some(error), rider).await
    }

    /// Work that nobody brings over: where it is found, if there is any and a repository to find it in.
    pub(super) async fn keep_unfinished(&self) -> Option<String> {
        let graph = &self.graph.state;
        let tip = graph.tip.filter(|tip| graph.base != Some(*tip) && graph.applied != Some(*tip))?;
        self.show(WORK, tip).await
    }

    /// What the work is found under. Nothing depends on it.
    pub(super) async fn show(&self, name: &str, tree: TreeId) -> Option<String> {
        let folder = &self.created().ok()?.workspace;
        let workspace = self.engine.shared.equipment.workspace(folder.as_ref()).ok()?;
        self.draw(workspace, name, tree).await
    }

    async fn draw(&self, workspace: Arc<dyn Workspace>, name: &str, tree: TreeId) -> Option<String> {
        let shared = &self.engine.shared;
        let (task, name, at) = (self.task.to_string(), name.to_owned(), shared.wall());
        let title = self.graph.state.plan.as_ref().map(|Plan(root)| root.title.clone()).unwrap_or_default();
        // What is shown because somebody wanted it to stop is not stopped by that wish, only by another.
        let signal = self.canceller.signal();
        let heard = signal.raised();
        let draw = move || {
            let drawing = Drawing { name: &[&task, &name], tree, after: None, message: &title, at };
            workspace.draw(drawing, &|| signal.raised() != heard)
        };
        match shared.blocking(draw).await {
            Ok(Drawn::Yes { reference, .. }) => Some(reference),
            Ok(Drawn::NoRepository) | Err(WorkspaceError::Stopped) => None,
            Err(error) => {
                self.watcher.trouble(&format!("the work could not be shown to git: {error}"));
                None
            }
        }
    }
}

fn in_the_way(conflicts: &[String], reference: Option<&str>) -> ErrorDetails {
    let kept = reference.map(|reference| format!(", and stands in git as {reference}")).unwrap_or_default();
    let message = format!(
        "the work is done and kept{kept}, but was not brought into your folder, because you changed the same there: {}",
        conflicts.join("; ")
    );
    ErrorDetails::new(ErrorCode::Interrupted, message)
        .with_hint("put your changes of these files aside, then `windlass resume`; nothing was overwritten")
}

fn busy(path: &str) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::Interrupted, format!("something keeps changing {path} in your folder"))
        .with_hint("the work is done and kept; `windlass resume` brings it once that has stopped")
}
