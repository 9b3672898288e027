//! `Runner` for foreign agents. A launch is a call like any other: it is proposed, judged by the same gates, and what became of it is
//! recorded. Between launches nothing of the program is in memory: its conversation is in its home, what it has to be told
//! is in the fold. A person is never waited for with a program in hand: it is stopped, and goes on once they have answered.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use windlass_domain::execution::{
    CallPhase, Delivery, Launch, MessageDelivery, Outcome, RunnerCommand, RunnerNoted, TurnEnd,
};
use windlass_domain::tool_name::LAUNCH_AGENT;
use windlass_domain::{
    BoxFuture, CallId, CallOutcome, CallStatus, Effect, ErrorCode, ErrorDetails, Host, Intent, Permit, Prepared, Reach,
    Refused, Runner, Secret, Stop, ToolCall, Verdict,
};
use windlass_llm::gateway::{Gateway, GatewayParts, Limits, Upstream};
use windlass_llm::{Dialect, Setup};
use windlass_sandbox::{Command, Exit, Running, Sandbox, Status, Stdin, Streams, discard, never};

use super::back_channel::{self, Told};
use super::markers::Markers;
use super::meter::HostMeter;
use super::opening::{Opening, opening};
use super::talk::{End, Talk, TalkParts};
use super::terminal::Screens;
use super::versions::{Key, Versions, ask_version};
use crate::{Adapter, LaunchSpec, Launching, Mode, PlacedFile, Session};

pub struct ForeignRunner {
    pub adapter: Arc<dyn Adapter>,
    pub installed: Installed,
    pub sandbox: Arc<dyn Sandbox>,
    /// Inside the sandbox, as is the workspace.
    pub home: PathBuf,
    pub workspace: PathBuf,
    pub upstream: Upstream,
    pub model: String,
    pub setup: Setup,
    pub briefing: Briefing,
    pub patience: Patience,
    pub means: Means,
}

/// How the program is spoken to.
pub enum Means {
    /// Over its structured channel.
    Channel,
    /// On its own screen.
    Screen(Screens),
}

/// The program as it was found.
#[derive(Debug, Clone)]
pub struct Installed {
    /// Inside the sandbox.
    pub program: PathBuf,
    /// As it is now.
    pub known_as: Key,
    pub versions: Versions,
}

/// Says what an agent is told.
pub type Briefing = Box<dyn Fn(&Launch) -> Briefed + Send + Sync>;

pub struct Briefed {
    /// For as long as it runs.
    pub instructions: String,
    /// The task itself.
    pub prompt: String,
}

/// How long a program is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Without a word, while it neither asks a model nor runs anything.
    pub silence: Duration,
    /// To stop when it is told to.
    pub stopping: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { silence: Duration::from_secs(300), stopping: Duration::from_secs(5) }
    }
}

/// What a launch is made of, before the program is started.
pub(super) struct Arranged {
    pub meter: Arc<HostMeter>,
    pub markers: Markers,
    /// Serves the model while it is polled.
    gateway: BoxFuture<'static, std::io::Result<()>>,
    /// What the agent tells by tools of ours.
    pub told: mpsc::Receiver<Told>,
    pub opening: Opening,
    /// A name for a new conversation.
    pub fresh: String,
    endpoint: String,
    key: String,
    mcp: Option<String>,
    instructions: String,
}

const PLACING: Duration = Duration::from_secs(30);
/// For `--version`.
const ANSWERING: Duration = Duration::from_secs(20);
/// What shells and git obey in a home.
const START_FILES: [&str; 16] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_aliases",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".inputrc",
    ".gitconfig",
    ".config/git",
    ".config/fish",
    ".npmrc",
    ".local/bin",
];
/// More than one launch after the other, without anything new to say, comes to nothing.
const MOST_LAUNCHES_IN_A_ROW: usize = 20;

impl Runner for ForeignRunner {
    fn run(&self, launch: Launch, host: Arc<dyn Host>) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            for _ in 0..MOST_LAUNCHES_IN_A_ROW {
                match self.carry(&launch, &host).await {
                    Ok(Some(outcome)) | Err(outcome) => return outcome,
                    // Somebody said something that the program did not hear before it stopped.
                    Ok(None) => {}
                }
            }
            failed(ErrorCode::Stuck, "the agent takes no message".to_owned())
        })
    }
}

impl ForeignRunner {
    /// One launch, from leave to end. Nothing: it has to go on at once.
    async fn carry(&self, launch: &Launch, host: &Arc<dyn Host>) -> Result<Option<Outcome>, Outcome> {
        if let Some(stop) = host.cancel().raised() {
            return Ok(Some(Outcome::Stopped(stop)));
        }
        settle(host.as_ref()).await?;
        if host.state().awaited().next().is_some() {
            return Ok(Some(Outcome::Waiting));
        }
        let briefed = (self.briefing)(launch);
        if host.state().transcript.is_empty() {
            let content = briefed.prompt.clone();
            host.stage(vec![RunnerCommand::Open { content, images: Vec::new() }]).map_err(ended)?;
        }
        let Some(permit) = self.leave(host.as_ref()).await? else { return Ok(Some(Outcome::Waiting)) };
        let call_id = permit.redeem().call.call_id;
        let end = Box::pin(self.live(launch, host, &briefed)).await;
        Box::pin(self.finish(host.as_ref(), call_id, end)).await
    }

    /// Asks for leave to start the program. Nothing: a person is asked.
    async fn leave(&self, host: &dyn Host) -> Result<Option<Permit>, Outcome> {
        let call_id = self.propose_launch(host).await?;
        // It sees the whole workspace and the context, and may change any file; out of the sandbox it reaches its model alone.
        let prepared = Prepared::new(Effect::Once, Reach::Program);
        let intent = Intent { call_id: call_id.clone(), prepared };
        let verdict = host.authorise(vec![intent]).await.map_err(ended)?.pop();
        match verdict {
            Some(Verdict::Granted(permit)) => Ok(Some(permit)),
            Some(Verdict::Waiting) => Ok(None),
            Some(Verdict::Denied) => Err(failed(
                ErrorCode::ApprovalDenied,
                format!("the agent may not be started: {}", said_to(host, &call_id)),
            )),
            Some(Verdict::Rewritten) | None => {
                let stop = host.cancel().raised();
                let gate =
                    || failed(ErrorCode::GateBlocked, "a gate would start another agent than was asked for".to_owned());
                Err(stop.map_or_else(gate, Outcome::Stopped))
            }
        }
    }

    /// A launch that a person has said yes to is the one that is made.
    async fn propose_launch(&self, host: &dyn Host) -> Result<CallId, Outcome> {
        let state = host.state();
        let approved = state.open_calls.iter().find(|open| open.call.tool == LAUNCH_AGENT);
        if let Some(open) = approved {
            return Ok(open.call.call_id.clone());
        }
        let mut number = state.foreign.launches;
        let call_id = loop {
            number += 1;
            let call_id = CallId(format!("launch-{number}"));
            if !state.has_used(&call_id) {
                break call_id;
            }
        };
        drop(state);
        let agent = self.adapter.agent();
        let mut arguments = json!({"agent": agent.id, "model": self.model});
        // There the launch is all that is judged: a gate may want to know.
        if self.mode() == Mode::Terminal {
            arguments["terminal"] = json!(true);
        }
        let call = ToolCall::new(call_id.0.clone(), LAUNCH_AGENT, &arguments.to_string());
        host.stage(vec![RunnerCommand::Propose(call)]).map_err(ended)?;
        Ok(call_id)
    }

    /// The program's life, from its first frame to its last.
    async fn live(&self, launch: &Launch, host: &Arc<dyn Host>, briefed: &Briefed) -> End {
        let mut arranged = match self.arrange(launch, host, briefed).await {
            Ok(arranged) => arranged,
            Err(end) => return end,
        };
        let gateway = std::mem::replace(&mut arranged.gateway, Box::pin(std::future::pending()));
        let lost = async {
            let _how = gateway.await;
            End::Broken("the way to the model ended".to_owned())
        };
        let has_finish_line = !launch.task.finish_line.is_empty();
        match &self.means {
            Means::Channel => match self.begin_talk(host, arranged, has_finish_line).await {
                Ok(mut talk) => {
                    let end = tokio::select! { biased; end = talk.run() => end, end = lost => end };
                    talk.close(end).await
                }
                Err(end) => end,
            },
            Means::Screen(screens) => match self.sit_down(host, arranged, has_finish_line, screens).await {
                Ok(mut sitting) => {
                    let end = tokio::select! { biased; end = sitting.run() => end, end = lost => end };
                    sitting.close(end).await
                }
                Err(end) => end,
            },
        }
    }

    const fn mode(&self) -> Mode {
        match self.means {
            Means::Channel => Mode::Structured,
            Means::Screen(_) => Mode::Terminal,
        }
    }

    async fn arrange(&self, launch: &Launch, host: &Arc<dyn Host>, briefed: &Briefed) -> Result<Arranged, End> {
        let runtime = &self.setup.runtime;
        let key = format!("{:032x}", runtime.random());
        let meter = Arc::new(HostMeter::new(Arc::clone(host), Arc::clone(runtime)));
        let listener = self.sandbox.listen().await.map_err(broken)?;
        let address = listener.local_addr().map_err(|error| End::Broken(error.to_string()))?;
        let (elsewhere, told) = back_channel::open(host, runtime, Secret::new(key.clone()));
        let gateway = Gateway::new(GatewayParts {
            upstream: self.upstream.clone(),
            model: self.model.clone(),
            key: Secret::new(key.clone()),
            meter: Arc::clone(&meter) as Arc<_>,
            setup: self.setup.clone(),
            limits: Limits::default(),
            elsewhere: Some((back_channel::PATH.to_owned(), elsewhere)),
        });
        let gateway = gateway.map_err(|error| End::Broken(error.to_string()))?;
        let markers = Markers { execution: launch.execution_id, nonce: format!("{:016x}", runtime.random() >> 64) };
        let mut instructions = format!("{}\n\n{}", briefed.instructions, markers.instructions());
        if self.mode() == Mode::Terminal {
            instructions.push_str(super::terminal::INSTRUCTIONS);
        }
        let mcp = self.adapter.agent().takes_mcp.then(|| format!("http://{address}{}", back_channel::PATH));
        Ok(Arranged {
            meter,
            gateway: Box::pin(gateway.serve(listener)),
            told,
            opening: opening(&host.state(), &briefed.prompt),
            fresh: uuid(runtime.random()),
            endpoint: format!("http://{address}"),
            key,
            mcp,
            instructions,
            markers,
        })
    }

    pub(super) fn launching<'a>(&'a self, arranged: &'a Arranged) -> Launching<'a> {
        let Arranged { opening, fresh, endpoint, key, mcp, instructions, .. } = arranged;
        Launching {
            mode: self.mode(),
            program: &self.installed.program,
            home: &self.home,
            workspace: &self.workspace,
            model: &self.model,
            dialect: self.dialect(),
            endpoint,
            key,
            mcp: mcp.as_deref(),
            session: opening.resumes.as_deref().map_or(Session::New(fresh), Session::Resume),
            instructions,
            prompt: &opening.prompt,
        }
    }

    async fn begin_talk(&self, host: &Arc<dyn Host>, arranged: Arranged, has_finish_line: bool) -> Result<Talk, End> {
        let spec = self.adapter.launch(&self.launching(&arranged)).map_err(|error| End::Broken(error.to_string()))?;
        let conversation = self.adapter.converse(&self.launching(&arranged));
        let framing = spec.framing;
        let running = self.begin(spec, Streams::Apart).await?;
        self.note(host.as_ref(), arranged.opening, "structured").await?;
        Ok(Talk::new(TalkParts {
            host: Arc::clone(host),
            runtime: Arc::clone(&self.setup.runtime),
            running,
            conversation,
            framing,
            meter: arranged.meter,
            markers: arranged.markers,
            told: arranged.told,
            workspace: self.workspace.clone(),
            patience: self.patience,
            has_finish_line,
        }))
    }

    /// That it runs, and what it has heard by that.
    pub(super) async fn note(&self, host: &dyn Host, opening: Opening, transport: &str) -> Result<(), End> {
        let Opening { resumes, delivers, .. } = opening;
        let noted = RunnerNoted {
            program: self.adapter.agent().display_name.to_owned(),
            version: self.version().await,
            transport: transport.to_owned(),
            mcp: self.adapter.agent().takes_mcp,
            resumes,
        };
        let delivered = delivers.into_iter().map(|message_id| {
            RunnerCommand::NoteDelivery(MessageDelivery { message_id, outcome: Delivery::Delivered })
        });
        let begun = std::iter::once(RunnerCommand::Note(noted)).chain(delivered).chain(moot(host)).collect();
        host.record(begun).await.map(drop).map_err(End::Refused)
    }

    /// Unknown is a version like any other: the channel is believed only if it begins as expected.
    async fn version(&self) -> String {
        let Installed { program, known_as, versions } = &self.installed;
        if let Some(known) = versions.known(known_as) {
            return known;
        }
        let asked = ask_version(self.adapter.as_ref(), self.sandbox.as_ref(), program, ANSWERING).await;
        let version = asked.unwrap_or_else(|| "of an unknown version".to_owned());
        versions.learn(known_as.clone(), version.clone());
        version
    }

    /// The language of the model's own server where the program knows it, so that nothing has to be translated.
    pub(super) fn dialect(&self) -> Dialect {
        let known = self.adapter.agent().dialects;
        let spoken = match &self.upstream {
            Upstream::Model { dialect, .. } => known.iter().find(|known| *known == dialect),
            Upstream::Rehearsal { .. } => None,
        };
        *spoken.or(known.first()).unwrap_or(&Dialect::Chat)
    }

    pub(super) async fn begin(&self, spec: LaunchSpec, streams: Streams) -> Result<Arc<dyn Running>, End> {
        self.refuse_workspace().await?;
        self.sweep().await?;
        for file in &spec.files {
            self.place(file).await?;
        }
        let mut command = Command::new(spec.argv.iter().map(OsString::from));
        command.env = spec.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        command.streams = streams;
        command.timeout = Command::NO_TIMEOUT;
        command.grace = self.patience.stopping;
        self.sandbox.start(command).await.map(Arc::from).map_err(broken)
    }

    /// What an earlier launch left that shells, git or the program itself would obey is no part of a conversation.
    async fn sweep(&self) -> Result<(), End> {
        let paths = START_FILES.iter().chain(self.adapter.swept()).map(|path| self.home.join(path).into_os_string());
        let words = ["rm", "-rf", "--"].into_iter().map(OsString::from).chain(paths);
        let exit = self.inside(words.collect(), Vec::new()).await?;
        match exit.status {
            Status::Code(0) => Ok(()),
            status => Err(End::Broken(format!("the agent's home could not be swept: {status:?}"))),
        }
    }

    async fn refuse_workspace(&self) -> Result<(), End> {
        const SCRIPT: &str =
            "for path; do if [ -e \"$path\" ] || [ -L \"$path\" ]; then printf '%s\\n' \"$path\"; fi; done";
        if self.adapter.refused().is_empty() {
            return Ok(());
        }
        let paths = self.adapter.refused().iter().map(|path| self.workspace.join(path).into_os_string());
        let words = ["sh", "-c", SCRIPT, "look"].into_iter().map(OsString::from).chain(paths);
        let exit = self.inside(words.collect(), Vec::new()).await?;
        match String::from_utf8_lossy(&exit.stdout).lines().next() {
            None => Ok(()),
            Some(found) => Err(End::Refuses(format!(
                "the workspace holds {found}, which {} would run without asking: take it out first",
                self.adapter.agent().display_name
            ))),
        }
    }

    async fn inside(&self, words: Vec<OsString>, input: Vec<u8>) -> Result<Exit, End> {
        let mut command = Command::new(words);
        command.stdin = Stdin::Bytes(input);
        command.timeout = PLACING;
        self.sandbox.run(command, &mut discard, never()).await.map_err(broken)
    }

    /// From inside: whatever links the program has left in its home lead nowhere else.
    async fn place(&self, file: &PlacedFile) -> Result<(), End> {
        // Whatever is there, a link or a pipe, goes first.
        const SCRIPT: &str = "mkdir -p \"${1%/*}\" && rm -rf -- \"$1\" && cat > \"$1\"";
        let path = self.home.join(&file.path);
        let words: [OsString; 5] =
            ["sh".into(), "-c".into(), SCRIPT.into(), "place".into(), path.clone().into_os_string()];
        let exit = self.inside(words.into(), file.content.clone().into_bytes()).await?;
        match exit.status {
            Status::Code(0) => Ok(()),
            status => {
                Err(End::Broken(format!("{} could not be put into the agent's home: {status:?}", path.display())))
            }
        }
    }

    /// What is still open is settled with the end of the launch, in one commit.
    async fn finish(&self, host: &dyn Host, launch: CallId, end: End) -> Result<Option<Outcome>, Outcome> {
        if matches!(end, End::Stopped(Stop::LeaseLost)) {
            return Ok(Some(Outcome::Stopped(Stop::LeaseLost)));
        }
        let (status, said) = end.of_launch();
        let mut commands = open_ends(host, Some(&launch));
        if matches!(end, End::Turn(TurnEnd::Completed { .. }) | End::GaveUp { .. }) {
            commands.extend(never_made(host));
        }
        commands.extend(moot(host));
        commands.push(finished(launch, status, said));
        host.record(commands).await.map_err(ended)?;
        let state = host.state();
        let is_owed = state.foreign.news.iter().any(|news| news.is_words() && news.message_id.is_some());
        if matches!(&end, End::Turn(TurnEnd::Completed { .. })) && is_owed {
            return Ok(None);
        }
        Ok(Some(end.outcome(self.adapter.agent())))
    }
}

/// What an earlier process left open. Whether what it had begun took effect nobody knows.
async fn settle(host: &dyn Host) -> Result<(), Outcome> {
    let commands = open_ends(host, None);
    if commands.is_empty() { Ok(()) } else { host.record(commands).await.map(drop).map_err(ended) }
}

const INTERRUPTED: &str = "interrupted: the agent was stopped before it could say what became of this call. Look at the state it would have \
changed before you decide what to do.";

fn open_ends(host: &dyn Host, but: Option<&CallId>) -> Vec<RunnerCommand> {
    let state = host.state();
    let settled = state.open_calls.iter().filter(|open| Some(&open.call.call_id) != but).filter_map(|open| {
        let call_id = open.call.call_id.clone();
        let is_launch = open.call.tool == LAUNCH_AGENT;
        match open.phase {
            CallPhase::Started { .. } if is_launch => {
                Some(finished(call_id, CallStatus::Cancelled, "the process that carried it is gone".to_owned()))
            }
            CallPhase::Started { .. } => Some(finished(call_id, CallStatus::Interrupted, INTERRUPTED.to_owned())),
            CallPhase::Asked | CallPhase::Rewritten => Some(finished(
                call_id,
                CallStatus::Cancelled,
                "the agent was stopped before this was decided".to_owned(),
            )),
            // It goes on once somebody has answered, or when it is made.
            CallPhase::Waiting(_) | CallPhase::Approved(_) => None,
        }
    });
    settled.collect()
}

/// Nobody is at work any more who could be interrupted.
fn moot(host: &dyn Host) -> Vec<RunnerCommand> {
    let state = host.state();
    let note = |message_id| {
        let outcome = Delivery::Undeliverable { reason: "there is nothing to break off any more".to_owned() };
        RunnerCommand::NoteDelivery(MessageDelivery { message_id, outcome })
    };
    state.foreign.moot().map(note).collect()
}

/// What a person said yes to and the agent did without.
fn never_made(host: &dyn Host) -> Vec<RunnerCommand> {
    let state = host.state();
    let approved = state.open_calls.iter().filter(|open| matches!(open.phase, CallPhase::Approved(_)));
    let never =
        |call_id: &CallId| finished(call_id.clone(), CallStatus::Cancelled, "the agent did not make it".to_owned());
    approved.map(|open| never(&open.call.call_id)).collect()
}

fn finished(call_id: CallId, status: CallStatus, content: String) -> RunnerCommand {
    RunnerCommand::FinishCall(CallOutcome {
        call_id,
        status,
        content,
        full_output: None,
        images: Vec::new(),
        duration_ms: 0,
    })
}

/// What the host had to say to a call.
pub(super) fn said_to(host: &dyn Host, call_id: &CallId) -> String {
    let state = host.state();
    let said = state.transcript.iter().rev().find_map(|message| match message.as_ref() {
        windlass_domain::Message::Tool(result) if result.call_id == *call_id => Some(result.content.clone()),
        _ => None,
    });
    said.unwrap_or_default()
}

fn broken(error: windlass_sandbox::Error) -> End {
    End::Broken(format!("failed to {error}"))
}

pub(super) fn failed(code: ErrorCode, message: String) -> Outcome {
    Outcome::Failed(ErrorDetails::new(code, message))
}

/// How a refusal by the host ends the run.
pub(super) fn ended(refused: Refused) -> Outcome {
    use windlass_domain::execution::Rejected;
    match refused {
        Refused::Fenced | Refused::Overtaken => Outcome::Stopped(Stop::LeaseLost),
        Refused::Blocked(reason) => failed(ErrorCode::GateBlocked, reason),
        Refused::Rejected(Rejected::OverBudget(exhausted)) => Outcome::Failed(exhausted.details()),
        other => failed(ErrorCode::Internal, other.to_string()),
    }
}

/// A random UUID, for programs that take a name for a conversation.
pub(super) fn uuid(random: u128) -> String {
    let bits = (random & !(0xf << 76) & !(0x3 << 62)) | (4 << 76) | (2 << 62);
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::uuid;

    #[test]
    fn a_name_for_a_conversation_is_a_uuid_of_the_random_kind() {
        let name = uuid(u128::MAX);
        assert_eq!(name, "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid(0), "00000000-0000-4000-8000-000000000000");
    }
}
