//! One command, as a caller describes it.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::PathBuf,
    time::Duration,
};

use crate::{Error, clock};

/// The kernel refuses about this much too; refusing here says why.
const LARGEST: usize = 2 << 20;

#[derive(Debug, Clone)]
pub struct Command {
    /// Executed as it is; no shell is involved unless the first word names one.
    pub argv: Vec<OsString>,
    /// Relative to the workspace, or absolute inside the sandbox. Empty is the workspace itself.
    pub cwd: PathBuf,
    /// Added to the policy's environment.
    pub env: BTreeMap<OsString, OsString>,
    pub stdin: Stdin,
    pub streams: Streams,
    /// [`Command::NO_TIMEOUT`] for one that ends when its owner says so.
    pub timeout: Duration,
    /// How long the command has between being asked to end and being killed.
    pub grace: Duration,
    /// Of more output than this the middle is counted and thrown away, and it is read so slowly that a flood costs the
    /// machine little.
    pub output_cap: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Reads end at once, so nothing waits for an answer that never comes.
    Closed,
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Two pipes. What was written to both at nearly the same instant may arrive in either order.
    Apart,
    /// One pipe for both, in exactly the order written; everything counts as standard output.
    Together,
    /// A terminal of the sandbox's own, which is standard input as well, and the command's controlling terminal. Only for
    /// [`crate::Sandbox::start`]. What kind of terminal it is, the caller says in `TERM`.
    Terminal { rows: u16, cols: u16 },
}

impl Command {
    /// In truth a month: no deadline is further away than that.
    pub const NO_TIMEOUT: Duration = clock::LONGEST;

    pub fn new<Words>(argv: Words) -> Self
    where
        Words: IntoIterator,
        Words::Item: Into<OsString>,
    {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: PathBuf::new(),
            env: BTreeMap::new(),
            stdin: Stdin::Closed,
            streams: Streams::Apart,
            timeout: Duration::from_secs(120),
            grace: Duration::from_millis(500),
            output_cap: 1 << 20,
        }
    }

    /// `bash -c script`, with both streams in the order a person would see.
    pub fn bash(script: &str) -> Self {
        let mut command = Self::new(["bash", "-c", script]);
        command.streams = Streams::Together;
        command
    }

    pub(crate) fn check(&self, env: &BTreeMap<OsString, OsString>) -> Result<(), Error> {
        let words = self.argv.iter().chain(env.keys()).chain(env.values());
        let size: usize = words.clone().map(|word| word.len() + 1).sum();
        let has_nul = |word: &OsStr| word.as_bytes().contains(&0);
        if self.argv.first().is_none_or(|program| program.is_empty()) {
            Err(Error::command("the first word must name a program"))
        } else if size > LARGEST {
            Err(Error::command("arguments and environment must be under 2 MiB; pass the rest on standard input"))
        } else if words.clone().any(|word| has_nul(word)) || has_nul(self.cwd.as_os_str()) {
            Err(Error::command("no word may contain a zero byte"))
        } else if matches!(self.streams, Streams::Terminal { rows: 0, .. } | Streams::Terminal { cols: 0, .. }) {
            Err(Error::command("a terminal must have a row and a column at least"))
        } else if env.keys().any(|name| name.is_empty() || name.as_bytes().contains(&b'=')) {
            Err(Error::command("a variable's name must not be empty or contain `=`"))
        } else {
            Ok(())
        }
    }
}
