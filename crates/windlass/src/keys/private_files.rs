//! Files and folders on which trust rests: this very user's own, behind no link, which others can neither write nor, where
//! they hold a secret, read. Whether that is so is asked of what was opened, so that nothing can be put in its place
//! afterwards. What is written is on disk before it is acknowledged.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags};

use crate::exit::WrongUse;

/// More than any of them has to hold.
const MOST_BYTES: u64 = 1 << 30;

/// Why something cannot be trusted or used, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}; {advice}", path = .path.display())]
pub struct Refused {
    pub path: PathBuf,
    pub problem: String,
    pub advice: String,
}

impl Refused {
    pub fn new(path: &Path, problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { path: path.to_owned(), problem: problem.into(), advice: advice.into() }
    }

    fn failed(path: &Path, error: &std::io::Error) -> Self {
        Self::new(path, error.to_string(), "see that the data directory can be written and has room")
    }
}

impl From<Refused> for WrongUse {
    fn from(refused: Refused) -> Self {
        Self::new(format!("{}: {}", refused.path.display(), refused.problem)).hint(refused.advice)
    }
}

/// What should be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Folder,
    /// Others may not even read it.
    Secret,
    /// Others may read it.
    Public,
}

/// What is in the file, whose folder must be in order too; none where there is no file.
pub fn read(path: &Path, kind: Kind) -> Result<Option<Vec<u8>>, Refused> {
    open(path.parent().unwrap_or(path), Kind::Folder, OpenOptions::new().read(true))?;
    let Some(file) = open(path, kind, OpenOptions::new().read(true))? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| Refused::failed(path, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Refused::new(path, "it is far too large", "put back the file that was there, from a copy"));
    }
    Ok(Some(bytes))
}

/// The last bytes of a file, at most `look_back`; none where there is no file.
pub fn read_end(path: &Path, look_back: u64) -> Result<Option<Vec<u8>>, Refused> {
    let Some(mut file) = open(path, Kind::Secret, OpenOptions::new().read(true))? else { return Ok(None) };
    tail(&mut file, look_back).map(|(_, tail)| Some(tail)).map_err(|error| Refused::failed(path, &error))
}

/// Puts a file in place of another in one step, with these bytes and mode 0600.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Refused> {
    let beside = path.with_extension("new");
    let replaced = || {
        match std::fs::remove_file(&beside) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        sync_folder_of(path)
    };
    replaced().map_err(|error| Refused::failed(path, &error))
}

/// What comes at the end of a file, and how much of what was looked at stays before it.
pub struct Addition {
    pub after: usize,
    pub bytes: Vec<u8>,
}

/// Adds to the end of a file, of which `add` is shown as much as `look_back`. Whoever calls holds the folder.
pub fn append(
    path: &Path,
    look_back: u64,
    add: impl FnOnce(&[u8]) -> Result<Option<Addition>, Refused>,
) -> Result<(), Refused> {
    let failed = |error: std::io::Error| Refused::failed(path, &error);
    let opened = open(path, Kind::Secret, OpenOptions::new().read(true).write(true).create(true).mode(0o600))?;
    let mut file = opened.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
    let (from, tail) = tail(&mut file, look_back).map_err(failed)?;
    let is_new = from == 0 && tail.is_empty();
    let Some(Addition { after, bytes }) = add(&tail)? else { return Ok(()) };
    let end = from + after as u64;
    let mut written = || {
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        if is_new { sync_folder_of(path) } else { Ok(()) }
    };
    written().map_err(failed)
}

/// Where the end begins, and the end.
fn tail(file: &mut File, look_back: u64) -> std::io::Result<(u64, Vec<u8>)> {
    let from = file.metadata()?.len().saturating_sub(look_back);
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.read_to_end(&mut tail)?;
    Ok((from, tail))
}

/// Makes the folder if there is none, and holds it until what is returned is dropped: one process at a time.
pub fn hold(folder: &Path) -> Result<File, Refused> {
    let failed = |error: std::io::Error| Refused::failed(folder, &error);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let opened = open(folder, Kind::Folder, OpenOptions::new().read(true))?;
    let held = opened.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
    rustix::fs::flock(&held, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
    Ok(held)
}

fn sync_folder_of(path: &Path) -> std::io::Result<()> {
    File::open(path.parent().unwrap_or(path))?.sync_all()
}

fn open(path: &Path, kind: Kind, options: &mut OpenOptions) -> Result<Option<File>, Refused> {
    // Without waiting: a pipe in its place would never answer.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = options.custom_flags(flags.bits().cast_signed()).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(_) if path.is_symlink() => {
            return Err(Refused::new(path, "it is a symbolic link", "put there what it leads to"));
        }
        Err(error) => return Err(Refused::failed(path, &error)),
    };
    let metadata = file.metadata().map_err(|error| Refused::failed(path, &error))?;
    if (kind == Kind::Folder) != metadata.is_dir() || (kind != Kind::Folder && !metadata.is_file()) {
        let wanted = if kind == Kind::Folder { "a folder" } else { "a regular file" };
        return Err(Refused::new(path, format!("it is not {wanted}"), "move away what stands there"));
    }
    let me = rustix::process::geteuid().as_raw();
    match objection(kind, metadata.uid(), metadata.mode() & 0o7777, me) {
        Some(Objection::Foreign) => {
            let problem = format!("it belongs to user {} and not to you ({me})", metadata.uid());
            Err(Refused::new(path, problem, "put one of your own there"))
        }
        Some(Objection::Open { mode, wanted }) => {
            let problem = format!("others can get at it (mode {mode:o})");
            Err(Refused::new(path, problem, format!("shut it with: chmod {wanted:o} {}", path.display())))
        }
        None => Ok(Some(file)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Objection {
    Foreign,
    Open { mode: u32, wanted: u32 },
}

fn objection(kind: Kind, uid: u32, mode: u32, me: u32) -> Option<Objection> {
    let (forbidden, wanted) = match kind {
        Kind::Folder => (0o077, 0o700),
        Kind::Secret => (0o077, 0o600),
        Kind::Public => (0o022, 0o600),
    };
    match (uid == me, mode & forbidden) {
        (false, _) => Some(Objection::Foreign),
        (true, 0) => None,
        (true, _) => Some(Objection::Open { mode, wanted }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mine_and_shut_is_trusted_and_nothing_else() {
        let check = |kind, uid, mode| objection(kind, uid, mode, 1000);
        for (kind, mode) in [(Kind::Secret, 0o600), (Kind::Secret, 0o400), (Kind::Public, 0o644), (Kind::Folder, 0o700)]
        {
            assert_eq!(check(kind, 1000, mode), None, "{kind:?} {mode:o}");
            assert_eq!(check(kind, 0, mode), Some(Objection::Foreign), "{kind:?} {mode:o}");
        }
        for mode in [0o640, 0o604, 0o601, 0o620, 0o666] {
            assert_eq!(check(Kind::Secret, 1000, mode), Some(Objection::Open { mode, wanted: 0o600 }));
        }
        for mode in [0o664, 0o646, 0o666] {
            assert_eq!(check(Kind::Public, 1000, mode), Some(Objection::Open { mode, wanted: 0o600 }));
        }
        for mode in [0o750, 0o755, 0o701] {
            assert_eq!(check(Kind::Folder, 1000, mode), Some(Objection::Open { mode, wanted: 0o700 }));
        }
    }
}
