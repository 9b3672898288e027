//! The folders of an item's attempts: a copy of its own for each, filled before it begins, and before it goes what was delivered is
//! kept, and so is what was not merged. Whatever becomes of a folder, the labels of its files go with the task's end.

use std::path::PathBuf;

use windlass_domain::graph::Salvage;
use windlass_domain::plan::{AtomId, Plan};
use windlass_domain::task::{Part, TaskCreated};
use windlass_domain::{ErrorCode, ErrorDetails, TaskResult, TaskResultStatus, TreeId, WorkspaceError};
use windlass_store::NewEvent;

use super::driver::Driver;
use super::inputs::{Following, Given};
use crate::Error;
use crate::grounds::left_rows;
use crate::worktrees::{Input, Prepared, Salvaged, Unmerged, Worktrees, artifacts, prepare, salvage};

impl Driver {
    /// Where its attempt works: in the user's folder, or in a copy of its own.
    pub(super) fn folder(&self) -> Result<PathBuf, ErrorDetails> {
        let created = self.journal.state.created.as_ref();
        let created = created.ok_or_else(|| ErrorDetails::new(ErrorCode::Internal, "the task was not created"))?;
        let copied = self.journal.state.attempts.last().filter(|attempt| attempt.base.is_some());
        Ok(match copied {
            None => PathBuf::from(&created.workspace),
            Some(attempt) => self.worktrees().folder(self.task, attempt.number),
        })
    }

    fn worktrees(&self) -> Worktrees {
        Worktrees::new(&self.engine.shared.data_dir)
    }

    /// What its next attempt begins with: the work of all, as it is now. None where that is the user's folder itself.
    pub(super) async fn next_base(&self) -> Result<Option<TreeId>, Error> {
        let Some(of) = self.part_of() else { return Ok(None) };
        let graph = self.engine.graph(of.root).await?;
        Ok(graph.tip.filter(|tip| of.part.is_atom() || graph.base != Some(*tip)))
    }

    /// Its own folder is there, whole; whoever works in the user's goes on in it.
    pub(super) async fn prepare_folder(&self, created: &TaskCreated) -> Result<Prepared, ErrorDetails> {
        let Some(base) = self.journal.state.attempts.last().and_then(|attempt| attempt.base) else {
            return Ok(Prepared::GoesOn);
        };
        let shared = &self.engine.shared;
        let workspace = shared.equipment.workspace(created.workspace.as_ref())?;
        let inputs: Vec<Input> = self.given_now().await?.iter().map(Given::input).collect();
        let (folder, made, signal) = (self.folder()?, shared.wall(), self.canceller.signal());
        let should_stop = move || signal.raised().is_some();
        let fill = move || prepare(workspace.as_ref(), base, base, (&folder, &inputs), made, &should_stop);
        shared.blocking(fill).await.map_err(|error| {
            let message = format!("the folder of the attempt could not be made: {error}");
            ErrorDetails::new(ErrorCode::SandboxUnavailable, message)
        })
    }

    /// What others delivered for it.
    async fn given_now(&self) -> Result<Vec<Given>, ErrorDetails> {
        let internal = |error: Error| ErrorDetails::new(ErrorCode::Internal, error.to_string());
        let Some(of) = self.part_of() else { return Ok(Vec::new()) };
        let Part::Atom { atom, .. } = &of.part else { return Ok(Vec::new()) };
        let graph = self.engine.graph(of.root).await.map_err(internal)?;
        let folder = &self.created().map_err(internal)?.workspace;
        let following = Following { task: of.root, folder };
        self.engine.inputs_of(following, &graph, atom).await.map_err(internal)
    }

    /// Before its folders go: what was delivered is kept, and so is what was not merged. Where that cannot be done, it is said, and all
    /// of its folders are put aside, where nobody sweeps.
    pub(super) async fn keep_work(&self, result: &TaskResult) -> Vec<Salvage> {
        let Some(of) = self.part_of().filter(|of| of.part.is_atom()) else { return Vec::new() };
        let Ok(graph) = self.engine.graph(of.root).await else { return Vec::new() };
        let mut salvaged = Vec::new();
        // Only what its last attempt made becomes part of the work, and only if it ends well.
        let is_done = result.status == TaskResultStatus::Completed;
        let last = self.journal.state.attempts.last().map(|attempt| attempt.number);
        for attempt in &self.journal.state.attempts {
            let Some(base) = attempt.base else { continue };
            let is_merged = is_done && last == Some(attempt.number);
            let unmerged = Unmerged { root: of.root, task: self.task, attempt: attempt.number, base };
            let plan = graph.plan.as_ref().map(|Plan(root)| root.id.clone());
            match self.keep_attempt(unmerged, plan, is_merged).await {
                Ok(kept) => salvaged.extend(kept),
                Err(why) => {
                    self.put_aside(&format!("what attempt {} left cannot be kept: {why}", attempt.number)).await;
                    return salvaged;
                }
            }
        }
        salvaged
    }

    async fn put_aside(&self, why: &str) {
        let (worktrees, task) = (self.worktrees(), self.task);
        let there = match self.engine.shared.blocking(move || worktrees.put_aside(task)).await {
            Ok(folder) => format!("its folders are in {}", folder.display()),
            Err(error) => format!("and its folders cannot be put aside: {error}"),
        };
        self.watcher.trouble(&format!("{why}; {there}"));
    }

    async fn keep_attempt(
        &self,
        unmerged: Unmerged,
        plan: Option<AtomId>,
        is_merged: bool,
    ) -> Result<Option<Salvage>, String> {
        let shared = &self.engine.shared;
        let worktrees = self.worktrees();
        let folder = worktrees.folder(self.task, unmerged.attempt);
        if !folder.exists() {
            return Ok(None);
        }
        let home = self.journal.state.created.as_ref().map(|created| created.workspace.clone()).unwrap_or_default();
        let home = shared.equipment.workspace(home.as_ref()).map_err(|error| error.message)?;
        let worktree = shared.equipment.workspace(&folder).map_err(|error| error.message)?;
        let at = shared.wall();
        let keep = move || {
            if let Some(plan) = plan {
                let into = worktrees.artifacts(&plan, unmerged.task, unmerged.attempt);
                artifacts(&folder, &into, &|| false)?;
            }
            if is_merged { Ok(None) } else { salvage(worktree.as_ref(), home.as_ref(), unmerged, at, &|| false) }
        };
        let kept = shared.blocking(keep).await.map_err(|error: WorkspaceError| error.to_string())?;
        Ok(kept.map(|Salvaged { tree, git_ref, .. }| Salvage { attempt: unmerged.attempt, tree, git_ref }))
    }

    /// What is said of files in its folders is forgotten in the commit that ends it: nobody works there any more, and nobody comes back.
    pub(super) async fn forget_labels(&self) -> Result<Vec<NewEvent>, Error> {
        let worktrees = self.worktrees();
        let copies = self.journal.state.attempts.iter().filter(|attempt| attempt.base.is_some());
        let copies = copies.map(|attempt| (worktrees.folder(self.task, attempt.number), attempt.execution_id));
        left_rows(&self.engine.shared, copies.collect()).await
    }

    /// Nobody works there any more.
    pub(super) async fn discard_folders(&self) {
        if self.is_part() {
            let (worktrees, task) = (self.worktrees(), self.task);
            // Whoever starts next sweeps up what is left.
            let _gone = self.engine.shared.blocking(move || worktrees.discard_task(task)).await;
        }
    }
}
