//! Waiting for ended sandboxes: reaps the process, removes its control groups and lets go of the names that were held for
//! it. A thread of its own, because a sandbox may be dropped where nothing can wait.

#![expect(clippy::disallowed_methods, reason = "a thread for the whole life of the process")]

use std::{
    fs, io,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{OnceLock, mpsc},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, pidfd_send_signal, waitpid},
};
use tokio::sync::oneshot;

use super::{cgroup::Groups, placeholder::Placeholder};

/// How long a supervisor has to end what it runs before it is killed from outside.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is left of a sandbox whose link is closed.
pub(crate) struct Remains {
    pub(crate) body: Body,
    pub(crate) groups: Option<Groups>,
    pub(crate) placeholders: Vec<Placeholder>,
    /// Removed by the supervisor, unless somebody killed that.
    pub(crate) scratch: Option<PathBuf>,
}

/// The process whose end is the end of all.
pub(crate) enum Body {
    /// Ours to reap.
    Child(Pid),
    /// Somebody else's child, the first process of its namespace.
    Stranger(OwnedFd),
}

/// The receiver resolves when nothing is left.
pub(crate) fn bury(remains: Remains) -> oneshot::Receiver<()> {
    let (done, buried) = oneshot::channel();
    match thread() {
        // The thread never ends, so the send cannot fail.
        Ok(thread) => drop(thread.send((remains, done))),
        // No thread to be had: wait here. Rare enough to be blunt.
        Err(_) => lay_to_rest(remains, done),
    }
    buried
}

fn lay_to_rest(remains: Remains, done: oneshot::Sender<()>) {
    match remains.body {
        Body::Child(pid) => reap(pid),
        Body::Stranger(process) => {
            if !ends_within(&process, PATIENCE) {
                let _ = pidfd_send_signal(&process, Signal::KILL);
                ends_within(&process, PATIENCE);
            }
        }
    }
    drop(remains.groups);
    // Nothing of the sandbox is left that could use the names.
    drop(remains.placeholders);
    if let Some(scratch) = remains.scratch {
        let _ = fs::remove_dir_all(scratch);
    }
    let _ = done.send(());
}

fn reap(pid: Pid) {
    let process = pidfd_open(pid, PidfdFlags::empty());
    if !process.is_ok_and(|process| ends_within(&process, PATIENCE)) {
        kill_tree(pid);
    }
    // Nobody else reaps it, so there is nothing to do about a failure.
    while matches!(waitpid(Some(pid), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
}

fn ends_within(process: &OwnedFd, patience: Duration) -> bool {
    let timeout = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: 0 };
    matches!(poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&timeout)), Ok(1))
}

/// The child is bubblewrap or the supervisor itself; below bubblewrap is the first process of the namespace, and
/// killing that kills the rest.
fn kill_tree(child: Pid) {
    let pid = child.as_raw_nonzero().get();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = children.split_ascii_whitespace().filter_map(|word| word.parse().ok());
    for pid in children.chain([pid]).filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

type Burial = (Remains, oneshot::Sender<()>);

fn thread() -> io::Result<mpsc::Sender<Burial>> {
    static THREAD: OnceLock<mpsc::Sender<Burial>> = OnceLock::new();
    if let Some(thread) = THREAD.get() {
        return Ok(thread.clone());
    }
    let (sender, burials) = mpsc::channel::<Burial>();
    std::thread::Builder::new().name("sandbox-janitor".to_owned()).spawn(move || {
        for (remains, done) in burials {
            lay_to_rest(remains, done);
        }
    })?;
    Ok(THREAD.get_or_init(|| sender).clone())
}
