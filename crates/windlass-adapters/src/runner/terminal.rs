//! A program on its own screen. People look at it and type into it; what it tells its owner it tells by markers. Whether it may be started is
//! what our gates judge: what it asks before it acts, it asks on its screen, and whoever sits there answers. Its turn is over when it
//! says so, or when it is quit, and then checks decide.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use windlass_domain::execution::{
    Claim, ClaimKind, Delivery, MessageDelivery, MessageKind, Observation, Observed, RunnerCommand, Source, TurnEnd,
};
use windlass_domain::{Exhausted, Host, Instant, MessageId, Runtime, Stop, UserQuestion};
use windlass_sandbox::{Running, Status, Streams};
use windlass_terminal::{Ending, Line, Options, Recorder, Scrub, Size, Sockets, Terminal, Terminals, serve};

use super::back_channel::{Told, made_of};
use super::ending::End;
use super::foreign::{Arranged, ForeignRunner, Patience, attempt};
use super::judging::{ask_person, question_of};
use super::markers::{Marker, Markers};
use super::meter::HostMeter;
use super::opening::opening;
use super::screen_markers;
use super::talk::{last_line, within};
use super::tally::Tally;
use super::typing::{is_another, pasted, stands};
use crate::{LaunchSpec, Naming, Undeliverable};

pub const INSTRUCTIONS: &str = " You run on a screen: when the task is done, print a `completed_claim` as your last line; it ends your turn, and \
your work is checked. Without it nobody knows that you are done.";

/// Where the screens of a process are.
#[derive(Clone)]
pub struct Screens {
    pub terminals: Terminals,
    /// A folder with a recording for each execution.
    pub recordings: PathBuf,
    /// Where other processes find those that run.
    pub sockets: Sockets,
    /// What every recording passes.
    pub scrub: Arc<dyn Fn() -> Box<dyn Scrub> + Send + Sync>,
    /// Before anybody looks on.
    pub size: Size,
}

/// Between two looks at a screen that changes all the time.
const MOMENT: Duration = Duration::from_millis(150);
/// Lines that have scrolled away since the last look and are looked at all the same.
const SCROLLED: usize = 200;
/// For a program to quit after a key that asks it to, which most want to see twice.
const QUITTING: Duration = Duration::from_millis(500);
const INTERRUPT: &[u8] = b"\x03";
/// For what was typed to stand on the screen.
const SHOWING: Duration = Duration::from_secs(3);
const NO_FIELD: &str = "its screen takes no message now; it is typed in when it does";
const NOTHING_BROKEN_OFF: &str =
    "nothing has changed on its screen: there was nothing to break off, or it does not heed its keys";
/// Of the last screen, what stands for the agent's last words.
const MOST_WORDS: usize = 2_000;
const UNCLAIMED: &str = "nobody had typed into it, it had not said that it was done, and no check says what came of it";
/// As a shell says that a program was quit with Ctrl-C.
const QUIT: i32 = 130;

/// Somebody sits in front of it, or nobody does.
pub struct Sitting {
    host: Arc<dyn Host>,
    runtime: Arc<dyn Runtime>,
    running: Arc<dyn Running>,
    terminal: Terminal,
    changes: watch::Receiver<u64>,
    meter: Arc<HostMeter>,
    markers: Markers,
    told: mpsc::Receiver<Told>,
    patience: Patience,
    has_finish_line: bool,
    /// The name of the conversation, until the program has surely begun it.
    session: Option<String>,
    exchanges_before: u64,
    /// Why markers were not read, each once.
    refused: BTreeSet<&'static str>,
    /// The names of what it has told since it was started.
    told_now: BTreeSet<String>,
    /// The first message, where it has to be typed in, and what stands on the screen once it can be.
    prompt: Option<(&'static str, String)>,
    /// The messages that are part of that.
    opened_with: Vec<MessageId>,
    /// What the screen may open with, and when it is looked for next.
    opens_with: Option<(&'static str, Instant)>,
    /// Somebody has said something that is not typed yet.
    is_owed: bool,
    /// Of whom it is said already that they wait.
    deferred: BTreeSet<MessageId>,
    /// The screen that did not take what was typed.
    unfit: Option<Vec<String>>,
    /// The keys that break off a turn.
    interrupt: &'static [&'static str],
    changed_at: Instant,
    screens: Screens,
    tally: Tally,
}

enum Input {
    Told(Told),
    Changed,
    Said,
    Gone,
    Stop(Stop),
    TooLong,
}

/// The sandbox's end of a terminal.
struct Wire(Arc<dyn Running>);

impl Line for Wire {
    fn read(&self) -> windlass_terminal::BoxFuture<'_, io::Result<Vec<u8>>> {
        Box::pin(async { self.0.read().await.map_err(io::Error::other) })
    }

    fn write<'a>(&'a self, bytes: &'a [u8]) -> windlass_terminal::BoxFuture<'a, io::Result<()>> {
        Box::pin(async { self.0.write(bytes).await.map_err(io::Error::other) })
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        self.0.resize(size.rows, size.cols).map_err(io::Error::other)
    }
}

impl ForeignRunner {
    /// The program's life on its screen. `lost` is when it can go on no longer.
    pub(super) async fn live_on_screen(
        &self,
        host: &Arc<dyn Host>,
        mut arranged: Arranged,
        has_finish_line: bool,
        screens: &Screens,
        lost: impl Future<Output = End> + Send,
    ) -> End {
        let naming = self.adapter.naming(&self.launching(&arranged));
        // Whoever carried it before may have been killed, or was told to stop.
        if let Err(end) = self.learn_name(host.as_ref(), &naming, &host.cancel()).await {
            return end;
        }
        arranged.opening = opening(&host.state(), &arranged.task);
        let tools = Arc::clone(&arranged.tools);
        let end = match self.sit_down(host, arranged, has_finish_line, screens, &naming).await {
            Ok(mut sitting) => {
                let end = tokio::select! { biased; end = sitting.run() => end, end = lost => end };
                sitting.close(tools.judge(end)).await
            }
            Err(end) => end,
        };
        match end {
            End::Stopped(Stop::Pause) => self.learn_name_after_a_pause(host.as_ref(), &naming).await,
            End::Stopped(_) => {}
            _ => {
                let _the_next_launch_begins_anew = self.learn_name(host.as_ref(), &naming, &host.cancel()).await;
            }
        }
        end
    }

    async fn sit_down(
        &self,
        host: &Arc<dyn Host>,
        arranged: Arranged,
        has_finish_line: bool,
        screens: &Screens,
        naming: &Naming,
    ) -> Result<Sitting, End> {
        let spec = self.adapter.launch(&self.launching(&arranged))?;
        let size = screens.size.within_bounds();
        let streams = Streams::Terminal { rows: size.rows, cols: size.cols };
        attempt(host.as_ref(), &arranged.opening.delivers).await?;
        let running = self.begin(&host.cancel(), on_screen(spec), streams, &arranged.pictures).await?;
        let awaited = self.adapter.awaits_prompt(&self.launching(&arranged));
        let Arranged { mut opening, markers, told, meter, fresh, .. } = arranged;
        // A copy of another conversation has a name of its own.
        let is_new = opening.resumes.is_none() && opening.forks.is_none();
        let name = markers.execution.to_string();
        let runtime = &self.setup.runtime;
        let title = format!("{} in {}", self.adapter.agent().display_name, self.workspace.display());
        let (recorder, offset, trouble) = match record(screens, &name, size, runtime.as_ref(), &title) {
            Ok((recorder, offset)) => (Some(recorder), offset, None),
            Err(error) => (None, Duration::ZERO, Some(format!("the terminal is not recorded: {error}"))),
        };
        let (begun, clock, kill) = (runtime.now(), Arc::clone(runtime), Arc::clone(&running));
        let options = Options {
            size,
            recorder,
            scrub: Some((screens.scrub)()),
            clock: Box::new(move || offset + (clock.now() - begun)),
            kill: Box::new(move || kill.kill()),
        };
        let opened = screens.terminals.open(&name, Arc::new(Wire(Arc::clone(&running))), options);
        let (terminal, carrying) = opened.map_err(|error| End::Broken(error.to_string()))?;
        runtime.spawn(Box::pin(carrying));
        let mut sitting = Sitting {
            host: Arc::clone(host),
            runtime: Arc::clone(runtime),
            running,
            changes: terminal.changes(),
            terminal,
            meter,
            markers,
            told,
            patience: self.patience,
            has_finish_line,
            session: Some(fresh).filter(|_| is_new && matches!(naming, Naming::Given)),
            exchanges_before: host.state().foreign.last_exchange,
            refused: BTreeSet::new(),
            told_now: BTreeSet::new(),
            prompt: awaited.map(|shown| (shown, opening.prompt.clone())),
            opened_with: awaited.map(|_| std::mem::take(&mut opening.delivers)).unwrap_or_default(),
            opens_with: self.adapter.opens_with().map(|shown| (shown, runtime.now())),
            is_owed: false,
            deferred: BTreeSet::new(),
            unfit: None,
            interrupt: self.adapter.interrupt_keys(),
            changed_at: runtime.now(),
            screens: screens.clone(),
            tally: Tally::default(),
        };
        let begun = self.note(host.as_ref(), opening, "terminal").await;
        let begun = begun.and_then(|()| trouble.map_or(Ok(()), |text| sitting.notice("recording", text)));
        let begun = begun.and_then(|()| sitting.show_to_others(&name, title));
        match begun {
            Ok(()) => Ok(sitting),
            Err(end) => Err(sitting.close(end).await),
        }
    }
}

/// What a program expects of its terminal, which is ours.
fn on_screen(mut spec: LaunchSpec) -> LaunchSpec {
    for (name, value) in [("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LANG", "C.UTF-8")] {
        spec.env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }
    spec
}

/// One file for an execution, however often its program is started: it is one story, and times go on.
fn record(
    screens: &Screens,
    name: &str,
    size: Size,
    runtime: &dyn Runtime,
    title: &str,
) -> io::Result<(Recorder, Duration)> {
    DirBuilder::new().recursive(true).mode(0o700).create(&screens.recordings)?;
    let path = screens.recordings.join(format!("{name}.cast"));
    Recorder::continue_in(&path, size, runtime.wall().as_millis() / 1_000, title)
}

impl Sitting {
    fn show_to_others(&mut self, name: &str, title: String) -> Result<(), End> {
        match self.screens.sockets.bind(name) {
            Ok(bound) => {
                let runtime = Arc::clone(&self.runtime);
                let spawn = Arc::new(move |task| runtime.spawn(task));
                let runtime = Arc::clone(&self.runtime);
                let pause = Arc::new(move || -> windlass_terminal::BoxFuture<'static, ()> {
                    let runtime = Arc::clone(&runtime);
                    Box::pin(async move { runtime.sleep(QUITTING).await })
                });
                self.runtime.spawn(Box::pin(serve(bound, self.terminal.clone(), title, spawn, pause)));
                Ok(())
            }
            Err(error) => self.notice("socket", format!("nobody can attach to the terminal: {error}")),
        }
    }

    pub async fn run(&mut self) -> End {
        loop {
            let dealt = match self.next().await {
                Input::Told(told) => self.told(told).await,
                Input::Changed => self.look(SCROLLED).await,
                Input::Said => self.take_in().await,
                Input::Gone => Err(self.gone().await),
                Input::Stop(stop) => Err(End::Stopped(stop)),
                Input::TooLong => self.look_at_the_clock(),
            };
            if let Err(end) = dealt {
                return end;
            }
        }
    }

    /// Waits for whatever comes first. Each of these loses nothing when another does.
    async fn next(&mut self) -> Input {
        let cancel = self.host.cancel();
        let look = self.next_look();
        tokio::select! {
            biased;
            stop = cancel.wait() => Input::Stop(stop),
            _ = self.running.wait() => Input::Gone,
            () = self.host.listen() => Input::Said,
            Some(told) = self.told.recv() => Input::Told(told),
            () = changed(&mut self.changes, self.runtime.as_ref()) => Input::Changed,
            () = self.runtime.sleep_until(look) => Input::TooLong,
        }
    }

    /// What stands on the screen now.
    async fn look(&mut self, scrolled: usize) -> Result<(), End> {
        self.changed_at = self.runtime.now();
        let lines = self.terminal.look(|screen| screen.last_lines(scrolled));
        let mut claims = Vec::new();
        for marker in screen_markers::read(&self.markers, &lines) {
            match marker {
                Marker::Told(observed) => claims.extend(self.observe(observed)?),
                Marker::Refused(why) if self.refused.insert(why) => {
                    let event_id = format!("marker:{}:{why}", self.markers.nonce);
                    let observation = Observation::Unheeded { text: format!("a marker is not read: {why}") };
                    let observed = Observed { event_id, source: Source::Marker, observation };
                    self.stage(RunnerCommand::Observe(Box::new(observed)))?;
                }
                Marker::Refused(_) => {}
            }
        }
        self.name_session()?;
        // What was told is durable before anything follows from it.
        self.host.record(Vec::new()).await.map_err(End::Refused)?;
        for claim in claims {
            self.heed(&claim).await?;
        }
        self.let_open();
        self.type_prompt().await?;
        if self.is_owed { self.tell_news().await } else { Ok(()) }
    }

    /// By a tool of ours, and answered once it is recorded.
    async fn told(&mut self, told: Told) -> Result<(), End> {
        let Told { observed, answer } = told;
        let was_known = self.host.state().foreign.has_seen(&observed.event_id);
        let made = made_of(&observed.observation, was_known);
        let claim = self.observe(observed)?;
        self.host.record(Vec::new()).await.map_err(End::Refused)?;
        let followed = match claim {
            Some(claim) => self.heed(&claim).await,
            None => Ok(()),
        };
        let is_over = matches!(followed, Err(End::Held | End::Turn(_) | End::GaveUp { .. }));
        if is_over {
            // Before it is answered: its next question is how we know that it has heard the answer, and written it down.
            self.meter.hold();
        }
        let _nobody_waits_any_more = answer.send(made);
        if is_over {
            self.let_it_hear().await;
        }
        followed
    }

    /// Quit in the middle of its call, it would have heard that the call was cut off, and go on with that another time.
    async fn let_it_hear(&self) {
        let cancel = self.host.cancel();
        tokio::select! {
            biased;
            _ = cancel.wait() => {}
            _ = self.running.wait() => {}
            () = self.meter.is_asked_anyway() => {}
            () = self.runtime.sleep(self.patience.stopping) => {}
        }
    }

    /// A screen shows the same marker again and again: it counts once. Under a name that something had before the program was started it is
    /// no second look, since its nonce is new: that it counts for nothing is said.
    fn observe(&mut self, observed: Observed) -> Result<Option<Claim>, End> {
        let was_told = self.host.state().foreign.has_seen(&observed.event_id);
        if was_told && self.told_now.contains(&observed.event_id) {
            return Ok(None);
        }
        self.tally.told()?;
        self.told_now.insert(observed.event_id.clone());
        if was_told {
            let Observed { event_id, source, .. } = observed;
            let text = format!("{event_id} was told before, and counts once");
            let event_id = format!("again:{}:{event_id}", self.markers.nonce);
            let again = Observed { event_id, source, observation: Observation::Unheeded { text } };
            self.stage(RunnerCommand::Observe(Box::new(again)))?;
            return Ok(None);
        }
        let claim = match &observed.observation {
            Observation::Claimed(claim) => Some(claim.clone()),
            _ => None,
        };
        self.stage(RunnerCommand::Observe(Box::new(observed)))?;
        Ok(claim)
    }

    /// Once it has asked a model the conversation is in its home, and can be gone on with.
    fn name_session(&mut self) -> Result<(), End> {
        if self.host.state().foreign.last_exchange == self.exchanges_before {
            return Ok(());
        }
        let Some(session_id) = self.session.take() else { return Ok(()) };
        let event_id = format!("session:{session_id}");
        let observation = Observation::Session { session_id };
        self.stage(RunnerCommand::Observe(Box::new(Observed { event_id, source: Source::Provider, observation })))
    }

    async fn heed(&mut self, claim: &Claim) -> Result<(), End> {
        let words = || claim.words().unwrap_or("without saying why").to_owned();
        match claim.kind {
            ClaimKind::CompletedClaim | ClaimKind::ReadyForVerification => {
                let message = claim.words().map_or_else(|| self.last_words(), ToOwned::to_owned);
                Err(End::Turn(TurnEnd::Completed { message }))
            }
            ClaimKind::FailedClaim => Err(End::GaveUp { why: words(), is_checked: self.has_finish_line }),
            ClaimKind::NeedsInput | ClaimKind::Blocked => match question_of(claim) {
                Some(question) => self.ask_person(question).await,
                None => Ok(()),
            },
            ClaimKind::Progress | ClaimKind::Note => Ok(()),
        }
    }

    async fn ask_person(&self, question: UserQuestion) -> Result<(), End> {
        ask_person(self.host.as_ref(), question).await
    }

    async fn take_in(&mut self) -> Result<(), End> {
        self.host.take_in().await.map_err(End::Refused)?;
        self.is_owed = true;
        self.tell_news().await
    }

    /// Again and again, by the clock where nothing changes: some take no key in the first moment. And only before its model is asked: what stands
    /// there later may be the agent's.
    fn let_open(&mut self) {
        let now = self.runtime.now();
        match self.opens_with {
            Some(_) if self.host.state().foreign.last_exchange != self.exchanges_before => self.opens_with = None,
            Some((shown, next)) if now >= next => {
                self.opens_with = Some((shown, now + QUITTING));
                if self.terminal.look(|screen| screen.text().iter().any(|line| line.contains(shown))) {
                    let _a_person_may_press_it = self.terminal.type_now(b"\r");
                }
            }
            _ => {}
        }
    }

    async fn type_prompt(&mut self) -> Result<(), End> {
        let Some((shown, prompt)) = &self.prompt else { return Ok(()) };
        let is_awaited = self.terminal.look(|screen| screen.text().iter().any(|line| line.contains(shown)));
        let prompt = prompt.clone();
        if !is_awaited || !self.may_type() {
            return Ok(());
        }
        let Some(before) = self.place(&prompt).await else { return Ok(()) };
        if self.send_off(&prompt, &before) {
            self.prompt = None;
            for message_id in std::mem::take(&mut self.opened_with) {
                self.note_delivery(message_id, Delivery::Delivered).await?;
            }
        }
        Ok(())
    }

    /// Types what people said, once there is something to type it into. Whoever hears nothing any more is started again with it.
    async fn tell_news(&mut self) -> Result<(), End> {
        let is_up = self.terminal.look(|screen| screen.text().iter().any(|line| !line.is_empty()));
        if !is_up || self.prompt.is_some() {
            return Ok(());
        }
        self.is_owed = false;
        let state = self.host.state();
        let news: Vec<_> =
            state.foreign.news.iter().filter_map(|news| Some((news.message_id?, news.clone()))).collect();
        drop(state);
        for (message_id, news) in news {
            let outcome = match news.kind {
                MessageKind::Interrupt => {
                    self.note_delivery(message_id, Delivery::Attempted).await?;
                    self.break_off().await
                }
                _ if !news.is_words() => Delivery::Undeliverable { reason: Undeliverable::NotAble.to_string() },
                _ => self.deliver(message_id, &news.text).await?,
            };
            if matches!(outcome, Delivery::Deferred { .. }) {
                self.is_owed = true;
                if !self.deferred.insert(message_id) {
                    continue;
                }
            }
            self.note_delivery(message_id, outcome).await?;
        }
        Ok(())
    }

    /// On record before it is sent off: whoever goes on after a crash knows that it may have been heard.
    async fn deliver(&mut self, message_id: MessageId, text: &str) -> Result<Delivery, End> {
        let later = Delivery::Deferred { reason: NO_FIELD.to_owned() };
        if !self.may_type() {
            return Ok(later);
        }
        let Some(before) = self.place(text).await else { return Ok(later) };
        self.note_delivery(message_id, Delivery::Attempted).await?;
        Ok(if self.send_off(text, &before) { Delivery::Delivered } else { later })
    }

    async fn note_delivery(&self, message_id: MessageId, outcome: Delivery) -> Result<(), End> {
        let delivery = MessageDelivery { message_id, outcome };
        self.host.record(vec![RunnerCommand::NoteDelivery(delivery)]).await.map(drop).map_err(End::Refused)
    }

    /// The program stays, whatever it asks is answered with no, and it waits for what comes next.
    async fn break_off(&mut self) -> Delivery {
        let before = self.terminal.look(windlass_terminal::Screen::text);
        for key in self.interrupt {
            if let Err(error) = self.terminal.type_now(key.as_bytes()) {
                return Delivery::Undeliverable { reason: error.to_string() };
            }
            // Two at once would be another key.
            self.show_something().await;
        }
        self.unfit = None;
        // A clock that goes on is no answer.
        match self.shows(|screen| is_another(&before, screen)).await {
            true => Delivery::Delivered,
            false => Delivery::Undeliverable { reason: NOTHING_BROKEN_OFF.to_owned() },
        }
    }

    /// Not again into a screen that has not taken it.
    fn may_type(&self) -> bool {
        let Some(unfit) = &self.unfit else { return true };
        self.terminal.look(|screen| is_another(unfit, &screen.text()))
    }

    /// Types it, and what the screen showed before, if it comes to stand in the field for messages.
    async fn place(&mut self, text: &str) -> Option<Vec<String>> {
        let before = self.terminal.look(windlass_terminal::Screen::text);
        let pasted = pasted(text, self.terminal.look(windlass_terminal::Screen::wants_bracketed_pastes));
        if self.terminal.type_now(pasted.as_bytes()).is_err() {
            return None;
        }
        // Some take a moment to put it in, and would send off nothing.
        if !self.shows(|screen| stands(text, &before, screen)).await {
            self.unfit = Some(before);
            return None;
        }
        self.unfit = None;
        Some(before)
    }

    /// Presses Enter where it stands there still: something may have been asked since, and Enter would say yes to it.
    fn send_off(&mut self, text: &str, before: &[String]) -> bool {
        if !self.terminal.look(|screen| stands(text, before, &screen.text())) {
            self.unfit = Some(before.to_vec());
            return false;
        }
        self.terminal.type_now(b"\r").is_ok()
    }

    /// Whether this comes to stand on the screen. Whoever is told to stop does not wait for it.
    async fn shows(&mut self, wanted: impl Fn(&Vec<String>) -> bool + Send) -> bool {
        let (given_up, cancel) = (self.runtime.now() + SHOWING, self.host.cancel());
        while !self.terminal.look(|screen| wanted(&screen.text())) {
            if self.runtime.now() >= given_up || cancel.raised().is_some() {
                return false;
            }
            self.show_something().await;
        }
        true
    }

    async fn show_something(&mut self) {
        let runtime = Arc::clone(&self.runtime);
        self.changes.mark_unchanged();
        let _it_may_show_nothing =
            within(runtime.as_ref(), QUITTING, Box::pin(changed(&mut self.changes, runtime.as_ref()))).await;
        self.changes.mark_changed();
    }

    /// When there is reason to doubt that anything will come.
    fn next_look(&self) -> Instant {
        let silent = self.changed_at + self.patience.silence;
        let opens = self.opens_with.map_or(silent, |(_, next)| next);
        silent.min(opens).min(self.runtime.now() + self.time_left())
    }

    fn time_left(&self) -> Duration {
        let state = self.host.state();
        let left = state.header.as_ref().map(|header| {
            let spent = state.spent_by(self.runtime.wall());
            Duration::from_millis(header.limits.timeout_ms.saturating_sub(spent.active_ms))
        });
        left.unwrap_or(self.patience.silence)
    }

    /// A screen on which nothing happens is over where checks can say what came of it, unless somebody sits in front of it.
    fn look_at_the_clock(&mut self) -> Result<(), End> {
        if self.time_left().is_zero() {
            return Err(End::OutOf(Exhausted::Time));
        }
        self.let_open();
        if self.runtime.now() < self.changed_at + self.patience.silence {
            return Ok(());
        }
        if self.terminal.is_watched() || !self.host.state().foreign.exchanges.is_empty() {
            self.changed_at = self.runtime.now();
            return Ok(());
        }
        match self.has_finish_line {
            true => Err(End::Turn(TurnEnd::Completed { message: self.last_words() })),
            false => Err(End::Silent),
        }
    }

    /// It has ended by itself: somebody quit it, or it broke. What it said last is read first.
    async fn gone(&mut self) -> End {
        let _what_it_left_behind = within(self.runtime.as_ref(), QUITTING, Box::pin(self.terminal.hung_up())).await;
        if let Err(end) = self.look(usize::MAX / 2).await {
            return end;
        }
        match self.running.wait().await {
            Ok(Status::Code(0 | QUIT)) if self.has_finish_line || self.terminal.is_typed_into() => {
                End::Turn(TurnEnd::Completed { message: self.last_words() })
            }
            // Nobody has quit it, it has not said that it was done, and nothing checks whether it is.
            Ok(Status::Code(0 | QUIT)) => End::Exited(UNCLAIMED.to_owned()),
            _ => End::Exited(last_line(&self.last_words())),
        }
    }

    fn last_words(&self) -> String {
        // Frames around an empty field are no words.
        let words = |lines: Vec<String>| {
            let shown = lines.iter().filter(|line| line.contains(char::is_alphanumeric));
            shown.map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
        };
        let (shown, page) = self.terminal.look(|screen| (screen.text(), screen.page()));
        let words = Some(words(shown)).filter(|shown| !shown.is_empty()).unwrap_or_else(|| words(page));
        let skipped = words.chars().count().saturating_sub(MOST_WORDS);
        let words: String = words.chars().skip(skipped).collect();
        if words.trim().is_empty() { "the agent's program was quit".to_owned() } else { words.trim().to_owned() }
    }

    fn notice(&mut self, what: &str, text: String) -> Result<(), End> {
        let event_id = format!("terminal:{}:{what}", self.markers.nonce);
        let observation = Observation::Noticed { text };
        self.stage(RunnerCommand::Observe(Box::new(Observed { event_id, source: Source::Provider, observation })))
    }

    fn stage(&self, command: RunnerCommand) -> Result<(), End> {
        self.host.stage(vec![command]).map_err(End::Refused)
    }

    /// Has the program quit, in peace where it can, and says how it went in the end.
    pub async fn close(mut self, end: End) -> End {
        let end = match self.meter.take_refusal() {
            // The program only knows that its model said no.
            Some(refused) if matches!(end, End::Turn(_) | End::Exited(_)) => End::Refused(refused),
            _ => end,
        };
        let ending = self.quit().await;
        let said = format!("the program on the screen has ended: {ending}");
        self.terminal.end(ending);
        self.screens.terminals.close(&self.markers.execution.to_string());
        if !matches!(end, End::Stopped(Stop::LeaseLost)) {
            let _it_has_ended_all_the_same = self.notice("ending", said);
            if let Some(trouble) = self.terminal.trouble() {
                let _it_has_ended_all_the_same =
                    self.notice("recording", format!("the recording ends early: {trouble}"));
            }
        }
        end
    }

    async fn quit(&self) -> Ending {
        let runtime = self.runtime.as_ref();
        let wait = |length| within(runtime, length, self.running.wait());
        let mut ended = wait(Duration::ZERO).await;
        for _ in 0..3 {
            if ended.is_some() {
                break;
            }
            let _nobody_reads = self.terminal.type_now(INTERRUPT);
            ended = wait(QUITTING).await;
        }
        if ended.is_none() {
            self.running.stop();
            ended = wait(self.patience.stopping * 2).await;
        }
        if ended.is_none() {
            self.running.kill();
            ended = wait(self.patience.stopping).await;
        }
        let _what_it_left_behind = within(runtime, QUITTING, Box::pin(self.terminal.hung_up())).await;
        match ended {
            Some(Ok(Status::Code(code))) => Ending::Exited(code),
            Some(Ok(Status::Signal(signal))) => Ending::Signalled(signal),
            Some(Ok(other)) => Ending::Lost(format!("{other:?}").to_lowercase()),
            Some(Err(error)) => Ending::Lost(error.to_string()),
            None => Ending::Lost("it could not be stopped".to_owned()),
        }
    }
}

/// Something has changed; not more often than a person could see.
async fn changed(changes: &mut watch::Receiver<u64>, runtime: &dyn Runtime) {
    if changes.changed().await.is_err() {
        return std::future::pending().await;
    }
    changes.mark_changed();
    runtime.sleep(MOMENT).await;
    changes.mark_unchanged();
}
