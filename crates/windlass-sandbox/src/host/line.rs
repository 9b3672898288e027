//! The owner's ends of one command's socket and pipes. Opening a line hands the other ends to the supervisor, with what is
//! to be run.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create},
    pipe::{PipeFlags, pipe_with},
};
use tokio::net::{UnixStream, unix::pipe};

use super::session::Session;
use crate::{
    Command, Error, Streams, clock,
    policy::WORKSPACE,
    wire::{LAUNCH, Obstacle, Request},
};

pub(crate) const DOING: &str = "prepare a command";

pub(crate) struct Line {
    /// Closed, it kills the command.
    pub(crate) control: UnixStream,
    pub(crate) stdout: pipe::Receiver,
    /// `None` where both streams go to one pipe.
    pub(crate) stderr: Option<pipe::Receiver>,
}

impl Line {
    pub(crate) async fn open(session: &Session, request: &Request, stdin: Option<OwnedFd>) -> Result<Self, Error> {
        let (stdout, stdout_writer) = pipe().map_err(Error::io(DOING))?;
        let stderr = match request.streams {
            Streams::Apart => Some(pipe().map_err(Error::io(DOING))?),
            Streams::Together | Streams::Terminal { .. } => None,
        };
        let mut passed = vec![stdout_writer.as_fd()];
        passed.extend(stderr.as_ref().map(|(_, writer)| writer.as_fd()));
        passed.extend(stdin.as_ref().map(AsFd::as_fd));
        let control = hand_over(session, request, &passed).await?;
        Ok(Self { control, stdout, stderr: stderr.map(|(reader, _)| reader) })
    }
}

/// What is to be run, with the other ends of its pipes. Our end of its socket.
pub(crate) async fn hand_over(
    session: &Session,
    request: &Request,
    pipes: &[BorrowedFd<'_>],
) -> Result<UnixStream, Error> {
    let (control, theirs) = std::os::unix::net::UnixStream::pair().map_err(Error::io(DOING))?;
    control.set_nonblocking(true).map_err(Error::io(DOING))?;
    let request_file = memory_file(&request.encode()).map_err(Error::io(DOING))?;
    let passed: Vec<BorrowedFd<'_>> =
        [theirs.as_fd(), request_file.as_fd()].into_iter().chain(pipes.iter().copied()).collect();
    session.send(LAUNCH, &passed).await?;
    UnixStream::from_std(control).map_err(Error::io(DOING))
}

/// What the supervisor is asked for, with nothing on standard input yet; or what the caller must correct.
pub(crate) fn request(session: &Session, command: &Command) -> Result<Request, Error> {
    let mut env = session.env.clone();
    env.extend(command.env.clone());
    command.check(&env)?;
    Ok(Request {
        argv: command.argv.clone(),
        env: env.into_iter().collect(),
        cwd: inside(&session.workspace, &command.cwd),
        timeout: command.timeout.min(clock::LONGEST),
        grace: command.grace.min(clock::LONGEST),
        streams: command.streams,
        has_stdin: false,
        is_announced: false,
    })
}

fn inside(workspace: &Path, cwd: &Path) -> PathBuf {
    match cwd.strip_prefix(WORKSPACE) {
        Ok(below) => workspace.join(below),
        Err(_) => workspace.join(cwd),
    }
}

pub(crate) fn not_started(request: &Request, errno: i32, obstacle: Obstacle) -> Error {
    let name = match obstacle {
        Obstacle::Program => request.argv.first().map(|word| word.to_string_lossy().into_owned()),
        Obstacle::Directory => Some(format!("in {}", request.cwd.display())),
        Obstacle::Terminal => Some("a terminal".to_owned()),
    };
    Error::NotStarted { program: name.unwrap_or_default(), source: io::Error::from_raw_os_error(errno) }
}

fn pipe() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((pipe::Receiver::from_owned_fd(reader)?, writer))
}

/// A file without a name, sealed, so that what is checked is what is read.
pub(crate) fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    use std::io::{Seek, Write};
    let file = memfd_create("windlass", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = std::fs::File::from(file);
    file.write_all(bytes)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file.into())
}
