//! Filling an attempt's folder: all of it is there or none. An attempt that goes on after a crash finds its folder as it left it.

use std::io;
use std::path::{Path, PathBuf};

use windlass_domain::{TreeId, Wall, Workspace, WorkspaceError};
use windlass_workspace::{RUNTIME_FILES, Whole, copy_folder, make_whole, remove_folder};

/// What an attempt finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prepared {
    /// The tree, and nothing that anybody has done since.
    Fresh,
    /// The folder in which it has been at work.
    GoesOn,
}

/// A folder of deliverables, and where in the attempt's folder it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    pub from: PathBuf,
    pub place: String,
}

/// `workspace` is the user's, out of which comes what is carried beside the tree; `baseline` says which files look new.
pub fn prepare(
    workspace: &dyn Workspace,
    tree: TreeId,
    baseline: TreeId,
    (folder, inputs): (&Path, &[Input]),
    made: Wall,
    should_stop: &dyn Fn() -> bool,
) -> Result<Prepared, WorkspaceError> {
    let fill = |empty: &Path| {
        workspace.materialise(tree, baseline, empty, made, should_stop)?;
        // Carried deliverables, plans and memos are other attempts', and would look like this one's.
        RUNTIME_FILES.into_iter().try_for_each(|name| remove(&empty.join(name)))?;
        inputs.iter().try_for_each(|input| show(input, empty, should_stop))
    };
    Ok(match make_whole(folder, fill)? {
        Whole::Made => Prepared::Fresh,
        Whole::Found => Prepared::GoesOn,
    })
}

/// Whoever delivered nothing has no folder.
fn show(input: &Input, folder: &Path, should_stop: &dyn Fn() -> bool) -> Result<(), WorkspaceError> {
    if !input.from.is_dir() {
        return Ok(());
    }
    let into = folder.join(&input.place);
    let above = into.parent().unwrap_or(folder);
    let failed = |error: io::Error| WorkspaceError::Failed(format!("{}: {error}", above.display()));
    std::fs::create_dir_all(above).map_err(failed)?;
    Ok(copy_folder(&input.from, &into, should_stop)?)
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
