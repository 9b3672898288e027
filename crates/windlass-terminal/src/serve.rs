//! Shows a terminal to other processes of the same user, who see what its emulator shows and type into it. It is as large as the smallest
//! room that somebody has for it, so that everybody sees all of it.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::Notify;

use crate::frames::{Said, Shown, VERSION};
use crate::line::BoxFuture;
use crate::screen::Screen;
use crate::size::Size;
use crate::sockets::Bound;
use crate::terminal::{Ending, Terminal};
use crate::viewer::Viewer;

/// How whoever serves has others work beside it.
pub type Spawn = Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>;

/// How whoever serves waits a moment, where a connection could not be taken.
pub type Pause = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// The rooms of those who look on.
#[derive(Clone, Default)]
struct Rooms(Arc<Mutex<BTreeMap<u64, Size>>>);

/// Until the terminal's program has ended. Those who look on then see it to its end by themselves.
pub async fn serve(bound: Bound, terminal: Terminal, title: String, spawn: Spawn, pause: Pause) {
    let rooms = Rooms::default();
    for number in 0.. {
        let stream = tokio::select! {
            () = terminal.over() => return,
            accepted = bound.accept() => match accepted {
                Ok(stream) => stream,
                // A process that has no more files to open has some again later, and whoever is not taken now waits.
                Err(_) => {
                    tokio::select! {
                        () = terminal.over() => return,
                        () = pause() => continue,
                    }
                }
            },
        };
        let (terminal, title, rooms) = (terminal.clone(), title.clone(), rooms.clone());
        spawn(Box::pin(async move {
            // Whatever went wrong between the two, it is only this one who sees no more.
            let _gone = show(stream, &terminal, title, &rooms, number).await;
            rooms.leave(number, &terminal);
        }));
    }
}

async fn show(stream: UnixStream, terminal: &Terminal, title: String, rooms: &Rooms, number: u64) -> io::Result<()> {
    let (from, mut to) = stream.into_split();
    let mut from = BufReader::new(from);
    Shown::Hello { version: VERSION, title }.write(&mut to).await?;
    let Some(Said::Hello { version: VERSION, room }) = Said::read(&mut from).await? else { return Ok(()) };
    let (mut viewer, repaint) = (terminal.attach(), Notify::new());
    match room {
        Some(size) => rooms.set(number, size, terminal)?,
        None => viewer.wants_what_scrolled_away(),
    }
    let looker = Looker { terminal, rooms, number, repaint: &repaint };
    tokio::select! {
        painted = paint(&mut viewer, &mut to, &repaint) => painted?,
        heard = looker.hear(from) => return heard,
    }
    let how = terminal.ending().map_or_else(String::new, |ending| ending.to_string());
    Shown::Ended(how).write(&mut to).await?;
    to.shutdown().await
}

/// To the end of the program.
async fn paint(viewer: &mut Viewer, to: &mut (impl tokio::io::AsyncWrite + Unpin), repaint: &Notify) -> io::Result<()> {
    let (mut told, mut is_caught_up) = (None, false);
    loop {
        tokio::select! {
            () = repaint.notified() => viewer.repaint(),
            painted = viewer.next() => match painted {
                Some(painted) => {
                    let size = viewer.size();
                    if size != told {
                        told = size;
                        Shown::Sized(size.unwrap_or(Size::USUAL)).write(to).await?;
                    }
                    Shown::Paint(painted.into_bytes()).write(to).await?;
                    if !is_caught_up {
                        is_caught_up = true;
                        Shown::CaughtUp.write(to).await?;
                    }
                }
                None => return Ok(()),
            },
        }
    }
}

/// One of those who look on.
struct Looker<'a> {
    terminal: &'a Terminal,
    rooms: &'a Rooms,
    number: u64,
    repaint: &'a Notify,
}

impl Looker<'_> {
    /// Until they leave.
    async fn hear(&self, mut from: BufReader<OwnedReadHalf>) -> io::Result<()> {
        while let Some(said) = Said::read(&mut from).await? {
            match said {
                Said::Typed(bytes) => {
                    let wants_application_keys = self.terminal.look(Screen::wants_application_keys);
                    let keys = if wants_application_keys { application_keys(&bytes) } else { bytes };
                    if self.terminal.input(&keys).await.is_err() {
                        // They see its last screen yet.
                        std::future::pending::<()>().await;
                    }
                }
                Said::Resized(size) => {
                    self.rooms.set(self.number, size, self.terminal)?;
                    // Their terminal has changed what it showed, though the program's may be as large as before.
                    self.repaint.notify_one();
                }
                Said::Hello { .. } => return Ok(()),
            }
        }
        Ok(())
    }
}

/// The person's terminal sends arrows in the plain way; a program that asked for the other gets that.
fn application_keys(typed: &[u8]) -> Vec<u8> {
    let mut keys = typed.to_vec();
    for at in 2..keys.len() {
        if keys[at - 2..at] == *b"\x1b[" && matches!(keys[at], b'A'..=b'D' | b'F' | b'H') {
            keys[at - 1] = b'O';
        }
    }
    keys
}

impl Rooms {
    fn set(&self, number: u64, size: Size, terminal: &Terminal) -> io::Result<()> {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.insert(number, size);
        fit(&rooms, terminal)
    }

    fn leave(&self, number: u64, terminal: &Terminal) {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.remove(&number);
        let _has_ended = fit(&rooms, terminal);
    }
}

/// With nobody there it stays as it is.
fn fit(rooms: &BTreeMap<u64, Size>, terminal: &Terminal) -> io::Result<()> {
    let smallest = rooms
        .values()
        .copied()
        .reduce(|one, other| Size { cols: one.cols.min(other.cols), rows: one.rows.min(other.rows) });
    smallest.map_or(Ok(()), |size| terminal.resize(size))
}

impl std::fmt::Display for Ending {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(out, "it exited with {code}"),
            Self::Signalled(signal) => write!(out, "it was ended by signal {signal}"),
            Self::Lost(why) => write!(out, "{why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::application_keys;

    #[test]
    fn arrows_are_sent_in_the_way_of_applications_and_nothing_else_changes() {
        let check = |typed: &str, expected: &str| {
            assert_eq!(application_keys(typed.as_bytes()), expected.as_bytes(), "{typed:?}");
        };
        check("\u{1b}[Aab\u{1b}[D", "\u{1b}OAab\u{1b}OD");
        check("\u{1b}[5~\u{1b}[1;5A[A", "\u{1b}[5~\u{1b}[1;5A[A");
        check("\u{1b}", "\u{1b}");
    }
}
