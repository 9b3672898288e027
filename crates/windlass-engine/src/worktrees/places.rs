//! Which folder belongs to whom, and taking them away. A folder of a task that is over, or that nobody knows, is an orphan: a
//! crash came between the end of the work and its removal.

use std::path::{Path, PathBuf};

use windlass_domain::plan::AtomId;
use windlass_domain::{TaskId, WorkspaceError};
use windlass_workspace::{remove_leftovers, take_away};

const WORKTREES: &str = "worktrees";
const ARTIFACTS: &str = "artifacts";
const ASIDE: &str = "unsalvaged";

#[derive(Debug, Clone)]
pub struct Worktrees {
    data_dir: PathBuf,
}

impl Worktrees {
    pub fn new(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned() }
    }

    /// Where an attempt works.
    pub fn folder(&self, task: TaskId, attempt: u32) -> PathBuf {
        self.of_task(task).join(attempt.to_string())
    }

    /// Where what an attempt delivered is kept.
    pub fn artifacts(&self, plan: &AtomId, task: TaskId, attempt: u32) -> PathBuf {
        let plan = self.data_dir.join(ARTIFACTS).join(plan.as_str());
        plan.join(task.to_string()).join(attempt.to_string())
    }

    /// Those that have a folder.
    pub fn tasks(&self) -> Result<Vec<TaskId>, WorkspaceError> {
        let folders = folders(&self.data_dir.join(WORKTREES))?;
        Ok(folders.iter().filter_map(|folder| task_of(folder)).collect())
    }

    pub fn discard(&self, task: TaskId, attempt: u32) -> Result<(), WorkspaceError> {
        Ok(take_away(&self.folder(task, attempt))?)
    }

    pub fn discard_task(&self, task: TaskId) -> Result<(), WorkspaceError> {
        Ok(take_away(&self.of_task(task))?)
    }

    /// Moves a task's folders where nobody works and nobody sweeps, and says where. They hold what could be kept in no other way.
    pub fn put_aside(&self, task: TaskId) -> Result<PathBuf, WorkspaceError> {
        let aside = self.data_dir.join(ASIDE).join(task.to_string());
        let failed = |error: std::io::Error| WorkspaceError::Failed(format!("{}: {error}", aside.display()));
        std::fs::create_dir_all(self.data_dir.join(ASIDE)).map_err(failed)?;
        std::fs::rename(self.of_task(task), &aside).map_err(failed)?;
        Ok(aside)
    }

    /// Takes away what belongs to no task that still works, and what was left half made or half removed. `is_live` is asked
    /// after a folder was found, so that a task that is taken in meanwhile keeps its own. Says how many were orphans; one that
    /// cannot be removed keeps none of the others.
    pub fn sweep(&self, is_live: impl Fn(TaskId) -> bool) -> Result<usize, WorkspaceError> {
        let all = self.data_dir.join(WORKTREES);
        remove_leftovers(&all)?;
        let (mut removed, mut trouble) = (0, None);
        for folder in folders(&all)? {
            let done = match task_of(&folder) {
                Some(task) if is_live(task) => remove_leftovers(&folder),
                _ => take_away(&folder).inspect(|()| removed += 1),
            };
            trouble = trouble.or(done.err());
        }
        trouble.map_or(Ok(removed), |error| Err(error.into()))
    }

    fn of_task(&self, task: TaskId) -> PathBuf {
        self.data_dir.join(WORKTREES).join(task.to_string())
    }
}

fn task_of(folder: &Path) -> Option<TaskId> {
    folder.file_name()?.to_str()?.parse().ok()
}

fn folders(above: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
    let failed = |error: std::io::Error| WorkspaceError::Failed(format!("{}: {error}", above.display()));
    let entries = match std::fs::read_dir(above) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut found =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    found.retain(|path| path.is_dir() && !path.is_symlink());
    found.sort();
    Ok(found)
}
