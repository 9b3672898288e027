//! A command that is talked to, from the owner's side. Nothing here runs by itself: what the command says is taken from its
//! pipes while somebody reads, writes or waits, so that one that nobody listens to waits, and costs its owner no memory.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to real processes, which no simulated clock can hurry"
)]

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustix::{
    net::{Shutdown, shutdown},
    pipe::{PipeFlags, pipe_with},
};
use tokio::{
    net::{UnixStream, unix::pipe},
    time::timeout,
};

use super::{
    life::Life,
    line::{self, Line, not_started},
    session::Session,
};
use crate::{
    BoxFuture, Command, Error, Running, Status,
    wire::{BEGUN, Ended, Request, STOP},
};

/// A supervisor that has not started a command by then never will.
const PATIENCE: Duration = Duration::from_secs(20);
const READ_SIZE: usize = 64 << 10;
/// How much of what it says on standard error is kept.
const COMPLAINTS: usize = 8 << 10;

pub(crate) async fn start(session: &Session, command: Command) -> Result<Box<dyn Running>, Error> {
    let request = Request { has_stdin: true, is_announced: true, ..line::request(session, &command)? };
    let (theirs, stdin) = pipe_with(PipeFlags::CLOEXEC).map_err(Error::io(line::DOING))?;
    let stdin = pipe::Sender::from_owned_fd(stdin).map_err(Error::io(line::DOING))?;
    let oom_kills = session.life.oom_kills();
    let Line { control, stdout, stderr } = Line::open(session, &request, Some(theirs)).await?;
    let talk = Talk {
        life: Arc::clone(&session.life),
        oom_kills,
        control,
        stdin: tokio::sync::Mutex::new(Some(stdin)),
        stdout,
        complaints: Mutex::new(Complaints { pipe: stderr.map(Arc::new), kept: VecDeque::new() }),
        record: tokio::sync::Mutex::new(Record::default()),
    };
    match timeout(PATIENCE, talk.begun(&request)).await {
        Ok(begun) => begun.map(|()| Box::new(talk) as Box<dyn Running>),
        Err(_) => Err(session.life.gone("the supervisor did not start a command")),
    }
}

struct Talk {
    life: Arc<Life>,
    /// When the command began.
    oom_kills: u64,
    /// Dropped with the rest, which kills the command.
    control: UnixStream,
    stdin: tokio::sync::Mutex<Option<pipe::Sender>>,
    stdout: pipe::Receiver,
    complaints: Mutex<Complaints>,
    record: tokio::sync::Mutex<Record>,
}

/// Standard error, and the end of what came from it.
struct Complaints {
    /// `None` once it has ended or where there is none.
    pipe: Option<Arc<pipe::Receiver>>,
    kept: VecDeque<u8>,
}

/// As much of the supervisor's last word as has arrived.
#[derive(Default)]
struct Record {
    bytes: [u8; Ended::SIZE],
    filled: usize,
}

impl Talk {
    async fn begun(&self, request: &Request) -> Result<(), Error> {
        let mut first = [0];
        self.hear(&mut first).await?;
        if first == [BEGUN] {
            return Ok(());
        }
        let mut record = self.record.lock().await;
        *record = Record { filled: 1, ..Record::default() };
        record.bytes[0] = first[0];
        match self.ended(&mut record).await? {
            Ended::NotStarted(errno, obstacle) => Err(not_started(request, errno, obstacle)),
            Ended::With(..) => Err(self.life.gone("the supervisor spoke out of turn")),
        }
    }

    async fn ended(&self, record: &mut Record) -> Result<Ended, Error> {
        while record.filled < Ended::SIZE {
            record.filled += self.hear(&mut record.bytes[record.filled..]).await?;
        }
        Ended::decode(&record.bytes).ok_or_else(|| self.life.gone("the supervisor spoke nonsense"))
    }

    /// Something from the supervisor.
    async fn hear(&self, into: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.control.try_read(into) {
                Ok(length) if length > 0 => return Ok(length),
                Err(error) if is_early(&error) => self.until(self.control.readable()).await,
                Ok(_) | Err(_) => return Err(self.life.gone("the supervisor ended")),
            }
        }
    }

    async fn take_output(&self) -> Result<Vec<u8>, Error> {
        let mut buffer = vec![0; READ_SIZE];
        loop {
            match self.stdout.try_read(&mut buffer) {
                Ok(length) => {
                    buffer.truncate(length);
                    return Ok(buffer);
                }
                Err(error) if is_early(&error) => self.until(self.stdout.readable()).await,
                Err(error) => return Err(Error::io("read from a command")(error)),
            }
        }
    }

    async fn give_input(&self, mut bytes: &[u8]) -> Result<(), Error> {
        let stdin = self.stdin.lock().await;
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let pipe = stdin.as_ref().ok_or_else(closed).map_err(Error::io(WRITING))?;
        while !bytes.is_empty() {
            match pipe.try_write(bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(error) if is_early(&error) => self.until(pipe.writable()).await,
                Err(error) => return Err(Error::io(WRITING)(error)),
            }
        }
        Ok(())
    }

    /// Waits, and meanwhile takes what comes on standard error: a command that cannot complain must not hang for it.
    async fn until(&self, ready: impl Future<Output = io::Result<()>>) {
        let mut ready = std::pin::pin!(ready);
        loop {
            tokio::select! {
                biased;
                // An error shows up again in the attempt that follows.
                _ = &mut ready => return,
                () = self.complains() => self.complaints().take(),
            }
        }
    }

    async fn complains(&self) {
        let pipe = self.complaints().pipe.clone();
        match pipe {
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    fn complaints(&self) -> std::sync::MutexGuard<'_, Complaints> {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const WRITING: &str = "write to a command";

fn is_early(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

impl Complaints {
    /// One read's worth, without waiting.
    fn take(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let mut buffer = [0; COMPLAINTS];
        match pipe.try_read(&mut buffer) {
            Ok(length) if length > 0 => self.keep(&buffer[..length]),
            Err(error) if is_early(&error) => {}
            Ok(_) | Err(_) => self.pipe = None,
        }
    }

    /// All that is there, past the runtime's own bookkeeping, which may not have heard of it yet. A command that complains
    /// without end is not listened to for ever.
    fn take_all(&mut self) {
        let Some(pipe) = self.pipe.clone() else { return };
        let mut buffer = [0; COMPLAINTS];
        for _ in 0..16 {
            match rustix::io::read(&*pipe, &mut buffer[..]) {
                Ok(length) if length > 0 => self.keep(&buffer[..length]),
                Ok(_) | Err(_) => return,
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.kept.extend(bytes);
        let surplus = self.kept.len().saturating_sub(COMPLAINTS);
        self.kept.drain(..surplus);
    }
}

impl Running for Talk {
    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(self.give_input(bytes))
    }

    fn close_stdin(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { drop(self.stdin.lock().await.take()) })
    }

    fn read(&self) -> BoxFuture<'_, Result<Vec<u8>, Error>> {
        Box::pin(self.take_output())
    }

    fn complaints(&self) -> Vec<u8> {
        let mut complaints = self.complaints();
        complaints.take_all();
        complaints.kept.iter().copied().collect()
    }

    fn stop(&self) {
        // Straight to the kernel: there is room for a byte, though Tokio may not know it yet.
        let _ = rustix::io::write(&self.control, &[STOP]);
    }

    fn kill(&self) {
        // Only our half, so that how it ended can still be heard.
        let _ = shutdown(&self.control, Shutdown::Write);
    }

    fn wait(&self) -> BoxFuture<'_, Result<Status, Error>> {
        Box::pin(async {
            let mut record = self.record.lock().await;
            match self.ended(&mut record).await? {
                Ended::With(status, _) if status.may_be_oom() && self.life.oom_kills() > self.oom_kills => {
                    Ok(Status::OutOfMemory)
                }
                Ended::With(status, _) => Ok(status),
                Ended::NotStarted(..) => Err(self.life.gone("the supervisor spoke out of turn")),
            }
        })
    }
}
