//! What bringing a result into the workspace is about to do, written down in the data folder before the first name changes. Each
//! name has one beside it under which its successor is made and its former content stands for a moment; a process killed in that
//! moment leaves it in the user's folder, and it may even hold what the user saved last. Whoever applies next finds it by what is
//! written here: what is ours is removed, what is the user's gets its name back, and what was begun is brought to its end, because
//! a file that is half on its way to being a folder looks as if the user had removed it. To its end it is brought only by whoever
//! brings in the same result: that of another task, cancelled since for all anybody knows, is not gone on with.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode as Permissions, OFlags, fdatasync, flock, fsync, openat, unlinkat};
use rustix::io::Errno;

use windlass_domain::TreeId;

use crate::diff::Difference;
use crate::error::Error;
use crate::files::{Temporary, make_private_folder, temporary_name};
use crate::root::open_trusted;
use crate::tree::{Mode, Node, escape, unescape};

const WHERE: &str = "the list of what is being applied";
/// What no name beside another begins with.
const HEADERS: [(Way, &str); 2] = [(Way::There, "result "), (Way::Back, "undoing ")];

/// One name, and the one beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Intent {
    pub path: PathBuf,
    pub aside: String,
    pub before: Option<Node>,
    /// The permissions of what was there.
    pub mode: Option<u32>,
    pub after: Option<Node>,
}

/// Whether a result is being brought in, or taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    There,
    Back,
}

/// A result, and what it was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    pub from: TreeId,
    pub to: TreeId,
}

/// What whoever was here last did not come to the end of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Left {
    OfThis(Way, Vec<Intent>),
    /// Also where nobody wrote down which, as was done once.
    OfAnother(Vec<Intent>),
}

/// What one process at a time does to one workspace.
pub(crate) struct Intents {
    target: Target,
    folder: OwnedFd,
    name: String,
    _lock: File,
}

impl Intents {
    /// `None`: another process is at it.
    pub fn open(data: &Path, name: &str, target: Target) -> Result<Option<Self>, Error> {
        make_private_folder(data).map_err(failed)?;
        let folder = open_trusted(data).map_err(|errno| failed(errno.into()))?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let lock = openat(&folder, format!("{name}.lock"), flags, Permissions::from_raw_mode(0o600));
        let lock = File::from(lock.map_err(|errno| failed(errno.into()))?);
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { target, folder, name: name.to_owned(), _lock: lock })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(failed(errno.into())),
        }
    }

    pub fn left(&self) -> Result<Left, Error> {
        let nothing = || Ok(Left::OfThis(Way::There, Vec::new()));
        let text = match crate::files::open_file(&self.folder, Path::new(&self.name)) {
            Err(Errno::NOENT) => return nothing(),
            opened => opened.map_err(|errno| failed(errno.into()))?,
        };
        let Some((mut file, _)) = text else { return nothing() };
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes).map_err(failed)?;
        decode(&bytes, self.target).ok_or_else(|| failed(io::Error::other("it is damaged")))
    }

    /// Durable when it returns.
    pub fn write(&self, way: Way, intents: &[Intent]) -> Result<(), Error> {
        let error = |errno: Errno| failed(errno.into());
        let mut temporary = Temporary::create_private(&self.folder).map_err(error)?;
        temporary.file.write_all(&encode(self.target, way, intents)).map_err(failed)?;
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
    /// `mode`: the permissions of what is there.
    pub fn of(Difference { path, before, after }: &Difference, mode: Option<u32>) -> Self {
        Self { path: path.clone(), aside: temporary_name(), before: before.clone(), mode, after: after.clone() }
    }

    /// Whether one thing takes the place of another in one step.
    pub fn is_swap(&self) -> bool {
        let is_leaf = |node: &Option<Node>| node.as_ref().is_some_and(|node| node.mode != Mode::Folder);
        is_leaf(&self.before) && is_leaf(&self.after)
    }

    pub fn difference(&self) -> Difference {
        Difference { path: self.path.clone(), before: self.before.clone(), after: self.after.clone() }
    }
}

fn failed(error: io::Error) -> Error {
    Error::ours(WHERE, error)
}

fn header(word: &str, Target { from, to }: Target) -> String {
    format!("{word}{} {}\n", from.0, to.0)
}

fn encode(target: Target, way: Way, intents: &[Intent]) -> Vec<u8> {
    let words = HEADERS.iter().filter(|(of, _)| *of == way).map(|(_, word)| header(word, target));
    let mut text = words.collect::<String>().into_bytes();
    let side = |node: &Option<Node>| {
        node.as_ref().map_or("-".to_owned(), |node| format!("{}{}", char::from(node.mode.letter()), node.digest))
    };
    for Intent { path, aside, before, mode, after } in intents {
        let mode = mode.map(|mode| format!(":{mode:o}")).unwrap_or_default();
        text.extend_from_slice(format!("{aside} {}{mode} {} ", side(before), side(after)).as_bytes());
        escape(path.as_os_str().as_bytes(), &mut text);
        text.push(b'\n');
    }
    text
}

fn decode(text: &[u8], target: Target) -> Option<Left> {
    for (way, word) in HEADERS {
        if let Some(lines) = text.strip_prefix(header(word, target).as_bytes()) {
            return decode_lines(lines).map(|intents| Left::OfThis(way, intents));
        }
    }
    let is_header = HEADERS.iter().any(|(_, word)| text.starts_with(word.as_bytes()));
    let lines = if is_header { text.splitn(2, |byte| *byte == b'\n').nth(1)? } else { text };
    decode_lines(lines).map(Left::OfAnother)
}

fn decode_lines(lines: &[u8]) -> Option<Vec<Intent>> {
    lines.split_inclusive(|byte| *byte == b'\n').map(|line| decode_line(line.strip_suffix(b"\n")?)).collect()
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
    let (before, mode) = match before.split_once(':') {
        Some((before, mode)) => (before, Some(u32::from_str_radix(mode, 8).ok()?)),
        None => (before, None),
    };
    let (before, after) = (side(before)?, side(after)?);
    Some(Intent { path, aside, before, mode, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_domain::Digest;

    const fn target(to: Digest) -> Target {
        Target { from: TreeId(to), to: TreeId(to) }
    }

    #[test]
    fn intents_survive_their_text_and_a_torn_one_is_refused() {
        let node = |mode| Some(Node { name: "c d\n".into(), mode, digest: Digest::of(b"x") });
        let intents = [
            Intent {
                path: "a/c d\n".into(),
                aside: temporary_name(),
                before: node(Mode::File),
                mode: Some(0o640),
                after: None,
            },
            Intent {
                path: "c d\n".into(),
                aside: temporary_name(),
                before: None,
                mode: None,
                after: node(Mode::Symlink),
            },
        ];
        let (this, other) = (target(Digest::of(b"this")), target(Digest::of(b"other")));
        for way in [Way::There, Way::Back] {
            let text = encode(this, way, &intents);
            assert_eq!(decode(&text, this), Some(Left::OfThis(way, intents.to_vec())));
            assert_eq!(decode(&text, other), Some(Left::OfAnother(intents.to_vec())));
        }
        let text = encode(this, Way::There, &intents);
        let once = text.strip_prefix(header("result ", this).as_bytes()).unwrap();
        assert_eq!(decode(once, this), Some(Left::OfAnother(intents.to_vec())));
        assert_eq!(decode(&text[..text.len() - 1], this), None);
        assert_eq!(decode(&text[..20], this), None);
    }

    #[test]
    fn one_process_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let this = target(Digest::of(b"this"));
        let first = Intents::open(folder.path(), "w", this).unwrap();
        assert!(first.is_some());
        assert!(Intents::open(folder.path(), "w", this).unwrap().is_none());
        assert!(Intents::open(folder.path(), "other", this).unwrap().is_some());
        drop(first);
        assert!(Intents::open(folder.path(), "w", this).unwrap().is_some());
    }
}
