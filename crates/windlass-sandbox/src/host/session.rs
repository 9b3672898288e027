//! An open sandbox as its owner holds it: the link to the supervisor, and what must be tidied up at the end.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to real processes, which no simulated clock can hurry"
)]

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::File,
    io::IoSliceMut,
    mem::MaybeUninit,
    net::TcpListener,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use rustix::{
    io::Errno,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, Shutdown, recvmsg, shutdown},
    process::Pid,
};
use tokio::{io::Interest, net::UnixStream};

use super::{janitor::Remains, life::Life, listen, run, talk, way_out::WayOut};
use crate::{
    BoxFuture, Cancel, Command, Error, Exit, Output, Running, Sandbox,
    egress::Proxy,
    packet::send_packet,
    wire::{Answer, LINK_PACKET, SCORE, Setup},
};

/// A supervisor that has not answered by then never will.
const PATIENCE: Duration = Duration::from_secs(20);
pub(crate) const CONNECTING: &str = "connect to the supervisor";

/// What commands find.
pub(crate) struct Inside {
    pub(crate) workspace: PathBuf,
    pub(crate) env: BTreeMap<OsString, OsString>,
    pub(crate) way_out: Option<WayOut>,
}

pub(crate) struct Session {
    /// A packet socket, whatever its type says: the runtime only needs to know when it is ready.
    link: UnixStream,
    pub(crate) life: Arc<Life>,
    pub(crate) workspace: PathBuf,
    pub(crate) env: BTreeMap<OsString, OsString>,
    /// How often somebody wanted to listen.
    pub(crate) listened: AtomicUsize,
    _proxy: Option<Proxy>,
}

/// The supervisor's first words, and what came with them.
struct Greeting {
    answer: Answer,
    supervisor: Pid,
    listener: Option<OwnedFd>,
}

/// Tells the supervisor what to prove and enforce, and gives it the lock. One that has ended already hears nothing: whoever greets
/// it finds that out, and why.
pub(crate) fn instruct(link: &OwnedFd, setup: &Setup, lock: Option<OwnedFd>) -> Result<(), Error> {
    let lock = lock.as_ref().map(AsFd::as_fd);
    match send_packet(link.as_fd(), &setup.encode(), lock.as_slice()) {
        Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
        sent => sent.map_err(Error::io(CONNECTING)),
    }
}

impl Session {
    /// Returns when a supervisor that has its instructions has proved what it had to; `None` if it ended instead.
    pub(crate) async fn greet(link: OwnedFd, remains: Remains, inside: Inside) -> Result<Option<Self>, Error> {
        let Inside { workspace, mut env, way_out } = inside;
        let link = UnixStream::from_std(link.into()).map_err(Error::io(CONNECTING))?;
        let life = Arc::new(Life::new(remains));
        let listened = AtomicUsize::new(0);
        let mut session = Self { link, life, workspace, env: BTreeMap::new(), listened, _proxy: None };
        let greeting = match tokio::time::timeout(PATIENCE, session.answer()).await {
            Ok(Some(greeting)) => greeting,
            Ok(None) => {
                session.close().await;
                return Ok(None);
            }
            Err(_) => return Err(Error::Died { detail: "the supervisor did not answer".to_owned() }),
        };
        if let Answer::NotConfined(what) = greeting.answer {
            return Err(Error::NotConfined { what });
        }
        session.send(SCORE, open_score(greeting.supervisor).as_ref().map(AsFd::as_fd).as_slice()).await?;
        if let Some(way_out) = way_out {
            session._proxy = Some(way_out.open(greeting.listener, &mut env)?);
        }
        session.env = env;
        Ok(Some(session))
    }

    async fn answer(&self) -> Option<Greeting> {
        let mut packet = vec![0; LINK_PACKET];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1), ScmCredentials(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let receive = || {
            let mut into = [IoSliceMut::new(&mut packet)];
            Ok(recvmsg(&self.link, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC)?.bytes)
        };
        let length = self.link.async_io(Interest::READABLE, receive).await.ok()?;
        let answer = Answer::decode(packet.get(..length)?)?;
        let (mut supervisor, mut listener) = (None, None);
        for message in control.drain() {
            match message {
                RecvAncillaryMessage::ScmCredentials(sender) => supervisor = Some(sender.pid),
                RecvAncillaryMessage::ScmRights(mut passed) => listener = passed.next(),
                _ => {}
            }
        }
        Some(Greeting { answer, supervisor: supervisor?, listener })
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

    fn listen(&self) -> BoxFuture<'_, Result<TcpListener, Error>> {
        Box::pin(listen::listen(self))
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

/// Where the supervisor says how soon it is to be killed when memory runs out. For itself, inside, it cannot open it.
fn open_score(supervisor: Pid) -> Option<File> {
    let path = format!("/proc/{}/oom_score_adj", supervisor.as_raw_nonzero());
    File::options().write(true).open(path).ok()
}
