//! Sitting in front of an agent's screen: what its emulator shows is painted here, what is pressed goes to it. The last row is ours, and says
//! how to leave.

use std::io;
use std::sync::Arc;

use tokio::net::UnixStream;
use tokio::signal::unix::{SignalKind, signal};
use windlass_domain::{BoxFuture, Runtime};
use windlass_policy::visible_line;
use windlass_terminal::{Hands, Seen, Sight, Size, look_on};

use super::keys::{Keys, Pressed};
use super::raw::{Raw, beside_ours, pressed, room, write_out};
use crate::exit::WrongUse;
use crate::interrupts::Interrupts;
use crate::show::{shortened, width_of};

#[derive(Debug, PartialEq, Eq)]
pub enum Left {
    /// It goes on without us.
    Detached,
    /// How its program ended, in words.
    Ended(String),
    /// Whoever ran it is gone.
    Lost,
}

/// What is to be painted, wherever it comes from.
pub trait Sights: Send {
    /// Nothing where whoever ran it is gone without a word.
    fn next(&mut self) -> BoxFuture<'_, io::Result<Option<Sight>>>;
}

/// What is typed and how much room there is, wherever it goes.
pub trait Typing: Send {
    fn types<'a>(&'a mut self, typed: &'a [u8]) -> BoxFuture<'a, io::Result<()>>;

    fn resize(&mut self, size: Size) -> BoxFuture<'_, io::Result<()>>;
}

impl Sights for Seen {
    fn next(&mut self) -> BoxFuture<'_, io::Result<Option<Sight>>> {
        Box::pin(Self::next(self))
    }
}

impl Typing for Hands {
    fn types<'a>(&'a mut self, typed: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(Self::types(self, typed))
    }

    fn resize(&mut self, size: Size) -> BoxFuture<'_, io::Result<()>> {
        Box::pin(Self::resize(self, size))
    }
}

/// How much an agent's screen may have here.
pub fn seat() -> Result<Size, WrongUse> {
    room().map(beside_ours).ok_or_else(|| WrongUse::new("standard input and output are not a terminal"))
}

pub async fn sit(stream: UnixStream, runtime: &Arc<dyn Runtime>) -> anyhow::Result<Left> {
    let (title, mut seen, mut hands) = look_on(stream, seat()?).await?;
    sit_before(title, &mut seen, &mut hands, runtime).await
}

pub async fn sit_before(
    title: String,
    seen: &mut dyn Sights,
    hands: &mut dyn Typing,
    runtime: &Arc<dyn Runtime>,
) -> anyhow::Result<Left> {
    let Some(mut size) = room() else {
        return Err(WrongUse::new("standard input and output are not a terminal").into());
    };
    let mut resized = signal(SignalKind::window_change())?;
    let mut interrupts = Interrupts::new()?;
    let raw = Raw::enter()?;
    let mut keys = Keys::default();
    let mut showing = Showing { runtime: Arc::clone(runtime), title, size };
    showing.paint(Vec::new()).await?;
    let (mut painting, mut pressing) = (std::pin::pin!(next(seen)), runtime_pressed(runtime));
    let left = loop {
        tokio::select! {
            sight = &mut painting => {
                let (sight, seen) = sight;
                match sight? {
                    Some(Sight::Paint(bytes)) => showing.paint(bytes).await?,
                    // Here it is as large as we said.
                    Some(Sight::Sized(_) | Sight::CaughtUp) => {}
                    Some(Sight::Ended(how)) => break Left::Ended(how),
                    None => break Left::Lost,
                }
                painting.set(next(seen));
            }
            typed = &mut pressing => {
                pressing = runtime_pressed(runtime);
                let Some(typed) = typed else { break Left::Detached };
                match keys.press(&typed) {
                    Pressed::Typed(typed) => types(hands, &typed).await,
                    Pressed::Leave(typed) => {
                        types(hands, &typed).await;
                        break Left::Detached;
                    }
                }
            }
            _ = resized.recv() => {
                size = room().unwrap_or(size);
                showing.size = size;
                // Whoever runs it may be gone: what is seen tells.
                let _gone = hands.resize(beside_ours(size)).await;
                showing.paint(b"\x1b[2J".to_vec()).await?;
            }
            () = interrupts.next() => break Left::Detached,
        }
    };
    // Whoever listens still would take what is typed next, which is for somebody else.
    pressing.await;
    drop(raw);
    Ok(left)
}

type Pressing = std::pin::Pin<Box<dyn Future<Output = Option<Vec<u8>>> + Send>>;

fn runtime_pressed(runtime: &Arc<dyn Runtime>) -> Pressing {
    let runtime = Arc::clone(runtime);
    Box::pin(async move { runtime.blocking(pressed).await })
}

/// Not dropped in the middle of a frame.
async fn next(seen: &mut dyn Sights) -> (io::Result<Option<Sight>>, &mut dyn Sights) {
    (seen.next().await, seen)
}

/// Whoever ran it may be gone: what is seen tells.
async fn types(hands: &mut dyn Typing, typed: &[u8]) {
    if !typed.is_empty() {
        let _gone = hands.types(typed).await;
    }
}

struct Showing {
    runtime: Arc<dyn Runtime>,
    title: String,
    size: Size,
}

impl Showing {
    /// With our row, which what is painted may have wiped away.
    async fn paint(&self, mut bytes: Vec<u8>) -> io::Result<()> {
        bytes.extend_from_slice(self.row().as_bytes());
        self.runtime.blocking(move || write_out(&bytes)).await
    }

    fn row(&self) -> String {
        const HOW: &str = "Ctrl-] twice: leave, it goes on";
        let width = usize::from(self.size.cols);
        let title = shortened(&visible_line(&self.title), width.saturating_sub(HOW.len() + 3));
        let words = if title.is_empty() { shortened(HOW, width) } else { format!("{title} · {HOW}") };
        let blanks = " ".repeat(width.saturating_sub(width_of(&words)));
        format!("\u{1b}7\u{1b}[{};1H\u{1b}[0;7m{words}{blanks}\u{1b}[0m\u{1b}8", self.size.rows)
    }
}
