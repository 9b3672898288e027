//! Where a container's supervisor meets its owner: a socket in a directory that is mounted into the container, gone as soon as
//! they have met, before any command runs. Files that are made up for the container lie beside it; mounted, they outlast it.

use std::{
    fs, io,
    os::{fd::OwnedFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
        sockopt::{set_socket_passcred, socket_peercred},
    },
    process::{PidfdFlags, pidfd_open},
};
use tokio::net::UnixListener;

use crate::host::{Body, private_directory};

const SOCKET: &str = "link";
/// Where the directory is inside.
pub(crate) const INSIDE: &str = "/run/windlass-link";

pub(crate) struct Rendezvous {
    directory: PathBuf,
    /// For packets, whatever its type says: the runtime only needs to know when somebody is there.
    listener: UnixListener,
}

impl Rendezvous {
    pub(crate) fn make() -> io::Result<Self> {
        let directory = private_directory("windlass-docker")?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        bind(&listener, &SocketAddrUnix::new(directory.join(SOCKET))?)?;
        // What is accepted inherits it: what the supervisor sends says who it is, in the owner's own numbers.
        set_socket_passcred(&listener, true)?;
        listen(&listener, 1)?;
        Ok(Self { directory, listener: UnixListener::from_std(listener.into())? })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the made-up file for this place inside is.
    pub(crate) fn put(&self, place: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.directory.join(place.replace('/', "-"));
        fs::write(&path, text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444))?;
        Ok(path)
    }

    /// The socket's path inside.
    pub(crate) fn socket_inside() -> String {
        format!("{INSIDE}/{SOCKET}")
    }

    /// The link to who comes first, which is the container's first process, and that process.
    pub(crate) async fn meet(&self) -> io::Result<(OwnedFd, Body)> {
        let (link, _) = self.listener.accept().await?;
        let link = OwnedFd::from(link.into_std()?);
        let process = pidfd_open(socket_peercred(&link)?.pid, PidfdFlags::empty())?;
        Ok((link, Body::Stranger(process)))
    }
}

impl Drop for Rendezvous {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}
