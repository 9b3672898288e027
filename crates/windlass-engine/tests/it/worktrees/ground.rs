//! A user's folder, a data directory, and git as the user has it.

#![expect(clippy::disallowed_methods, reason = "git makes the repositories and is asked what it sees")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use windlass_domain::{TaskId, TreeId, Wall, Workspace};
use windlass_engine::worktrees::{Prepared, Worktrees, prepare};
use windlass_workspace::{SnapshotSetup, Snapshots};

pub const MADE: Wall = Wall::from_millis(1_900_000_000_000);

pub fn never() -> bool {
    false
}

pub fn task(number: u128) -> TaskId {
    TaskId::new(Wall::from_millis(1_000), number << 64)
}

pub struct Ground {
    folder: PathBuf,
    /// Unless it is another's.
    own: Option<TempDir>,
    /// The user's folder; a linked worktree of the repository in `home` where it is one.
    pub home: PathBuf,
}

impl Ground {
    /// Files that every case has.
    pub fn new() -> Self {
        let own = TempDir::new().unwrap();
        let mut ground = Self::at(own.path());
        ground.own = Some(own);
        ground.put("a.txt", "one\ntwo\nthree\nfour\nfive\n");
        ground.put("b/c.txt", "c\n");
        ground
    }

    /// One that another process has made.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), own: None, home: folder.join("home") }
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        put(&self.home.join(path), bytes);
    }

    pub fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.home.join(path)).ok()
    }

    pub fn git(&self, words: &[&str]) -> String {
        self.git_in(&self.home, words)
    }

    pub fn git_in(&self, folder: &Path, words: &[&str]) -> String {
        let ended = Command::new("git")
            .current_dir(folder)
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_OPTIONAL_LOCKS", "0")])
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
            .args(words)
            .output()
            .expect("git");
        assert!(ended.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8_lossy(&ended.stdout).trim_end().to_owned()
    }

    /// A repository with everything that is there committed.
    pub fn commit_all(&self) {
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "first"]);
    }

    pub fn is_repository(&self) -> bool {
        self.home.join(".git").symlink_metadata().is_ok()
    }

    pub fn data(&self) -> PathBuf {
        self.beside("data")
    }

    pub fn worktrees(&self) -> Worktrees {
        Worktrees::new(&self.data())
    }

    /// The user's folder, as the engine sees it.
    pub fn workspace(&self) -> Snapshots {
        self.opened(&self.home)
    }

    pub fn opened(&self, folder: &Path) -> Snapshots {
        let carry = vec!["node_modules".to_owned(), "output".to_owned()];
        Snapshots::open(SnapshotSetup::new(folder, self.data().join("objects"), carry)).unwrap()
    }

    pub fn prepare(&self, base: TreeId, number: u128) -> PathBuf {
        let folder = self.worktrees().folder(task(number), 1);
        let prepared = prepare(&self.workspace(), base, base, (&folder, &[]), MADE, &never).unwrap();
        assert_eq!(prepared, Prepared::Fresh);
        folder
    }

    pub fn candidate(&self, folder: &Path, base: TreeId) -> TreeId {
        let candidate = Workspace::capture_under(&self.opened(folder), base, &never).unwrap();
        assert_eq!(candidate.new_repositories, Vec::<String>::new());
        candidate.tree
    }

    /// What is the user's alone, whatever is merged or drawn.
    pub fn own(&self) -> Own {
        if !self.is_repository() {
            return Own::default();
        }
        let read = |name| fs::read(self.git(&["rev-parse", "--path-format=absolute", "--git-path", name]));
        Own {
            head: read("HEAD").unwrap(),
            references: self.git(&["for-each-ref", "refs/heads", "refs/tags", "refs/stash"]),
            index: read("index").unwrap_or_default(),
            config: self.git(&["config", "--list", "--local"]),
        }
    }

    /// What git says of every file but those that the attempts change.
    pub fn status(&self) -> BTreeSet<String> {
        if !self.is_repository() {
            return BTreeSet::new();
        }
        let said = self.git(&["status", "--porcelain", "--untracked-files=all"]);
        let changed = |line: &&str| ["a.txt", "b/c.txt", "new/"].iter().any(|path| line[3..].starts_with(path));
        said.lines().filter(|line| !changed(line)).map(str::to_owned).collect()
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Own {
    head: Vec<u8>,
    references: String,
    index: Vec<u8>,
    config: String,
}

pub fn put(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Every path in a folder, folders aside; a link counts as itself.
pub fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(here) = open.pop() {
        for entry in fs::read_dir(here).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() && !path.is_symlink() {
                true => open.push(path),
                false => {
                    found.insert(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
    }
    found
}
