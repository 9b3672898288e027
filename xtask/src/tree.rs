//! The text files of the repository, by path from its root with forward slashes. What git ignores is left out, and so is
//! whatever is not UTF-8: a binary file has no lines to judge. Files not yet added to git are included, so that a finding
//! comes before the commit rather than after it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use ignore::WalkBuilder;

#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    pub fn of_this_repository() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        Self::read(&root)
    }

    /// Only the repository's own ignore files count: a developer's global ones must not change the verdict.
    pub fn read(root: &Path) -> Result<Self> {
        let walk = WalkBuilder::new(root)
            .hidden(false)
            .git_global(false)
            .git_exclude(false)
            .parents(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        let mut files = BTreeMap::new();
        for entry in walk {
            let entry = entry.context("failed to walk the repository")?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let bytes = match std::fs::read(entry.path()) {
                // An editor may remove its temporary file between the listing and the read.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                read => read.with_context(|| format!("failed to read {}", entry.path().display()))?,
            };
            let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
            if let Ok(text) = String::from_utf8(bytes) {
                files.insert(path.to_string_lossy().into_owned(), text);
            }
        }
        Ok(Self { files })
    }

    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Tree {
    fn from(files: [(&str, &str); N]) -> Self {
        files.into_iter().collect()
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Tree {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(files: I) -> Self {
        let files = files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        Self { files }
    }
}
