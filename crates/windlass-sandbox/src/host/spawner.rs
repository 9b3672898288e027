//! Starting processes from one thread that lives as long as the owner.
//!
//! `--die-with-parent` is tied to the *thread* that started the process, and threads of an async runtime come and go:
//! a sandbox started from one of them could be killed when the runtime tidies up.

#![expect(
    clippy::disallowed_methods,
    reason = "the home of starting programs, on a thread for the whole life of the process"
)]

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt,
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{OnceLock, mpsc},
    time::Duration,
};

use rustix::{
    fs::{Mode, OFlags, open},
    process::setpriority_process,
};
use tokio::{io::AsyncReadExt, net::unix::pipe, sync::oneshot, time::timeout};

use super::janitor::{Remains, bury};
use crate::Error;

const DOING: &str = "start a process";
const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST_VERSION: u64 = 4096;

/// A program to start, and what it gets besides its arguments. It inherits no environment.
pub(crate) struct Spawn {
    pub(crate) command: Command,
    /// Kept open over exec under the same numbers.
    pub(crate) inherited: Vec<OwnedFd>,
    /// `cgroup.procs` files of the groups to join before exec.
    pub(crate) groups: Vec<OwnedFd>,
}

type Job = Box<dyn FnOnce() + Send>;

impl Spawn {
    pub(crate) async fn start(mut self) -> Result<Child, Error> {
        self.command.env_clear().current_dir("/");
        let Self { mut command, inherited, groups } = self;
        #[expect(unsafe_code, reason = "std offers no other way to act between fork and exec")]
        // SAFETY: the closure makes a few system calls; it neither allocates nor takes a lock.
        unsafe {
            command.pre_exec(move || prepare(&inherited, &groups));
        }
        spawn(command).await
    }
}

/// What `program --version` prints.
pub(crate) async fn capture_version(program: PathBuf) -> Result<String, Error> {
    let mut command = Command::new(program);
    command.arg("--version").env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = spawn(command).await?;
    let stdout = child.stdout.take().expect("is piped");
    abandon(child);
    let mut said = Vec::new();
    let pipe = pipe::Receiver::from_owned_fd(stdout.into()).map_err(Error::io(DOING))?;
    let read = async { pipe.take(LONGEST_VERSION).read_to_end(&mut said).await };
    match timeout(PATIENCE, read).await {
        Ok(read) => drop(read.map_err(Error::io(DOING))?),
        Err(_) => return Err(Error::io(DOING)(io::Error::from(io::ErrorKind::TimedOut))),
    }
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}

async fn spawn(mut command: Command) -> Result<Child, Error> {
    let gone = || Error::io(DOING)(io::Error::other("the spawning thread is gone"));
    let (reply, answer) = oneshot::channel();
    let job: Job = Box::new(move || {
        if let Err(Ok(child)) = reply.send(command.spawn()) {
            // The caller went away while we were at it, and its end of the child's socket with it.
            abandon(child);
        }
    });
    thread().map_err(Error::io(DOING))?.send(job).map_err(|_| gone())?;
    answer.await.map_err(|_| gone())?.map_err(Error::io(DOING))
}

/// For a child that ends by itself; somebody must reap it.
fn abandon(child: Child) {
    drop(bury(Remains { child, groups: None }));
}

fn prepare(inherited: &[OwnedFd], groups: &[OwnedFd]) -> io::Result<()> {
    // If the machine runs out of memory, the sandbox goes before its owner. Inherited by everything inside.
    if let Ok(score) = open(c"/proc/self/oom_score_adj", OFlags::WRONLY, Mode::empty()) {
        let _ = rustix::io::write(&score, b"500");
    }
    // Only root may; then the supervisor gets its turn even if a command starts processes faster than it can count.
    let _ = setpriority_process(None, -20);
    for group in groups {
        rustix::io::write(group.as_fd(), b"0")?;
    }
    keep_nothing();
    for descriptor in inherited {
        rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())?;
    }
    Ok(())
}

/// Whoever started the owner may have left descriptors open, a directory of the host among them.
fn keep_nothing() {
    #[expect(unsafe_code, reason = "std has no way to speak about descriptors that it does not own")]
    // SAFETY: marks descriptors to be closed by exec; until then all stay as they are.
    unsafe {
        let everything = libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
        if everything != 0 {
            for descriptor in 3..65_536 {
                libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}

fn thread() -> io::Result<mpsc::Sender<Job>> {
    static THREAD: OnceLock<mpsc::Sender<Job>> = OnceLock::new();
    if let Some(thread) = THREAD.get() {
        return Ok(thread.clone());
    }
    let (sender, jobs) = mpsc::channel::<Job>();
    std::thread::Builder::new()
        .name("sandbox-spawner".to_owned())
        .spawn(move || jobs.into_iter().for_each(|job| job()))?;
    // Two callers may come at once; the loser's thread ends with its only sender.
    Ok(THREAD.get_or_init(|| sender).clone())
}
