//! The owner's ends of the pipes of a command that is talked to.

use std::{
    collections::VecDeque,
    io,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::net::unix::pipe;

use crate::Error;

const READ_SIZE: usize = 64 << 10;
/// How much of what it says on standard error is kept.
const COMPLAINTS: usize = 8 << 10;
pub(crate) const READING: &str = "read from a command";
pub(crate) const WRITING: &str = "write to a command";

pub(crate) struct Pipes {
    stdin: tokio::sync::Mutex<Option<pipe::Sender>>,
    stdout: pipe::Receiver,
    complaints: Mutex<Complaints>,
}

/// Standard error, and the end of what came from it.
struct Complaints {
    /// `None` once it has ended or where there is none.
    pipe: Option<Arc<pipe::Receiver>>,
    kept: VecDeque<u8>,
}

impl Pipes {
    pub(crate) fn new(stdin: OwnedFd, stdout: pipe::Receiver, stderr: Option<pipe::Receiver>) -> io::Result<Self> {
        Ok(Self {
            stdin: tokio::sync::Mutex::new(Some(pipe::Sender::from_owned_fd(stdin)?)),
            stdout,
            complaints: Mutex::new(Complaints { pipe: stderr.map(Arc::new), kept: VecDeque::new() }),
        })
    }

    pub(crate) async fn read(&self) -> Result<Vec<u8>, Error> {
        let mut buffer = vec![0; READ_SIZE];
        loop {
            match self.stdout.try_read(&mut buffer) {
                Ok(length) => {
                    buffer.truncate(length);
                    return Ok(buffer);
                }
                Err(error) if is_early(&error) => self.until(self.stdout.readable()).await,
                Err(error) => return Err(Error::io(READING)(error)),
            }
        }
    }

    pub(crate) async fn write(&self, mut bytes: &[u8]) -> Result<(), Error> {
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

    pub(crate) async fn close_stdin(&self) {
        drop(self.stdin.lock().await.take());
    }

    /// What is kept of standard error, with what has just come.
    pub(crate) fn complaints(&self) -> Vec<u8> {
        let mut complaints = self.lock_complaints();
        complaints.take_all();
        complaints.kept.iter().copied().collect()
    }

    /// Waits, and meanwhile takes what comes on standard error: a command that cannot complain must not hang for it.
    pub(crate) async fn until(&self, ready: impl Future<Output = io::Result<()>>) {
        let mut ready = std::pin::pin!(ready);
        loop {
            tokio::select! {
                biased;
                // An error shows up again in the attempt that follows.
                _ = &mut ready => return,
                () = self.complains() => self.lock_complaints().take(),
            }
        }
    }

    async fn complains(&self) {
        let pipe = self.lock_complaints().pipe.clone();
        match pipe {
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    fn lock_complaints(&self) -> MutexGuard<'_, Complaints> {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn is_early(error: &io::Error) -> bool {
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
