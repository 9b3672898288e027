//! What the two ends of a live terminal say to each other over a socket: a byte for the kind, four for the length, and what belongs to
//! it. Whoever says something else is not listened to any more.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::size::Size;

/// The one that both ends must speak.
pub const VERSION: u8 = 2;

/// Of what belongs to a frame.
const LONGEST: usize = 64 << 10;

/// From whoever runs the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// First of all: the version, and what runs there.
    Hello { version: u8, title: String },
    /// How large it is from here on.
    Sized(Size),
    /// For the person's own terminal, as it is.
    Paint(Vec<u8>),
    /// Everything that was there when they came is shown.
    CaughtUp,
    /// The program has ended, in words.
    Ended(String),
}

/// From whoever looks on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// First of all: the version, and the room there is. Whoever has none to say takes what there is, as large as it is.
    Hello {
        version: u8,
        room: Option<Size>,
    },
    Typed(Vec<u8>),
    Resized(Size),
}

impl Shown {
    /// Paint goes into several, where there is much of it.
    pub async fn write(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        match self {
            Self::Hello { version, title } => frame(to, b'h', &[&[*version], title.as_bytes()].concat()).await,
            Self::Paint(bytes) => {
                for piece in bytes.chunks(LONGEST) {
                    frame(to, b'p', piece).await?;
                }
                Ok(())
            }
            Self::Sized(size) => frame(to, b's', &sized(*size)).await,
            Self::CaughtUp => frame(to, b'c', &[]).await,
            Self::Ended(how) => frame(to, b'e', how.as_bytes()).await,
        }
    }

    /// Nothing where the other end has gone.
    pub async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Self>> {
        let Some((kind, body)) = next(from).await? else { return Ok(None) };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match (kind, body.split_first()) {
            (b'h', Some((version, title))) => Ok(Some(Self::Hello { version: *version, title: text(title) })),
            (b's', _) => Ok(Some(Self::Sized(size_of(&body)?))),
            (b'p', _) => Ok(Some(Self::Paint(body))),
            (b'c', None) => Ok(Some(Self::CaughtUp)),
            (b'e', _) => Ok(Some(Self::Ended(text(&body)))),
            _ => Err(nonsense()),
        }
    }
}

impl Said {
    pub async fn write(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        match self {
            Self::Hello { version, room } => {
                let room = room.map(|size| sized(size).to_vec()).unwrap_or_default();
                frame(to, b'h', &[&[*version][..], &room].concat()).await
            }
            Self::Typed(bytes) => {
                for piece in bytes.chunks(LONGEST) {
                    frame(to, b'i', piece).await?;
                }
                Ok(())
            }
            Self::Resized(size) => frame(to, b'r', &sized(*size)).await,
        }
    }

    /// Nothing where the other end has gone.
    pub async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Self>> {
        let Some((kind, body)) = next(from).await? else { return Ok(None) };
        match (kind, body.as_slice()) {
            (b'h', [version]) => Ok(Some(Self::Hello { version: *version, room: None })),
            (b'h', [version, size @ ..]) => Ok(Some(Self::Hello { version: *version, room: Some(size_of(size)?) })),
            (b'i', _) => Ok(Some(Self::Typed(body))),
            (b'r', size) => Ok(Some(Self::Resized(size_of(size)?))),
            _ => Err(nonsense()),
        }
    }
}

fn sized(size: Size) -> [u8; 4] {
    let ([a, b], [c, d]) = (size.cols.to_be_bytes(), size.rows.to_be_bytes());
    [a, b, c, d]
}

fn size_of(bytes: &[u8]) -> io::Result<Size> {
    match *bytes {
        [a, b, c, d] => Ok(Size { cols: u16::from_be_bytes([a, b]), rows: u16::from_be_bytes([c, d]) }.within_bounds()),
        _ => Err(nonsense()),
    }
}

fn nonsense() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the other end says something that is no part of a terminal")
}

async fn frame(to: &mut (impl AsyncWrite + Unpin), kind: u8, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len()).map_err(|_| nonsense())?;
    let mut whole = Vec::with_capacity(body.len() + 5);
    whole.push(kind);
    whole.extend_from_slice(&length.to_be_bytes());
    whole.extend_from_slice(body);
    to.write_all(&whole).await
}

async fn next(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut head = [0; 5];
    if from.read(&mut head[..1]).await? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut head[1..]).await?;
    let [kind, a, b, c, d] = head;
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).map_err(|_| nonsense())?;
    if length > LONGEST {
        return Err(nonsense());
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).await?;
    Ok(Some((kind, body)))
}
