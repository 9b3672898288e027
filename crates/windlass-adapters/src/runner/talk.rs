//! One program that runs: all that can wake it meets in `next`, and everything it says goes through `frame`. It is talked to until its turn is
//! over, a person is needed, or something is wrong with it; why it ended is a value, and what follows from that is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use windlass_domain::execution::{
    Claim, ClaimKind, Delivery, Failure, MessageDelivery, Observation, Observed, Outcome, RunnerCommand, Source,
    TurnEnd,
};
use windlass_domain::{
    BoxFuture, CallId, CallOutcome, CallStatus, Delta, ErrorCategory, ErrorCode, ErrorDetails, Exhausted, Host,
    Instant, Refused, Runtime, Stop, millis,
};
use windlass_sandbox::Running;

use super::foreign::{Patience, ended, failed};
use super::framing::{Frame, Frames, framed};
use super::markers::{Marker, Markers};
use super::meter::HostMeter;
use crate::{Agent, Answer, Conversation, Event, Framing, Tell, Undeliverable};

/// A program that says more than this in one launch says it to nobody.
const MOST_OBSERVED: u32 = 50_000;
/// So many frames that cannot be read, and the channel is not believed.
const MOST_UNREADABLE: u32 = 20;

pub struct TalkParts {
    pub host: Arc<dyn Host>,
    pub runtime: Arc<dyn Runtime>,
    pub running: Arc<dyn Running>,
    pub conversation: Box<dyn Conversation>,
    pub framing: Framing,
    pub meter: Arc<HostMeter>,
    pub markers: Markers,
    pub workspace: PathBuf,
    pub patience: Patience,
    pub has_finish_line: bool,
}

pub struct Talk {
    pub(super) parts: TalkParts,
    frames: Frames,
    /// The program's calls that we have given leave for, by its names for them.
    pub(super) calls: BTreeMap<String, (CallId, Instant)>,
    /// The program's calls that we have said no to, or not yet: what the program makes of that is known here.
    pub(super) refused: BTreeSet<String>,
    /// Calls of the program's that run, with or without leave.
    at_work: u32,
    observed: u32,
    unreadable: u32,
    /// It has said something that makes sense.
    is_believed: bool,
    heard_at: Instant,
}

/// Why a program is talked to no more.
#[derive(Debug)]
pub enum End {
    Turn(TurnEnd),
    /// A person is asked.
    Held,
    Stopped(Stop),
    /// It ended by itself, in the middle; what it complained of.
    Exited(String),
    Silent,
    OutOf(Exhausted),
    /// What it says cannot be read.
    NotBelieved(String),
    Flood,
    /// It says that it cannot do it, and whether checks decide that.
    GaveUp {
        why: String,
        is_checked: bool,
    },
    Refused(Refused),
    Broken(String),
}

enum Input {
    Bytes(Vec<u8>),
    Gone,
    Said,
    Stop(Stop),
    TooLong,
}

impl Talk {
    pub fn new(parts: TalkParts) -> Self {
        let (frames, heard_at) = (Frames::new(parts.framing), parts.runtime.now());
        Self {
            parts,
            frames,
            calls: BTreeMap::new(),
            refused: BTreeSet::new(),
            at_work: 0,
            observed: 0,
            unreadable: 0,
            is_believed: false,
            heard_at,
        }
    }

    pub async fn run(&mut self) -> End {
        let first = self.parts.conversation.begin();
        if let Err(end) = self.write(&first).await {
            return end;
        }
        loop {
            let dealt = match self.next().await {
                Input::Bytes(bytes) => self.hear(&bytes).await,
                Input::Said => self.deliver().await,
                Input::Gone => Err(self.gone()),
                Input::Stop(stop) => Err(End::Stopped(stop)),
                Input::TooLong => self.look_at_the_clock(),
            };
            if let Err(end) = dealt {
                return end;
            }
        }
    }

    /// Waits for whatever comes first. Each of these loses nothing when another does.
    async fn next(&self) -> Input {
        let TalkParts { host, runtime, running, .. } = &self.parts;
        let cancel = host.cancel();
        tokio::select! {
            biased;
            stop = cancel.wait() => Input::Stop(stop),
            read = running.read() => match read {
                Ok(bytes) if !bytes.is_empty() => Input::Bytes(bytes),
                Ok(_) | Err(_) => Input::Gone,
            },
            () = host.listen() => Input::Said,
            () = runtime.sleep_until(self.next_look()) => Input::TooLong,
        }
    }

    /// When there is reason to doubt that anything will come.
    fn next_look(&self) -> Instant {
        let silent = self.heard_at + self.parts.patience.silence;
        let state = self.parts.host.state();
        let left = state.header.as_ref().map(|header| {
            let spent = state.spent_by(self.parts.runtime.wall());
            std::time::Duration::from_millis(header.limits.timeout_ms.saturating_sub(spent.active_ms))
        });
        left.map_or(silent, |left| silent.min(self.parts.runtime.now() + left))
    }

    fn look_at_the_clock(&mut self) -> Result<(), End> {
        let state = self.parts.host.state();
        let spent = state.spent_by(self.parts.runtime.wall());
        if state.header.as_ref().is_some_and(|header| spent.active_ms >= header.limits.timeout_ms) {
            return Err(End::OutOf(Exhausted::Time));
        }
        let is_busy = self.at_work > 0 || !state.foreign.exchanges.is_empty();
        if !is_busy && self.parts.runtime.now() >= self.heard_at + self.parts.patience.silence {
            return Err(End::Silent);
        }
        if is_busy {
            self.heard_at = self.parts.runtime.now();
        }
        Ok(())
    }

    async fn hear(&mut self, bytes: &[u8]) -> Result<(), End> {
        self.heard_at = self.parts.runtime.now();
        let mut end = Ok(());
        for frame in self.frames.push(bytes) {
            end = self.frame(frame).await;
            if end.is_err() {
                break;
            }
        }
        // What was told is durable before anything follows from it.
        self.parts.host.record(Vec::new()).await.map_err(End::Refused)?;
        end
    }

    async fn frame(&mut self, frame: Frame) -> Result<(), End> {
        let Frame::Whole(frame) = frame else {
            return self.cannot_read("a frame is longer than any that makes sense".to_owned());
        };
        for event in self.parts.conversation.read(&frame) {
            match event {
                Event::Write(frame) => self.write(&[frame]).await?,
                Event::Observed { event_id, observation } => {
                    self.is_believed = true;
                    self.observe(Observed { event_id, source: Source::Provider, observation }).await?;
                }
                Event::Asked(asked) => {
                    self.is_believed = true;
                    self.judge(asked).await?;
                }
                // Whatever is asked is answered before the next frame is read.
                Event::Withdrawn { .. } => {}
                Event::Streamed { text } => self.parts.host.emit(Delta::Text(text)),
                Event::Unreadable { why } => self.cannot_read(why)?,
            }
        }
        Ok(())
    }

    /// Never to a wrong reading: a program that begins with something else than expected is another program.
    fn cannot_read(&mut self, why: String) -> Result<(), End> {
        self.unreadable += 1;
        if !self.is_believed || self.unreadable > MOST_UNREADABLE {
            return Err(End::NotBelieved(why));
        }
        self.tell_journal(Observed {
            event_id: format!("unreadable:{}:{}", self.parts.markers.nonce, self.unreadable),
            source: Source::Provider,
            observation: Observation::Noticed { text: why },
        })
    }

    async fn observe(&mut self, observed: Observed) -> Result<(), End> {
        match &observed.observation {
            Observation::Called { .. } => self.at_work += 1,
            Observation::CallEnded { call, is_error, output } => {
                self.at_work = self.at_work.saturating_sub(1);
                if self.refused.contains(call) {
                    return Ok(());
                }
                if let Some((call_id, begun)) = self.calls.remove(call) {
                    let duration_ms = millis(self.parts.runtime.now() - begun);
                    let status = if *is_error { CallStatus::Error } else { CallStatus::Ok };
                    let content = output.clone();
                    let outcome =
                        CallOutcome { call_id, status, content, full_output: None, images: Vec::new(), duration_ms };
                    return self.stage(RunnerCommand::FinishCall(outcome));
                }
            }
            Observation::Said { text } => {
                let told: Vec<Marker> = self.parts.markers.read(text).collect();
                self.tell_journal(observed)?;
                return self.heed_markers(told).await;
            }
            _ => {}
        }
        let observation = observed.observation.clone();
        self.tell_journal(observed)?;
        match observation {
            Observation::TurnEnded { end } => self.turn_ended(end).await,
            Observation::Claimed(claim) => self.heed(claim).await,
            _ => Ok(()),
        }
    }

    async fn heed_markers(&mut self, markers: Vec<Marker>) -> Result<(), End> {
        for marker in markers {
            match marker {
                Marker::Told(observed) => Box::pin(self.observe(observed)).await?,
                Marker::Refused(why) => {
                    self.observed += 1;
                    let text = format!("a marker is not read: {why}");
                    let event_id = format!("marker:{}:{}", self.parts.markers.nonce, self.observed);
                    self.tell_journal(Observed {
                        event_id,
                        source: Source::Marker,
                        observation: Observation::Noticed { text },
                    })?;
                }
            }
        }
        Ok(())
    }

    /// A claim of success changes nothing: the program goes on until its turn is over, and then checks decide.
    async fn heed(&mut self, claim: Claim) -> Result<(), End> {
        let words = || claim.words().unwrap_or("without saying why").to_owned();
        match claim.kind {
            ClaimKind::FailedClaim => Err(End::GaveUp { why: words(), is_checked: self.parts.has_finish_line }),
            ClaimKind::NeedsInput => self.ask_person(&words()).await,
            ClaimKind::Blocked => self.ask_person(&format!("The agent says that it is blocked: {}", words())).await,
            ClaimKind::Progress | ClaimKind::Note | ClaimKind::ReadyForVerification | ClaimKind::CompletedClaim => {
                Ok(())
            }
        }
    }

    /// Whoever was spoken to meanwhile goes on.
    async fn turn_ended(&mut self, end: TurnEnd) -> Result<(), End> {
        if matches!(end, TurnEnd::Completed { .. }) {
            self.parts.host.record(Vec::new()).await.map_err(End::Refused)?;
            if self.tell_news().await? > 0 {
                return Ok(());
            }
        }
        Err(End::Turn(end))
    }

    async fn deliver(&mut self) -> Result<(), End> {
        self.parts.host.take_in().await.map_err(End::Refused)?;
        self.tell_news().await.map(drop)
    }

    /// Tells the agent what people said and it has not heard; how many messages it took.
    async fn tell_news(&mut self) -> Result<usize, End> {
        let state = self.parts.host.state();
        let news: Vec<_> =
            state.foreign.news.iter().filter_map(|news| Some((news.message_id?, news.text.clone()))).collect();
        drop(state);
        let mut taken = 0;
        for (message_id, text) in news {
            let outcome = match self.parts.conversation.tell(&Tell::Say { text }) {
                Ok(frames) => {
                    self.write(&frames).await?;
                    taken += 1;
                    Delivery::Delivered
                }
                Err(why @ Undeliverable::NotAble) => Delivery::Undeliverable { reason: why.to_string() },
                Err(why) => Delivery::Deferred { reason: why.to_string() },
            };
            let delivery = RunnerCommand::NoteDelivery(MessageDelivery { message_id, outcome });
            self.parts.host.record(vec![delivery]).await.map_err(End::Refused)?;
        }
        Ok(taken)
    }

    /// Told twice, it counts once.
    fn tell_journal(&mut self, observed: Observed) -> Result<(), End> {
        if self.parts.host.state().foreign.has_seen(&observed.event_id) {
            return Ok(());
        }
        self.observed += 1;
        if self.observed > MOST_OBSERVED {
            return Err(End::Flood);
        }
        self.stage(RunnerCommand::Observe(Box::new(observed)))
    }

    pub(super) fn stage(&self, command: RunnerCommand) -> Result<(), End> {
        self.parts.host.stage(vec![command]).map_err(End::Refused)
    }

    pub(super) async fn write(&self, frames: &[Vec<u8>]) -> Result<(), End> {
        for frame in frames {
            let bytes = framed(self.parts.framing, frame);
            if self.parts.running.write(&bytes).await.is_err() {
                return Err(self.gone());
            }
        }
        Ok(())
    }

    fn gone(&self) -> End {
        let said = self.parts.running.complaints();
        let said = String::from_utf8_lossy(&said);
        End::Exited(last_line(&said))
    }

    /// Has the program stop, in peace where it can, and says how it went in the end.
    pub async fn close(mut self, end: End) -> End {
        let end = match self.parts.meter.take_refusal() {
            // The program only knows that its model said no.
            Some(refused) if matches!(end, End::Turn(_) | End::Exited(_)) => End::Refused(refused),
            _ => end,
        };
        if matches!(end, End::Held | End::Stopped(Stop::Pause | Stop::Cancel)) {
            self.interrupt().await;
        }
        let TalkParts { running, runtime, patience, .. } = &self.parts;
        running.close_stdin().await;
        if within(runtime.as_ref(), patience.stopping, running.wait()).await.is_none() {
            running.stop();
            if within(runtime.as_ref(), patience.stopping * 2, running.wait()).await.is_none() {
                running.kill();
            }
        }
        end
    }

    /// Gives the agent a moment to write down where it is: what it says in that time is heard, and nothing it asks is granted.
    async fn interrupt(&mut self) {
        let Ok(frames) = self.parts.conversation.tell(&Tell::Interrupt) else { return };
        if self.write(&frames).await.is_err() {
            return;
        }
        let runtime = Arc::clone(&self.parts.runtime);
        let until = runtime.now() + self.parts.patience.stopping;
        while runtime.now() < until {
            let running = Arc::clone(&self.parts.running);
            let read = within(runtime.as_ref(), until - runtime.now(), running.read()).await;
            let Some(Ok(bytes)) = read.filter(|read| read.as_ref().is_ok_and(|bytes| !bytes.is_empty())) else {
                return;
            };
            for frame in self.frames.push(&bytes) {
                let Frame::Whole(frame) = frame else { continue };
                for event in self.parts.conversation.read(&frame) {
                    match event {
                        Event::Write(frame) => drop(self.write(&[frame]).await),
                        Event::Asked(asked) => {
                            let no = Answer::Deny { reason: "the work is being stopped".to_owned() };
                            let frames = self.parts.conversation.answer(&asked.request, &no);
                            let _it_is_stopped_all_the_same = self.write(&frames).await;
                        }
                        Event::Observed { observation: Observation::TurnEnded { .. }, .. } => return,
                        Event::Observed { observation: Observation::CallEnded { ref call, .. }, .. }
                            if self.refused.contains(call) => {}
                        Event::Observed { event_id, observation } => {
                            let _it_is_stopped_all_the_same =
                                self.tell_journal(Observed { event_id, source: Source::Provider, observation });
                        }
                        Event::Withdrawn { .. } | Event::Streamed { .. } | Event::Unreadable { .. } => {}
                    }
                }
            }
        }
    }
}

/// Nothing where it takes longer.
pub(super) async fn within<T>(runtime: &dyn Runtime, length: std::time::Duration, work: BoxFuture<'_, T>) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = runtime.sleep(length) => None,
    }
}

pub(super) fn last_line(said: &str) -> String {
    let line = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(500).collect()
}

impl End {
    /// How the call that started the program ended.
    pub fn of_launch(&self) -> (CallStatus, String) {
        match self {
            Self::Turn(TurnEnd::Completed { .. }) => (CallStatus::Ok, "the agent has ended its turn".to_owned()),
            Self::Held => (CallStatus::Ok, "the agent was stopped until a person has answered".to_owned()),
            Self::GaveUp { why, .. } => (CallStatus::Ok, format!("the agent gives up: {why}")),
            Self::Stopped(_) => (CallStatus::Cancelled, "the agent was stopped".to_owned()),
            other => (CallStatus::Error, other.in_words()),
        }
    }

    fn in_words(&self) -> String {
        let because = |why: &str| if why.is_empty() { String::new() } else { format!(": {why}") };
        match self {
            Self::Turn(TurnEnd::Completed { message }) => message.clone(),
            Self::Turn(TurnEnd::Interrupted) => "the agent was interrupted".to_owned(),
            Self::Turn(TurnEnd::Failed { reason, .. }) => format!("the agent failed{}", because(reason)),
            Self::Held => "a person is asked".to_owned(),
            Self::Stopped(_) => "the agent was stopped".to_owned(),
            Self::Exited(said) => format!("the agent's program ended in the middle of its work{}", because(said)),
            Self::Silent => "the agent's program says nothing and does nothing".to_owned(),
            Self::OutOf(exhausted) => exhausted.to_string(),
            Self::NotBelieved(why) => format!("what the agent's program says cannot be read{}", because(why)),
            Self::Flood => "the agent's program floods its owner".to_owned(),
            Self::GaveUp { why, .. } => format!("the agent gives up{}", because(why)),
            Self::Refused(refused) => refused.to_string(),
            Self::Broken(why) => format!("the agent could not be started{}", because(why)),
        }
    }

    pub fn outcome(self, agent: &Agent) -> Outcome {
        let words = self.in_words();
        match self {
            Self::Turn(TurnEnd::Completed { message }) if message.trim().is_empty() => {
                failed(ErrorCode::AnswerIncomplete, "the agent ended without a word".to_owned())
            }
            Self::Turn(TurnEnd::Completed { message }) => Outcome::Completed { message },
            Self::GaveUp { is_checked: true, .. } => Outcome::Completed { message: words },
            Self::Held => Outcome::Waiting,
            Self::Stopped(stop) => Outcome::Stopped(stop),
            Self::OutOf(exhausted) => Outcome::Failed(exhausted.details()),
            Self::Refused(refused) => ended(refused),
            Self::Turn(TurnEnd::Failed { why: Failure::Model, .. }) => failed(ErrorCode::ModelUnavailable, words),
            Self::Turn(TurnEnd::Failed { why: Failure::Login, .. }) => failed(ErrorCode::ModelRejected, words),
            Self::Broken(_) => failed(ErrorCode::SandboxUnavailable, words),
            Self::NotBelieved(_) => {
                let tried = format!("this version was tried with {} {}", agent.display_name, agent.tried.join(", "));
                let error = ErrorDetails::new(ErrorCode::Stuck, words).with_hint(tried);
                Outcome::Failed(ErrorDetails { category: ErrorCategory::Permanent, ..error })
            }
            Self::Turn(TurnEnd::Interrupted | TurnEnd::Failed { why: Failure::Agent, .. })
            | Self::Exited(_)
            | Self::Silent
            | Self::Flood
            | Self::GaveUp { is_checked: false, .. } => failed(ErrorCode::Stuck, words),
        }
    }
}
