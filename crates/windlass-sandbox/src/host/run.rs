//! One command from the owner's side: hand it over, read its pipes, wait for its end.
//!
//! Each command has its own control socket and pipes. There is nothing to multiplex, a slow reader slows down its own
//! command only, and dropping the future closes the control socket, which kills the command.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to real processes, which no simulated clock can hurry"
)]

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
    pin::pin,
    time::Duration,
};

use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create},
    pipe::{PipeFlags, pipe_with},
};
use tokio::{
    io::AsyncReadExt,
    net::{UnixStream, unix::pipe},
    time::sleep,
};

use super::{capture::Capture, session::Session};
use crate::{
    Cancel, Command, Error, Exit, Output, Status, Stdin, Stream, Streams, clock,
    wire::{Ended, LAUNCH, Obstacle, Request, STOP},
};

/// The supervisor keeps the deadlines; this much after them the owner stops believing in it.
const DISBELIEF: Duration = Duration::from_secs(20);
/// Beyond the cap, one read per this: a flood goes at a walk and costs nobody a processor.
const THROTTLE: Duration = Duration::from_millis(1);
const READ_SIZE: usize = 64 << 10;
/// The most that a pipe can hold; after the end, what is left in it is read, but not what a stranger keeps writing.
const PIPE_SIZE: usize = 1 << 20;
const DOING: &str = "prepare a command";

pub(crate) async fn run(
    session: &Session,
    command: Command,
    output: Output<'_>,
    cancel: Cancel,
) -> Result<Exit, Error> {
    let mut env = session.env.clone();
    env.extend(command.env.clone());
    command.check(&env)?;
    let request = Request {
        argv: command.argv.clone(),
        env: env.into_iter().collect(),
        cwd: inside(&session.workspace, &command.cwd),
        timeout: command.timeout.min(clock::LONGEST),
        grace: command.grace.min(clock::LONGEST),
        streams: command.streams,
        has_stdin: command.stdin != Stdin::Closed,
    };
    let oom_kills = session.oom_kills();
    let mut line = Line::open(session, &request, &command.stdin).await?;
    let mut capture = Capture::new(command.output_cap, output);
    let patience = request.timeout + request.grace + DISBELIEF;
    match line.follow(&mut capture, cancel, patience).await {
        Some(Ended::With(status, duration)) => {
            let was_oom = may_be_oom(status) && session.oom_kills() > oom_kills;
            Ok(capture.into_exit(if was_oom { Status::OutOfMemory } else { status }, duration))
        }
        Some(Ended::NotStarted(errno, obstacle)) => Err(not_started(&request, errno, obstacle)),
        None => {
            let error = session.gone("the supervisor ended or stopped answering");
            drop(session.hang_up());
            Err(error)
        }
    }
}

/// A shell reports a killed child as 137.
fn may_be_oom(status: Status) -> bool {
    matches!(status, Status::Signal(9) | Status::Code(137))
}

fn inside(workspace: &Path, cwd: &Path) -> std::path::PathBuf {
    match cwd.strip_prefix(crate::policy::WORKSPACE) {
        Ok(below) => workspace.join(below),
        Err(_) => workspace.join(cwd),
    }
}

fn not_started(request: &Request, errno: i32, obstacle: Obstacle) -> Error {
    let name = match obstacle {
        Obstacle::Program => request.argv.first().map(|word| word.to_string_lossy().into_owned()),
        Obstacle::Directory => Some(format!("in {}", request.cwd.display())),
    };
    Error::NotStarted { program: name.unwrap_or_default(), source: io::Error::from_raw_os_error(errno) }
}

/// The owner's ends of one command's sockets and pipes.
struct Line {
    control: UnixStream,
    stdout: Tap,
    stderr: Tap,
}

impl Line {
    async fn open(session: &Session, request: &Request, stdin: &Stdin) -> Result<Self, Error> {
        let (control, theirs) = std::os::unix::net::UnixStream::pair().map_err(Error::io(DOING))?;
        control.set_nonblocking(true).map_err(Error::io(DOING))?;
        let (stdout, stdout_writer) = pipe().map_err(Error::io(DOING))?;
        let request_file = memory_file(&request.encode()).map_err(Error::io(DOING))?;
        let mut passed = vec![theirs.as_fd(), request_file.as_fd(), stdout_writer.as_fd()];
        let stderr = match request.streams {
            Streams::Apart => Some(pipe().map_err(Error::io(DOING))?),
            Streams::Together => None,
        };
        passed.extend(stderr.as_ref().map(|(_, writer)| writer.as_fd()));
        let stdin_file = match stdin {
            Stdin::Closed => None,
            Stdin::Bytes(bytes) => Some(memory_file(bytes).map_err(Error::io(DOING))?),
        };
        passed.extend(stdin_file.as_ref().map(AsFd::as_fd));
        session.send(LAUNCH, &passed).await?;
        Ok(Self {
            control: UnixStream::from_std(control).map_err(Error::io(DOING))?,
            stdout: Tap { stream: Stream::Stdout, pipe: Some(stdout) },
            stderr: Tap { stream: Stream::Stderr, pipe: stderr.map(|(reader, _)| reader) },
        })
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

fn pipe() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((pipe::Receiver::from_owned_fd(reader)?, writer))
}

/// A file without a name, sealed, so that what is checked is what is read.
fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    use std::io::{Seek, Write};
    let file = memfd_create("windlass", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = std::fs::File::from(file);
    file.write_all(bytes)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file.into())
}
