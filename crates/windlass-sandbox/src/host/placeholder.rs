//! An empty directory that holds a name on the host for as long as sandboxes are open over it, so that a read-only mount
//! has something to lie on, and nothing of that name can be made inside.
//!
//! It is known by being empty and writable by nobody: one that a killed owner left behind is taken over by the next
//! sandbox and goes with it. Removing it on the host would take the mount away from every sandbox that has one there, so
//! each shares a lock on it, and only who can have the lock alone removes it.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use rustix::{
    event::{Timespec, poll},
    fs::{FlockOperation, Mode, OFlags, flock, open},
};

/// Somebody may be removing it at this moment, which takes no time.
const TRIES: usize = 100;

#[derive(Debug)]
pub(crate) struct Placeholder {
    path: PathBuf,
    lock: File,
}

impl Placeholder {
    /// `None` where there is nothing to hold: something is there already, or nobody can ever write there.
    pub(crate) fn hold(path: PathBuf) -> io::Result<Option<Self>> {
        for _ in 0..TRIES {
            match DirBuilder::new().mode(0o555).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => return Ok(None),
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            if !is_placeholder(&path)? {
                return Ok(None);
            }
            if let Some(lock) = share(&path)? {
                return Ok(Some(Self { path, lock }));
            }
            let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 }));
        }
        Err(io::Error::other("another process keeps it locked"))
    }
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        // One that somebody has put something into is theirs from now on, and stays.
        if flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_ok() && is_same(&self.path, &self.lock) {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Gone again counts as one: the next try makes it.
fn is_placeholder(path: &Path) -> io::Result<bool> {
    let looked = fs::symlink_metadata(path).and_then(|metadata| {
        let is_closed = metadata.is_dir() && metadata.mode() & 0o222 == 0;
        Ok(is_closed && fs::read_dir(path)?.next().is_none())
    });
    match looked {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        looked => looked,
    }
}

/// `None` if it was removed meanwhile, or is being removed.
fn share(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let lock = match open(path, flags, Mode::empty()) {
        Ok(directory) => File::from(directory),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_shared = flock(&lock, FlockOperation::NonBlockingLockShared).is_ok();
    Ok((is_shared && is_same(path, &lock)).then_some(lock))
}

fn is_same(path: &Path, file: &File) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(named), Ok(held)) => identity(named) == identity(held),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(path: &Path) -> Option<Placeholder> {
        Placeholder::hold(path.to_path_buf()).expect("can be held")
    }

    #[test]
    fn the_last_to_go_removes_it() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join(".git");
        let (first, second) = (hold(&path).expect("held"), hold(&path).expect("held"));
        drop(first);
        assert!(path.is_dir(), "the second still needs it");
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn one_that_was_left_behind_is_taken_over() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join(".git");
        DirBuilder::new().mode(0o555).create(&path).expect("made");
        drop(hold(&path).expect("held"));
        assert!(!path.exists());
    }

    #[test]
    fn what_belongs_to_somebody_is_left_alone() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join(".git");
        fs::create_dir(&path).expect("made");
        assert!(hold(&path).is_none(), "an ordinary empty directory");
        fs::remove_dir(&path).expect("removed");
        fs::write(&path, "gitdir: elsewhere").expect("written");
        assert!(hold(&path).is_none(), "a file");
        fs::remove_file(&path).expect("removed");
        let held = hold(&path).expect("held");
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("opened");
        fs::write(path.join("HEAD"), "ref").expect("written");
        drop(held);
        assert!(path.join("HEAD").exists(), "somebody has made a repository meanwhile");
    }
}
