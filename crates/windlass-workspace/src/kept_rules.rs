//! The ignore rules that a snapshot was taken under, kept with it. An agent may change every `.gitignore`, and so choose
//! what a check gets to see; hence a candidate is captured under the rules of its baseline, in whatever process that is.
//!
//! Kept beside them is where a `.git` stood, so that one that an agent has made since can be told apart, and which files were tracked
//! although they were ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_domain::Digest;

use crate::error::Error;
use crate::ignores::RuleFile;
use crate::objects::{Batch, Objects};
use crate::tracked::Tracked;
use crate::tree::{escape, unescape};

const HEADER: &[u8] = b"windlass rules 1\n";

#[derive(Debug, Default)]
pub(crate) struct KeptRules {
    /// By folder; of several files in one folder the last decides first.
    files: BTreeMap<PathBuf, Vec<Arc<RuleFile>>>,
    /// The paths of the `.git`s, files and folders alike.
    repositories: BTreeSet<PathBuf>,
    tracked: Arc<Tracked>,
}

/// One line of the stored form.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    File { folder: PathBuf, text: Digest },
    Repository(PathBuf),
    Tracked(PathBuf),
}

impl KeptRules {
    pub fn of(&self, folder: &Path) -> &[Arc<RuleFile>] {
        self.files.get(folder).map_or(&[], Vec::as_slice)
    }

    pub fn had_repository(&self, path: &Path) -> bool {
        self.repositories.contains(path)
    }

    pub fn repositories(&self) -> impl Iterator<Item = &Path> {
        self.repositories.iter().map(PathBuf::as_path)
    }

    pub fn note_files(&mut self, folder: &Path, files: Vec<Arc<RuleFile>>) {
        if !files.is_empty() {
            self.files.insert(folder.to_owned(), files);
        }
    }

    pub fn note_repository(&mut self, path: PathBuf) {
        self.repositories.insert(path);
    }

    pub fn note_tracked(&mut self, tracked: Arc<Tracked>) {
        self.tracked = tracked;
    }

    pub fn tracked(&self) -> Arc<Tracked> {
        Arc::clone(&self.tracked)
    }

    /// `None`: there is nothing to keep.
    pub fn store(&self, batch: &mut Batch<'_>) -> Result<Option<Digest>, Error> {
        if self.files.is_empty() && self.repositories.is_empty() && self.tracked.is_empty() {
            return Ok(None);
        }
        let mut lines = Vec::new();
        for (folder, files) in &self.files {
            for file in files {
                lines.push(Line::File { folder: folder.clone(), text: batch.put(file.text())? });
            }
        }
        lines.extend(self.repositories.iter().cloned().map(Line::Repository));
        lines.extend(self.tracked.paths().map(|path| Line::Tracked(path.to_owned())));
        batch.put(&encode(&lines)).map(Some)
    }

    /// Rules that cannot be read as they were kept are no rules to go by.
    pub fn load(objects: &Objects, digest: Digest) -> Result<Self, Error> {
        let damaged = |digest: Digest| Error::Damaged { digest: digest.to_string() };
        let mut rules = Self::default();
        let mut tracked = Vec::new();
        for line in decode(&objects.read(digest)?).ok_or_else(|| damaged(digest))? {
            match line {
                Line::File { folder, text } => {
                    let file = RuleFile::parse(objects.read(text)?).ok_or_else(|| damaged(text))?;
                    rules.files.entry(folder).or_default().push(file);
                }
                Line::Repository(path) => rules.note_repository(path),
                Line::Tracked(path) => tracked.push(path),
            }
        }
        rules.note_tracked(Arc::new(tracked.into_iter().collect()));
        Ok(rules)
    }
}

fn encode(lines: &[Line]) -> Vec<u8> {
    let mut text = HEADER.to_vec();
    for line in lines {
        let (head, path) = match line {
            Line::File { folder, text } => (format!("ignore {text} "), folder),
            Line::Repository(path) => ("git ".to_owned(), path),
            Line::Tracked(path) => ("tracked ".to_owned(), path),
        };
        text.extend_from_slice(head.as_bytes());
        escape(path.as_os_str().as_bytes(), &mut text);
        text.push(b'\n');
    }
    text
}

fn decode(text: &[u8]) -> Option<Vec<Line>> {
    let lines = text.strip_prefix(HEADER)?.strip_suffix(b"\n")?;
    lines.split(|byte| *byte == b'\n').map(decode_line).collect()
}

fn decode_line(line: &[u8]) -> Option<Line> {
    let path = |text: &[u8]| unescape(text).map(|bytes| PathBuf::from(OsString::from_vec(bytes)));
    if let Some(rest) = line.strip_prefix(b"git ") {
        return path(rest).map(Line::Repository);
    }
    if let Some(rest) = line.strip_prefix(b"tracked ") {
        return path(rest).map(Line::Tracked);
    }
    let (digest, folder) = line.strip_prefix(b"ignore ")?.split_at_checked(64)?;
    let text = std::str::from_utf8(digest).ok()?.parse().ok()?;
    Some(Line::File { folder: path(folder.strip_prefix(b" ")?)?, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_and_a_cut_or_foreign_text_is_refused() {
        let lines = [
            Line::File { folder: PathBuf::new(), text: Digest::of(b"exclude") },
            Line::File { folder: PathBuf::new(), text: Digest::of(b"ignore") },
            Line::File { folder: "a\nb/\\ c".into(), text: Digest::of(b"*.log") },
            Line::Repository("a\nb/.git".into()),
            Line::Tracked("a\nb/\\ c/dist".into()),
        ];
        let text = encode(&lines);
        assert_eq!(decode(&text).unwrap(), lines);
        assert_eq!(decode(&text[..text.len() - 1]), None);
        assert_eq!(decode(b"windlass tree 1\n"), None);
        assert_eq!(decode(&[HEADER, b"ignore nothing here\n"].concat()), None);
        assert_eq!(decode(&[HEADER, b"unknown a\n"].concat()), None);
    }
}
