//! The trap for the canary: things on the host that work for the owner and must not work inside.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    net::{Ipv4Addr, TcpListener},
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, getsockname, listen, socket_with,
};

use super::temporary::create_unique;
use crate::wire::Bait;

/// Not `/tmp` first: a sandbox has a fresh one anyway, and a canary there would sing whatever else is visible.
const PLACES: [&str; 2] = ["/var/tmp", "/tmp"];
const NAMESPACES: [&str; 6] = ["mnt", "pid", "net", "ipc", "uts", "user"];

/// Set for as long as the canary runs.
pub(crate) struct Trap {
    secret: PathBuf,
    tcp: TcpListener,
    abstract_socket: Vec<u8>,
    _unix: OwnedFd,
    hidden: Vec<PathBuf>,
}

impl Trap {
    pub(crate) fn set(hidden: &[PathBuf]) -> io::Result<Self> {
        let (unix, abstract_socket) = listen_abstract()?;
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let hidden = hidden.iter().cloned().chain(std::env::home_dir()).collect();
        Ok(Self {
            secret: write_secret()?,
            tcp,
            abstract_socket,
            _unix: unix,
            hidden,
        })
    }

    pub(crate) fn bait(&self) -> io::Result<Bait> {
        let namespaces = NAMESPACES
            .into_iter()
            .map(|name| {
                Ok((
                    name.to_owned(),
                    fs::read_link(format!("/proc/self/ns/{name}"))?.into(),
                ))
            })
            .collect::<io::Result<_>>()?;
        Ok(Bait {
            secret: self.secret.clone(),
            hidden: self
                .hidden
                .iter()
                .filter_map(|path| identify(path))
                .collect(),
            tcp_port: self.tcp.local_addr()?.port(),
            abstract_socket: self.abstract_socket.clone(),
            namespaces,
        })
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.secret);
    }
}

/// The root is no secret: a home or data directory that is `/` cannot be told from the sandbox's own.
fn identify(path: &Path) -> Option<(PathBuf, u64, u64)> {
    let metadata = fs::metadata(path).ok()?;
    (path != Path::new("/")).then(|| (path.to_path_buf(), metadata.dev(), metadata.ino()))
}

fn write_secret() -> io::Result<PathBuf> {
    create_unique(&PLACES, "windlass-canary", |path| {
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(b"a confined process must not read this\n")
    })
}

/// The kernel chooses the name when it is given none.
fn listen_abstract() -> io::Result<(OwnedFd, Vec<u8>)> {
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    bind(&socket, &SocketAddrUnix::new_unnamed())?;
    listen(&socket, 1)?;
    let address = SocketAddrUnix::try_from(getsockname(&socket)?)?;
    let name = address
        .abstract_name()
        .ok_or(io::ErrorKind::AddrNotAvailable)?;
    Ok((socket, name.to_vec()))
}
