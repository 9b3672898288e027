//! Filling an attempt's folder: all of it is there or none. An attempt that goes on after a crash finds its folder as it left it.

use std::io;
use std::path::Path;

use windlass_domain::{TreeId, Wall, Workspace, WorkspaceError};
use windlass_workspace::{RUNTIME_FILES, Whole, make_whole, remove_folder};

/// What an attempt finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prepared {
    /// The tree, and nothing that anybody has done since.
    Fresh,
    /// The folder in which it has been at work.
    GoesOn,
}

/// `workspace` is the user's, out of which comes what is carried beside the tree; `baseline` says which files look new.
pub fn prepare(
    workspace: &dyn Workspace,
    tree: TreeId,
    baseline: TreeId,
    folder: &Path,
    made: Wall,
    should_stop: &dyn Fn() -> bool,
) -> Result<Prepared, WorkspaceError> {
    let fill = |empty: &Path| {
        workspace.materialise(tree, baseline, empty, made, should_stop)?;
        // Carried deliverables, plans and memos are other attempts', and would look like this one's.
        RUNTIME_FILES.into_iter().try_for_each(|name| remove(&empty.join(name)))
    };
    Ok(match make_whole(folder, fill)? {
        Whole::Made => Prepared::Fresh,
        Whole::Found => Prepared::GoesOn,
    })
}

fn remove(path: &Path) -> Result<(), WorkspaceError> {
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => return Ok(remove_folder(path)?),
        Ok(_) => std::fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    removed.map_err(|error| WorkspaceError::Failed(format!("{}: {error}", path.display())))
}
