//! One program that runs: all that can wake it meets in `next`, and everything it says goes through `frame`. It is talked to until its turn is
//! over, a person is needed, or something is wrong with it; why it ended is a value, and what follows from that is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;
use windlass_domain::execution::{
    Claim, ClaimKind, Delivery, MessageDelivery, MessageKind, Observation, Observed, RunnerCommand, Source, TurnEnd,
};
use windlass_domain::{
    BoxFuture, CallId, CallOutcome, CallStatus, Delta, Exhausted, Host, Instant, MessageId, Runtime, Stop, millis,
};
use windlass_sandbox::Running;

use super::back_channel::{Told, made_of};
use super::ending::End;
use super::foreign::Patience;
use super::framing::{Frame, Frames, framed};
use super::judging::{HELD, question_of};
use super::markers::{Marker, Markers};
use super::meter::HostMeter;
use super::tally::Tally;
use crate::{Answer, Conversation, Event, Framing, Permissions, Tell, Undeliverable};

/// Reads of its output one after the other, before whoever else has something to say has the word.
const IN_A_ROW: u32 = 16;
/// How long a program may take to read what it is told, where that is not silence already.
const WRITING: std::time::Duration = std::time::Duration::from_secs(30);
/// So many frames that cannot be read, and the channel is not believed.
const MOST_UNREADABLE: u32 = 20;
/// Kinds of events that are said to be passed over. Of a program that has more to tell all of it is another.
const MOST_UNKNOWN: usize = 20;

pub struct TalkParts {
    pub host: Arc<dyn Host>,
    pub runtime: Arc<dyn Runtime>,
    pub running: Arc<dyn Running>,
    pub conversation: Box<dyn Conversation>,
    pub framing: Framing,
    pub meter: Arc<HostMeter>,
    pub markers: Markers,
    /// What the agent tells by tools of ours.
    pub told: mpsc::Receiver<Told>,
    pub workspace: PathBuf,
    pub permissions: Permissions,
    pub patience: Patience,
    pub has_finish_line: bool,
    /// Whether its version was tried.
    pub is_tried: bool,
    /// Whether it can go on on its own screen, for as long as nothing would be lost by that.
    pub has_way_out: bool,
    /// The messages that are part of its first one.
    pub opened_with: Vec<MessageId>,
}

pub struct Talk {
    pub(super) parts: TalkParts,
    frames: Frames,
    /// The program's calls that we have given leave for, by its names for them.
    pub(super) calls: BTreeMap<String, (CallId, Instant)>,
    /// The program's calls that we have said no to, or not yet: what the program makes of that is known here.
    pub(super) refused: BTreeSet<String>,
    /// Calls of the program's that run, with or without leave, and since when.
    at_work: BTreeMap<String, Instant>,
    /// Of those, the ones that need leave.
    in_need_of_leave: BTreeMap<String, String>,
    /// Of those, the ones that were surely made.
    ran: BTreeSet<String>,
    tally: Tally,
    unreadable: u32,
    /// Kinds of what it tells that nobody knows.
    unknown: BTreeSet<String>,
    /// Of its output, since others were looked at before it.
    in_a_row: u32,
    /// How its turn has ended if what it left running does not end in time.
    lingers: Option<Observed>,
    /// A person is asked, and until then at most the program may hear so.
    held_until: Option<Instant>,
    /// Nothing of it is left to be broken off.
    is_idle: bool,
    /// It has said something that makes sense.
    is_believed: bool,
    /// A person has broken off its turn: it waits for what they say next, and its time runs on.
    is_interrupted: bool,
    /// The same, before the program could be told.
    owes_interrupt: bool,
    /// Somebody has said something while the program was not ready for it.
    owes_words: bool,
    /// Of whom it is said already that they wait.
    deferred: BTreeSet<MessageId>,
    heard_at: Instant,
}

enum Input {
    Told(Told),
    Bytes(Vec<u8>),
    Gone,
    Said,
    Stop(Stop),
    /// It goes on though a person is asked: it has heard so.
    AskedAnyway,
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
            at_work: BTreeMap::new(),
            in_need_of_leave: BTreeMap::new(),
            ran: BTreeSet::new(),
            tally: Tally::default(),
            unreadable: 0,
            unknown: BTreeSet::new(),
            in_a_row: 0,
            lingers: None,
            held_until: None,
            is_idle: false,
            is_believed: false,
            is_interrupted: false,
            owes_interrupt: false,
            owes_words: false,
            deferred: BTreeSet::new(),
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
                Input::Told(told) => self.told(told).await,
                Input::Said | Input::Gone if self.held_until.is_some() => Err(End::Held),
                Input::Said => self.deliver().await,
                Input::Gone => Err(self.gone()),
                Input::Stop(stop) => Err(End::Stopped(stop)),
                Input::AskedAnyway => Err(End::Held),
                Input::TooLong => self.look_at_the_clock().await,
            };
            if let Err(end) = dealt {
                return end;
            }
            // What it says may be there at once, again and again: everything else that this process does has its turn as well.
            tokio::task::yield_now().await;
        }
    }

    /// Waits for whatever comes first. Each of these loses nothing when another does. What the program says goes before what others have to say,
    /// since it was mostly said before; but nobody is kept from the word for ever.
    async fn next(&mut self) -> Input {
        let next_look = self.next_look();
        let goes_first = self.in_a_row < IN_A_ROW;
        self.in_a_row = if goes_first { self.in_a_row + 1 } else { 0 };
        let TalkParts { host, runtime, running, told, meter, .. } = &mut self.parts;
        let cancel = host.cancel();
        tokio::select! {
            biased;
            stop = cancel.wait() => Input::Stop(stop),
            read = running.read(), if goes_first => heard(read),
            () = host.listen() => Input::Said,
            Some(told) = told.recv() => Input::Told(told),
            () = meter.is_asked_anyway() => Input::AskedAnyway,
            () = runtime.sleep_until(next_look) => Input::TooLong,
            read = running.read(), if !goes_first => heard(read),
        }
    }

    /// When there is reason to doubt that anything will come.
    fn next_look(&self) -> Instant {
        let silent = self.held_until.map_or_else(|| self.silent_at(), |until| until.min(self.silent_at()));
        let state = self.parts.host.state();
        let left = state.header.as_ref().map(|header| {
            let spent = state.spent_by(self.parts.runtime.wall());
            std::time::Duration::from_millis(header.limits.timeout_ms.saturating_sub(spent.active_ms))
        });
        left.map_or(silent, |left| silent.min(self.parts.runtime.now() + left))
    }

    async fn look_at_the_clock(&mut self) -> Result<(), End> {
        if self.held_until.is_some_and(|until| self.parts.runtime.now() >= until) {
            return Err(End::Held);
        }
        let state = self.parts.host.state();
        let spent = state.spent_by(self.parts.runtime.wall());
        if state.header.as_ref().is_some_and(|header| spent.active_ms >= header.limits.timeout_ms) {
            return Err(End::OutOf(Exhausted::Time));
        }
        // Others have the word, who have limits of their own.
        if self.is_interrupted || !state.foreign.exchanges.is_empty() {
            self.heard_at = self.parts.runtime.now();
        }
        if self.parts.runtime.now() < self.silent_at() {
            return Ok(());
        }
        // What still runs is settled with the launch, as something that nobody knows the end of.
        match self.lingers.take() {
            Some(ended) => self.observe(ended).await,
            None => Err(End::Silent),
        }
    }

    fn silent_at(&self) -> Instant {
        self.parts.patience.ends(self.heard_at, self.at_work.values().copied())
    }

    /// Answered once it is recorded, whatever follows from it.
    async fn told(&mut self, told: Told) -> Result<(), End> {
        let Told { observed, answer } = told;
        let was_known = self.parts.host.state().foreign.has_seen(&observed.event_id);
        let made = made_of(&observed.observation, was_known);
        let followed = if was_known { Ok(()) } else { self.observe(observed).await };
        self.parts.host.record(Vec::new()).await.map_err(End::Refused)?;
        if matches!(followed, Err(End::Held)) {
            // Before it is answered: its next question is how we know that it has heard the answer, and written it down.
            self.parts.meter.hold();
        }
        let _nobody_waits_any_more = answer.send(made);
        match followed {
            // Broken off in the middle of its call, it would hear that it was refused.
            Err(End::Held) => {
                self.held_until = Some(self.parts.runtime.now() + self.parts.patience.stopping);
                Ok(())
            }
            followed => followed,
        }
    }

    async fn hear(&mut self, bytes: &[u8]) -> Result<(), End> {
        self.heard_at = self.parts.runtime.now();
        let mut end = self.count_piece();
        for frame in self.frames.push(bytes) {
            if end.is_ok() {
                end = self.frame(frame).await;
            }
            if end.is_err() {
                break;
            }
        }
        // What was told is durable before anything follows from it.
        self.parts.host.record(Vec::new()).await.map_err(End::Refused)?;
        end?;
        // One that is being stopped is told nothing more: whoever goes on hears it.
        let is_owed = (self.owes_interrupt || self.owes_words) && self.held_until.is_none();
        if is_owed { self.tell_news().await.map(drop) } else { Ok(()) }
    }

    async fn frame(&mut self, frame: Frame) -> Result<(), End> {
        self.count_piece()?;
        let Frame::Whole(frame) = frame else {
            return self.cannot_read("a frame is longer than any that makes sense".to_owned());
        };
        for event in self.parts.conversation.read(&frame) {
            match event {
                Event::Write(frame) => self.write(&[frame]).await?,
                Event::Lingers { event_id, end } => {
                    let observation = Observation::TurnEnded { end };
                    self.lingers = Some(Observed { event_id, source: Source::Provider, observation });
                }
                Event::Observed { observation: Observation::TurnEnded { .. }, .. } if self.held_until.is_some() => {
                    self.is_idle = true;
                    return Err(End::Held);
                }
                Event::Observed { event_id, observation } => {
                    self.is_believed = true;
                    if goes_on(&observation) {
                        self.lingers = None;
                    }
                    self.observe(Observed { event_id, source: Source::Provider, observation }).await?;
                }
                Event::Asked(asked) if self.held_until.is_some() => {
                    let hold = Answer::Hold { reason: HELD.to_owned() };
                    let frames = self.parts.conversation.answer(&asked.request, &hold);
                    self.refused.insert(asked.call);
                    self.write(&frames).await?;
                    return Err(End::Held);
                }
                Event::Asked(asked) => {
                    self.is_believed = true;
                    self.lingers = None;
                    self.has_heard()?;
                    self.judge(asked).await?;
                }
                Event::Ran { call } => {
                    if self.in_need_of_leave.contains_key(&call) {
                        self.ran.insert(call);
                    }
                }
                // Whatever is asked is answered before the next frame is read.
                Event::Withdrawn { .. } => {}
                Event::Streamed { text } => self.parts.host.emit(Delta::Text(text)),
                Event::Unknown { kind } => self.passes_over(kind)?,
                Event::Unreadable { why } => self.cannot_read(why)?,
                Event::Foreign { why } => return Err(End::NotBelieved(why)),
                Event::Flood { what } => return Err(End::Flood(what)),
                Event::Unacceptable { why } => return Err(End::Unacceptable(why)),
            }
        }
        Ok(())
    }

    /// Never to a wrong reading: a program that begins with something else than expected is another program.
    fn cannot_read(&mut self, why: String) -> Result<(), End> {
        self.unreadable += 1;
        if !self.is_believed || self.unreadable > self.most_unreadable() {
            return Err(End::NotBelieved(why));
        }
        self.tell_journal(Observed {
            event_id: format!("unreadable:{}:{}", self.parts.markers.nonce, self.unreadable),
            source: Source::Provider,
            observation: Observation::Noticed { text: why },
        })
    }

    /// A version that nobody has tried may mean something else by whatever it says next, so that its first word that makes no sense is enough where
    /// that costs nothing.
    fn most_unreadable(&self) -> u32 {
        let loses_nothing = self.parts.has_way_out && !self.parts.host.state().foreign.has_something_to_lose;
        if !self.parts.is_tried && loses_nothing { 0 } else { MOST_UNREADABLE }
    }

    /// Said once for each kind, of a version that nobody has tried: what is passed over may be what has changed.
    fn passes_over(&mut self, kind: String) -> Result<(), End> {
        let is_news = !self.parts.is_tried && self.unknown.len() < MOST_UNKNOWN && !self.unknown.contains(&kind);
        if !is_news {
            return Ok(());
        }
        let text = format!("the program tells of `{kind}`, of which Windlass knows nothing: it is passed over");
        self.unknown.insert(kind);
        let event_id = format!("unknown:{}:{}", self.parts.markers.nonce, self.unknown.len());
        self.tell_journal(Observed { event_id, source: Source::Provider, observation: Observation::Noticed { text } })
    }

    /// Whoever does something, wants to, or is done, has heard what it was begun with.
    fn has_heard(&mut self) -> Result<(), End> {
        let heard = std::mem::take(&mut self.parts.opened_with).into_iter();
        heard
            .map(|message_id| MessageDelivery { message_id, outcome: Delivery::Delivered })
            .try_for_each(|delivery| self.stage(RunnerCommand::NoteDelivery(delivery)))
    }

    async fn observe(&mut self, observed: Observed) -> Result<(), End> {
        let was_told = self.parts.host.state().foreign.has_seen(&observed.event_id);
        let is_done = matches!(observed.observation, Observation::TurnEnded { end: TurnEnd::Completed { .. } });
        if !was_told && (is_done || observed.observation.is_of_the_agent()) {
            self.has_heard()?;
        }
        match &observed.observation {
            // Told again, it has no effect again.
            Observation::Said { .. } if was_told => return Ok(()),
            Observation::Claimed(_) if was_told => return self.told_again(&observed.event_id),
            Observation::Called { .. } if was_told => return Ok(()),
            Observation::Called { call, tool, .. } => {
                self.at_work.insert(call.clone(), self.parts.runtime.now());
                if self.parts.permissions.cover(tool) {
                    self.in_need_of_leave.insert(call.clone(), tool.clone());
                }
            }
            Observation::CallEnded { call, is_error, output } => {
                self.at_work.remove(call);
                let needed_leave = self.in_need_of_leave.remove(call);
                let was_made = self.ran.remove(call) || !*is_error;
                if self.refused.contains(call) {
                    return Ok(());
                }
                if self.calls.contains_key(call) {
                    return self.ended(call, *is_error, output);
                }
                // What went wrong may be that it refused to itself: nothing was done then.
                if let (Some(tool), true) = (needed_leave, was_made) {
                    self.tell_journal(observed)?;
                    return Err(End::Unacceptable(format!("it has done `{tool}` without asking")));
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

    fn told_again(&mut self, event_id: &str) -> Result<(), End> {
        let text = format!("{event_id} was told before, and counts once");
        let event_id = format!("again:{}:{}", self.parts.markers.nonce, self.tally.observed()?);
        self.tell_journal(Observed { event_id, source: Source::Marker, observation: Observation::Unheeded { text } })
    }

    /// A call that was given leave has come to its end.
    fn ended(&mut self, call: &str, is_error: bool, output: &str) -> Result<(), End> {
        let Some((call_id, begun)) = self.calls.remove(call) else { return Ok(()) };
        let duration_ms = millis(self.parts.runtime.now() - begun);
        let status = if is_error { CallStatus::Error } else { CallStatus::Ok };
        let content = output.to_owned();
        let outcome = CallOutcome { call_id, status, content, full_output: None, images: Vec::new(), duration_ms };
        self.stage(RunnerCommand::FinishCall(outcome))
    }

    async fn heed_markers(&mut self, markers: Vec<Marker>) -> Result<(), End> {
        for marker in markers {
            match marker {
                Marker::Told(observed) => Box::pin(self.observe(observed)).await?,
                Marker::Refused(why) => {
                    let text = format!("a marker is not read: {why}");
                    let event_id = format!("marker:{}:{}", self.parts.markers.nonce, self.tally.observed()?);
                    let observation = Observation::Unheeded { text };
                    self.tell_journal(Observed { event_id, source: Source::Marker, observation })?;
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
            ClaimKind::NeedsInput | ClaimKind::Blocked => match question_of(&claim) {
                Some(question) => self.ask_person(question).await,
                None => Ok(()),
            },
            ClaimKind::Progress | ClaimKind::Note | ClaimKind::ReadyForVerification | ClaimKind::CompletedClaim => {
                Ok(())
            }
        }
    }

    /// Whoever was spoken to meanwhile goes on.
    async fn turn_ended(&mut self, end: TurnEnd) -> Result<(), End> {
        let was_interrupted = self.is_interrupted && end == TurnEnd::Interrupted;
        if was_interrupted {
            // To say it again would undo the interrupt.
            self.has_heard()?;
        }
        if was_interrupted || matches!(end, TurnEnd::Completed { .. }) {
            self.at_work.clear();
            self.parts.host.record(Vec::new()).await.map_err(End::Refused)?;
            if self.tell_news().await? > 0 || was_interrupted {
                return Ok(());
            }
        }
        Err(End::Turn(end))
    }

    async fn deliver(&mut self) -> Result<(), End> {
        self.parts.host.take_in().await.map_err(End::Refused)?;
        self.tell_news().await.map(drop)
    }

    /// Tells the agent what people said and it has not heard; how many messages it took. One that is not ready yet hears it as soon as it says
    /// that it is, in the turn that it begins with.
    async fn tell_news(&mut self) -> Result<usize, End> {
        self.owes_words = false;
        let state = self.parts.host.state();
        let news = state.foreign.news.iter().filter_map(|news| Some((news.message_id?, news.clone())));
        // What it was begun with it has before it, though nobody knows yet whether it has heard that.
        let news: Vec<_> = news.filter(|(message_id, _)| !self.parts.opened_with.contains(message_id)).collect();
        drop(state);
        let mut taken = 0;
        for (message_id, news) in news {
            if news.kind == MessageKind::Interrupt {
                self.break_off(message_id).await?;
                continue;
            }
            if !news.is_words() {
                let reason = Undeliverable::NotAble.to_string();
                self.note_delivery(message_id, Delivery::Undeliverable { reason }).await?;
                continue;
            }
            let outcome = match self.parts.conversation.tell(&Tell::Say { text: news.text }) {
                Ok(frames) => {
                    // On record first: whoever goes on after a crash knows that it may have been heard.
                    self.note_delivery(message_id, Delivery::Attempted).await?;
                    self.write(&frames).await?;
                    taken += 1;
                    self.is_interrupted = false;
                    self.lingers = None;
                    Delivery::Delivered
                }
                Err(why @ Undeliverable::NotAble) => Delivery::Undeliverable { reason: why.to_string() },
                Err(why) => {
                    self.owes_words |= why == Undeliverable::NotReady;
                    if !self.deferred.insert(message_id) {
                        continue;
                    }
                    Delivery::Deferred { reason: why.to_string() }
                }
            };
            self.note_delivery(message_id, outcome).await?;
        }
        Ok(taken)
    }

    /// The program stays, and waits for what comes next. One that cannot hear it yet is told as soon as it says something.
    async fn break_off(&mut self, message_id: MessageId) -> Result<(), End> {
        let outcome = match self.parts.conversation.tell(&Tell::Interrupt) {
            Ok(frames) if frames.is_empty() => {
                Delivery::Undeliverable { reason: "there is nothing to break off".to_owned() }
            }
            Ok(frames) => {
                self.note_delivery(message_id, Delivery::Attempted).await?;
                self.write(&frames).await?;
                self.is_interrupted = true;
                Delivery::Delivered
            }
            Err(Undeliverable::NotReady) if self.owes_interrupt => return Ok(()),
            Err(why @ Undeliverable::NotReady) => {
                self.owes_interrupt = true;
                return self.note_delivery(message_id, Delivery::Deferred { reason: why.to_string() }).await;
            }
            Err(why) => Delivery::Undeliverable { reason: why.to_string() },
        };
        self.owes_interrupt = false;
        self.note_delivery(message_id, outcome).await
    }

    async fn note_delivery(&self, message_id: MessageId, outcome: Delivery) -> Result<(), End> {
        let delivery = RunnerCommand::NoteDelivery(MessageDelivery { message_id, outcome });
        self.parts.host.record(vec![delivery]).await.map(drop).map_err(End::Refused)
    }

    /// Told twice, it counts once.
    fn tell_journal(&mut self, observed: Observed) -> Result<(), End> {
        if self.parts.host.state().foreign.has_seen(&observed.event_id) {
            return Ok(());
        }
        self.tally.observed()?;
        self.stage(RunnerCommand::Observe(Box::new(observed)))
    }

    fn count_piece(&mut self) -> Result<(), End> {
        self.tally.piece(self.parts.host.state().foreign.last_exchange)
    }

    pub(super) fn count_question(&mut self) -> Result<(), End> {
        self.tally.question(self.parts.host.state().foreign.last_exchange)
    }

    pub(super) fn stage(&self, command: RunnerCommand) -> Result<(), End> {
        self.parts.host.stage(vec![command]).map_err(End::Refused)
    }

    /// Not for ever: one that does not read hears nothing either.
    pub(super) async fn write(&self, frames: &[Vec<u8>]) -> Result<(), End> {
        let cancel = self.parts.host.cancel();
        for frame in frames {
            tokio::select! {
                biased;
                written = self.write_within(WRITING.min(self.parts.patience.silence), frame) => written?,
                stop = cancel.wait() => return Err(End::Stopped(stop)),
            }
        }
        Ok(())
    }

    async fn write_within(&self, length: std::time::Duration, frame: &[u8]) -> Result<(), End> {
        let bytes = framed(self.parts.framing, frame);
        match within(self.parts.runtime.as_ref(), length, self.parts.running.write(&bytes)).await {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) => Err(self.gone()),
            None => Err(End::Silent),
        }
    }

    /// To a program that is being stopped.
    async fn write_last(&self, frames: &[Vec<u8>]) -> Result<(), End> {
        for frame in frames {
            self.write_within(self.parts.patience.stopping, frame).await?;
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
        if !self.is_idle && matches!(end, End::Held | End::Stopped(Stop::Pause | Stop::Cancel)) {
            self.interrupt().await;
        }
        let TalkParts { running, runtime, patience, .. } = &self.parts;
        if end.is_its_fault() {
            running.kill();
        }
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
        if frames.is_empty() || self.write_last(&frames).await.is_err() {
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
                        Event::Write(frame) => drop(self.write_last(&[frame]).await),
                        Event::Asked(asked) => {
                            let no = Answer::Deny { reason: "the work is being stopped".to_owned() };
                            let frames = self.parts.conversation.answer(&asked.request, &no);
                            let _it_is_stopped_all_the_same = self.write_last(&frames).await;
                        }
                        Event::Observed { observation: Observation::TurnEnded { .. }, .. } => return,
                        Event::Observed { observation: Observation::CallEnded { ref call, .. }, .. }
                            if self.refused.contains(call) => {}
                        Event::Observed {
                            observation: Observation::CallEnded { ref call, is_error, ref output },
                            ..
                        } if self.calls.contains_key(call) => {
                            let _it_is_stopped_all_the_same = self.ended(call, is_error, output);
                        }
                        Event::Observed { event_id, observation } => {
                            let _it_is_stopped_all_the_same =
                                self.tell_journal(Observed { event_id, source: Source::Provider, observation });
                        }
                        Event::Ran { .. }
                        | Event::Withdrawn { .. }
                        | Event::Lingers { .. }
                        | Event::Streamed { .. }
                        | Event::Unknown { .. }
                        | Event::Unreadable { .. }
                        | Event::Foreign { .. }
                        | Event::Flood { .. }
                        | Event::Unacceptable { .. } => {}
                    }
                }
            }
            tokio::task::yield_now().await;
        }
    }
}

/// What came of reading what it says.
fn heard(read: Result<Vec<u8>, windlass_sandbox::Error>) -> Input {
    match read {
        Ok(bytes) if !bytes.is_empty() => Input::Bytes(bytes),
        Ok(_) | Err(_) => Input::Gone,
    }
}

/// That an agent is at work, rather than that something of its has ended.
const fn goes_on(observation: &Observation) -> bool {
    matches!(observation, Observation::Said { .. } | Observation::Called { .. } | Observation::TurnEnded { .. })
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
