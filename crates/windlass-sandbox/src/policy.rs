//! What a sandbox may touch and how much of the machine it may use. Values only; the providers enforce them.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use crate::Error;

/// Where the workspace is inside a confined sandbox.
pub(crate) const WORKSPACE: &str = "/workspace";
/// The host's programs and libraries: directories, or links to one below `/usr`.
pub(crate) const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
pub(crate) const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Everything that a sandbox is allowed.
#[derive(Debug)]
pub struct Policy {
    /// A host directory, read-write at `/workspace`.
    pub workspace: PathBuf,
    /// Paths inside the workspace that are read-only, such as `.git`. One that does not exist is not protected:
    /// mounting it would create it on the host.
    pub protected: Vec<PathBuf>,
    /// `(host path, absolute path inside)`: toolchains and caches that the operator shares.
    pub readonly_mounts: Vec<(PathBuf, PathBuf)>,
    /// Added to `PATH` and `HOME`, which are set even if this is empty. Nothing is inherited from the owner.
    pub env: BTreeMap<OsString, OsString>,
    pub limits: Limits,
    /// Host paths whose absence the sandbox proves before its first command, beside the owner's home:
    /// the data directory with its keys, for instance.
    pub hidden: Vec<PathBuf>,
    /// The owner's lock. The supervisor holds it too, and no command does: once the owner is dead, the lock is
    /// free only when the whole tree is gone.
    pub lock: Option<OwnedFd>,
}

/// Bounds on one sandbox (memory, processes) or on each of its processes (the rest).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// All processes together.
    pub memory_bytes: u64,
    /// All processes and threads together.
    pub processes: u64,
    pub file_size_bytes: u64,
    pub open_files: u64,
    pub cpu_seconds: Option<u64>,
    /// Each of `/tmp`, the scratch home and `/dev/shm`; they live in memory.
    pub scratch_bytes: u64,
}

/// Whether control groups hold the memory and process limits.
///
/// Without them the supervisor counts for itself, ten times a second: it stops what goes over, but a little late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cgroups {
    /// Below the owner's own group, where that may be written.
    #[default]
    WhereWritable,
    Never,
}

/// The program that runs [`crate::supervise`], and the arguments that make it do so.
#[derive(Debug, Clone)]
pub struct Supervisor {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

impl Policy {
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            protected: Vec::new(),
            readonly_mounts: Vec::new(),
            env: BTreeMap::new(),
            limits: Limits::default(),
            hidden: Vec::new(),
            lock: None,
        }
    }

    /// The same policy with every path resolved, or what the caller must correct.
    pub(crate) fn resolve(mut self) -> Result<Self, Error> {
        let workspace = self
            .workspace
            .canonicalize()
            .map_err(|error| Error::policy("workspace", format!("{}: {error}", self.workspace.display())))?;
        if !workspace.is_dir() || workspace == Path::new("/") {
            return Err(Error::policy(
                "workspace",
                format!("{} must be a directory other than /", workspace.display()),
            ));
        }
        for (host, inside) in &mut self.readonly_mounts {
            *host = host
                .canonicalize()
                .map_err(|error| Error::policy("readonly_mounts", format!("{}: {error}", host.display())))?;
            if !is_plain_absolute(inside) {
                return Err(Error::policy(
                    "readonly_mounts",
                    format!("{} must be absolute and without `..`", inside.display()),
                ));
            }
        }
        let mut protected = Vec::new();
        for path in &self.protected {
            if let Some(path) = resolve_protected(&workspace, path)? {
                protected.push(path);
            }
        }
        self.protected = protected;
        self.workspace = workspace;
        Ok(self)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 2 << 30,
            processes: 512,
            file_size_bytes: 4 << 30,
            open_files: 4096,
            cpu_seconds: None,
            scratch_bytes: 1 << 30,
        }
    }
}

fn is_plain_absolute(path: &Path) -> bool {
    use std::path::Component::{Normal, RootDir};
    path.is_absolute() && path.components().all(|part| matches!(part, RootDir | Normal(_)))
}

/// The path relative to the workspace, `None` when there is nothing to protect. A symbolic link is refused
/// wherever it points: mounting follows links, and a repository could name any file of the host by one.
fn resolve_protected(workspace: &Path, path: &Path) -> Result<Option<PathBuf>, Error> {
    use std::path::Component::Normal;
    let refuse = |why: &str| Err(Error::policy("protected", format!("{}: {why}", path.display())));
    if path.as_os_str().is_empty() || !path.components().all(|part| matches!(part, Normal(_))) {
        return refuse("must be relative to the workspace and without `..`");
    }
    let mut here = workspace.to_path_buf();
    for part in path.components() {
        here.push(part);
        match here.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => {
                return refuse("is or passes through a symbolic link");
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return refuse(&error.to_string()),
        }
    }
    Ok(Some(path.to_path_buf()))
}
