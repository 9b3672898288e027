//! An open sandbox as its owner holds it: the link to the supervisor, and what must be tidied up at the end.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to real processes, which no simulated clock can hurry"
)]

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::{IoSlice, Read},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    process::{ChildStderr, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType,
    recv, sendmsg, shutdown, socketpair,
};
use tokio::{io::Interest, net::UnixStream};

use super::{
    cgroup::Groups,
    janitor::{Remains, bury},
    run,
    spawner::Spawn,
};
use crate::{
    BoxFuture, Cancel, Command, Error, Exit, Output, Sandbox,
    wire::{Answer, LINK_PACKET, Setup},
};

/// A supervisor that has not answered by then never will.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a provider has prepared.
pub(crate) struct Start {
    pub(crate) spawn: Spawn,
    pub(crate) setup: Setup,
    pub(crate) lock: Option<OwnedFd>,
    pub(crate) groups: Option<Groups>,
    /// The workspace as the commands see it.
    pub(crate) workspace: PathBuf,
    pub(crate) env: BTreeMap<OsString, OsString>,
}

pub(crate) struct Session {
    /// A packet socket, whatever its type says: the runtime only needs to know when it is ready.
    link: UnixStream,
    remains: Mutex<Option<Remains>>,
    pub(crate) workspace: PathBuf,
    pub(crate) env: BTreeMap<OsString, OsString>,
}

/// Why a sandbox did not open. What it printed, if it ended by itself, is for the provider to explain.
pub(crate) enum Failure {
    Ended { said: String },
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl Session {
    pub(crate) async fn open(start: Start) -> Result<Self, Failure> {
        const DOING: &str = "connect to the supervisor";
        let Start { mut spawn, setup, lock, groups, workspace, env } = start;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // The supervisor's end blocks; the flag belongs to each end by itself.
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(Error::io(DOING))?;
        rustix::io::ioctl_fionbio(&theirs, false).map_err(Error::io(DOING))?;
        send_packet(ours.as_fd(), &setup.encode(), lock.as_ref().map(AsFd::as_fd).as_slice())
            .map_err(Error::io(DOING))?;
        drop(lock);
        spawn.command.stdin(theirs).stdout(Stdio::null()).stderr(Stdio::piped());
        if let Some(groups) = &groups {
            spawn.groups = groups.doors().map_err(Error::io("enter a control group"))?;
        }
        let mut child = spawn.start().await?;
        let stderr = child.stderr.take();
        let session = Self {
            link: UnixStream::from_std(ours.into()).map_err(Error::io(DOING))?,
            remains: Mutex::new(Some(Remains { child, groups })),
            workspace,
            env,
        };
        match tokio::time::timeout(PATIENCE, session.answer()).await {
            Ok(Some(Answer::Ready)) => Ok(session),
            Ok(Some(Answer::NotConfined(what))) => Err(Error::NotConfined { what }.into()),
            Ok(None) => {
                session.close().await;
                Err(Failure::Ended { said: read_last_words(stderr) })
            }
            Err(_) => Err(Error::Died { detail: "the supervisor did not answer".to_owned() }.into()),
        }
    }

    async fn answer(&self) -> Option<Answer> {
        let mut packet = vec![0; LINK_PACKET];
        let receive = || Ok(recv(&self.link, &mut packet[..], RecvFlags::empty())?.0);
        let length = self.link.async_io(Interest::READABLE, receive).await.ok()?;
        Answer::decode(packet.get(..length)?)
    }

    /// Sends one packet with its descriptors; they are duplicated, so the caller may close its own.
    pub(crate) async fn send(&self, packet: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Error> {
        if self.is_closed() {
            return Err(Error::Closed);
        }
        let send = || Ok(send_packet(self.link.as_fd(), packet, descriptors)?);
        let sent = self.link.async_io(Interest::WRITABLE, send).await;
        sent.map_err(|error| self.gone(&error.to_string()))
    }

    /// The error for a supervisor that is not there any more.
    pub(crate) fn gone(&self, detail: &str) -> Error {
        match self.is_closed() {
            true => Error::Closed,
            false => Error::Died { detail: detail.to_owned() },
        }
    }

    pub(crate) fn oom_kills(&self) -> u64 {
        let remains = self.remains.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = remains.as_ref().and_then(|remains| remains.groups.as_ref());
        groups.map_or(0, Groups::oom_kills)
    }

    fn is_closed(&self) -> bool {
        self.remains.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Ends the link for every holder at once, so the supervisor notices although commands may still be running.
    pub(crate) fn hang_up(&self) -> Option<tokio::sync::oneshot::Receiver<()>> {
        let remains = self.remains.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = shutdown(&self.link, Shutdown::Both);
        remains.map(bury)
    }
}

impl Sandbox for Session {
    fn run<'a>(&'a self, command: Command, output: Output<'a>, cancel: Cancel) -> BoxFuture<'a, Result<Exit, Error>> {
        Box::pin(run::run(self, command, output, cancel))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Some(buried) = self.hang_up() {
                let _ = buried.await;
            }
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.hang_up());
    }
}

fn send_packet(link: BorrowedFd<'_>, packet: &[u8], descriptors: &[BorrowedFd<'_>]) -> rustix::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(5))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        let fits = control.push(SendAncillaryMessage::ScmRights(descriptors));
        assert!(fits, "no message carries more than five descriptors");
    }
    sendmsg(link, &[IoSlice::new(packet)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The process has ended, so this does not wait; what it could have said is bounded by the pipe.
fn read_last_words(stderr: Option<ChildStderr>) -> String {
    let mut said = Vec::new();
    if let Some(stderr) = stderr {
        let _ = stderr.take(4096).read_to_end(&mut said);
    }
    String::from_utf8_lossy(&said).trim().to_owned()
}
