//! One user's home: a data directory, a workspace and a script, all gone when it goes out of use. Its folder's name is like
//! no other on the machine, so that a process which has anything to do with it can be told by that name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::program::Program;

pub struct Home {
    folder: TempDir,
}

impl Home {
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("windlass-it-").expect("a temporary folder");
        let home = Self { folder };
        fs::create_dir(home.workspace()).expect("a workspace");
        home
    }

    /// With the script that its runs play.
    pub fn playing(script: &str) -> Self {
        let home = Self::new();
        fs::write(home.script(), script).expect("the script is written");
        home
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What is in every path of this home and nowhere else.
    pub fn mark(&self) -> String {
        let name = self.path().file_name().expect("temporary folders have names");
        name.to_string_lossy().into_owned()
    }

    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    pub fn script(&self) -> PathBuf {
        self.path().join("script.yaml")
    }

    pub fn write(&self, name: &str, content: &str) {
        let path = self.workspace().join(name);
        fs::create_dir_all(path.parent().expect("in the workspace")).expect("its folder");
        fs::write(path, content).expect("a file is written");
    }

    /// A pipe with a name in the workspace: who reads it and who writes it wait for each other.
    pub fn pipe(&self, name: &str) -> PathBuf {
        let path = self.workspace().join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o666), 0).expect("a pipe with a name");
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.workspace().join(name)).expect("a file that is there")
    }

    pub fn windlass(&self, words: &[&str]) -> Program {
        Program::new(self, words)
    }

    /// `windlass run GOAL --rehearsal SCRIPT`, and whatever else.
    pub fn run(&self, more: &[&str]) -> Program {
        let script = self.script();
        let words = ["run", "Do it", "--rehearsal", script.to_str().expect("a plain path")];
        self.windlass(&[&words, more].concat())
    }

    /// Every regular file of the workspace, by its path.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.workspace(), &self.workspace(), &mut files);
        files
    }
}

/// Files below `folder`; whatever is neither file nor folder is left out, because reading it might wait for ever.
pub fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let kind = entry.file_type().expect("a kind");
        let path = entry.path();
        if kind.is_dir() {
            collect(root, &path, files);
        } else if kind.is_file() {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            files.insert(name, fs::read(&path).expect("a readable file"));
        }
    }
}
