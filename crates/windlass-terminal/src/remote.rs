//! Looking at a terminal that another process runs, and typing into it.

use std::io;

use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::frames::{Said, Shown, VERSION};
use crate::size::Size;

/// What comes: how large it is and paint for the person's own terminal, then how the program ended.
#[derive(Debug)]
pub struct Seen {
    from: BufReader<OwnedReadHalf>,
}

/// Where what is typed goes. Dropped, the person has left.
#[derive(Debug)]
pub struct Hands {
    to: OwnedWriteHalf,
}

/// What whoever looks on is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    Sized(Size),
    Paint(Vec<u8>),
    /// What they were shown so far is what was there when they came.
    CaughtUp,
    Ended(String),
}

/// With what runs there. The terminal makes itself as small as this room.
pub async fn look_on(stream: UnixStream, room: Size) -> io::Result<(String, Seen, Hands)> {
    begin(stream, Some(room)).await
}

/// The same, however large it is, and first what has scrolled away. Only whoever says a size afterwards has a room that counts.
pub async fn look_on_as_it_is(stream: UnixStream) -> io::Result<(String, Seen, Hands)> {
    begin(stream, None).await
}

async fn begin(stream: UnixStream, room: Option<Size>) -> io::Result<(String, Seen, Hands)> {
    let (from, mut to) = stream.into_split();
    let mut from = BufReader::new(from);
    let title = match Shown::read(&mut from).await? {
        Some(Shown::Hello { version: VERSION, title }) => title,
        Some(Shown::Hello { .. }) => {
            return Err(io::Error::other("the terminal is run by another version of this program"));
        }
        _ => return Err(io::Error::other("what listens there shows no terminal")),
    };
    Said::Hello { version: VERSION, room }.write(&mut to).await?;
    Ok((title, Seen { from }, Hands { to }))
}

impl Seen {
    /// Nothing where whoever ran it is gone without a word.
    pub async fn next(&mut self) -> io::Result<Option<Sight>> {
        Ok(match Shown::read(&mut self.from).await? {
            Some(Shown::Sized(size)) => Some(Sight::Sized(size)),
            Some(Shown::CaughtUp) => Some(Sight::CaughtUp),
            Some(Shown::Paint(bytes)) => Some(Sight::Paint(bytes)),
            Some(Shown::Ended(how)) => Some(Sight::Ended(how)),
            Some(Shown::Hello { .. }) | None => None,
        })
    }
}

impl Hands {
    pub async fn types(&mut self, bytes: &[u8]) -> io::Result<()> {
        Said::Typed(bytes.to_vec()).write(&mut self.to).await
    }

    pub async fn resize(&mut self, size: Size) -> io::Result<()> {
        Said::Resized(size).write(&mut self.to).await
    }
}
