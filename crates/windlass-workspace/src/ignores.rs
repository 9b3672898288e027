//! Ignore rules on the way down a tree, whether or not it is a git repository: the `.gitignore` files found there, or
//! those that a baseline was taken under. Only the matching is the `ignore` crate's: its walker opens files by path, and
//! here they come through descriptors. What lies outside the workspace (a parent folder's rules, the user's global ones,
//! what a git configuration points to) has no say, so that the same tree is seen alike everywhere; but for what the repository of a
//! linked worktree excludes, which lies beside the worktree and belongs to it.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::files::{open_file, open_folder};
use crate::git::repository_of_linked;
use crate::kept_rules::KeptRules;
use crate::layout::GIT_FOLDER;

const RULES_FILE: &str = ".gitignore";
const MOST_BYTES: u64 = 1024 * 1024;

/// Which rules decide what is passed over.
#[derive(Debug, Clone, Default)]
pub(crate) enum Ignored {
    /// Those that are there now.
    #[default]
    ByLive,
    /// Those that were there once, whatever the files say by now.
    ByKept(Arc<KeptRules>),
    /// None: nothing is passed over.
    Nothing,
}

impl Ignored {
    pub fn at_top(&self, top: impl AsFd) -> Ignores {
        let above = match self {
            Self::ByLive => Ignores::of_repository(&top),
            Self::ByKept(_) | Self::Nothing => Ignores::default(),
        };
        self.below(&above, Path::new(""), top)
    }

    /// What holds in the folder at `path`.
    pub fn below(&self, above: &Ignores, path: &Path, folder: impl AsFd) -> Ignores {
        match self {
            Self::ByLive => above.with(path, RuleFile::read(folder, Path::new(RULES_FILE))),
            Self::ByKept(rules) => {
                rules.of(path).iter().fold(above.clone(), |above, file| above.with(path, Some(Arc::clone(file))))
            }
            Self::Nothing => Ignores::default(),
        }
    }
}

/// One file of rules, and its text, from which the same rules can be made again.
#[derive(Debug)]
pub(crate) struct RuleFile {
    text: Vec<u8>,
    patterns: Gitignore,
}

impl RuleFile {
    /// `None`: there is no rule in it.
    pub fn parse(text: Vec<u8>) -> Option<Arc<Self>> {
        let mut builder = GitignoreBuilder::new(".");
        let lines = String::from_utf8_lossy(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text));
        for line in lines.lines() {
            // As git does, a line that is no pattern is passed over.
            let _ = builder.add_line(None, line);
        }
        let patterns = builder.build().ok().filter(|rules| !rules.is_empty())?;
        Some(Arc::new(Self { text, patterns }))
    }

    /// A symlink is not followed, as git does not.
    fn read(folder: impl AsFd, name: &Path) -> Option<Arc<Self>> {
        let (file, _): (File, _) = open_file(folder, name).ok()??;
        let mut text = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
        Self::parse(text)
    }

    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

/// The rules of one folder, above them those of its parents.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ignores(Option<Arc<Level>>);

#[derive(Debug)]
struct Level {
    folder: PathBuf,
    file: Arc<RuleFile>,
    above: Ignores,
}

impl Ignores {
    /// What a repository excludes without saying so in a `.gitignore`.
    fn of_repository(top: impl AsFd) -> Self {
        let own = open_folder(&top, Path::new(GIT_FOLDER)).ok();
        let Some(git) = own.or_else(|| repository_of_linked(&top)) else {
            return Self::default();
        };
        let Ok(info) = open_folder(&git, Path::new("info")) else {
            return Self::default();
        };
        Self::default().with(Path::new(""), RuleFile::read(&info, Path::new("exclude")))
    }

    /// The innermost rule that says anything about `path` decides.
    pub fn exclude(&self, path: &Path, is_folder: bool) -> bool {
        let mut level = &self.0;
        while let Some(here) = level {
            let relative = path.strip_prefix(&here.folder).unwrap_or(path);
            match here.file.patterns.matched(relative, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = &here.above.0,
            }
        }
        false
    }

    /// The files whose rules begin in `folder`, the one that decides first last.
    pub fn of(&self, folder: &Path) -> Vec<Arc<RuleFile>> {
        let mut files = Vec::new();
        let mut level = &self.0;
        while let Some(here) = level
            && here.folder == folder
        {
            files.push(Arc::clone(&here.file));
            level = &here.above.0;
        }
        files.reverse();
        files
    }

    fn with(&self, folder: &Path, file: Option<Arc<RuleFile>>) -> Self {
        match file {
            Some(file) => Self(Some(Arc::new(Level { folder: folder.to_owned(), file, above: self.clone() }))),
            None => self.clone(),
        }
    }
}
