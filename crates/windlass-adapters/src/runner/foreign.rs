//! `Runner` for foreign agents. A launch is a call like any other: it is proposed, judged by the same gates, and what became of it is
//! recorded. Between launches nothing of the program is in memory: its conversation is in its home, what it has to be told
//! is in the fold. A person is never waited for with a program in hand: it is stopped, and goes on once they have answered.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use windlass_domain::execution::{
    CallPhase, Delivery, Doubt, ExecutionState, Launch, MessageDelivery, Observation, Observed, Outcome, RunnerCommand,
    RunnerNoted, Source, TurnEnd,
};
use windlass_domain::tool_name::LAUNCH_AGENT;
use windlass_domain::{
    BoxFuture, CallId, CallOutcome, CallStatus, Effect, ErrorCode, ErrorDetails, Host, Image, Instant, Intent,
    MessageId, Permit, Prepared, Reach, Refused, Runner, ScopeKind, Secret, Stop, ToolCall, Verdict, millis,
};
use windlass_llm::gateway::{Gateway, GatewayParts, Limits, Upstream};
use windlass_llm::{Dialect, Setup};
use windlass_sandbox::{Sandbox, Streams};

use super::back_channel::{self, Told};
use super::doubt::{of_channel, of_version, screen_instead, tried};
use super::ending::End;
use super::markers::Markers;
use super::meter::HostMeter;
use super::opening::{Opening, anew, opening};
use super::pictures::{developed, naming, pictures};
use super::talk::{Talk, TalkParts};
use super::terminal::Screens;
use super::tools::Tools;
use super::versions::{Key, Versions, ask_version};
use crate::{Adapter, Launching, Mode, Session};

pub struct ForeignRunner {
    pub adapter: Arc<dyn Adapter>,
    pub installed: Installed,
    pub sandbox: Arc<dyn Sandbox>,
    /// Inside the sandbox, as is the workspace.
    pub home: PathBuf,
    pub workspace: PathBuf,
    /// Windlass itself, for agents that take tools only from programs.
    pub bridge: Option<PathBuf>,
    pub upstream: Upstream,
    pub model: String,
    pub setup: Setup,
    pub briefing: Briefing,
    pub patience: Patience,
    pub means: Means,
}

/// How the program is spoken to.
pub enum Means {
    /// Over its structured channel; on its screen where that cannot be read and there are screens.
    Channel { otherwise: Option<Screens> },
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
    /// For something that it runs, without a word about it: a long build takes a while, and one that never ends is not waited for until time is up.
    pub call: Duration,
    /// To stop when it is told to.
    pub stopping: Duration,
}

impl Patience {
    /// When a program that was last heard from then, and that began what it runs at these times, has been silent for too long. What never ends is
    /// an excuse for as long as it has itself.
    pub(super) fn ends(&self, heard: Instant, calls: impl Iterator<Item = Instant>) -> Instant {
        let silent = heard + self.silence;
        calls.max().map_or(silent, |begun| silent.max(begun + self.call))
    }

    /// For one that asks its model to connect to the tools that it was given, which some do beside their first question.
    fn connecting(&self) -> Duration {
        self.silence / 10
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self { silence: Duration::from_secs(300), call: Duration::from_secs(3_600), stopping: Duration::from_secs(5) }
    }
}

/// A launch that there is leave for.
struct Begun {
    call_id: CallId,
    at: Instant,
}

/// What a launch is made of, before the program is started.
pub(super) struct Arranged {
    pub meter: Arc<HostMeter>,
    /// Whether it has those that it was given.
    pub tools: Arc<Tools>,
    pub markers: Markers,
    /// Serves the model while it is polled.
    gateway: BoxFuture<'static, std::io::Result<()>>,
    /// What the agent tells by tools of ours.
    pub told: mpsc::Receiver<Told>,
    pub opening: Opening,
    /// What a new conversation begins with.
    pub task: String,
    /// What one begins with instead of an old one.
    anew: String,
    /// What lies in the home beside it.
    pub pictures: Vec<(PathBuf, Vec<u8>)>,
    /// A name for a new conversation.
    pub fresh: String,
    mode: Mode,
    model: String,
    endpoint: String,
    key: String,
    mcp: Option<String>,
    instructions: String,
}

/// For `--version`.
const ANSWERING: Duration = Duration::from_secs(20);
/// More than one launch after the other, without anything new to say, comes to nothing. Each listens, and a sandbox lets nobody listen for ever.
const MOST_LAUNCHES_IN_A_ROW: usize = 12;
const _: () = assert!(MOST_LAUNCHES_IN_A_ROW < windlass_sandbox::MOST_LISTENERS);

impl Runner for ForeignRunner {
    fn run(&self, launch: Launch, host: Arc<dyn Host>) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            for _ in 0..MOST_LAUNCHES_IN_A_ROW {
                match self.carry(&launch, &host).await {
                    Ok(Some(outcome)) | Err(outcome) => return outcome,
                    // Somebody said something that the program did not hear before it stopped, or it is spoken to in another way.
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
        let pictures = pictures(launch);
        let mut briefed = (self.briefing)(launch);
        briefed.prompt = naming(&briefed.prompt, &pictures, &self.home);
        if host.state().transcript.is_empty() {
            let content = briefed.prompt.clone();
            host.stage(vec![RunnerCommand::Open { content, images: pictures.clone() }]).map_err(ended)?;
        }
        let screens = self.screens(&host.state());
        let mode = if screens.is_some() { Mode::Terminal } else { Mode::Structured };
        let Some(permit) = self.leave(host.as_ref(), mode).await? else { return Ok(Some(Outcome::Waiting)) };
        let begun = Begun { call_id: permit.redeem().call.call_id, at: self.setup.runtime.now() };
        let end = match self.arrange(launch, host, &briefed, &pictures, mode).await {
            Ok(arranged) => Box::pin(self.live(launch, host, arranged, screens)).await,
            Err(end) => end,
        };
        Box::pin(self.finish(host.as_ref(), begun, end)).await
    }

    /// Where its own screen is to be, if that is how it is spoken to.
    fn screens(&self, state: &ExecutionState) -> Option<&Screens> {
        match &self.means {
            Means::Screen(screens) => Some(screens),
            Means::Channel { otherwise } => otherwise.as_ref().filter(|_| state.foreign.is_channel_doubted()),
        }
    }

    /// Asks for leave to start the program in this way. Nothing: a person is asked.
    async fn leave(&self, host: &dyn Host, mode: Mode) -> Result<Option<Permit>, Outcome> {
        let call_id = self.propose_launch(host, mode).await?;
        // It sees the whole workspace and the context, and may change any file; out of the sandbox it reaches its model alone.
        let prepared = Prepared::new(Effect::Once, Reach::Program);
        let intent = Intent { call_id: call_id.clone(), prepared };
        let verdict = host.authorise(vec![intent]).await.map_err(ended)?.pop();
        match verdict {
            Some(Verdict::Granted(permit)) => Ok(Some(permit)),
            Some(Verdict::Waiting) => Ok(None),
            Some(Verdict::Denied) => Err(self.denied(host, &said_to(host, &call_id))),
            Some(Verdict::Rewritten) | None => {
                let stop = host.cancel().raised();
                let gate =
                    || failed(ErrorCode::GateBlocked, "a gate would start another agent than was asked for".to_owned());
                Err(stop.map_or_else(gate, Outcome::Stopped))
            }
        }
    }

    /// Leave to talk to it is none to have it on a screen, so that there may be none for what was to go on.
    fn denied(&self, host: &dyn Host, why: &str) -> Outcome {
        let denied = |message| ErrorDetails::new(ErrorCode::ApprovalDenied, message);
        Outcome::Failed(match host.state().foreign.is_channel_doubted() {
            false => denied(format!("the agent may not be started: {why}")),
            true => denied(format!(
                "what the agent's program says cannot be read, and on its own screen it may not be started: {why}"
            ))
            .with_hint(format!(
                "{}: install such a version, or allow `launch_agent` with `terminal` and sit down at it with `windlass attach`",
                tried(self.adapter.agent())
            )),
        })
    }

    /// A launch that a person has said yes to is the one that is made.
    async fn propose_launch(&self, host: &dyn Host, mode: Mode) -> Result<CallId, Outcome> {
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
        let mut arguments = json!({"agent": agent.id, "model": self.model_now(host)});
        // There the launch is all that is judged: a gate may want to know.
        if mode == Mode::Terminal {
            arguments["terminal"] = json!(true);
            // Nobody has asked for the screen: a gate may want to know that, too.
            if matches!(self.means, Means::Channel { .. }) {
                arguments["instead_of"] = json!("structured");
            }
        }
        let call = ToolCall::new(call_id.0.clone(), LAUNCH_AGENT, &arguments.to_string());
        host.stage(vec![RunnerCommand::Propose(call)]).map_err(ended)?;
        Ok(call_id)
    }

    /// The program's life, from its first frame to its last.
    async fn live(
        &self,
        launch: &Launch,
        host: &Arc<dyn Host>,
        mut arranged: Arranged,
        screens: Option<&Screens>,
    ) -> End {
        let gateway = std::mem::replace(&mut arranged.gateway, Box::pin(std::future::pending()));
        let tools = Arc::clone(&arranged.tools);
        let lost = async {
            tokio::select! {
                biased;
                _how = gateway => End::Broken("the way to the model ended".to_owned()),
                end = tools.are_missed() => end,
            }
        };
        let has_finish_line = !launch.task.finish_line.is_empty();
        match screens {
            None => match self.begin_talk(host, arranged, has_finish_line).await {
                Ok(mut talk) => {
                    let end = tokio::select! { biased; end = talk.run() => end, end = lost => end };
                    let end = match tools.judge(end) {
                        End::NotBelieved(why) => self.doubt_channel(host.as_ref(), why).await,
                        end => end,
                    };
                    talk.close(end).await
                }
                Err(end) => end,
            },
            Some(screens) => self.live_on_screen(host, arranged, has_finish_line, screens, lost).await,
        }
    }

    /// On record before the program is ended: whoever goes on after a crash does so on the screen.
    async fn doubt_channel(&self, host: &dyn Host, why: String) -> End {
        let agent = self.adapter.agent();
        if let Err(but) = self.way_out(&host.state()) {
            return End::NotBelieved(format!("{why}; {but}"));
        }
        let doubted = doubted("channel", Doubt::Channel, of_channel(agent, &why));
        match host.record(vec![doubted]).await {
            Ok(_) => End::OnScreen(why),
            Err(refused) => End::Refused(refused),
        }
    }

    /// Onto its own screen.
    fn way_out(&self, state: &ExecutionState) -> Result<(), &'static str> {
        let has_screen = self.adapter.has_screen() && matches!(&self.means, Means::Channel { otherwise: Some(_) });
        screen_instead(state, self.adapter.agent(), has_screen)
    }

    async fn arrange(
        &self,
        launch: &Launch,
        host: &Arc<dyn Host>,
        briefed: &Briefed,
        pictures: &[Image],
        mode: Mode,
    ) -> Result<Arranged, End> {
        let pictures = developed(host.as_ref(), pictures).await?;
        let runtime = &self.setup.runtime;
        let key = format!("{:032x}", runtime.random());
        let takes_mcp = self.adapter.agent().takes_mcp;
        let tools = Arc::new(Tools::new(takes_mcp, self.patience.connecting()));
        let meter = Arc::new(HostMeter::new(Arc::clone(host), Arc::clone(runtime), Arc::clone(&tools)));
        let listener = self.sandbox.listen().await.map_err(broken)?;
        let address = listener.local_addr().map_err(|error| End::Broken(error.to_string()))?;
        let (elsewhere, told) = back_channel::open(host, runtime, Secret::new(key.clone()), &tools);
        let gateway = Gateway::new(GatewayParts {
            upstream: self.upstream.clone(),
            model: self.model_now(host.as_ref()),
            key: Secret::new(key.clone()),
            meter: Arc::clone(&meter) as Arc<_>,
            setup: self.setup.clone(),
            limits: Limits::default(),
            elsewhere: Some((back_channel::PATH.to_owned(), elsewhere)),
        });
        let gateway = gateway.map_err(|error| End::Broken(error.to_string()))?;
        let markers = Markers {
            execution: launch.execution_id,
            scope: host.state().header.as_ref().map_or(ScopeKind::Task, |header| header.scope.kind),
            nonce: format!("{:016x}", runtime.random() >> 64),
        };
        let mut instructions = format!("{}\n\n{}", briefed.instructions, markers.instructions());
        if mode == Mode::Terminal {
            instructions.push_str(super::terminal::INSTRUCTIONS);
        }
        let mcp = takes_mcp.then(|| format!("http://{address}{}", back_channel::PATH));
        Ok(Arranged {
            meter,
            tools,
            gateway: Box::pin(gateway.serve(listener)),
            told,
            opening: opening(&host.state(), &briefed.prompt),
            anew: anew(&host.state(), &briefed.prompt),
            task: briefed.prompt.clone(),
            pictures,
            fresh: uuid(runtime.random()),
            mode,
            model: self.model_now(host.as_ref()),
            endpoint: format!("http://{address}"),
            key,
            mcp,
            instructions,
            markers,
        })
    }

    /// Whom it asks, as its journal has it.
    fn model_now(&self, host: &dyn Host) -> String {
        host.state().switched_to().unwrap_or(&self.model).to_owned()
    }

    pub(super) fn launching<'a>(&'a self, arranged: &'a Arranged) -> Launching<'a> {
        let Arranged { opening, fresh, mode, model, endpoint, key, mcp, instructions, anew, .. } = arranged;
        let session = match (&opening.resumes, &opening.forks) {
            (Some(session), _) => Session::Resume(session),
            (None, Some(session)) => Session::Fork(session),
            (None, None) => Session::New(fresh),
        };
        let known = self.setup.models.find(model);
        Launching {
            mode: *mode,
            program: &self.installed.program,
            home: &self.home,
            workspace: &self.workspace,
            model,
            window: known.context_window,
            longest_answer: known.longest_answer(),
            dialect: self.dialect(),
            endpoint,
            key,
            mcp: mcp.as_deref(),
            bridge: self.bridge.as_deref(),
            session,
            instructions,
            prompt: &opening.prompt,
            anew,
        }
    }

    async fn begin_talk(
        &self,
        host: &Arc<dyn Host>,
        mut arranged: Arranged,
        has_finish_line: bool,
    ) -> Result<Talk, End> {
        let spec = self.adapter.launch(&self.launching(&arranged))?;
        let conversation = self.adapter.converse(&self.launching(&arranged));
        let framing = spec.framing;
        attempt(host.as_ref(), &arranged.opening.delivers).await?;
        let running = self.begin(&host.cancel(), spec, Streams::Apart, &arranged.pictures).await?;
        let opened_with = std::mem::take(&mut arranged.opening.delivers);
        self.note(host.as_ref(), arranged.opening, "structured").await?;
        Ok(Talk::new(TalkParts {
            opened_with,
            permissions: self.adapter.agent().permissions,
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
            has_way_out: self.way_out(&host.state()).is_ok(),
            is_tried: self.adapter.agent().tried.contains(&self.version().await.as_str()),
        }))
    }

    /// That it runs, and what it has surely heard by that.
    pub(super) async fn note(&self, host: &dyn Host, opening: Opening, transport: &str) -> Result<(), End> {
        let Opening { resumes, delivers, .. } = opening;
        let cancel = host.cancel();
        let version = tokio::select! {
            biased;
            stop = cancel.wait() => return Err(End::Stopped(stop)),
            version = self.version() => version,
        };
        let untried = of_version(self.adapter.agent(), &version)
            .filter(|_| !host.state().foreign.has_seen(&doubted_id(&version)));
        let untried = untried.map(|why| doubted(&version, Doubt::Version, why));
        let noted = RunnerNoted {
            program: self.adapter.agent().display_name.to_owned(),
            version,
            transport: transport.to_owned(),
            mcp: self.adapter.agent().takes_mcp,
            resumes,
        };
        let delivered = delivers.into_iter().map(|message_id| {
            RunnerCommand::NoteDelivery(MessageDelivery { message_id, outcome: Delivery::Delivered })
        });
        let begun =
            std::iter::once(RunnerCommand::Note(noted)).chain(untried).chain(delivered).chain(moot(host)).collect();
        host.record(begun).await.map(drop).map_err(End::Refused)
    }

    /// Unknown is a version like any other: the channel is believed only if it begins as expected.
    async fn version(&self) -> String {
        let Installed { program, known_as, versions } = &self.installed;
        if let Some(known) = versions.known(known_as) {
            return known;
        }
        match ask_version(self.adapter.as_ref(), self.sandbox.as_ref(), program, ANSWERING).await {
            Some(version) => versions.learn(known_as, version),
            None => versions.learn_nothing(known_as, "of an unknown version".to_owned()),
        }
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

    /// What is still open is settled with the end of the launch, in one commit.
    async fn finish(&self, host: &dyn Host, launch: Begun, end: End) -> Result<Option<Outcome>, Outcome> {
        if matches!(end, End::Stopped(Stop::LeaseLost)) {
            return Ok(Some(Outcome::Stopped(Stop::LeaseLost)));
        }
        let (status, said) = end.of_launch();
        let mut commands = open_ends(host, Some(&launch.call_id));
        if matches!(end, End::Turn(TurnEnd::Completed { .. }) | End::GaveUp { .. }) {
            commands.extend(never_made(host));
        }
        commands.extend(moot(host));
        let took = self.setup.runtime.now() - launch.at;
        commands.push(finished(launch.call_id, status, said, took));
        host.record(commands).await.map_err(ended)?;
        let state = host.state();
        let is_owed = state.foreign.news.iter().any(|news| news.is_words() && news.message_id.is_some());
        let is_owed = is_owed && matches!(&end, End::Turn(TurnEnd::Completed { .. }));
        if is_owed || matches!(&end, End::OnScreen(_)) {
            return Ok(None);
        }
        Ok(Some(end.outcome(self.adapter.agent())))
    }
}

/// Once in an execution for each thing that is doubted.
fn doubted(what: &str, doubt: Doubt, why: String) -> RunnerCommand {
    let observation = Observation::Doubted { doubt, why };
    let observed = Observed { event_id: doubted_id(what), source: Source::Provider, observation };
    RunnerCommand::Observe(Box::new(observed))
}

fn doubted_id(what: &str) -> String {
    format!("doubted:{what}")
}

/// On record before the program is started with them: whoever goes on after a crash knows that they may have been heard.
pub(super) async fn attempt(host: &dyn Host, messages: &[MessageId]) -> Result<(), End> {
    if messages.is_empty() {
        return Ok(());
    }
    let attempted = |message_id: &MessageId| MessageDelivery { message_id: *message_id, outcome: Delivery::Attempted };
    let attempts = messages.iter().map(attempted).map(RunnerCommand::NoteDelivery).collect();
    host.record(attempts).await.map(drop).map_err(End::Refused)
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
                Some(unknown_since(call_id, CallStatus::Cancelled, "the process that carried it is gone"))
            }
            CallPhase::Started { .. } => Some(unknown_since(call_id, CallStatus::Interrupted, INTERRUPTED)),
            CallPhase::Asked | CallPhase::Rewritten => {
                Some(unknown_since(call_id, CallStatus::Cancelled, "the agent was stopped before this was decided"))
            }
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
    let never = |call_id: &CallId| unknown_since(call_id.clone(), CallStatus::Cancelled, "the agent did not make it");
    approved.map(|open| never(&open.call.call_id)).collect()
}

/// Of something that was never begun, or that nobody here saw begin.
fn unknown_since(call_id: CallId, status: CallStatus, content: &str) -> RunnerCommand {
    finished(call_id, status, content.to_owned(), Duration::ZERO)
}

fn finished(call_id: CallId, status: CallStatus, content: String, took: Duration) -> RunnerCommand {
    RunnerCommand::FinishCall(CallOutcome {
        call_id,
        status,
        content,
        full_output: None,
        images: Vec::new(),
        duration_ms: millis(took),
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

pub(super) fn broken(error: windlass_sandbox::Error) -> End {
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
    use super::*;

    #[test]
    fn a_call_is_an_excuse_for_silence_for_as_long_as_it_has_itself() {
        let (silence, call) = (Duration::from_secs(10), Duration::from_secs(100));
        let patience = Patience { silence, call, ..Patience::default() };
        let at = |seconds: u64| Instant::since_start(Duration::from_secs(seconds));
        let check = |heard: u64, calls: &[u64], ends: u64| {
            let calls = calls.iter().map(|begun| at(*begun));
            assert_eq!(patience.ends(at(heard), calls), at(ends));
        };
        check(50, &[], 60);
        check(50, &[45], 145);
        check(50, &[1, 45], 145);
        // The first has never ended, and excuses nothing any more.
        check(500, &[1], 510);
    }

    #[test]
    fn who_has_been_given_tools_has_half_a_minute_to_connect_to_them_unless_patience_is_short() {
        let impatient = Patience { silence: Duration::from_secs(20), ..Patience::default() };
        let seconds = [Patience::default(), impatient].map(|patience| patience.connecting().as_secs());
        assert_eq!(seconds, [30, 2]);
    }

    #[test]
    fn a_name_for_a_conversation_is_a_uuid_of_the_random_kind() {
        let name = uuid(u128::MAX);
        assert_eq!(name, "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid(0), "00000000-0000-4000-8000-000000000000");
    }
}
