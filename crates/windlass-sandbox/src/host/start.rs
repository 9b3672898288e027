//! Opening a sandbox whose first process is a child of the owner's: started with one end of the link as its standard input.

use std::{fs::File, io::Read, os::fd::OwnedFd, path::PathBuf};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt::set_socket_passcred};

use super::{
    cgroup::Groups,
    janitor::{Body, Remains},
    placeholder::Placeholder,
    session::{CONNECTING, Inside, Session, instruct},
    spawn::Spawn,
    spawner::{Child, begin},
};
use crate::{Error, wire::Setup};

/// What a provider has prepared.
pub(crate) struct Start {
    pub(crate) spawn: Spawn,
    pub(crate) lock: Option<OwnedFd>,
    pub(crate) groups: Option<Groups>,
    pub(crate) placeholders: Vec<Placeholder>,
    /// A directory that goes with the sandbox.
    pub(crate) scratch: Option<PathBuf>,
    pub(crate) inside: Inside,
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

impl Start {
    /// What the supervisor is told is prepared by `prepare` while it starts.
    pub(crate) async fn open<Prepare>(self, prepare: Prepare) -> Result<Session, Failure>
    where
        Prepare: FnOnce() -> Result<Setup, Error>,
    {
        let Self { mut spawn, lock, groups, placeholders, scratch, inside } = self;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // The supervisor's end blocks; the flag belongs to each end by itself.
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(Error::io(CONNECTING))?;
        // Before it is there: what it sends then says who it is, in the owner's own numbers.
        set_socket_passcred(&ours, true).map_err(Error::io(CONNECTING))?;
        rustix::io::ioctl_fionbio(&theirs, false).map_err(Error::io(CONNECTING))?;
        spawn.stdin = Some(theirs);
        if let Some(groups) = &groups {
            spawn.doors = groups.doors().map_err(Error::io("enter a control group"))?;
        }
        let starting = begin(spawn)?;
        instruct(&ours, &prepare()?, lock)?;
        let Child { pid, said } = starting.child().await?;
        let remains = Remains { body: Body::Child(pid), groups, placeholders, scratch };
        match Session::greet(ours, remains, inside).await? {
            Some(session) => Ok(session),
            None => Err(Failure::Ended { said: read_last_words(said) }),
        }
    }
}

/// The process has ended, so this does not wait; what it could have said is bounded by the pipe.
fn read_last_words(pipe: File) -> String {
    let mut said = Vec::new();
    let _ = pipe.take(4096).read_to_end(&mut said);
    String::from_utf8_lossy(&said).trim().to_owned()
}
