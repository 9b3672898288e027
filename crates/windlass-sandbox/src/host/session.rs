//! An open sandbox as its owner holds it: the link to the supervisor, and what must be tidied up at the end.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to real processes, which no simulated clock can hurry"
)]

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::File,
    io::{IoSlice, IoSliceMut, Read},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use rustix::{
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, Shutdown, SocketFlags, SocketType, recvmsg, sendmsg, shutdown, socketpair,
        sockopt::set_socket_passcred,
    },
    process::Pid,
};
use tokio::{io::Interest, net::UnixStream};

use super::{
    cgroup::Groups,
    janitor::Remains,
    life::Life,
    placeholder::Placeholder,
    run,
    spawn::Spawn,
    spawner::{Child, begin},
    talk,
};
use crate::{
    BoxFuture, Cancel, Command, Error, Exit, Output, Running, Sandbox,
    wire::{Answer, LINK_PACKET, SCORE, Setup},
};

/// A supervisor that has not answered by then never will.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a provider has prepared.
pub(crate) struct Start {
    pub(crate) spawn: Spawn,
    pub(crate) lock: Option<OwnedFd>,
    pub(crate) groups: Option<Groups>,
    pub(crate) placeholders: Vec<Placeholder>,
    /// A directory that goes with the sandbox.
    pub(crate) scratch: Option<PathBuf>,
    /// The workspace as the commands see it.
    pub(crate) workspace: PathBuf,
    pub(crate) env: BTreeMap<OsString, OsString>,
}

pub(crate) struct Session {
    /// A packet socket, whatever its type says: the runtime only needs to know when it is ready.
    link: UnixStream,
    pub(crate) life: Arc<Life>,
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
    /// What the supervisor is told is prepared by `prepare` while it starts.
    pub(crate) async fn open<Prepare>(start: Start, prepare: Prepare) -> Result<Self, Failure>
    where
        Prepare: FnOnce() -> Result<Setup, Error>,
    {
        const DOING: &str = "connect to the supervisor";
        let Start { mut spawn, lock, groups, placeholders, scratch, workspace, env } = start;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // The supervisor's end blocks; the flag belongs to each end by itself.
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(Error::io(DOING))?;
        // Before it is there: what it sends then says who it is, in the owner's own numbers.
        set_socket_passcred(&ours, true).map_err(Error::io(DOING))?;
        rustix::io::ioctl_fionbio(&theirs, false).map_err(Error::io(DOING))?;
        spawn.stdin = Some(theirs);
        if let Some(groups) = &groups {
            spawn.doors = groups.doors().map_err(Error::io("enter a control group"))?;
        }
        let starting = begin(spawn)?;
        let setup = prepare()?;
        send_packet(ours.as_fd(), &setup.encode(), lock.as_ref().map(AsFd::as_fd).as_slice())
            .map_err(Error::io(DOING))?;
        drop(lock);
        let Child { pid, said } = starting.child().await?;
        let session = Self {
            link: UnixStream::from_std(ours.into()).map_err(Error::io(DOING))?,
            life: Arc::new(Life::new(Remains { pid, groups, placeholders, scratch })),
            workspace,
            env,
        };
        match tokio::time::timeout(PATIENCE, session.answer()).await {
            Ok(Some((Answer::Ready, supervisor))) => {
                session.send(SCORE, open_score(supervisor).as_ref().map(AsFd::as_fd).as_slice()).await?;
                Ok(session)
            }
            Ok(Some((Answer::NotConfined(what), _))) => Err(Error::NotConfined { what }.into()),
            Ok(None) => {
                session.close().await;
                Err(Failure::Ended { said: read_last_words(said) })
            }
            Err(_) => Err(Error::Died { detail: "the supervisor did not answer".to_owned() }.into()),
        }
    }

    /// What the supervisor says first, and its pid.
    async fn answer(&self) -> Option<(Answer, Pid)> {
        let mut packet = vec![0; LINK_PACKET];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let receive = || {
            let mut into = [IoSliceMut::new(&mut packet)];
            Ok(recvmsg(&self.link, &mut into, &mut control, RecvFlags::empty())?.bytes)
        };
        let length = self.link.async_io(Interest::READABLE, receive).await.ok()?;
        let answer = Answer::decode(packet.get(..length)?)?;
        let sender = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmCredentials(sender) => Some(sender.pid),
            _ => None,
        });
        Some((answer, sender?))
    }

    /// Sends one packet with its descriptors; they are duplicated, so the caller may close its own.
    pub(crate) async fn send(&self, packet: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Error> {
        if self.life.is_over() {
            return Err(Error::Closed);
        }
        let send = || Ok(send_packet(self.link.as_fd(), packet, descriptors)?);
        let sent = self.link.async_io(Interest::WRITABLE, send).await;
        sent.map_err(|error| self.life.gone(&error.to_string()))
    }

    /// Ends the link for every holder at once, so the supervisor notices although commands may still be running.
    pub(crate) fn hang_up(&self) -> Option<tokio::sync::oneshot::Receiver<()>> {
        let buried = self.life.end();
        let _ = shutdown(&self.link, Shutdown::Both);
        buried
    }
}

impl Sandbox for Session {
    fn run<'a>(&'a self, command: Command, output: Output<'a>, cancel: Cancel) -> BoxFuture<'a, Result<Exit, Error>> {
        Box::pin(run::run(self, command, output, cancel))
    }

    fn start(&self, command: Command) -> BoxFuture<'_, Result<Box<dyn Running>, Error>> {
        Box::pin(talk::start(self, command))
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

/// Where the supervisor says how soon it is to be killed when memory runs out. For itself, inside, it cannot open it.
fn open_score(supervisor: Pid) -> Option<File> {
    let path = format!("/proc/{}/oom_score_adj", supervisor.as_raw_nonzero());
    File::options().write(true).open(path).ok()
}

/// The process has ended, so this does not wait; what it could have said is bounded by the pipe.
fn read_last_words(pipe: File) -> String {
    let mut said = Vec::new();
    let _ = pipe.take(4096).read_to_end(&mut said);
    String::from_utf8_lossy(&said).trim().to_owned()
}
