//! What can go wrong with a file, told in the agent's own paths: one variant for each thing a caller can do about it.
//! A host path never appears here, because these texts end up in front of a model.

use std::io;

use rustix::io::Errno;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path}: leads outside the workspace; use a path below /workspace")]
    Outside { path: String },
    #[error("{path}: not a usable path: {reason}")]
    BadPath { path: String, reason: &'static str },
    #[error("{path}: no such file or folder")]
    NotFound { path: String },
    #[error("{path}: a part of this path is a file, not a folder")]
    NotAFolder { path: String },
    #[error("{path}: is a folder, not a file")]
    IsAFolder { path: String },
    #[error("{path}: is a pipe, socket or device; only regular files can be used")]
    NotAFile { path: String },
    #[error("{path}: its symlinks form a loop")]
    Loop { path: String },
    #[error("{path}: {size} bytes, more than the {cap} that can be handled at once")]
    TooLarge { path: String, size: u64, cap: u64 },
    #[error("{path}: is protected and cannot be changed")]
    Protected { path: String },
    #[error("{path}: permission denied")]
    Denied { path: String },
    #[error("{path}: is read-only; make it writable first (chmod u+w)")]
    ReadOnly { path: String },
    #[error("{path}: no space left on the disk")]
    NoSpace { path: String },
    #[error("{path}: folders are nested more than {cap} deep")]
    TooDeep { path: String, cap: usize },
    #[error("`{pattern}`: not a usable path pattern: {reason}")]
    BadPattern { pattern: String, reason: String },
    #[error(
        "more than {most} to look at, most of it in `{folder}`; remove what is not needed there, or have it ignored by .gitignore before the task begins"
    )]
    TooMuch { most: String, folder: String },
    #[error("told to stop")]
    Stopped,
    #[error(
        "`git {words}` gave no sign of life for {seconds} s and was stopped; look for a pipe or a file on a network that does not answer among what it reads: .gitignore files, .git/info/exclude, and what .git/config names (include.path, core.excludesFile)"
    )]
    GitSilent { words: String, seconds: u64 },
    #[error("snapshot object {digest} is missing or damaged")]
    Damaged { digest: String },
    #[error("the folder to fill is not empty")]
    NotEmpty,
    #[error("this kernel lacks openat2, without which paths cannot be confined; Linux 5.6 or newer is needed")]
    NoConfinement,
    #[error(
        "{why}; of what was brought until then, these could not be put back as they were, look at them before you go on: {names}"
    )]
    Partly { why: String, names: String },
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },
}

impl Error {
    /// Whether it is about what somebody put into the workspace, who can also take it away.
    pub fn is_about_content(&self) -> bool {
        matches!(self, Self::TooMuch { .. } | Self::TooDeep { .. } | Self::Denied { .. } | Self::GitSilent { .. })
    }

    /// With the names that are other than they were all the same, if there are any.
    pub(crate) fn although(self, kept: &[String]) -> Self {
        match kept {
            [] => self,
            names => Self::Partly { why: self.to_string(), names: names.join(", ") },
        }
    }

    /// What the kernel said about `path`.
    pub(crate) fn from_errno(path: impl Into<String>, errno: Errno) -> Self {
        let path = path.into();
        match errno {
            Errno::XDEV => Self::Outside { path },
            Errno::NOENT => Self::NotFound { path },
            Errno::NOTDIR => Self::NotAFolder { path },
            Errno::ISDIR => Self::IsAFolder { path },
            Errno::NXIO => Self::NotAFile { path },
            Errno::LOOP => Self::Loop { path },
            Errno::ACCESS | Errno::PERM => Self::Denied { path },
            Errno::ROFS => Self::ReadOnly { path },
            Errno::NOSPC | Errno::DQUOT => Self::NoSpace { path },
            Errno::NOSYS => Self::NoConfinement,
            Errno::NAMETOOLONG => Self::BadPath { path, reason: "a name in it is too long" },
            other => Self::Io { path, source: other.into() },
        }
    }

    /// What the kernel said about something that is the runtime's own, and hence nobody else's fault.
    pub(crate) fn ours(what: impl Into<String>, source: io::Error) -> Self {
        match Errno::from_io_error(&source) {
            Some(Errno::NOSPC | Errno::DQUOT) => Self::NoSpace { path: what.into() },
            _ => Self::Io { path: what.into(), source },
        }
    }

    pub(crate) fn from_io(path: impl Into<String>, source: io::Error) -> Self {
        match Errno::from_io_error(&source) {
            Some(errno) => Self::from_errno(path, errno),
            None => Self::Io { path: path.into(), source },
        }
    }
}
