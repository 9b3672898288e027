//! `.gitignore` files on the way down a tree, whether or not it is a git repository. Only the matching is the `ignore`
//! crate's: its walker opens files by path, and here they come through descriptors. What lies outside the workspace (a
//! parent folder's rules, the user's global ones) has no say, so that the same tree is seen alike everywhere.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::files::{open_file, open_folder};
use crate::layout::GIT_FOLDER;

const RULES_FILE: &str = ".gitignore";
const MOST_BYTES: u64 = 1024 * 1024;

/// The rules of one folder, above them those of its parents.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ignores(Option<Arc<Level>>);

#[derive(Debug)]
struct Level {
    folder: PathBuf,
    rules: Gitignore,
    above: Ignores,
}

impl Ignores {
    /// What a repository excludes without saying so in a `.gitignore`.
    pub fn of_repository(top: impl AsFd) -> Self {
        let Ok(git) = open_folder(&top, Path::new(GIT_FOLDER)) else {
            return Self::default();
        };
        let Ok(info) = open_folder(&git, Path::new("info")) else {
            return Self::default();
        };
        Self::default().with(Path::new(""), rules_in(&info, Path::new("exclude")))
    }

    /// These rules and those of the folder at `path`.
    pub fn below(&self, path: &Path, folder: impl AsFd) -> Self {
        self.with(path, rules_in(folder, Path::new(RULES_FILE)))
    }

    /// The innermost rule that says anything about `path` decides.
    pub fn exclude(&self, path: &Path, is_folder: bool) -> bool {
        let mut level = &self.0;
        while let Some(here) = level {
            let relative = path.strip_prefix(&here.folder).unwrap_or(path);
            match here.rules.matched(relative, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = &here.above.0,
            }
        }
        false
    }

    fn with(&self, folder: &Path, rules: Option<Gitignore>) -> Self {
        match rules {
            Some(rules) => Self(Some(Arc::new(Level { folder: folder.to_owned(), rules, above: self.clone() }))),
            None => self.clone(),
        }
    }
}

fn rules_in(folder: impl AsFd, name: &Path) -> Option<Gitignore> {
    let (file, _) = open_file(folder, name).ok()??;
    let text = read_rules(file)?;
    let mut builder = GitignoreBuilder::new(".");
    for line in text.lines() {
        // As git does, a line that is no pattern is passed over.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

fn read_rules(file: File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    Some(String::from_utf8_lossy(text).into_owned())
}
