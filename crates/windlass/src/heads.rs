//! `heads/TENANT.jsonl` in the data directory: the signed heads of a tenant's audit chain, oldest first, numbered from one.
//! A last line that a crash cut short is no line: the next one takes its place. Anything else that is not a head in its place
//! was done by somebody.

use std::path::{Path, PathBuf};

use windlass_domain::{Tenant, Wall};
use windlass_engine::{Heads, Keyring as _};
use windlass_policy::head::{Head, MAX_HEAD_BYTES, SignedHead, holds, read_head, sign, write_head};
use windlass_store::{ChainHead, Position};

use crate::keys::{Addition, FileKeyring, Kind, Refused, append, hold, read, read_end};

/// A whole line, its end, and a torn one after it.
const LOOK_BACK: u64 = 2 * (MAX_HEAD_BYTES as u64 + 1);

#[derive(Clone)]
pub struct FileHeads {
    folder: PathBuf,
    keys: FileKeyring,
}

/// What the file holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptHeads {
    pub heads: Vec<ChainHead>,
    /// Whether it ends in a line that was not written to its end.
    pub torn: bool,
}

/// What is wrong with the file, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHeads {
    #[error("line {line} of {path}: {problem}", path = .path.display())]
    Line { path: PathBuf, line: usize, problem: String },
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("{0}")]
    Keys(String),
}

impl FileHeads {
    pub fn new(data_dir: &Path, keys: FileKeyring) -> Self {
        Self { folder: data_dir.join("heads"), keys }
    }

    /// A tenant's name need not be fit for a file.
    pub fn path(&self, tenant: &Tenant) -> PathBuf {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let name = tenant.as_str().bytes().map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02x}"),
        });
        self.folder.join(format!("{}.jsonl", name.collect::<String>()))
    }

    /// Every head that was kept, each found to be the owner's and in its place.
    pub fn read(&self, tenant: &Tenant) -> Result<KeptHeads, BadHeads> {
        let path = self.path(tenant);
        let Some(bytes) = read(&path, Kind::Secret)? else { return Ok(KeptHeads::default()) };
        let keys = self.keys.public_keys().map_err(BadHeads::Keys)?;
        let whole = whole_lines(&bytes);
        let mut kept = KeptHeads { heads: Vec::new(), torn: whole < bytes.len() };
        let bad_line = |line: usize, problem: String| BadHeads::Line { path: path.clone(), line, problem };
        for (index, line) in lines(&bytes[..whole]).enumerate() {
            let bad = |problem: String| bad_line(index + 1, problem);
            let head = read_head(line).map_err(|error| bad(error.to_string()))?;
            holds(&head, &keys).map_err(|error| bad(error.to_string()))?;
            if head.tenant != *tenant {
                return Err(bad(format!("it is a head of the tenant {}", head.tenant)));
            }
            if head.number != index as u64 + 1 {
                return Err(bad(format!("here stands head {} and not {}: lines are missing", head.number, index + 1)));
            }
            kept.heads.push(ChainHead { position: Position(head.position), digest: head.hash });
        }
        no_more_than_torn(&bytes, whole).map_err(|problem| bad_line(kept.heads.len() + 1, problem))?;
        Ok(kept)
    }

    /// The head that was kept last, found to be the owner's. The others are for `windlass audit verify` to look at.
    pub fn newest(&self, tenant: &Tenant) -> Result<Option<ChainHead>, BadHeads> {
        let path = self.path(tenant);
        let Some(tail) = read_end(&path, LOOK_BACK)? else { return Ok(None) };
        let (_, last) = last_head(&tail).map_err(|problem| foreign(&path, &problem))?;
        let Some(head) = last else { return Ok(None) };
        let keys = self.keys.public_keys().map_err(BadHeads::Keys)?;
        holds(&head, &keys).map_err(|error| foreign(&path, &error.to_string()))?;
        Ok(Some(ChainHead { position: Position(head.position), digest: head.hash }))
    }

    fn next_line(&self, path: &Path, tail: &[u8], head: Head) -> Result<Option<Addition>, Refused> {
        let (whole, last) = last_head(tail).map_err(|problem| foreign(path, &problem))?;
        if last.as_ref().is_some_and(|last| (last.position, last.hash) == (head.position, head.hash)) {
            return Ok(None);
        }
        let number = last.map_or(0, |last| last.number) + 1;
        let written = sign(Head { number, ..head }, &self.keys.owner()?).and_then(|signed| write_head(&signed));
        let mut bytes = written.map_err(|error| Refused::new(path, error.to_string(), "name the tenant otherwise"))?;
        bytes.push(b'\n');
        Ok(Some(Addition { after: whole, bytes }))
    }
}

impl Heads for FileHeads {
    fn keep(&self, tenant: &Tenant, head: &ChainHead, at: Wall) -> Result<(), String> {
        let path = self.path(tenant);
        let head = Head { tenant: tenant.clone(), number: 0, position: head.position.0, hash: head.digest, at };
        let kept =
            hold(&self.folder).and_then(|_held| append(&path, LOOK_BACK, |tail| self.next_line(&path, tail, head)));
        kept.map_err(|refused| refused.to_string())
    }
}

/// How many bytes there are up to the last line's end.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

/// A crash leaves no more than a part of one line behind the last whole one.
fn no_more_than_torn(bytes: &[u8], whole: usize) -> Result<(), String> {
    match bytes.len() - whole {
        0..=MAX_HEAD_BYTES => Ok(()),
        _ => Err("there is more of it than a head has".to_owned()),
    }
}

/// The last whole line, and where it ends.
fn last_head(tail: &[u8]) -> Result<(usize, Option<SignedHead>), String> {
    let whole = whole_lines(tail);
    no_more_than_torn(tail, whole)?;
    let last = lines(&tail[..whole]).last().map(read_head).transpose().map_err(|error| error.to_string())?;
    Ok((whole, last))
}

fn foreign(path: &Path, problem: &str) -> Refused {
    Refused::new(path, format!("its end is not a head: {problem}"), "`windlass audit verify` says more")
}
