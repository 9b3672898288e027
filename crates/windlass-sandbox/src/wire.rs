//! What the owner and the supervisor say to each other, as bytes.
//!
//! On the *link*, a packet socket: one [`Setup`] from the owner (with the lock descriptor, if there is one), one
//! [`Answer`] back (with a listening socket, if one was wanted), a [`SCORE`] packet (with the supervisor's score, if it could
//! be opened), then a [`LAUNCH`] packet per command with its descriptors, and a [`LISTEN`] packet with a socket, over which
//! comes a [`Listening`], per listening socket that is wanted. On each command's *control* socket: one [`STOP`] byte
//! at most from the owner; a [`BEGUN`] byte back where that was asked for (with the owner's end of the terminal, if it has
//! one), and one [`Ended`]. A closed control socket means:
//! kill it now. A closed link means: the owner is gone.
//!
//! Both ends are the same build, so there is no versioning here; a message that does not decode ends the connection.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{Limits, Status, Streams, policy::Home};

pub(crate) const SCORE: &[u8] = b"score";
pub(crate) const LAUNCH: &[u8] = b"launch";
pub(crate) const LISTEN: &[u8] = b"listen";
pub(crate) const STOP: u8 = b's';
/// No [`Ended`] begins like this.
pub(crate) const BEGUN: u8 = b'b';
/// The largest packet on the link. Requests may be larger: they travel in a memory file.
pub(crate) const LINK_PACKET: usize = 64 << 10;

/// What the supervisor must prove and enforce.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    /// `None` where nothing is confined and nothing can be proved.
    pub(crate) bait: Option<Bait>,
    pub(crate) limits: Limits,
    /// Which limits a control group holds already.
    pub(crate) memory_held: bool,
    pub(crate) processes_held: bool,
    /// The port of its loopback to listen on, for the owner. Zero for whichever is free.
    pub(crate) listen: Option<u16>,
    pub(crate) home: Home,
    /// A directory to remove at the end. The supervisor outlives its owner, so this works even if that is killed.
    pub(crate) scratch: Option<PathBuf>,
}

/// Things of the host that a confined process must not reach.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bait {
    /// Path, device and inode, as the owner sees them.
    pub(crate) hidden: Vec<(PathBuf, u64, u64)>,
    /// Places of the sandbox where nothing can be written.
    pub(crate) sealed: Vec<PathBuf>,
    /// Places of the sandbox that are these of the owner's: path inside, device and inode.
    pub(crate) meant: Vec<(PathBuf, u64, u64)>,
    pub(crate) tcp_port: u16,
    /// The name of a listener in the abstract namespace, without its leading zero byte.
    pub(crate) abstract_socket: Vec<u8>,
    /// Name and identity of each of the owner's namespaces.
    pub(crate) namespaces: Vec<(String, OsString)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Ready,
    NotConfined(String),
}

/// What became of a listening socket, which comes along where there is one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Listening {
    Here,
    /// An `errno`.
    Not(i32),
}

/// One command. Its descriptors follow in the order control, request, stdout, then stderr and stdin where said; for one with
/// a terminal there are only the first two.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: PathBuf,
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) streams: Streams,
    pub(crate) has_stdin: bool,
    /// Whether the owner wants to hear that it has begun.
    pub(crate) is_announced: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    With(Status, Duration),
    /// An `errno`, and what it was about.
    NotStarted(i32, Obstacle),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    Program,
    Directory,
    Terminal,
}

impl Setup {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut to = Encoder::default();
        to.number(self.limits.memory_bytes);
        to.number(self.limits.processes);
        to.number(self.limits.file_size_bytes);
        to.number(self.limits.open_files);
        to.number(self.limits.cpu_seconds.map_or(0, |seconds| seconds.max(1)));
        to.number(self.limits.scratch_bytes);
        to.number(u64::from(self.memory_held));
        to.number(u64::from(self.processes_held));
        to.number(self.listen.map_or(u64::MAX, u64::from));
        to.number(u64::from(self.home == Home::OnTheHost));
        to.bytes(self.scratch.as_deref().unwrap_or(Path::new("")).as_os_str().as_bytes());
        to.number(u64::from(self.bait.is_some()));
        if let Some(bait) = &self.bait {
            to.places(&bait.hidden);
            to.places(&bait.meant);
            to.number(bait.sealed.len() as u64);
            bait.sealed.iter().for_each(|place| to.bytes(place.as_os_str().as_bytes()));
            to.number(u64::from(bait.tcp_port));
            to.bytes(&bait.abstract_socket);
            to.number(bait.namespaces.len() as u64);
            for (name, identity) in &bait.namespaces {
                to.bytes(name.as_bytes());
                to.bytes(identity.as_bytes());
            }
        }
        to.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder(bytes);
        let limits = Limits {
            memory_bytes: from.number()?,
            processes: from.number()?,
            file_size_bytes: from.number()?,
            open_files: from.number()?,
            cpu_seconds: Some(from.number()?).filter(|seconds| *seconds > 0),
            scratch_bytes: from.number()?,
        };
        let memory_held = from.number()? == 1;
        let processes_held = from.number()? == 1;
        let listen = u16::try_from(from.number()?).ok();
        let home = match from.number()? {
            0 => Home::InMemory,
            _ => Home::OnTheHost,
        };
        let scratch = Some(from.path()?).filter(|path| !path.as_os_str().is_empty());
        let bait = match from.number()? {
            0 => None,
            _ => Some(Bait {
                hidden: from.places()?,
                meant: from.places()?,
                sealed: from.list(Decoder::path)?,
                tcp_port: u16::try_from(from.number()?).ok()?,
                abstract_socket: from.bytes()?.to_vec(),
                namespaces: from.list(|from| Some((String::from_utf8(from.bytes()?.to_vec()).ok()?, from.text()?)))?,
            }),
        };
        Some(Self { bait, limits, memory_held, processes_held, listen, home, scratch })
    }
}

impl Answer {
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Ready => b"ready".to_vec(),
            Self::NotConfined(what) => format!("not confined: {what}").into_bytes(),
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        match text.strip_prefix("not confined: ") {
            Some(what) => Some(Self::NotConfined(what.to_owned())),
            None => (text == "ready").then_some(Self::Ready),
        }
    }
}

impl Listening {
    pub(crate) const SIZE: usize = 4;

    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        match self {
            Self::Here => 0,
            Self::Not(errno) => *errno,
        }
        .to_le_bytes()
    }

    pub(crate) fn decode(bytes: &[u8; Self::SIZE]) -> Self {
        match i32::from_le_bytes(*bytes) {
            0 => Self::Here,
            errno => Self::Not(errno),
        }
    }
}

impl Request {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut to = Encoder::default();
        to.number(self.argv.len() as u64);
        self.argv.iter().for_each(|word| to.bytes(word.as_bytes()));
        to.number(self.env.len() as u64);
        for (name, value) in &self.env {
            to.bytes(name.as_bytes());
            to.bytes(value.as_bytes());
        }
        to.bytes(self.cwd.as_os_str().as_bytes());
        to.duration(self.timeout);
        to.duration(self.grace);
        to.streams(self.streams);
        to.number(u64::from(self.has_stdin));
        to.number(u64::from(self.is_announced));
        to.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder(bytes);
        Some(Self {
            argv: from.list(Decoder::text)?,
            env: from.list(|from| Some((from.text()?, from.text()?)))?,
            cwd: from.path()?,
            timeout: from.duration()?,
            grace: from.duration()?,
            streams: from.streams()?,
            has_stdin: from.number()? == 1,
            is_announced: from.number()? == 1,
        })
    }
}

impl Ended {
    /// Always this long, so that the owner knows when it has it all.
    pub(crate) const SIZE: usize = 24;

    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        let (kind, value, duration) = match *self {
            Self::With(Status::Code(code), duration) => (0, code, duration),
            Self::With(Status::Signal(signal), duration) => (1, signal, duration),
            Self::With(Status::TimedOut, duration) => (2, 0, duration),
            Self::With(Status::Cancelled, duration) => (3, 0, duration),
            Self::With(Status::OutOfMemory, duration) => (4, 0, duration),
            Self::With(Status::TooManyProcesses, duration) => (5, 0, duration),
            Self::NotStarted(errno, Obstacle::Program) => (6, errno, Duration::ZERO),
            Self::NotStarted(errno, Obstacle::Directory) => (7, errno, Duration::ZERO),
            Self::NotStarted(errno, Obstacle::Terminal) => (8, errno, Duration::ZERO),
        };
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&u64::to_le_bytes(kind));
        bytes[8..16].copy_from_slice(&i64::from(value).to_le_bytes());
        bytes[16..].copy_from_slice(&micros(duration).to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; Self::SIZE]) -> Option<Self> {
        let mut from = Decoder(bytes);
        let kind = from.number()?;
        let value = i32::try_from(from.number()? as i64).ok()?;
        let duration = Duration::from_micros(from.number()?);
        Some(match kind {
            0 => Self::With(Status::Code(value), duration),
            1 => Self::With(Status::Signal(value), duration),
            2 => Self::With(Status::TimedOut, duration),
            3 => Self::With(Status::Cancelled, duration),
            4 => Self::With(Status::OutOfMemory, duration),
            5 => Self::With(Status::TooManyProcesses, duration),
            6 => Self::NotStarted(value, Obstacle::Program),
            7 => Self::NotStarted(value, Obstacle::Directory),
            8 => Self::NotStarted(value, Obstacle::Terminal),
            _ => return None,
        })
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[derive(Default)]
struct Encoder(Vec<u8>);

impl Encoder {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn places(&mut self, places: &[(PathBuf, u64, u64)]) {
        self.number(places.len() as u64);
        for (path, device, inode) in places {
            self.bytes(path.as_os_str().as_bytes());
            self.number(*device);
            self.number(*inode);
        }
    }

    fn streams(&mut self, streams: Streams) {
        let (kind, rows, cols) = match streams {
            Streams::Apart => (0, 0, 0),
            Streams::Together => (1, 0, 0),
            Streams::Terminal { rows, cols } => (2, rows, cols),
        };
        [kind, rows.into(), cols.into()].into_iter().for_each(|number| self.number(number));
    }

    fn duration(&mut self, duration: Duration) {
        self.number(micros(duration));
    }
}

struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<OsString> {
        Some(OsString::from_vec(self.bytes()?.to_vec()))
    }

    fn path(&mut self) -> Option<PathBuf> {
        Some(PathBuf::from(OsStr::from_bytes(self.bytes()?)))
    }

    fn places(&mut self) -> Option<Vec<(PathBuf, u64, u64)>> {
        self.list(|from| Some((from.path()?, from.number()?, from.number()?)))
    }

    fn streams(&mut self) -> Option<Streams> {
        let (kind, rows, cols) = (self.number()?, self.number()?, self.number()?);
        Some(match kind {
            0 => Streams::Apart,
            1 => Streams::Together,
            2 => Streams::Terminal { rows: rows.try_into().ok()?, cols: cols.try_into().ok()? },
            _ => return None,
        })
    }

    fn duration(&mut self) -> Option<Duration> {
        self.number().map(Duration::from_micros)
    }

    /// A stated length is not believed before its items are there, so a bad message allocates nothing.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(item(self)?);
        }
        Some(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            argv: vec!["sh".into(), "-c".into(), OsString::from_vec(vec![0xff, b'x'])],
            env: vec![("PATH".into(), "/bin".into())],
            cwd: "src".into(),
            timeout: Duration::from_millis(1500),
            grace: Duration::ZERO,
            streams: Streams::Together,
            has_stdin: true,
            is_announced: false,
        }
    }

    #[test]
    fn messages_survive_the_wire() {
        let setup = Setup {
            bait: Some(Bait {
                hidden: vec![("/root".into(), 1, 2)],
                sealed: vec!["/etc".into()],
                meant: vec![("/workspace".into(), 3, 4)],
                tcp_port: 65535,
                abstract_socket: b"name".to_vec(),
                namespaces: vec![("pid".to_owned(), "pid:[1]".into())],
            }),
            limits: Limits { cpu_seconds: Some(3), ..Limits::default() },
            memory_held: true,
            processes_held: false,
            listen: Some(3128),
            home: Home::OnTheHost,
            scratch: Some("/tmp/home".into()),
        };
        assert_eq!(Setup::decode(&setup.encode()), Some(setup));
        for streams in [Streams::Apart, Streams::Together, Streams::Terminal { rows: 24, cols: u16::MAX }] {
            let request = Request { streams, ..request() };
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        for answer in [Answer::Ready, Answer::NotConfined("reads".to_owned())] {
            assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        }
        for listening in [Listening::Here, Listening::Not(24)] {
            assert_eq!(Listening::decode(&listening.encode()), listening);
        }
        for ended in [
            Ended::With(Status::Code(-3), Duration::from_micros(7)),
            Ended::With(Status::Signal(9), Duration::ZERO),
            Ended::NotStarted(2, Obstacle::Directory),
            Ended::NotStarted(28, Obstacle::Terminal),
        ] {
            assert_eq!(Ended::decode(&ended.encode()), Some(ended));
        }
    }

    #[test]
    fn a_message_cut_anywhere_does_not_decode() {
        let whole = request().encode();
        for length in 0..whole.len() {
            assert_eq!(Request::decode(&whole[..length]), None, "cut at {length}");
        }
    }

    #[test]
    fn a_stated_length_is_not_believed() {
        assert_eq!(Request::decode(&u64::MAX.to_le_bytes()), None);
    }
}
