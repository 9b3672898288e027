//! What bringing a result into the workspace is about to do, written down in the data folder before the first name changes. Each
//! name has one beside it under which its successor is made and its former content stands for a moment; a process killed in that
//! moment leaves it in the user's folder, and it may even hold what the user saved last. Whoever applies next finds it by what is
//! written here: what is ours is removed, what is the user's gets its name back, and what was begun is brought to its end, because
//! a file that is half on its way to being a folder looks as if the user had removed it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode as Permissions, OFlags, fdatasync, flock, fsync, openat, unlinkat};
use rustix::io::Errno;

use crate::diff::Difference;
use crate::error::Error;
use crate::files::{Temporary, make_private_folder, temporary_name};
use crate::root::open_trusted;
use crate::tree::{Mode, Node, escape, unescape};

const WHERE: &str = "the list of what is being applied";

/// One name, and the one beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Intent {
    pub path: PathBuf,
    pub aside: String,
    pub before: Option<Node>,
    pub after: Option<Node>,
}

/// What one process at a time does to one workspace.
pub(crate) struct Intents {
    folder: OwnedFd,
    name: String,
    _lock: File,
}

impl Intents {
    /// `None`: another process is at it.
    pub fn open(data: &Path, name: &str) -> Result<Option<Self>, Error> {
        make_private_folder(data).map_err(failed)?;
        let folder = open_trusted(data).map_err(|errno| failed(errno.into()))?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let lock = openat(&folder, format!("{name}.lock"), flags, Permissions::from_raw_mode(0o600));
        let lock = File::from(lock.map_err(|errno| failed(errno.into()))?);
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { folder, name: name.to_owned(), _lock: lock })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(failed(errno.into())),
        }
    }

    /// What whoever was here last did not come to the end of.
    pub fn left(&self) -> Result<Vec<Intent>, Error> {
        let text = match crate::files::open_file(&self.folder, Path::new(&self.name)) {
            Err(Errno::NOENT) => return Ok(Vec::new()),
            opened => opened.map_err(|errno| failed(errno.into()))?,
        };
        let Some((mut file, _)) = text else { return Ok(Vec::new()) };
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes).map_err(failed)?;
        decode(&bytes).ok_or_else(|| failed(io::Error::other("it is damaged")))
    }

    /// Durable when it returns.
    pub fn write(&self, intents: &[Intent]) -> Result<(), Error> {
        let error = |errno: Errno| failed(errno.into());
        let mut temporary = Temporary::create_private(&self.folder).map_err(error)?;
        temporary.file.write_all(&encode(intents)).map_err(failed)?;
        fdatasync(&temporary.file).map_err(error)?;
        temporary.rename(Path::new(&self.name)).map_err(error)?;
        fsync(&self.folder).map_err(error)
    }

    pub fn done(&self) -> Result<(), Error> {
        match unlinkat(&self.folder, self.name.as_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(failed(errno.into())),
        }
    }
}

impl Intent {
    pub fn of(Difference { path, before, after }: &Difference) -> Self {
        Self { path: path.clone(), aside: temporary_name(), before: before.clone(), after: after.clone() }
    }

    pub fn difference(&self) -> Difference {
        Difference { path: self.path.clone(), before: self.before.clone(), after: self.after.clone() }
    }
}

fn failed(error: io::Error) -> Error {
    Error::ours(WHERE, error)
}

fn encode(intents: &[Intent]) -> Vec<u8> {
    let mut text = Vec::new();
    let side = |node: &Option<Node>| {
        node.as_ref().map_or("-".to_owned(), |node| format!("{}{}", char::from(node.mode.letter()), node.digest))
    };
    for Intent { path, aside, before, after } in intents {
        text.extend_from_slice(format!("{aside} {} {} ", side(before), side(after)).as_bytes());
        escape(path.as_os_str().as_bytes(), &mut text);
        text.push(b'\n');
    }
    text
}

fn decode(text: &[u8]) -> Option<Vec<Intent>> {
    text.split_inclusive(|byte| *byte == b'\n').map(|line| decode_line(line.strip_suffix(b"\n")?)).collect()
}

fn decode_line(line: &[u8]) -> Option<Intent> {
    let mut fields = line.splitn(4, |byte| *byte == b' ');
    let mut word = || std::str::from_utf8(fields.next()?).ok();
    let (aside, before, after) = (word()?.to_owned(), word()?, word()?);
    let path = PathBuf::from(OsString::from_vec(unescape(fields.next()?)?));
    let name = path.file_name()?.to_owned();
    let side = |text: &str| {
        let (mode, digest) = text.split_at_checked(1)?;
        let mode = Mode::from_letter(mode.as_bytes()[0])?;
        Some(Node { name: name.clone(), mode, digest: digest.parse().ok()? })
    };
    let side = |text: &str| if text == "-" { Some(None) } else { side(text).map(Some) };
    let (before, after) = (side(before)?, side(after)?);
    Some(Intent { path, aside, before, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_domain::Digest;

    #[test]
    fn intents_survive_their_text_and_a_torn_one_is_refused() {
        let node = |mode| Some(Node { name: "c d\n".into(), mode, digest: Digest::of(b"x") });
        let intents = [
            Intent { path: "a/c d\n".into(), aside: temporary_name(), before: node(Mode::File), after: None },
            Intent { path: "c d\n".into(), aside: temporary_name(), before: None, after: node(Mode::Symlink) },
        ];
        let text = encode(&intents);
        assert_eq!(decode(&text).as_deref(), Some(intents.as_slice()));
        assert_eq!(decode(&text[..text.len() - 1]), None);
        assert_eq!(decode(b""), Some(Vec::new()));
    }

    #[test]
    fn one_process_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = Intents::open(folder.path(), "w").unwrap();
        assert!(first.is_some());
        assert!(Intents::open(folder.path(), "w").unwrap().is_none());
        assert!(Intents::open(folder.path(), "other").unwrap().is_some());
        drop(first);
        assert!(Intents::open(folder.path(), "w").unwrap().is_some());
    }
}
