//! The `git` program, so that nothing of the machine's or the repository's configuration makes it run another one, ask, or write
//! anywhere but where it is told.

#![expect(clippy::disallowed_methods, reason = "git itself, which only the operator's own repository is shown to")]

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::at_work::{AtWork, Patience};
use super::linked::repository_of_linked;
use crate::error::Error;
use crate::root::open_trusted;

const WHAT: &str = "git";
const LONGEST_COMPLAINT: usize = 1_000;
/// Each would have git run something, or go somewhere.
const INERT: [&str; 12] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.editor=false",
    "core.pager=cat",
    "core.attributesFile=/dev/null",
    "core.alternateRefsCommand=false",
    "credential.helper=",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "protocol.allow=never",
    "core.logAllRefUpdates=false",
];
/// What no repository can have a word on, as it has on settings: `protocol.ext.allow` goes before `protocol.allow`, for one. A partial
/// clone fetches whatever object is missing, by any command; git before 2.45 knows only that no protocol is allowed.
const ENVIRONMENT: [(&str, &str); 11] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_ASKPASS", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_ATTR_NOSYSTEM", "1"),
];

pub(super) struct Git<'a> {
    repository: PathBuf,
    patience: Patience<'a>,
}

fn is_linked(workspace: &Path) -> bool {
    open_trusted(workspace).is_ok_and(|top| repository_of_linked(top).is_some())
}

impl<'a> Git<'a> {
    /// None: the folder has no repository of its own.
    pub fn of(workspace: &Path, patience: Patience<'a>) -> Option<Self> {
        let repository = workspace.join(".git");
        // Whoever wrote a file of that name could name any repository: it is believed where that one names it in turn.
        let is_its_own = repository.symlink_metadata().ok()?.is_dir() || is_linked(workspace);
        is_its_own.then_some(Self { repository, patience })
    }

    /// Of a submodule, whose file is believed, since its repository does not name it: for looking alone.
    pub fn of_submodule(folder: &Path, patience: Patience<'a>) -> Option<Self> {
        let repository = folder.join(".git");
        repository.symlink_metadata().is_ok().then_some(Self { repository, patience })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.env_clear().envs(ENVIRONMENT);
        command.arg("--git-dir").arg(&self.repository).arg("--no-optional-locks");
        INERT.iter().for_each(|setting| {
            command.args(["-c", setting]);
        });
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, mut command: Command, words: &[&str]) -> Result<AtWork<'a>, Error> {
        command.args(words);
        AtWork::start(command, &words.join(" "), self.patience)
    }

    /// What a reference stands for, if it is there.
    pub fn resolve(&self, reference: &str) -> Result<Option<String>, Error> {
        self.object(&format!("{reference}^{{commit}}"))
    }

    /// The tree of a commit, if it is there.
    pub fn tree_of(&self, commit: &str) -> Result<Option<String>, Error> {
        self.object(&format!("{commit}^{{tree}}"))
    }

    fn object(&self, wanted: &str) -> Result<Option<String>, Error> {
        let ended = self.start(self.command(), &["rev-parse", "--quiet", "--verify", wanted])?.hear()?;
        let said = String::from_utf8_lossy(&ended.said).trim().to_owned();
        Ok((ended.status.success() && !said.is_empty()).then_some(said))
    }

    /// What git lists, with the workspace as its work tree.
    pub fn listed_in(&self, workspace: &Path, words: &[&str]) -> Result<Vec<u8>, Error> {
        let mut command = self.command();
        command.arg("--work-tree").arg(workspace).current_dir(workspace);
        let ended = self.start(command, words)?.hear()?;
        if ended.status.success() { Ok(ended.said) } else { Err(said(&ended.complaints)) }
    }

    /// A reference of ours that is needed no more.
    pub fn forget(&self, reference: &str) -> Result<(), Error> {
        let ended = self.start(self.command(), &["update-ref", "--no-deref", "-d", reference])?.hear()?;
        if ended.status.success() { Ok(()) } else { Err(said(&ended.complaints)) }
    }

    /// Takes a stream of commits in; `pour` writes it.
    pub fn import(&self, pour: impl FnOnce(&mut dyn Write) -> Result<(), Error>) -> Result<(), Error> {
        let mut command = self.command();
        command.stdin(Stdio::piped());
        let mut git = self.start(command, &["fast-import", "--quiet", "--done", "--date-format=raw"])?;
        let mut out = BufWriter::new(git.stdin()?);
        let poured = pour(&mut out);
        let (feeding, _) = out.into_parts();
        if let Some(cut) = feeding.cut {
            return Err(cut);
        }
        drop(feeding);
        if let Err(error @ Error::Stopped) = poured {
            return Err(error);
        }
        let ended = git.hear()?;
        match (ended.status.success(), poured) {
            // Its own words explain a pipe that broke.
            (false, Ok(()) | Err(Error::Io { .. })) => Err(said(&ended.complaints)),
            (_, poured) => poured,
        }
    }
}

fn said(complaints: &[u8]) -> Error {
    let complaint: String = String::from_utf8_lossy(complaints).trim().chars().take(LONGEST_COMPLAINT).collect();
    Error::ours(WHAT, std::io::Error::other(complaint))
}
