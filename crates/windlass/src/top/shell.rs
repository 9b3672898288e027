//! The terminal: it is taken, every key is heard as it is pressed, and it is given back as it was on every way out, also where the program
//! panics or is asked to end. What comes is put to `update`, and what that asks for is done beside it.

use std::io::Stdout;
use std::panic;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::input::{Effect, Input, Key};
use super::model::Model;
use super::source::{Source, Watch};
use super::update::update;
use super::view::{Palette, view};
use crate::config::wants_colour;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::screens::{Raw, write_out};
use crate::show::mention;

const PASTES_ARE_TOLD_APART: &[u8] = b"\x1b[?2004h";
const AS_BEFORE: &[u8] = b"\x1b[?2004l";

type Doing<'a> = Pin<Box<dyn Future<Output = Input> + 'a>>;
type Watching<'a> = Pin<Box<dyn Future<Output = Watch<'a>> + 'a>>;

/// Until whoever sits here leaves.
pub async fn sit(source: &Source<'_>, mut model: Model) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::new()?;
    // Before the terminal is taken, so that it is given back first.
    let _quiet = Quiet::new();
    let _taken = Taken::new()?;
    let mut terminal = Terminal::new(CrosstermBackend::new(std::io::stdout()))?;
    let palette = if wants_colour() { Palette::Coloured } else { Palette::Plain };
    let mut pressed = EventStream::new();
    let mut doing: FuturesUnordered<Doing<'_>> = FuturesUnordered::new();
    let mut watching: Watching<'_> = Box::pin(next(source.watch()));
    let size = terminal.size()?;
    let mut inputs = vec![Input::Sized(size.width, size.height), Input::Hinted];
    loop {
        for input in inputs.drain(..) {
            for effect in update(&mut model, input) {
                match effect {
                    Effect::Leave => return Ok(Exit::Completed),
                    Effect::Repaint => terminal.clear()?,
                    effect => doing.push(Box::pin(done(source, effect))),
                }
            }
        }
        paint(&mut terminal, &model, palette)?;
        tokio::select! {
            event = pressed.next() => match event {
                Some(Ok(event)) => inputs.extend(input(event)),
                // Nobody sits there any more.
                Some(Err(_)) | None => inputs.push(Input::Pressed(Key::Ctrl('c'))),
            },
            Some(told) = doing.next() => inputs.push(told),
            watch = &mut watching => {
                watching = Box::pin(next(watch));
                inputs.push(Input::Hinted);
            }
            () = interrupts.next() => inputs.push(Input::Pressed(Key::Ctrl('c'))),
        }
    }
}

async fn next(mut watch: Watch<'_>) -> Watch<'_> {
    watch.changed().await;
    watch
}

async fn done(source: &Source<'_>, effect: Effect) -> Input {
    match effect {
        Effect::Look(look) => match source.look(look.clone()).await {
            Ok(told) => Input::Told(look, told),
            Err(trouble) => Input::NotTold(look, trouble),
        },
        Effect::Say { session, folder, words } => Input::Said(source.say(session, folder, words).await),
        other => Input::Answered(source.answer(other).await),
    }
}

fn paint(terminal: &mut Terminal<CrosstermBackend<Stdout>>, model: &Model, palette: Palette) -> std::io::Result<()> {
    terminal.draw(|frame| view(model, palette, frame)).map(drop)
}

fn input(event: Event) -> Option<Input> {
    match event {
        Event::Key(KeyEvent { kind: KeyEventKind::Release, .. }) => None,
        Event::Key(event) => key(event).map(Input::Pressed),
        Event::Paste(text) => Some(Input::Pasted(text)),
        Event::Resize(columns, rows) => Some(Input::Sized(columns, rows)),
        Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    let is_ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char(letter) if is_ctrl => Key::Ctrl(letter.to_ascii_lowercase()),
        KeyCode::Char(_) if event.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(letter) => Key::Letter(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

/// The terminal; dropped, it is as it was.
struct Taken {
    _raw: Raw,
}

impl Taken {
    fn new() -> std::io::Result<Self> {
        let raw = Raw::enter()?;
        write_out(PASTES_ARE_TOLD_APART)?;
        Ok(Self { _raw: raw })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let _nobody_sees_it = write_out(AS_BEFORE);
    }
}

type Hook = Box<dyn Fn(&panic::PanicHookInfo<'_>) + Sync + Send>;

/// What the program says in a panic waits until it can be read: on the page it would go with it.
struct Quiet {
    before: Arc<Hook>,
    said: Arc<Mutex<Vec<String>>>,
}

impl Quiet {
    fn new() -> Self {
        let before: Arc<Hook> = Arc::new(panic::take_hook());
        let said = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&said);
        panic::set_hook(Box::new(move |panicked| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(panicked.to_string());
        }));
        Self { before, said }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        for what in self.said.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            mention(&what);
        }
        // A hook cannot be changed while something panics; then the program is about to end.
        if !std::thread::panicking() {
            let before = Arc::clone(&self.before);
            panic::set_hook(Box::new(move |panicked| before(panicked)));
        }
    }
}
