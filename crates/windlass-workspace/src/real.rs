//! Which file a path means, whatever symlinks are on the way: labels belong to files, and a file has one real path. It is asked
//! of the kernel, by descriptor; what is not there yet is named by the folder that it would be made in.

use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, readlinkat};
use rustix::io::Errno;

use crate::error::Error;
use crate::path::WorkspacePath;
use crate::root::{Missing, Root};

impl Root {
    /// The path without symlinks of what `path` leads to, or would once it is written.
    pub fn real_path(&self, path: &WorkspacePath) -> Result<WorkspacePath, Error> {
        let error = |errno| Error::from_errno(path.to_string(), errno);
        match self.open_beneath(path, OFlags::PATH | OFlags::CLOEXEC) {
            Ok(found) => self.below_top(&found).map_err(error),
            Err(Error::NotFound { .. }) => self.real_place(path),
            Err(other) => Err(other),
        }
    }

    /// Of what is not there: the name may be a symlink to it, and folders above it may be missing too.
    fn real_place(&self, path: &WorkspacePath) -> Result<WorkspacePath, Error> {
        match self.place(path, Missing::Fail) {
            Ok(place) => {
                let folder =
                    self.below_top(&place.folder).map_err(|errno| Error::from_errno(path.to_string(), errno))?;
                Ok(WorkspacePath::from_relative(&folder.as_path().join(place.name)))
            }
            Err(Error::NotFound { .. }) => match (path.as_path().parent(), path.as_path().file_name()) {
                (Some(above), Some(name)) => {
                    let above = self.real_path(&WorkspacePath::from_relative(above))?;
                    Ok(WorkspacePath::from_relative(&above.as_path().join(name)))
                }
                _ => Ok(path.clone()),
            },
            Err(other) => Err(other),
        }
    }

    fn below_top(&self, found: impl AsFd) -> Result<WorkspacePath, Errno> {
        let (top, found) = (name(&self.folder)?, name(found)?);
        // Moved out of the workspace since it was opened.
        found.strip_prefix(&top).map(WorkspacePath::from_relative).map_err(|_| Errno::XDEV)
    }
}

/// As the kernel has it.
fn name(open: impl AsFd) -> Result<PathBuf, Errno> {
    let link = readlinkat(CWD, format!("/proc/self/fd/{}", open.as_fd().as_raw_fd()), Vec::new())?;
    Ok(Path::new(std::ffi::OsStr::from_bytes(link.to_bytes())).to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_named_by_what_it_leads_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("real/deep")).expect("a folder");
        fs::write(at("real/file"), "text").expect("written");
        symlink("real", at("link")).expect("linked");
        symlink("file", at("real/name")).expect("linked");
        symlink("link/new", at("dangling")).expect("linked");
        let root = Root::open(folder.path()).expect("a root");
        let check = |path: &str, expected: &str| {
            let real = root.real_path(&WorkspacePath::parse(path).expect("a path"));
            assert_eq!(real.expect("it is inside").to_record(), expected, "{path}");
        };
        check("real/file", "real/file");
        check("link/file", "real/file");
        check("link/name", "real/file");
        check("link/deep/../file", "real/file");
        check("", "");
        check("link", "real");
        check("link/new", "real/new");
        check("dangling", "real/new");
        check("link/missing/new", "real/missing/new");
        check("new", "new");
        symlink("/etc", at("out")).expect("linked");
        assert!(root.real_path(&WorkspacePath::parse("out/passwd").expect("a path")).is_err());
    }
}
