//! What each file held when it was last captured, so that a file that has not changed since need not be read. A file is
//! unchanged when size, inode and both of the kernel's times are the same. Only files last changed before a capture
//! began are remembered: one changed in the same tick of the clock afterwards would look the same.
//!
//! A file can be made to look unchanged all the same: where the kernel keeps no times for pages written through a shared
//! mapping, as on tmpfs. So the cache is for baselines, which nobody has a reason to forge; candidates are read in full.
//!
//! The cache is a convenience and may be deleted at any time; a damaged one is as good as none.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;
use windlass_domain::Digest;

use crate::error::Error;
use crate::files::{Temporary, make_private_folder, names, open_file};
use crate::root::{is_temporary, open_trusted};
use crate::stat::{Metadata, Timestamp};
use crate::tree::{escape, unescape};

/// A digest, and the longest path there is with every byte of it escaped.
const LONGEST_HEAD: u64 = 65 + 2 * 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    size: u64,
    inode: u64,
    modified: Timestamp,
    changed: Timestamp,
    pub digest: Digest,
}

impl Known {
    pub fn new(metadata: &Metadata, digest: Digest) -> Self {
        let Metadata { size, identity, modified, changed, .. } = *metadata;
        Self { size, inode: identity.inode, modified, changed, digest }
    }

    fn is(&self, metadata: &Metadata) -> bool {
        *self == Self::new(metadata, self.digest)
    }
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Cache {
    files: BTreeMap<PathBuf, Known>,
}

impl Cache {
    pub fn unchanged(&self, path: &Path, metadata: &Metadata) -> Option<Known> {
        self.files.get(path).filter(|known| known.is(metadata)).copied()
    }

    /// Remembers a file of a capture that began at `began`.
    pub fn remember(&mut self, path: &Path, known: Known, began: Timestamp) {
        if known.changed < began {
            self.files.insert(path.to_owned(), known);
        }
    }

    pub fn load(folder: &Path, name: &str) -> Self {
        std::fs::read(folder.join(name)).ok().and_then(|text| decode(&text)).unwrap_or_default()
    }

    /// What is kept of workspaces that are gone, as worktrees are sooner or later, goes too.
    pub fn save(&self, folder: &Path, name: &str, workspace: &Path) -> Result<(), Error> {
        let io = |error| Error::ours("the snapshot cache", error);
        make_private_folder(folder).map_err(io)?;
        let folder: OwnedFd = open_trusted(folder).map_err(|errno| io(errno.into()))?;
        let mut temporary = Temporary::create_private(&folder).map_err(|errno| io(errno.into()))?;
        temporary.file.write_all(&self.encode(workspace)).map_err(io)?;
        temporary.rename(Path::new(name)).map_err(|errno| io(errno.into()))?;
        forget_the_gone(&folder).map_err(|errno| io(errno.into()))
    }

    /// One line for the workspace and for each file, after the digest of all the lines: the file is not synced, and a power cut
    /// may tear it.
    fn encode(&self, workspace: &Path) -> Vec<u8> {
        let mut lines = Vec::with_capacity(self.files.len() * 160);
        escape(workspace.as_os_str().as_bytes(), &mut lines);
        lines.push(b'\n');
        for (path, known) in &self.files {
            let Known { size, inode, modified, changed, digest } = known;
            let (Timestamp { seconds: m, nanoseconds: mn }, Timestamp { seconds: c, nanoseconds: cn }) =
                (modified, changed);
            lines.extend_from_slice(format!("{size} {inode} {m} {mn} {c} {cn} {digest} ").as_bytes());
            escape(path.as_os_str().as_bytes(), &mut lines);
            lines.push(b'\n');
        }
        let mut text = format!("{}\n", Digest::of(&lines)).into_bytes();
        text.extend_from_slice(&lines);
        text
    }
}

fn forget_the_gone(folder: &OwnedFd) -> Result<(), Errno> {
    for (name, _) in names(folder)? {
        if !is_temporary(&name)
            && let Some(workspace) = workspace_of(folder, Path::new(&name))?
            && matches!(workspace.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound)
        {
            unlinkat(folder, Path::new(&name), AtFlags::empty())?;
        }
    }
    Ok(())
}

fn workspace_of(folder: &OwnedFd, name: &Path) -> Result<Option<PathBuf>, Errno> {
    let Some((file, _)) = open_file(folder, name)? else { return Ok(None) };
    let mut head = Vec::new();
    if file.take(LONGEST_HEAD).read_to_end(&mut head).is_err() {
        return Ok(None);
    }
    let line = head.split(|byte| *byte == b'\n').nth(1).and_then(unescape);
    Ok(line.map(|path| PathBuf::from(OsString::from_vec(path))).filter(|path| path.is_absolute()))
}

fn decode(text: &[u8]) -> Option<Cache> {
    let (digest, lines) = text.split_at_checked(65)?;
    let digest: Digest = std::str::from_utf8(&digest[..64]).ok()?.parse().ok()?;
    if Digest::of(lines) != digest {
        return None;
    }
    let files = lines.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty()).map(decode_line);
    Some(Cache { files: files.collect::<Option<_>>()? })
}

fn decode_line(line: &[u8]) -> Option<(PathBuf, Known)> {
    let mut fields = line.splitn(8, |byte| *byte == b' ');
    let mut next = || std::str::from_utf8(fields.next()?).ok();
    let (size, inode) = (next()?.parse().ok()?, next()?.parse().ok()?);
    let modified = Timestamp { seconds: next()?.parse().ok()?, nanoseconds: next()?.parse().ok()? };
    let changed = Timestamp { seconds: next()?.parse().ok()?, nanoseconds: next()?.parse().ok()? };
    let digest = next()?.parse().ok()?;
    let path = OsString::from_vec(unescape(fields.next()?)?);
    Some((path.into(), Known { size, inode, modified, changed, digest }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(seconds: i64) -> Known {
        let time = Timestamp { seconds, nanoseconds: 7 };
        Known { size: 3, inode: 9, modified: time, changed: time, digest: Digest::of(b"abc") }
    }

    #[test]
    fn a_cache_survives_its_file_and_a_torn_one_is_none() {
        let mut cache = Cache::default();
        let began = Timestamp { seconds: 100, nanoseconds: 0 };
        for name in ["a", "b c\nd", "\\"] {
            cache.remember(Path::new(name), known(-5), began);
        }
        let text = cache.encode(Path::new("/workspace"));
        assert_eq!(decode(&text), Some(cache));
        assert_eq!(decode(&text[..text.len() - 9]), None);
        assert_eq!(decode(b""), None);
    }

    #[test]
    fn a_file_changed_in_the_tick_of_the_capture_is_not_remembered() {
        let mut cache = Cache::default();
        cache.remember(Path::new("a"), known(100), Timestamp { seconds: 100, nanoseconds: 7 });
        assert_eq!(cache, Cache::default());
    }

    /// Worktrees come and go; what is known of their files would otherwise pile up.
    #[test]
    fn what_is_known_of_a_workspace_that_is_gone_goes_with_the_next_save() {
        let folder = tempfile::tempdir().unwrap();
        let caches = folder.path().join("captures");
        let saved = |name: &str| {
            let workspace = folder.path().join(name);
            Cache::default().save(&caches, name, &workspace).unwrap();
            let mut names: Vec<_> =
                std::fs::read_dir(&caches).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::create_dir(folder.path().join("line\nbreak")).unwrap();
        assert_eq!(saved("home"), ["home"]);
        assert_eq!(saved("line\nbreak"), ["home", "line\nbreak"]);
        std::fs::remove_dir(folder.path().join("line\nbreak")).unwrap();
        std::fs::write(caches.join("older"), "a digest\n3 9 1 1 1 1 abc a/path\n").unwrap();
        assert_eq!(saved("home"), ["home", "older"]);
    }
}
