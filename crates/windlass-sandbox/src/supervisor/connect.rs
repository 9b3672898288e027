//! The supervisor of a container, before it is one: a container's first process is nobody's child, so that it finds its owner by
//! a socket in a mounted directory. It then becomes the program that it would have been elsewhere: the link as its standard
//! input, under our own filter of system calls, and without the variables that a container is given.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::Command,
};

use rustix::{
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with},
    stdio::dup2_stdin,
};

use crate::seccomp::{self, MemoryFiles};

/// The last but one word of the command line; the socket is the last.
pub(crate) const CONNECT: &str = "--connect";

/// Returns if there is nothing to connect to, or if it failed.
pub(crate) fn connect_if_asked() -> io::Result<()> {
    let words: Vec<OsString> = std::env::args_os().collect();
    match &words[..] {
        [_, others @ .., connect, socket] if connect == CONNECT => Err(become_supervisor(others, Path::new(socket))),
        _ => Ok(()),
    }
}

fn become_supervisor(words: &[OsString], socket: &Path) -> io::Error {
    match prepare(socket) {
        Ok(()) => exec(words),
        Err(error) => error,
    }
}

fn prepare(path: &Path) -> io::Result<()> {
    let link = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    connect(&link, &SocketAddrUnix::new(path)?)?;
    dup2_stdin(&link)?;
    seccomp::apply(MemoryFiles::Allowed)
}

#[expect(clippy::disallowed_methods, reason = "the home of starting programs")]
fn exec(words: &[OsString]) -> io::Error {
    Command::new(OsStr::new("/proc/self/exe")).args(words).env_clear().exec()
}
