//! One terminal while its program lives: what is printed goes into the screen and the recording, what is typed goes to the program, and
//! whoever looks on is told that something has changed.

use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use crate::decode::Decoder;
use crate::line::Line;
use crate::recording::{Happened, Recorder};
use crate::screen::Screen;
use crate::size::Size;
use crate::viewer::Viewer;

/// Of things typed that the program has not read yet. Whoever types more waits.
const UNREAD: usize = 64;

pub struct Options {
    pub size: Size,
    /// Where it is kept, where it is.
    pub recorder: Option<Recorder>,
    /// What everything passes that is kept.
    pub scrub: Option<Box<dyn Scrub>>,
    /// Since the terminal was opened.
    pub clock: Box<dyn Fn() -> Duration + Send + Sync>,
    /// Ends the program and everything that it has started.
    pub kill: Box<dyn Fn() + Send + Sync>,
}

/// Takes out of a text what is not to be kept, however it is cut into pieces.
pub trait Scrub: Send {
    /// What is clear of it so far.
    fn feed(&mut self, text: &str) -> String;
    /// What was held back because it might have gone on.
    fn finish(&mut self) -> String;
}

/// How it ended, said by whoever started the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Exited(i32),
    Signalled(i32),
    /// Nobody knows, and why.
    Lost(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the program in this terminal has ended: there is nobody to type to")]
pub struct Closed;

/// Why something was not typed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotTyped {
    #[error("the program in this terminal has ended: there is nobody to type to")]
    Closed,
    #[error("the program in this terminal does not read what is typed")]
    Unread,
}

#[derive(Debug, Clone)]
pub struct Terminal {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    changed: watch::Sender<u64>,
    typed: mpsc::Sender<Vec<u8>>,
    line: Arc<dyn Line>,
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
    kill: Box<dyn Fn() + Send + Sync>,
    viewers: AtomicIsize,
    /// By somebody who looks on.
    is_typed_into: AtomicBool,
}

struct State {
    screen: Screen,
    kept: Kept,
    /// Everything that was printed is read: nobody has the other end of the line any more.
    has_hung_up: bool,
    ending: Option<Ending>,
}

/// The recording; none where there is none, or it could not be written any more.
struct Kept {
    recorder: Option<Recorder>,
    scrub: Option<Box<dyn Scrub>>,
    trouble: Option<String>,
}

impl Terminal {
    /// With what carries everything to and fro while somebody drives it: it returns when the program has hung up, or nobody has the
    /// terminal any more.
    pub fn open(line: Arc<dyn Line>, options: Options) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let Options { size, recorder, scrub, clock, kill } = options;
        let (typed, to_type) = mpsc::channel(UNREAD);
        let kept = Kept { recorder, scrub, trouble: None };
        let state = Mutex::new(State { screen: Screen::new(size), kept, has_hung_up: false, ending: None });
        let (changed, viewers) = (watch::Sender::new(0), AtomicIsize::new(0));
        let is_typed_into = AtomicBool::new(false);
        let inner =
            Arc::new(Inner { state, changed, typed, line: Arc::clone(&line), clock, kill, viewers, is_typed_into });
        let weak = Arc::downgrade(&inner);
        let carrying = async move {
            tokio::select! {
                () = print_all(&*line, weak) => {}
                () = type_all(&*line, to_type) => {}
            }
        };
        (Self { inner }, carrying)
    }

    pub fn attach(&self) -> Viewer {
        Viewer::new(self.clone(), self.inner.changed.subscribe())
    }

    /// Whether anybody looks on.
    pub fn is_watched(&self) -> bool {
        self.inner.viewers.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn count_viewers(&self, more: isize) {
        self.inner.viewers.fetch_add(more, Ordering::Relaxed);
    }

    /// By a person. Waits while the program does not read.
    pub async fn input(&self, bytes: &[u8]) -> Result<(), Closed> {
        if self.ending().is_some() {
            return Err(Closed);
        }
        self.inner.is_typed_into.store(true, Ordering::Relaxed);
        self.inner.typed.send(bytes.to_vec()).await.map_err(|_| Closed)
    }

    /// Whether any person has typed into it.
    pub fn is_typed_into(&self) -> bool {
        self.inner.is_typed_into.load(Ordering::Relaxed)
    }

    /// By whoever carries the program, and waits for nobody.
    pub fn type_now(&self, bytes: &[u8]) -> Result<(), NotTyped> {
        if self.ending().is_some() {
            return Err(NotTyped::Closed);
        }
        self.inner.typed.try_send(bytes.to_vec()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => NotTyped::Unread,
            mpsc::error::TrySendError::Closed(_) => NotTyped::Closed,
        })
    }

    pub fn resize(&self, size: Size) -> std::io::Result<()> {
        let size = size.within_bounds();
        let mut state = self.inner.lock();
        if state.screen.size() == size {
            return Ok(());
        }
        self.inner.line.resize(size)?;
        state.screen.resize(size);
        state.kept.add((self.inner.clock)(), Happened::Resized(size));
        drop(state);
        self.inner.tell();
        Ok(())
    }

    pub fn kill(&self) {
        (self.inner.kill)();
    }

    /// Returns when everything that was printed is read. A program that was left behind may keep it from that.
    pub async fn hung_up(&self) {
        let mut changed = self.inner.changed.subscribe();
        while !self.inner.lock().has_hung_up {
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    /// Returns when it is said how the program ended.
    pub async fn over(&self) {
        let mut changed = self.inner.changed.subscribe();
        while self.ending().is_none() {
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    /// Tells whoever waits that something has happened.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changed.subscribe()
    }

    /// Said once by whoever waits for the program, after it has hung up.
    pub fn end(&self, ending: Ending) {
        let mut state = self.inner.lock();
        state.ending.get_or_insert(ending);
        state.kept.finish((self.inner.clock)());
        drop(state);
        self.inner.tell();
    }

    pub fn ending(&self) -> Option<Ending> {
        self.inner.lock().ending.clone()
    }

    /// Why the recording ended before the terminal did, where it has.
    pub fn trouble(&self) -> Option<String> {
        self.inner.lock().kept.trouble.clone()
    }

    pub fn look<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(&self.inner.lock().screen)
    }
}

async fn print_all(line: &dyn Line, inner: Weak<Inner>) {
    let mut decoder = Decoder::default();
    while let Ok(piece) = line.read().await
        && !piece.is_empty()
    {
        let Some(inner) = inner.upgrade() else { return };
        inner.print(&decoder.feed(&piece));
        // Others have something to do as well, however much a program prints.
        tokio::task::yield_now().await;
    }
    if let Some(inner) = inner.upgrade() {
        inner.print(&decoder.finish());
        inner.lock().has_hung_up = true;
        inner.tell();
    }
}

/// Returns when nobody has the terminal any more.
async fn type_all(line: &dyn Line, mut to_type: mpsc::Receiver<Vec<u8>>) {
    let mut is_read = true;
    while let Some(bytes) = to_type.recv().await {
        // What was printed is still to be seen when nobody reads any more.
        is_read = is_read && line.write(&bytes).await.is_ok();
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changed.send_modify(|changes| *changes += 1);
    }

    fn print(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut state = self.lock();
        let answers = state.screen.feed(text);
        state.kept.add((self.clock)(), Happened::Printed(text.to_owned()));
        drop(state);
        // A program that asks and does not read waits for itself alone.
        let _full = (!answers.is_empty()).then(|| self.typed.try_send(answers.into_bytes()));
        self.tell();
    }
}

impl Kept {
    fn add(&mut self, at: Duration, happened: Happened) {
        let scrubbed = match (happened, &mut self.scrub) {
            (Happened::Printed(text), Some(scrub)) => Happened::Printed(scrub.feed(&text)),
            (other, _) => other,
        };
        if scrubbed != Happened::Printed(String::new()) {
            self.write(|recorder| recorder.add(at, &scrubbed));
        }
    }

    fn finish(&mut self, at: Duration) {
        let rest = self.scrub.as_mut().map(|scrub| scrub.finish()).unwrap_or_default();
        if !rest.is_empty() {
            self.write(|recorder| recorder.add(at, &Happened::Printed(rest)));
        }
        self.write(Recorder::flush);
    }

    /// A full disk ends the recording, not the work.
    fn write(&mut self, write: impl FnOnce(&mut Recorder) -> std::io::Result<()>) {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = write(recorder)
        {
            self.trouble = Some(error.to_string());
            self.recorder = None;
        }
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Terminal").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Options").field("size", &self.size).finish_non_exhaustive()
    }
}
