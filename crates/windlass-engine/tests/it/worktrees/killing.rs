//! A process of its own that is killed as it is about to make its n-th system call that writes. Only the thread that works is
//! traced, and what it starts is not.

#![expect(
    clippy::disallowed_methods,
    reason = "a process that is to be killed is started, and told by the environment"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use nix::libc::{self, c_long};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, gettid};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Killed,
    /// It had fewer such calls to make.
    ByItself,
}

/// Whoever starts this process traces from here on what this thread does.
pub fn be_traced() {
    ptrace::traceme().unwrap();
    // Only now, for nobody can wait for a thread that is not traced yet.
    let mut out = std::io::stdout();
    writeln!(out, "\ntraced {}", gettid()).unwrap();
    out.flush().unwrap();
    raise(Signal::SIGSTOP).unwrap();
}

/// Runs the test of this name in a process of its own; `before` hears of each call that writes before it is made, and says whether
/// it may.
pub fn run(test: &str, environment: &[(&str, String)], before: impl FnMut(usize) -> bool) -> Ended {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    let thread = loop {
        line.clear();
        assert_ne!(said.read_line(&mut line).unwrap(), 0, "it ended before it was traced");
        if let Some(thread) = line.strip_prefix("traced ") {
            break Pid::from_raw(thread.trim().parse().unwrap());
        }
    };
    let ended = follow(&child, thread, before);
    let status = child.wait().unwrap();
    assert_eq!(status.success(), ended == Ended::ByItself, "{status}");
    ended
}

fn follow(child: &Child, thread: Pid, mut before: impl FnMut(usize) -> bool) -> Ended {
    let (mut calls, mut inside, mut pass_on) = (0, false, None);
    assert!(matches!(wait(thread), WaitStatus::Stopped(_, Signal::SIGSTOP)));
    ptrace::setoptions(thread, Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_EXITKILL).unwrap();
    loop {
        ptrace::syscall(thread, pass_on.take()).unwrap();
        match wait(thread) {
            WaitStatus::PtraceSyscall(_) => {
                inside = !inside;
                if !inside || !writes(call(thread)) {
                    continue;
                }
                calls += 1;
                if !before(calls) {
                    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGKILL).unwrap();
                    // A process is not over before whoever traces its threads has heard of their end.
                    while !matches!(wait(thread), WaitStatus::Signaled(..)) {}
                    return Ended::Killed;
                }
            }
            WaitStatus::Stopped(_, signal) => pass_on = Some(signal),
            WaitStatus::Exited(..) => return Ended::ByItself,
            other => panic!("{other:?}"),
        }
    }
}

fn wait(thread: Pid) -> WaitStatus {
    waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap()
}

/// Its number, and its third argument.
#[cfg(target_arch = "x86_64")]
fn call(thread: Pid) -> (c_long, u64) {
    let registers = ptrace::getregs(thread).unwrap();
    (registers.orig_rax.cast_signed(), registers.rdx)
}

#[cfg(target_arch = "aarch64")]
fn call(thread: Pid) -> (c_long, u64) {
    let registers = ptrace::getregs(thread).unwrap();
    (registers.regs[8].cast_signed(), registers.regs[2])
}

fn writes((number, third): (c_long, u64)) -> bool {
    const ALWAYS: [c_long; 19] = [
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_pwrite64,
        libc::SYS_copy_file_range,
        libc::SYS_ftruncate,
        libc::SYS_fallocate,
        libc::SYS_mkdirat,
        libc::SYS_unlinkat,
        libc::SYS_renameat,
        libc::SYS_renameat2,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_utimensat,
        libc::SYS_fsync,
        libc::SYS_fdatasync,
        libc::SYS_syncfs,
        libc::SYS_ioctl,
    ];
    #[cfg(target_arch = "x86_64")]
    const OLDER: [c_long; 6] =
        [libc::SYS_mkdir, libc::SYS_rmdir, libc::SYS_unlink, libc::SYS_rename, libc::SYS_symlink, libc::SYS_chmod];
    #[cfg(target_arch = "aarch64")]
    const OLDER: [c_long; 0] = [];
    let creates = number == libc::SYS_openat && third & u64::from(libc::O_CREAT.cast_unsigned()) != 0;
    creates || ALWAYS.contains(&number) || OLDER.contains(&number)
}
