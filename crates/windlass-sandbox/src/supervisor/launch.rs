//! Starting one command: the minder, and below it the leader.

#![expect(clippy::disallowed_methods, reason = "the home of starting programs")]

use std::{
    io,
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::Stdio,
};

use rustix::{
    pipe::{PipeFlags, pipe_with},
    process::{
        Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, getpriority_process,
        ioctl_tiocsctty, kill_process, pidfd_open, set_child_subreaper, set_parent_process_death_signal,
        setpriority_process, setrlimit, setsid, wait,
    },
    stdio::stdin,
};

use super::terminal::Terminal;
use crate::{
    Streams,
    wire::{Obstacle, Request},
};

/// What the command has as its standard streams.
pub(crate) enum Ends {
    Pipes(Pipes),
    /// Still to be opened.
    Terminal {
        rows: u16,
        cols: u16,
    },
}

/// The command's pipes, as the owner sent them.
pub(crate) struct Pipes {
    pub(crate) stdout: OwnedFd,
    /// `None` where both streams go to one pipe.
    pub(crate) stderr: Option<OwnedFd>,
    pub(crate) stdin: Option<OwnedFd>,
}

impl Pipes {
    fn of(terminal: &Terminal) -> io::Result<Self> {
        let end = || terminal.commands_end.try_clone();
        Ok(Self { stdout: end()?, stderr: Some(end()?), stdin: Some(end()?) })
    }
}

/// A started command, seen from above.
pub(crate) struct Minder {
    pub(crate) pid: Pid,
    /// Readable when the minder has ended.
    pub(crate) ended: OwnedFd,
}

pub(crate) type Rlimits = Vec<(Resource, u64)>;

/// With its terminal, where it has one.
pub(crate) fn launch(
    request: &Request,
    ends: Ends,
    rlimits: &Rlimits,
) -> Result<(Minder, Option<Terminal>), (i32, Obstacle)> {
    let errno = |error: io::Error| error.raw_os_error().unwrap_or(libc::EIO);
    let (pipes, terminal) = match ends {
        Ends::Pipes(pipes) => (pipes, None),
        Ends::Terminal { rows, cols } => {
            let opened = Terminal::open(rows, cols).and_then(|terminal| Ok((Pipes::of(&terminal)?, Some(terminal))));
            opened.map_err(|error| (errno(error), Obstacle::Terminal))?
        }
    };
    let minder = spawn(request, pipes, rlimits).map_err(|error| {
        let errno = errno(error);
        // The kernel says `ENOENT` for both; looking afterwards is good enough for a message.
        let obstacle = match request.cwd.is_dir() {
            true => Obstacle::Program,
            false => Obstacle::Directory,
        };
        (errno, obstacle)
    })?;
    Ok((minder, terminal))
}

fn spawn(request: &Request, pipes: Pipes, rlimits: &Rlimits) -> io::Result<Minder> {
    let program = request.argv.first().ok_or(io::ErrorKind::InvalidInput)?;
    let stderr = match pipes.stderr {
        Some(stderr) => stderr,
        None => pipes.stdout.try_clone()?,
    };
    let mut command = std::process::Command::new(program);
    command
        .args(&request.argv[1..])
        .env_clear()
        .envs(request.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&request.cwd)
        .stdin(pipes.stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(pipes.stdout)
        .stderr(stderr);
    let (rlimits, streams) = (rlimits.clone(), request.streams);
    #[expect(unsafe_code, reason = "std offers no other way to act between fork and exec")]
    // SAFETY: the supervisor has one thread, so the forked copy's memory is consistent; the closure makes system
    // calls only and allocates nothing.
    unsafe {
        command.pre_exec(move || split(&rlimits, streams));
    }
    let child = command.spawn()?;
    let pid = Pid::from_child(&child);
    Ok(Minder { pid, ended: pidfd_open(pid, PidfdFlags::empty())? })
}

/// Runs in the forked child: returns in the leader, and never in the minder.
fn split(rlimits: &Rlimits, streams: Streams) -> io::Result<()> {
    // Before the second fork, or the leader could lose a child to the supervisor first. Not inherited by fork.
    set_child_subreaper(Some(getpid()))?;
    die_with_parent()?;
    limit(Resource::Core, 0)?;
    let (gate, held_by_minder) = pipe_with(PipeFlags::CLOEXEC)?;
    #[expect(unsafe_code, reason = "a fork without exec is what a minder is")]
    // SAFETY: one thread, as above; both sides go on with system calls only until exec or `_exit`.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop(held_by_minder);
            wait_for_the_minder(&gate);
            lead(rlimits, streams)
        }
        leader => mind(leader),
    }
}

/// Until it has let go of all it held. A command that stops its minder before would stop the supervisor with it, which waits
/// for the last who could still say that nothing was started.
fn wait_for_the_minder(gate: &OwnedFd) {
    while matches!(rustix::io::read(gate, &mut [0]), Err(rustix::io::Errno::INTR)) {}
}

fn lead(rlimits: &Rlimits, streams: Streams) -> io::Result<()> {
    die_with_parent()?;
    setsid()?;
    hear_every_signal();
    if let Streams::Terminal { .. } = streams {
        ioctl_tiocsctty(stdin())?;
    }
    // The supervisor's own priority may be above the ordinary; a command's is not.
    if getpriority_process(None)? < 0 {
        setpriority_process(None, 0)?;
    }
    rlimits.iter().try_for_each(|(resource, value)| limit(*resource, *value))
}

/// Where there is no process namespace to take everything along, this takes along what it can.
fn die_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

fn limit(resource: Resource, value: u64) -> io::Result<()> {
    // A hard limit cannot be raised; what is lower already stays.
    let ceiling = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let value = Some(value.min(ceiling));
    Ok(setrlimit(resource, Rlimit { current: value, maximum: value })?)
}

/// Collects every orphan of the command until the leader ends, then ends in the same way.
fn mind(leader: i32) -> ! {
    // The minder must hold no pipe open, or the owner would never see the end of it.
    close_from(0);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == leader => end_like(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => quit(127),
        }
    }
}

fn end_like(status: WaitStatus) -> ! {
    if let Some(code) = status.exit_status() {
        quit(code);
    }
    if let Some(signal) = status.terminating_signal().and_then(Signal::from_named_raw) {
        restore_default(signal);
        let _ = kill_process(getpid(), signal);
    }
    // Only for a real-time signal, or one that somebody made us ignore.
    quit(128 + status.terminating_signal().unwrap_or(0))
}

/// What is ignored stays so over exec: an owner that was started in the background ignores the key that interrupts.
fn hear_every_signal() {
    for signal in 1..=libc::SIGRTMAX() {
        #[expect(unsafe_code, reason = "std has no signal handling")]
        // SAFETY: the default action is no code of ours. What cannot be set is left.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// Rust's runtime catches a few signals to report stack overflows; the minder is a copy of a Rust program.
fn restore_default(signal: Signal) {
    #[expect(unsafe_code, reason = "std has no signal handling")]
    // SAFETY: the default action is no code of ours.
    unsafe {
        libc::signal(signal.as_raw(), libc::SIG_DFL);
    }
}

/// Only where nothing in this process uses such a descriptor from here on.
pub(crate) fn close_from(first: u32) {
    #[expect(unsafe_code, reason = "std has no way to close descriptors that it does not own")]
    // SAFETY: the callers own no descriptor of these numbers, or never use it again.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) != 0 {
            for descriptor in first.cast_signed()..4096 {
                libc::close(descriptor);
            }
        }
    }
}

fn quit(code: i32) -> ! {
    #[expect(unsafe_code, reason = "std's exit runs handlers that belong to the supervisor")]
    // SAFETY: ends this process; nothing of it is used afterwards.
    unsafe {
        libc::_exit(code)
    }
}
