//! Starting processes from one thread that lives as long as the owner.
//!
//! `--die-with-parent` is tied to the *thread* that started the process, and threads of an async runtime come and go:
//! a sandbox started from one of them could be killed when the runtime tidies up.

#![expect(clippy::disallowed_methods, reason = "a thread for the whole life of the process")]

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::{OnceLock, mpsc},
    time::Duration,
};

use rustix::process::Pid;
use tokio::{io::AsyncReadExt, net::unix::pipe, sync::oneshot, time::timeout};

use super::{
    janitor::{Body, Remains, bury},
    spawn::{Heard, Spawn},
};
use crate::Error;

const DOING: &str = "start a process";
const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST_VERSION: u64 = 4096;

/// A started process. Somebody must reap it, which is the janitor's work.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) pid: Pid,
    /// The stream that its owner wanted to hear.
    pub(crate) said: File,
}

/// A process that is being started. One that nobody waits for any more is left to the janitor.
pub(crate) struct Starting(oneshot::Receiver<io::Result<Child>>);

impl Starting {
    pub(crate) async fn child(mut self) -> Result<Child, Error> {
        let started = (&mut self.0).await;
        started.map_err(|_| Error::io(DOING)(gone()))?.map_err(Error::io(DOING))
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.close();
        if let Ok(Ok(child)) = self.0.try_recv() {
            abandon(child.pid);
        }
    }
}

/// Returns at once: starting takes a while, and the caller has more to prepare.
pub(crate) fn begin(spawn: Spawn) -> Result<Starting, Error> {
    let (reply, answer) = oneshot::channel();
    let job: Job = Box::new(move || {
        if let Err(Ok(child)) = reply.send(spawn.start()) {
            // The caller went away while we were at it, and its end of the child's socket with it.
            abandon(child.pid);
        }
    });
    thread().map_err(Error::io(DOING))?.send(job).map_err(|_| Error::io(DOING)(gone()))?;
    Ok(Starting(answer))
}

/// What `program --version` prints.
pub(crate) async fn capture_version(program: PathBuf) -> Result<String, Error> {
    let mut spawn = Spawn::new(program, Heard::Stdout);
    spawn.arguments.push("--version".into());
    let Child { pid, said: pipe } = begin(spawn)?.child().await?;
    abandon(pid);
    let mut said = Vec::new();
    let pipe = pipe::Receiver::from_file(pipe).map_err(Error::io(DOING))?;
    let read = async { pipe.take(LONGEST_VERSION).read_to_end(&mut said).await };
    match timeout(PATIENCE, read).await {
        Ok(read) => drop(read.map_err(Error::io(DOING))?),
        Err(_) => return Err(Error::io(DOING)(io::Error::from(io::ErrorKind::TimedOut))),
    }
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}

fn gone() -> io::Error {
    io::Error::other("the spawning thread is gone")
}

/// For a child that ends by itself.
fn abandon(pid: Pid) {
    drop(bury(Remains { body: Body::Child(pid), groups: None, placeholders: Vec::new(), scratch: None }));
}

type Job = Box<dyn FnOnce() + Send>;

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
