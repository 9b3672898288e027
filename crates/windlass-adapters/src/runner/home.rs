//! What a program finds when it is started: a workspace that holds nothing it would run unasked, and a home without what an earlier launch may have
//! left for it to obey, with what its adapter places there. All of it is done from inside of the sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::CancelSignal;
use windlass_sandbox::{Command, Exit, Running, Status, Stdin, Streams, discard};

use super::ending::End;
use super::foreign::{ForeignRunner, broken};
use crate::{Forgetting, LaunchSpec, Mode};

const PLACING: Duration = Duration::from_secs(30);
/// What does not heed that it is to stop goes after this.
const STOPPING: Duration = Duration::from_millis(500);
/// For a program that has to start for it, on a machine that is busy.
const FORGETTING: Duration = Duration::from_secs(120);

impl ForeignRunner {
    /// `beside` are files of ours that its words name.
    pub(super) async fn begin(
        &self,
        cancel: &CancelSignal,
        spec: LaunchSpec,
        streams: Streams,
        beside: &[(PathBuf, Vec<u8>)],
    ) -> Result<Arc<dyn Running>, End> {
        let is_screen = matches!(streams, Streams::Terminal { .. });
        self.refuse_workspace(cancel, if is_screen { Mode::Terminal } else { Mode::Structured }).await?;
        self.sweep(cancel).await?;
        for forgetting in &spec.before {
            self.forget(cancel, forgetting).await?;
        }
        for file in &spec.files {
            self.place(cancel, &file.path, file.content.clone().into_bytes()).await?;
        }
        for (path, content) in beside {
            self.place(cancel, path, content.clone()).await?;
        }
        let mut command = Command::new(spec.argv.iter().map(OsString::from));
        command.env = spec.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        command.streams = streams;
        command.timeout = Command::NO_TIMEOUT;
        command.grace = self.patience.stopping;
        self.sandbox.start(command).await.map(Arc::from).map_err(broken)
    }

    /// What an earlier launch left and is no part of the conversation, shells, git or the program itself might obey.
    pub(super) async fn sweep(&self, cancel: &CancelSignal) -> Result<(), End> {
        // A folder that was closed to keep what is in it is opened first.
        const SCRIPT: &str = "cd \"$1\" && shift && find . -type d ! -perm -700 -exec chmod 700 {} \\; && find \"$@\"";
        let words = ["sh", "-c", SCRIPT, "sweep"].into_iter().map(OsString::from);
        let home = [self.home.clone().into_os_string()];
        let asked = self.adapter.kept().sweeping().into_iter().map(OsString::from);
        let exit = self.inside(cancel, words.chain(home).chain(asked).collect(), Vec::new()).await?;
        match exit.status {
            Status::Code(0) => Ok(()),
            status => Err(End::Broken(format!(
                "the agent's home could not be emptied of all but its conversation ({status:?}): {}",
                String::from_utf8_lossy(&exit.stderr).lines().next().unwrap_or("nothing was said")
            ))),
        }
    }

    /// Nothing of the agent's runs between this and the start: whatever an earlier launch began has ended with it.
    async fn refuse_workspace(&self, cancel: &CancelSignal, mode: Mode) -> Result<(), End> {
        const SCRIPT: &str =
            "for path; do if [ -e \"$path\" ] || [ -L \"$path\" ]; then printf '%s\\n' \"$path\"; fi; done";
        let refused = self.adapter.refused(mode);
        if refused.is_empty() {
            return Ok(());
        }
        let paths = refused.iter().map(|path| self.workspace.join(path).into_os_string());
        let words = ["sh", "-c", SCRIPT, "look"].into_iter().map(OsString::from).chain(paths);
        let exit = self.inside(cancel, words.collect(), Vec::new()).await?;
        match String::from_utf8_lossy(&exit.stdout).lines().next() {
            None => Ok(()),
            Some(found) => {
                let name = self.adapter.agent().display_name;
                Err(End::Refuses(match self.adapter.refused(Mode::Structured).is_empty() {
                    true => format!(
                        "the workspace holds {found}, which {name} would run or obey without asking on its own screen: take it out first, or have it \
                         worked without --terminal"
                    ),
                    false => {
                        format!("the workspace holds {found}, which {name} would run without asking: take it out first")
                    }
                }))
            }
        }
    }

    /// From inside, by the program itself: what an agent has made of its conversation is read by nobody else.
    async fn forget(&self, cancel: &CancelSignal, forgetting: &Forgetting) -> Result<(), End> {
        let mut command = Command::new(forgetting.argv.iter().map(OsString::from));
        command.env = forgetting.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        command.timeout = FORGETTING;
        let exit = self.ran(cancel, command).await?;
        let printed: String = String::from_utf8_lossy(&exit.stdout).split_whitespace().collect();
        if exit.status == Status::Code(0) && printed == forgetting.prints {
            return Ok(());
        }
        Err(End::Refuses(format!(
            "what {} kept of its conversation holds what would answer its questions, or is not as the program left it, and cannot be gone on with: \
             begin a new one with `windlass run`",
            self.adapter.agent().display_name
        )))
    }

    async fn inside(&self, cancel: &CancelSignal, words: Vec<OsString>, input: Vec<u8>) -> Result<Exit, End> {
        let mut command = Command::new(words);
        command.stdin = Stdin::Bytes(input);
        command.timeout = PLACING;
        self.ran(cancel, command).await
    }

    /// To its end, or until the work is to be stopped: nothing that is done to a home is half done for whoever goes on, who does it again.
    pub(super) async fn ran(&self, cancel: &CancelSignal, mut command: Command) -> Result<Exit, End> {
        command.grace = STOPPING;
        let wait = cancel.wait();
        let exit = self
            .sandbox
            .run(
                command,
                &mut discard,
                Box::pin(async move {
                    wait.await;
                }),
            )
            .await;
        match cancel.raised() {
            Some(stop) => Err(End::Stopped(stop)),
            None => exit.map_err(broken),
        }
    }

    /// From inside: whatever links the program has left in its home lead nowhere else.
    async fn place(&self, cancel: &CancelSignal, path: &Path, content: Vec<u8>) -> Result<(), End> {
        // Whatever is there, a link or a pipe, goes first.
        const SCRIPT: &str = "mkdir -p \"${1%/*}\" && rm -rf -- \"$1\" && cat > \"$1\"";
        let path = self.home.join(path);
        let words: [OsString; 5] =
            ["sh".into(), "-c".into(), SCRIPT.into(), "place".into(), path.clone().into_os_string()];
        let exit = self.inside(cancel, words.into(), content).await?;
        match exit.status {
            Status::Code(0) => Ok(()),
            status => {
                Err(End::Broken(format!("{} could not be put into the agent's home: {status:?}", path.display())))
            }
        }
    }
}
