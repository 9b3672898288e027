//! What an attempt delivered, kept where it outlives the folder it was made in. The folder is an agent's: no link in it is
//! followed, and none that leads out of what was delivered is kept.

use std::path::Path;

use windlass_domain::WorkspaceError;
use windlass_workspace::{Error, OUTPUT_FOLDER, SnapshotLimits, copy_beneath, make_whole};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    Nothing,
    /// All of it is in `into`.
    Kept,
}

/// Why there is nothing to keep.
enum Cut {
    Nothing,
    Failed(Error),
}

impl From<Error> for Cut {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Done again after a crash, it leaves what is there: an attempt that has ended delivers nothing more.
pub fn artifacts(folder: &Path, into: &Path, should_stop: &dyn Fn() -> bool) -> Result<Delivered, WorkspaceError> {
    let copy = |empty: &Path| {
        let copied = copy_beneath(folder, OUTPUT_FOLDER, empty, SnapshotLimits::default(), should_stop)?;
        copied.map(drop).ok_or(Cut::Nothing)
    };
    match make_whole(into, copy) {
        Ok(_) => Ok(Delivered::Kept),
        Err(Cut::Nothing) => Ok(Delivered::Nothing),
        Err(Cut::Failed(error)) => Err(error.into()),
    }
}
