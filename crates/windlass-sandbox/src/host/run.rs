//! One command from the owner's side: hand it over, read its pipes, wait for its end.
//!
//! Each command has its own control socket and pipes. There is nothing to multiplex, a slow reader slows down its own
//! command only, and dropping the future closes the control socket, which kills the command.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to real processes, which no simulated clock can hurry"
)]

use std::{io, pin::pin, time::Duration};

use tokio::{
    io::AsyncReadExt,
    net::{UnixStream, unix::pipe},
    time::sleep,
};

use super::{
    capture::Capture,
    line::{self, Line, memory_file, not_started},
    session::Session,
};
use crate::{
    Cancel, Command, Error, Exit, Output, Status, Stdin, Stream, Streams,
    wire::{Ended, STOP},
};

/// The supervisor keeps the deadlines; this much after them the owner stops believing in it.
const DISBELIEF: Duration = Duration::from_secs(20);
/// Beyond the cap, one read per this: a flood goes at a walk and costs nobody a processor.
const THROTTLE: Duration = Duration::from_millis(1);
const READ_SIZE: usize = 64 << 10;
/// The most that a pipe can hold; after the end, what is left in it is read, but not what a stranger keeps writing.
const PIPE_SIZE: usize = 1 << 20;

pub(crate) async fn run(
    session: &Session,
    command: Command,
    output: Output<'_>,
    cancel: Cancel,
) -> Result<Exit, Error> {
    if let Streams::Terminal { .. } = command.streams {
        return Err(Error::command(
            "a terminal is for a command that somebody talks to: start it instead of running it",
        ));
    }
    let mut request = line::request(session, &command)?;
    let stdin = match &command.stdin {
        Stdin::Closed => None,
        Stdin::Bytes(bytes) => Some(memory_file(bytes).map_err(Error::io(line::DOING))?),
    };
    request.has_stdin = stdin.is_some();
    let oom_kills = session.life.oom_kills();
    let mut watched = Watched::new(Line::open(session, &request, stdin).await?);
    let mut capture = Capture::new(command.output_cap, output);
    let patience = request.timeout + request.grace + DISBELIEF;
    match watched.follow(&mut capture, cancel, patience).await {
        Some(Ended::With(status, duration)) => {
            let was_oom = status.may_be_oom() && session.life.oom_kills() > oom_kills;
            Ok(capture.into_exit(if was_oom { Status::OutOfMemory } else { status }, duration))
        }
        Some(Ended::NotStarted(errno, obstacle)) => Err(not_started(&request, errno, obstacle)),
        None => {
            let error = session.life.gone("the supervisor ended or stopped answering");
            drop(session.hang_up());
            Err(error)
        }
    }
}

/// A command whose output is read to its end.
struct Watched {
    control: UnixStream,
    stdout: Tap,
    stderr: Tap,
}

impl Watched {
    fn new(line: Line) -> Self {
        Self {
            control: line.control,
            stdout: Tap { stream: Stream::Stdout, pipe: Some(line.stdout) },
            stderr: Tap { stream: Stream::Stderr, pipe: line.stderr },
        }
    }

    /// Reads until the command is over. `None` when the supervisor is not to be relied on any more.
    async fn follow(&mut self, capture: &mut Capture<'_>, mut cancel: Cancel, patience: Duration) -> Option<Ended> {
        let mut record = [0; Ended::SIZE];
        let mut filled = 0;
        let mut is_cancelled = false;
        let mut patience = pin!(sleep(patience));
        while filled < record.len() {
            tokio::select! {
                biased;
                read = self.control.read(&mut record[filled..]) => match read {
                    Ok(0) | Err(_) => return None,
                    Ok(length) => filled += length,
                },
                () = &mut cancel, if !is_cancelled => {
                    is_cancelled = true;
                    // Straight to the kernel: nothing was ever written to this socket, so that there is room, while
                    // Tokio may not know yet that it is writable and would drop the byte.
                    let _ = rustix::io::write(&self.control, &[STOP]);
                }
                () = &mut patience => return None,
                () = output_ready(&self.stdout, &self.stderr, capture.is_over_cap()) => {
                    self.stdout.read(capture);
                    self.stderr.read(capture);
                }
            }
        }
        self.stdout.drain(capture);
        self.stderr.drain(capture);
        Ended::decode(&record)
    }
}

async fn output_ready(stdout: &Tap, stderr: &Tap, is_over_cap: bool) {
    if is_over_cap {
        sleep(THROTTLE).await;
    }
    tokio::select! {
        biased;
        () = stdout.ready() => {}
        () = stderr.ready() => {}
    }
}

/// One pipe, `None` once it has ended or where there is none.
struct Tap {
    stream: Stream,
    pipe: Option<pipe::Receiver>,
}

impl Tap {
    async fn ready(&self) {
        match &self.pipe {
            // An error shows up again in `read`, which closes the tap.
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    /// One read's worth, without waiting.
    fn read(&mut self, capture: &mut Capture<'_>) {
        let Some(pipe) = &self.pipe else { return };
        let mut buffer = [0; READ_SIZE];
        match pipe.try_read(&mut buffer) {
            Ok(length) if length > 0 => capture.take(self.stream, &buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => self.pipe = None,
        }
    }

    /// What is left in the pipe after the end. Past the runtime's own bookkeeping, which may not have heard yet
    /// that there is something to read.
    fn drain(&mut self, capture: &mut Capture<'_>) {
        let Some(pipe) = &self.pipe else { return };
        let mut buffer = [0; READ_SIZE];
        let mut left = PIPE_SIZE;
        while left > 0 {
            match rustix::io::read(pipe, &mut buffer[..]) {
                Ok(length) if length > 0 => {
                    capture.take(self.stream, &buffer[..length]);
                    left = left.saturating_sub(length);
                }
                Ok(_) | Err(_) => return,
            }
        }
    }
}
