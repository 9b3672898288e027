//! Taking away a folder of the runtime's own after others have worked in it. They may have left folders that nobody may
//! write into, as package managers do; to their owner those are no obstacle.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, chmodat};

use crate::error::Error;
use crate::files::{DEEPEST, names, open_folder};
use crate::path::shown;
use crate::stat::Kind;

/// One that is not there is gone already. No symlink in it is followed.
pub fn remove_folder(folder: &Path) -> Result<(), Error> {
    let removed = match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(CWD, folder, 0);
            std::fs::remove_dir_all(folder)
        }
        other => other,
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::ours(shown(folder), error)),
        _ => Ok(()),
    }
}

/// As far as it goes: what cannot be opened up is what removing will fail on, and say.
fn open_up(above: impl AsFd, name: &Path, depth: usize) {
    let _ = chmodat(&above, name, Mode::from_raw_mode(0o700), AtFlags::empty());
    let Ok(folder) = open_folder(&above, name) else { return };
    for (child, kind) in names(&folder).unwrap_or_default() {
        if kind == Kind::Folder && depth < DEEPEST {
            open_up(&folder, Path::new(&child), depth + 1);
        }
    }
}
