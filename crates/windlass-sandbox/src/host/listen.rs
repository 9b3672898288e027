//! Listening on a sandbox's own loopback, from the owner's side: the supervisor opens the socket and hands it over, since what
//! is opened outside is in the owner's network.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to real processes, which no simulated clock can hurry"
)]

use std::{
    io,
    net::TcpListener,
    os::fd::{AsFd, OwnedFd},
    sync::atomic::Ordering,
    time::Duration,
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tokio::{io::Interest, net::UnixStream, time::timeout};

use super::session::Session;
use crate::{
    Error, MOST_LISTENERS,
    packet::receive_packet,
    wire::{LISTEN, Listening},
};

const DOING: &str = "listen in the sandbox";
/// A supervisor that has not answered by then never will.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn listen(session: &Session) -> Result<TcpListener, Error> {
    if session.listened.fetch_add(1, Ordering::Relaxed) >= MOST_LISTENERS {
        let why = format!("{MOST_LISTENERS} were asked for already; let several commands connect to one");
        return Err(Error::io(DOING)(io::Error::other(why)));
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(Error::io(DOING))?;
    let ours = UnixStream::from_std(ours.into()).map_err(Error::io(DOING))?;
    session.send(LISTEN, &[theirs.as_fd()]).await?;
    // Or its end would never be seen.
    drop(theirs);
    match timeout(PATIENCE, answer(&ours)).await {
        Ok(Some((Listening::Here, Some(listener)))) => Ok(listener.into()),
        Ok(Some((Listening::Not(errno), _))) => Err(Error::io(DOING)(io::Error::from_raw_os_error(errno))),
        Ok(Some((Listening::Here, None)) | None) => Err(session.life.gone("the supervisor ended")),
        Err(_) => Err(session.life.gone("the supervisor did not answer")),
    }
}

async fn answer(ours: &UnixStream) -> Option<(Listening, Option<OwnedFd>)> {
    let mut bytes = [0; Listening::SIZE];
    let receive = || Ok(receive_packet(ours.as_fd(), &mut bytes)?);
    let (length, mut descriptors) = ours.async_io(Interest::READABLE, receive).await.ok()?;
    (length == bytes.len()).then(|| (Listening::decode(&bytes), descriptors.pop()))
}
