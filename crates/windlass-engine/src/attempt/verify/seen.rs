//! What there is to see when a check has run: the file it names, how its command ended, what it said.

use std::path::Path;

use windlass_plan::{FileSeen, RunEnd};
use windlass_sandbox::{Exit, Status};
use windlass_workspace::{Kind, Root, WorkspacePath};

pub(in crate::attempt) fn look(folder: &Path, path: &str) -> FileSeen {
    let seen = || -> Result<FileSeen, windlass_workspace::Error> {
        let root = Root::open(folder)?;
        let path = WorkspacePath::parse(path)?;
        let metadata = root.metadata(&path)?;
        Ok(match metadata.kind {
            Kind::File => FileSeen::File { bytes: metadata.size },
            Kind::Folder => FileSeen::Folder { entries: root.list(&path)?.len() as u64 },
            _ => FileSeen::Foreign,
        })
    };
    match seen() {
        Ok(seen) => seen,
        Err(windlass_workspace::Error::NotFound { .. }) => FileSeen::Absent,
        Err(_) => FileSeen::Foreign,
    }
}

pub(super) fn end_of(exit: &Result<Exit, String>) -> RunEnd {
    match exit {
        Err(why) => RunEnd::NotStarted(why.clone()),
        Ok(exit) => match exit.status {
            Status::Code(code) => RunEnd::Exited(code),
            Status::Signal(signal) => RunEnd::Killed { signal },
            Status::TimedOut => RunEnd::TimedOut,
            Status::OutOfMemory | Status::TooManyProcesses | Status::Cancelled => RunEnd::Killed { signal: 9 },
        },
    }
}

pub(super) const fn code_of(exit: &Exit) -> Option<i32> {
    match exit.status {
        Status::Code(code) => Some(code),
        _ => None,
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The end of it: where tests say what failed.
pub(super) fn last_chars(text: &str, most: usize) -> String {
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(most)).collect()
}
