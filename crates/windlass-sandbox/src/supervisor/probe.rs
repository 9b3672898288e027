//! The canary: the supervisor tries what a command must not be able to do, and says which attempt worked.
//!
//! It runs before the first command, in the same namespaces and under the same filter as every command, so what is
//! denied here is denied there. One round trip; the attempts cost microseconds.

use std::{
    fs::{self, OpenOptions},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
    time::Duration,
};

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket},
    process::getpid,
    thread::{UnshareFlags, unshare_unsafe},
};

use crate::wire::Bait;

/// The namespaces that every confined sandbox has for itself.
const OWN: [&str; 5] = ["mnt", "pid", "net", "ipc", "uts"];

/// `None` when everything that must be denied was.
pub(crate) fn escape(bait: &Bait) -> Option<String> {
    shared_namespace(bait)
        .or_else(|| privilege().map(str::to_owned))
        .or_else(|| filter().map(str::to_owned))
        .or_else(|| seeing(bait))
        .or_else(|| swapped(bait))
        .or_else(|| {
            bait.sealed.iter().find(|place| can_write(place)).map(|place| format!("can write {}", place.display()))
        })
        .or_else(|| network(bait).map(str::to_owned))
        .or_else(|| environment().map(str::to_owned))
}

/// Whether the user namespace is the sandbox's own, which is not required: root may do without.
pub(crate) fn has_own_users(bait: &Bait) -> bool {
    !shares(bait, "user")
}

fn shared_namespace(bait: &Bait) -> Option<String> {
    if getpid().as_raw_nonzero().get() != 1 {
        return Some("is not the first process of a namespace".to_owned());
    }
    let shared = OWN.into_iter().find(|name| shares(bait, name))?;
    Some(format!("shares the owner's {shared} namespace"))
}

/// What cannot be compared counts as shared.
fn shares(bait: &Bait, name: &str) -> bool {
    let own = fs::read_link(format!("/proc/self/ns/{name}"));
    let owners = bait.namespaces.iter().find(|(namespace, _)| namespace == name);
    match (own, owners) {
        (Ok(own), Some((_, owners))) => own.as_os_str() == owners,
        _ => true,
    }
}

fn privilege() -> Option<&'static str> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_start_matches(':').trim().to_owned())
    };
    let capabilities = ["CapInh", "CapPrm", "CapEff", "CapAmb"];
    let has_none = |name| field(name).is_some_and(|mask| mask.bytes().all(|digit| digit == b'0'));
    if !capabilities.into_iter().all(has_none) {
        Some("has capabilities")
    } else if field("NoNewPrivs").as_deref() != Some("1") {
        Some("can gain privileges by executing a program")
    } else if field("Seccomp").as_deref() != Some("2") {
        Some("runs without a system call filter")
    } else {
        None
    }
}

/// A filter is there; this is whether it is ours.
fn filter() -> Option<&'static str> {
    let vsock = AddressFamily::from_raw(libc::AF_VSOCK as u16);
    if socket(vsock, SocketType::STREAM, None).err() != Some(Errno::PERM) {
        return Some("can open sockets that reach the hypervisor");
    }
    #[expect(unsafe_code, reason = "marked unsafe for other flags")]
    // SAFETY: a new user namespace changes nothing about this process's memory or descriptors; if it is granted
    // the supervisor refuses to serve.
    let granted = unsafe { unshare_unsafe(UnshareFlags::NEWUSER) };
    match granted {
        Err(Errno::PERM) => None,
        _ => Some("can make user namespaces"),
    }
}

fn seeing(bait: &Bait) -> Option<String> {
    let is_visible = |path: &Path, device, inode| {
        fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == (device, inode))
    };
    let (path, ..) = bait.hidden.iter().find(|(path, device, inode)| is_visible(path, *device, *inode))?;
    Some(format!("can see the host's {}", path.display()))
}

/// Mounts are made by path: whoever swaps something in between has it mounted instead.
fn swapped(bait: &Bait) -> Option<String> {
    let is_meant = |path: &Path, device, inode| {
        fs::symlink_metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == (device, inode))
    };
    let (path, ..) = bait.meant.iter().find(|(path, device, inode)| !is_meant(path, *device, *inode))?;
    Some(format!("shows something else at {}: it was swapped while the sandbox opened", path.display()))
}

/// Opening is enough to know; nothing is written.
fn can_write(place: &Path) -> bool {
    let mut options = OpenOptions::new();
    // Whatever lies there: a pipe would make the supervisor wait for its reader.
    options.write(true).custom_flags(libc::O_NONBLOCK);
    if !place.is_dir() {
        return options.open(place).is_ok();
    }
    let file = place.join(".windlass-canary");
    let created = options.create_new(true).open(&file).is_ok();
    if created {
        let _ = fs::remove_file(&file);
    }
    created
}

fn network(bait: &Bait) -> Option<&'static str> {
    let listener = SocketAddr::from((Ipv4Addr::LOCALHOST, bait.tcp_port));
    if TcpStream::connect_timeout(&listener, Duration::from_secs(1)).is_ok() {
        return Some("can reach the host over TCP");
    }
    let reaches_abstract = || {
        let address = SocketAddrUnix::new_abstract_name(&bait.abstract_socket).ok()?;
        let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None).ok()?;
        connect(&socket, &address).ok()
    };
    reaches_abstract().map(|()| "can reach the host over an abstract socket")
}

/// `PWD` is bubblewrap's own. Everything else would be the owner's, readable for ever in `/proc/1/environ`.
fn environment() -> Option<&'static str> {
    let variables = fs::read("/proc/self/environ").unwrap_or_else(|_| b"unreadable".to_vec());
    variables
        .split(|byte| *byte == 0)
        .any(|variable| !variable.is_empty() && !variable.starts_with(b"PWD="))
        .then_some("inherits the owner's environment")
}
