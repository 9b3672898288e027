//! A command that is talked to, from the owner's side. Nothing here runs by itself: what the command says is taken from its
//! pipes or its terminal while somebody reads, writes or waits, so that one that nobody listens to waits, and costs its owner
//! no memory.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to real processes, which no simulated clock can hurry"
)]

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
    time::Duration,
};

use rustix::{
    net::{Shutdown, shutdown},
    pipe::{PipeFlags, pipe_with},
};
use tokio::{
    io::{AsyncReadExt, Interest},
    net::UnixStream,
    time::timeout,
};

use super::{
    life::Life,
    line::{self, Line, not_started},
    pipes::{Pipes, is_early},
    session::Session,
    terminal::Terminal,
};
use crate::{
    BoxFuture, Command, Error, Running, Status, Streams,
    packet::receive_packet,
    wire::{BEGUN, Ended, Request, STOP},
};

/// A supervisor that has not started a command by then never will.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn start(session: &Session, command: Command) -> Result<Box<dyn Running>, Error> {
    let request = Request { is_announced: true, ..line::request(session, &command)? };
    let oom_kills = session.life.oom_kills();
    let (control, ends) = match request.streams {
        Streams::Apart | Streams::Together => with_pipes(session, request).await?,
        Streams::Terminal { .. } => with_terminal(session, request).await?,
    };
    let record = tokio::sync::Mutex::new(Record::default());
    Ok(Box::new(Talk { life: Arc::clone(&session.life), oom_kills, control, ends, record }))
}

async fn with_pipes(session: &Session, request: Request) -> Result<(UnixStream, Ends), Error> {
    let request = Request { has_stdin: true, ..request };
    let (theirs, stdin) = pipe_with(PipeFlags::CLOEXEC).map_err(Error::io(line::DOING))?;
    let Line { mut control, stdout, stderr } = Line::open(session, &request, Some(theirs)).await?;
    let pipes = Pipes::new(stdin, stdout, stderr).map_err(Error::io(line::DOING))?;
    begun(&mut control, &request, &session.life).await?;
    Ok((control, Ends::Pipes(pipes)))
}

async fn with_terminal(session: &Session, request: Request) -> Result<(UnixStream, Ends), Error> {
    let mut control = line::hand_over(session, &request, &[]).await?;
    let end = begun(&mut control, &request, &session.life).await?.pop();
    let end = end.ok_or_else(|| session.life.gone("the supervisor kept the terminal"))?;
    Ok((control, Ends::Terminal(Terminal::new(end).map_err(Error::io(line::DOING))?)))
}

/// Returns when the command has, with what the supervisor sent along.
async fn begun(control: &mut UnixStream, request: &Request, life: &Life) -> Result<Vec<OwnedFd>, Error> {
    match timeout(PATIENCE, first_word(control)).await {
        Ok(Some(Word::Begun(descriptors))) => Ok(descriptors),
        Ok(Some(Word::Ended(Ended::NotStarted(errno, obstacle)))) => Err(not_started(request, errno, obstacle)),
        Ok(Some(Word::Ended(Ended::With(..)))) => Err(life.gone("the supervisor spoke out of turn")),
        Ok(None) => Err(life.gone("the supervisor ended")),
        Err(_) => Err(life.gone("the supervisor did not start a command")),
    }
}

enum Word {
    Begun(Vec<OwnedFd>),
    Ended(Ended),
}

async fn first_word(control: &mut UnixStream) -> Option<Word> {
    let mut record = [0; Ended::SIZE];
    // No more than one byte: the rest may be its end already.
    let receive = || Ok(receive_packet(control.as_fd(), &mut record[..1])?);
    let (length, descriptors) = control.async_io(Interest::READABLE, receive).await.ok()?;
    if length == 1 && record[0] == BEGUN {
        return Some(Word::Begun(descriptors));
    }
    control.read_exact(&mut record[length..]).await.ok()?;
    Ended::decode(&record).map(Word::Ended)
}

struct Talk {
    life: Arc<Life>,
    /// When the command began.
    oom_kills: u64,
    /// Dropped with the rest, which kills the command.
    control: UnixStream,
    ends: Ends,
    record: tokio::sync::Mutex<Record>,
}

/// By what the command is talked to.
enum Ends {
    Pipes(Pipes),
    Terminal(Terminal),
}

/// As much of the supervisor's last word as has arrived.
#[derive(Default)]
struct Record {
    bytes: [u8; Ended::SIZE],
    filled: usize,
}

impl Talk {
    async fn ended(&self, record: &mut Record) -> Result<Ended, Error> {
        while record.filled < Ended::SIZE {
            record.filled += self.hear(&mut record.bytes[record.filled..]).await?;
        }
        Ended::decode(&record.bytes).ok_or_else(|| self.life.gone("the supervisor spoke nonsense"))
    }

    /// Something from the supervisor.
    async fn hear(&self, into: &mut [u8]) -> Result<usize, Error> {
        loop {
            match (self.control.try_read(into), &self.ends) {
                (Ok(length), _) if length > 0 => return Ok(length),
                (Err(error), Ends::Pipes(pipes)) if is_early(&error) => pipes.until(self.control.readable()).await,
                (Err(error), Ends::Terminal(_)) if is_early(&error) => drop(self.control.readable().await),
                (Ok(_) | Err(_), _) => return Err(self.life.gone("the supervisor ended")),
            }
        }
    }
}

impl Running for Talk {
    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), Error>> {
        match &self.ends {
            Ends::Pipes(pipes) => Box::pin(pipes.write(bytes)),
            Ends::Terminal(terminal) => Box::pin(terminal.write(bytes)),
        }
    }

    fn close_stdin(&self) -> BoxFuture<'_, ()> {
        match &self.ends {
            Ends::Pipes(pipes) => Box::pin(pipes.close_stdin()),
            Ends::Terminal(terminal) => Box::pin(terminal.end_of_file()),
        }
    }

    fn read(&self) -> BoxFuture<'_, Result<Vec<u8>, Error>> {
        match &self.ends {
            Ends::Pipes(pipes) => Box::pin(pipes.read()),
            Ends::Terminal(terminal) => Box::pin(terminal.read()),
        }
    }

    fn complaints(&self) -> Vec<u8> {
        match &self.ends {
            Ends::Pipes(pipes) => pipes.complaints(),
            Ends::Terminal(_) => Vec::new(),
        }
    }

    fn resize(&self, rows: u16, cols: u16) -> Result<(), Error> {
        match &self.ends {
            Ends::Pipes(_) => Err(Error::command("it was started without a terminal, so there is none to resize")),
            Ends::Terminal(terminal) => terminal.resize(rows, cols),
        }
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
