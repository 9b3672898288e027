//! The trap for the canary: things on the host that work for the owner and must not work inside.
//!
//! Nothing is written to the host for it: an owner that is killed half-way leaves no trap behind.

use std::{
    fs, io,
    net::{Ipv4Addr, TcpListener},
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, getsockname, listen, socket_with};

use crate::{
    Policy,
    host::Place,
    policy::{SYSTEM, WORKSPACE},
    wire::Bait,
};

const NAMESPACES: [&str; 6] = ["mnt", "pid", "net", "ipc", "uts", "user"];

/// Of the sandbox itself. What commands may write is the workspace and the scratch places.
pub(crate) const SEALED: [&str; 7] =
    ["/", "/usr", "/etc", "/dev", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger"];

/// Set for as long as the canary runs.
pub(crate) struct Trap {
    tcp: TcpListener,
    abstract_socket: Vec<u8>,
    _unix: OwnedFd,
    hidden: Vec<PathBuf>,
}

impl Trap {
    pub(crate) fn set(policy: &Policy) -> io::Result<Self> {
        let (unix, abstract_socket) = listen_abstract()?;
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let named = policy.hidden.iter().cloned().chain(std::env::home_dir());
        let hidden = named.chain(everything_else(policy)?).collect();
        Ok(Self { tcp, abstract_socket, _unix: unix, hidden })
    }

    pub(crate) fn bait(
        &self,
        sealed: impl IntoIterator<Item = &'static str>,
        policy: &Policy,
        places: &[Place],
    ) -> io::Result<Bait> {
        let namespaces = NAMESPACES
            .into_iter()
            .map(|name| Ok((name.to_owned(), fs::read_link(format!("/proc/self/ns/{name}"))?.into())))
            .collect::<io::Result<_>>()?;
        Ok(Bait {
            hidden: self.hidden.iter().filter_map(|path| identify(path)).collect(),
            sealed: sealed.into_iter().map(PathBuf::from).chain(policy.protected.iter().map(inside)).collect(),
            meant: places.iter().map(|place| (inside(&place.path), place.device, place.inode)).collect(),
            tcp_port: self.tcp.local_addr()?.port(),
            abstract_socket: self.abstract_socket.clone(),
            namespaces,
        })
    }
}

/// What is absolute stays as it is.
fn inside(path: impl AsRef<Path>) -> PathBuf {
    Path::new(WORKSPACE).join(path)
}

fn identify(path: &Path) -> Option<(PathBuf, u64, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((path.to_path_buf(), metadata.dev(), metadata.ino()))
}

/// The host's root and all that is directly in it, but for the system and what the policy shows on purpose. Inside,
/// there may be something of the same name; it must not be the same thing.
fn everything_else(policy: &Policy) -> io::Result<Vec<PathBuf>> {
    let is_shown = |path: &Path| {
        let is_workspace = path == Path::new(WORKSPACE) && policy.workspace == path;
        let is_mounted = policy.readonly_mounts.iter().any(|(_, inside)| inside == path);
        is_workspace || is_mounted || SYSTEM.iter().any(|system| path == Path::new(system))
    };
    let mut paths = vec![PathBuf::from("/")];
    for entry in fs::read_dir("/")? {
        paths.push(entry?.path());
    }
    paths.retain(|path| !is_shown(path) && !path.is_symlink());
    Ok(paths)
}

/// The kernel chooses the name when it is given none.
fn listen_abstract() -> io::Result<(OwnedFd, Vec<u8>)> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrUnix::new_unnamed())?;
    listen(&socket, 1)?;
    let address = SocketAddrUnix::try_from(getsockname(&socket)?)?;
    let name = address.abstract_name().ok_or(io::ErrorKind::AddrNotAvailable)?;
    Ok((socket, name.to_vec()))
}
