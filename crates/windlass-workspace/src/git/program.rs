//! The `git` program, so that nothing of the machine's or the repository's configuration makes it run another one, ask, or write
//! anywhere but where it is told.

#![expect(clippy::disallowed_methods, reason = "git itself, which only the operator's own repository is shown to")]

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::error::Error;

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

pub(super) struct Git {
    repository: PathBuf,
}

impl Git {
    /// None: the folder has no repository of its own.
    pub fn of(workspace: &Path) -> Option<Self> {
        let repository = workspace.join(".git");
        repository.symlink_metadata().is_ok().then_some(Self { repository })
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

    /// What a reference stands for, if it is there.
    pub fn resolve(&self, reference: &str) -> Result<Option<String>, Error> {
        let wanted = format!("{reference}^{{commit}}");
        let ended = self.command().args(["rev-parse", "--quiet", "--verify", &wanted]).output();
        let ended = ended.map_err(|error| Error::ours(WHAT, error))?;
        let said = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
        Ok((ended.status.success() && !said.is_empty()).then_some(said))
    }

    /// What git lists, with the workspace as its work tree.
    pub fn listed_in(&self, workspace: &Path, words: &[&str]) -> Result<Vec<u8>, Error> {
        let ended = self.command().arg("--work-tree").arg(workspace).current_dir(workspace).args(words).output();
        let ended = ended.map_err(|error| Error::ours(WHAT, error))?;
        if ended.status.success() {
            return Ok(ended.stdout);
        }
        Err(said(&String::from_utf8_lossy(&ended.stderr).trim().chars().take(LONGEST_COMPLAINT).collect::<String>()))
    }

    /// Takes a stream of commits in; `pour` writes it.
    pub fn import(&self, pour: impl FnOnce(BufWriter<ChildStdin>) -> Result<(), Error>) -> Result<(), Error> {
        let mut command = self.command();
        command.args(["fast-import", "--quiet", "--done", "--date-format=raw"]).stdin(Stdio::piped());
        let mut child = Reaped(command.spawn().map_err(|error| Error::ours(WHAT, error))?);
        let Some(stdin) = child.0.stdin.take() else { return Err(said("it takes nothing in")) };
        let poured = pour(BufWriter::new(stdin));
        let ended = child.end()?;
        match (ended, poured) {
            // Its own words explain a pipe that broke.
            (Err(complaint), Ok(()) | Err(Error::Io { .. })) => Err(said(&complaint)),
            (_, Err(error)) => Err(error),
            (Ok(()), Ok(())) => Ok(()),
        }
    }
}

/// One that does not outlive whoever waits for it.
struct Reaped(Child);

impl Reaped {
    fn end(&mut self) -> Result<Result<(), String>, Error> {
        use std::io::Read as _;
        let mut complaint = String::new();
        if let Some(stderr) = self.0.stderr.take() {
            let mut bytes = Vec::new();
            // What does not fit is not worth waiting for, but must not block it either.
            let _ = stderr.take(64 * 1024).read_to_end(&mut bytes);
            complaint = String::from_utf8_lossy(&bytes).trim().chars().take(LONGEST_COMPLAINT).collect();
        }
        let status = self.0.wait().map_err(|error| Error::ours(WHAT, error))?;
        Ok(if status.success() { Ok(()) } else { Err(complaint) })
    }
}

impl Drop for Reaped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn said(complaint: &str) -> Error {
    Error::ours(WHAT, std::io::Error::other(complaint.to_owned()))
}
