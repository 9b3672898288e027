//! What becomes of work that is not merged: before its folder goes it is a snapshot, and where the user has a git repository
//! also a commit there, for somebody to look at. Nothing depends on the commit; a repository that git cannot use costs the
//! picture and not the work.

use windlass_domain::{Drawing, Drawn, TaskId, TreeId, Wall, Workspace, WorkspaceError};

/// Whose work it is, and what it began from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unmerged {
    /// The task that asked for all of it.
    pub root: TaskId,
    pub task: TaskId,
    pub attempt: u32,
    pub base: TreeId,
}

/// What was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    pub tree: TreeId,
    pub git_ref: Option<String>,
    /// Why there is no reference although there is a repository.
    pub not_drawn: Option<String>,
}

/// `worktree` is the attempt's folder and `home` the user's. `None`: nothing was changed since the base. To be committed to
/// the journal before the folder is discarded.
pub fn salvage(
    worktree: &dyn Workspace,
    home: &dyn Workspace,
    unmerged: Unmerged,
    at: Wall,
    should_stop: &dyn Fn() -> bool,
) -> Result<Option<Salvaged>, WorkspaceError> {
    let tree = worktree.capture_under(unmerged.base, should_stop)?.tree;
    if worktree.changes(unmerged.base, tree)?.is_empty() {
        return Ok(None);
    }
    let (git_ref, not_drawn) = match draw(home, unmerged, tree, at, should_stop) {
        Ok(Drawn::Yes { reference, .. }) => (Some(reference), None),
        Ok(Drawn::NoRepository) => (None, None),
        Err(WorkspaceError::Stopped) => return Err(WorkspaceError::Stopped),
        Err(error) => (None, Some(error.to_string())),
    };
    Ok(Some(Salvaged { tree, git_ref, not_drawn }))
}

fn draw(
    home: &dyn Workspace,
    Unmerged { root, task, attempt, .. }: Unmerged,
    tree: TreeId,
    at: Wall,
    should_stop: &dyn Fn() -> bool,
) -> Result<Drawn, WorkspaceError> {
    let (root, name) = (root.to_string(), format!("salvage-{task}-{attempt}"));
    let message = format!("What attempt {attempt} of task {task} left, not merged");
    home.draw(Drawing { name: &[&root, &name], tree, after: None, message: &message, at }, should_stop)
}
