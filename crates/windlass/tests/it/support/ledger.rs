//! The ledger: a pipe with a name in the workspace, which this process holds open. A command's effect is a line written to
//! it, and a line that was written is counted here, whatever becomes of the command, the sandbox or Windlass.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _};

use rustix::fs::{FileType, Mode, OFlags};

use super::home::Home;

pub const LEDGER: &str = "ledger";

pub struct Ledger {
    pipe: File,
    written: Vec<u8>,
}

impl Ledger {
    pub fn open(home: &Home) -> Self {
        let path = home.workspace().join(LEDGER);
        let here = rustix::fs::CWD;
        let mode = Mode::from_raw_mode(0o666);
        rustix::fs::mknodat(here, &path, FileType::Fifo, mode, 0).expect("a pipe with a name");
        // For reading and writing, so that there is always a reader and never an end.
        let opened = rustix::fs::open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        Self { pipe: File::from(opened.expect("the pipe opens")), written: Vec::new() }
    }

    /// Waits until this effect has happened.
    pub fn wait_for(&mut self, effect: &str) {
        while !self.lines().contains(&effect.to_owned()) {
            let mut bytes = [0; 4096];
            let length = self.pipe.read(&mut bytes).expect("the pipe can be read");
            self.written.extend_from_slice(&bytes[..length]);
        }
    }

    /// What was read is as if it had not been.
    pub fn forget(&mut self) {
        self.written.clear();
    }

    /// How often each effect has happened until now.
    pub fn count(&mut self) -> BTreeMap<String, usize> {
        rustix::fs::fcntl_setfl(&self.pipe, OFlags::RDWR | OFlags::NONBLOCK).expect("a flag");
        if let Err(error) = self.pipe.read_to_end(&mut self.written) {
            assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
        }
        rustix::fs::fcntl_setfl(&self.pipe, OFlags::RDWR).expect("a flag");
        tally(self.lines())
    }

    fn lines(&self) -> Vec<String> {
        String::from_utf8_lossy(&self.written).lines().map(str::to_owned).collect()
    }
}

pub fn tally(lines: Vec<String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    lines.into_iter().for_each(|line| *counts.entry(line).or_default() += 1);
    counts
}
