//! Starting one process: fork and exec by hand, for what the standard library cannot do. A process is born into its
//! control group where the kernel can do that (version 2): joining it later makes the kernel wait for every processor of
//! the machine, some ten milliseconds.

#![expect(unsafe_code, reason = "between fork and exec there is nothing but system calls")]

use std::{
    ffi::{CStr, CString, OsStr, OsString},
    fs::File,
    io::{self, Read},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::PathBuf,
    ptr::null,
};

use rustix::{
    fs::{Mode, OFlags, open},
    pipe::{PipeFlags, pipe_with},
    process::{Pid, WaitOptions, chdir, setpriority_process, setsid, waitpid},
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
};

use super::{cgroup::Door, spawner::Child};

/// A program to start, and what it gets besides its arguments. It inherits no environment.
pub(crate) struct Spawn {
    /// Absolute.
    program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// `None` for one that ends at once.
    pub(crate) stdin: Option<OwnedFd>,
    heard: Heard,
    /// Kept open over exec under the same numbers.
    pub(crate) inherited: Vec<OwnedFd>,
    /// Groups to be in before exec.
    pub(crate) doors: Vec<Door>,
}

/// The stream that the owner hears; the other goes nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Stdout,
    Stderr,
}

impl Spawn {
    pub(crate) fn new(program: impl Into<PathBuf>, heard: Heard) -> Self {
        let program = program.into();
        Self { program, arguments: Vec::new(), stdin: None, heard, inherited: Vec::new(), doors: Vec::new() }
    }

    pub(crate) fn start(mut self) -> io::Result<Child> {
        let nowhere = OwnedFd::from(File::options().read(true).write(true).open("/dev/null")?);
        let (said, voice) = pipe_with(PipeFlags::CLOEXEC)?;
        let (outcome, report) = pipe_with(PipeFlags::CLOEXEC)?;
        let stdin = match self.stdin.take() {
            Some(stdin) => stdin,
            None => nowhere.try_clone()?,
        };
        let (stdout, stderr) = match self.heard {
            Heard::Stdout => (voice, nowhere),
            Heard::Stderr => (nowhere, voice),
        };
        let words = [self.program.as_os_str()].into_iter().chain(self.arguments.iter().map(OsString::as_os_str));
        let words: Vec<CString> = words.map(c_string).collect::<io::Result<_>>()?;
        let mut pointers: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
        pointers.push(null());
        let plan = Plan { spawn: self, program: &words[0], words: &pointers, stdin, stdout, stderr, report };
        let pid = plan.fork()?;
        // Ours must be closed, or the end of the report would never come.
        drop(plan);
        match heed(outcome) {
            Ok(()) => Ok(Child { pid, said: said.into() }),
            Err(error) => {
                let _ = waitpid(Some(pid), WaitOptions::empty());
                Err(error)
            }
        }
    }
}

fn c_string(word: &OsStr) -> io::Result<CString> {
    Ok(CString::new(word.as_bytes())?)
}

/// What the child says before it has become the program: nothing, or why it could not.
fn heed(outcome: OwnedFd) -> io::Result<()> {
    let mut errno = Vec::new();
    File::from(outcome).read_to_end(&mut errno)?;
    match errno.first_chunk() {
        Some(errno) => Err(io::Error::from_raw_os_error(i32::from_ne_bytes(*errno))),
        None => Ok(()),
    }
}

/// Everything the child needs, made before it is there: it may not allocate.
struct Plan<'a> {
    spawn: Spawn,
    program: &'a CStr,
    /// Ended by a null, as `execve` wants them; they live as long as the plan.
    words: &'a [*const libc::c_char],
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    report: OwnedFd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Born {
    Inside,
    Outside,
}

impl Plan<'_> {
    fn fork(&self) -> io::Result<Pid> {
        let group = self.spawn.doors.iter().find_map(|door| door.directory.as_ref());
        let (forked, born) = match group.map(fork_into) {
            // The kernel is too old, or a filter of the container's does not know the call.
            None | Some(-1) => {
                // SAFETY: the child makes system calls only, on memory that was made before.
                (unsafe { libc::fork() }, Born::Outside)
            }
            Some(forked) => (forked, Born::Inside),
        };
        if forked == 0 {
            self.become_program(born);
        }
        Pid::from_raw(forked).filter(|_| forked > 0).ok_or_else(io::Error::last_os_error)
    }

    fn become_program(&self, born: Born) -> ! {
        let error = match self.prepare(born) {
            Ok(()) => {
                // SAFETY: the strings and the list of them live in the plan, and the list is ended by a null.
                unsafe { libc::execve(self.program.as_ptr(), self.words.as_ptr(), [null()].as_ptr()) };
                io::Error::last_os_error()
            }
            Err(error) => error,
        };
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        let _ = rustix::io::write(&self.report, &errno.to_ne_bytes());
        // SAFETY: ends this process; nothing of it is used afterwards.
        unsafe { libc::_exit(127) }
    }

    fn prepare(&self, born: Born) -> io::Result<()> {
        // If the machine runs out of memory, the sandbox goes before its owner. Its commands go before the rest of it: the
        // supervisor sees to that.
        if let Ok(score) = open(c"/proc/self/oom_score_adj", OFlags::WRONLY, Mode::empty()) {
            let _ = rustix::io::write(&score, b"500");
        }
        // Only root may; then the supervisor gets its turn even if a command starts processes faster than it can count.
        let _ = setpriority_process(None, -20);
        for door in &self.spawn.doors {
            if born == Born::Outside || door.directory.is_none() {
                rustix::io::write(door.file.as_fd(), b"0")?;
            }
        }
        // What a key at the owner's terminal means is the owner's to say: it asks commands to end before it kills them.
        setsid()?;
        dup2_stdin(&self.stdin)?;
        dup2_stdout(&self.stdout)?;
        dup2_stderr(&self.stderr)?;
        chdir(c"/")?;
        keep_nothing();
        for descriptor in &self.spawn.inherited {
            rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())?;
        }
        hear_every_signal();
        Ok(())
    }
}

/// The libc crate has it in a type that is too narrow for it.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Zero in the child, its pid in the owner, -1 where that is not possible.
fn fork_into(group: &OwnedFd) -> libc::pid_t {
    // SAFETY: all zero is a valid value, "nothing asked for"; without a stack of its own the child is a copy, as by fork,
    // and makes system calls only.
    unsafe {
        let mut arguments: libc::clone_args = std::mem::zeroed();
        arguments.flags = CLONE_INTO_CGROUP;
        arguments.exit_signal = libc::SIGCHLD as u64;
        arguments.cgroup = group.as_raw_fd() as u64;
        libc::syscall(libc::SYS_clone3, &raw const arguments, size_of_val(&arguments)) as libc::pid_t
    }
}

/// Whoever started the owner may have left descriptors open, a directory of the host among them.
fn keep_nothing() {
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

/// Blocked and ignored signals survive exec, and Rust ignores broken pipes.
fn hear_every_signal() {
    // SAFETY: the set is initialised by `sigemptyset`; the default action is no code of ours.
    unsafe {
        let mut none = std::mem::MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(spawn: Spawn) -> (Option<i32>, String) {
        let mut child = spawn.start().expect("starts");
        let mut said = String::new();
        child.said.read_to_string(&mut said).expect("text");
        let (_, status) = waitpid(Some(child.pid), WaitOptions::empty()).expect("waits").expect("ended");
        (status.exit_status(), said)
    }

    fn sh(script: &str, heard: Heard) -> Spawn {
        let mut spawn = Spawn::new("/bin/sh", heard);
        spawn.arguments = vec!["-c".into(), script.into()];
        spawn
    }

    #[test]
    fn a_program_gets_its_words_and_nothing_else() {
        let script = "printf '%s|' \"$@\"; env | grep -v '^PWD=\\|^_=\\|^SHLVL='; pwd; cat; echo lost >&2; exit 3";
        let mut spawn = sh(script, Heard::Stdout);
        spawn.arguments.extend(["name".into(), "one".into(), "two words".into(), "".into()]);
        assert_eq!(run(spawn), (Some(3), "one|two words||/\n".to_owned()));
        assert_eq!(run(sh("echo lost; echo heard >&2", Heard::Stderr)), (Some(0), "heard\n".to_owned()));
    }

    #[test]
    fn only_what_is_inherited_is_open() {
        let inherited = OwnedFd::from(tempfile::tempfile().expect("a file"));
        let leaked = tempfile::tempfile().expect("a file");
        rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).expect("set");
        let script = format!(
            "for n in {} {}; do [ -e /proc/$$/fd/$n ]; echo $?; done",
            inherited.as_raw_fd(),
            leaked.as_raw_fd()
        );
        let mut spawn = sh(&script, Heard::Stdout);
        spawn.inherited.push(inherited);
        assert_eq!(run(spawn).1, "0\n1\n");
    }

    #[test]
    fn what_cannot_start_says_why_and_leaves_nothing_to_reap() {
        let error = Spawn::new("/no/such/program", Heard::Stderr).start().expect_err("missing");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let error = Spawn::new("/etc/passwd", Heard::Stderr).start().expect_err("no program");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        let mut spawn = Spawn::new("/bin/sh", Heard::Stderr);
        spawn.arguments.push("a\0b".into());
        assert_eq!(spawn.start().expect_err("a zero byte").kind(), io::ErrorKind::InvalidInput);
        assert_eq!(waitpid(None, WaitOptions::NOHANG).expect_err("no children"), rustix::io::Errno::CHILD);
    }

    #[test]
    fn a_broken_pipe_ends_the_program_although_its_owner_ignores_it() {
        let ignored = |status: &str| {
            let field = status.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).expect("a field");
            u64::from_str_radix(field, 16).expect("a mask") & (1 << (libc::SIGPIPE - 1)) != 0
        };
        assert!(ignored(&std::fs::read_to_string("/proc/self/status").expect("reads")), "Rust's own way");
        assert!(!ignored(&run(sh("cat /proc/self/status", Heard::Stdout)).1));
    }

    #[test]
    fn a_key_at_the_owners_terminal_does_not_reach_the_program() {
        let said = run(sh("cut -d' ' -f5,6 /proc/$$/stat; echo $$", Heard::Stdout)).1;
        let numbers: Vec<&str> = said.split_ascii_whitespace().collect();
        assert!(numbers.iter().all(|number| *number == numbers[2]), "its own group and session: {said}");
    }

    /// In a group of version 2, which needs no controllers for this.
    #[test]
    fn a_process_is_born_into_its_group() {
        let Some((path, shown)) = super::super::cgroup::scratch_group() else {
            eprintln!("skipped: no control group of version 2 to write here");
            return;
        };
        let door = || Door::of_unified(&path).expect("a door");
        let report = |born: bool| {
            let mut spawn = sh("cat /proc/self/cgroup", Heard::Stdout);
            let mut door = door();
            if !born {
                door.directory = None;
            }
            spawn.doors.push(door);
            run(spawn).1
        };
        let is_inside = |said: &str| said.lines().any(|line| line.starts_with("0::") && line.ends_with(&shown));
        let (born, joined) = (report(true), report(false));
        let forked = fork_into(door().directory.as_ref().expect("version 2"));
        if forked == 0 {
            // SAFETY: ends the copy of this test at once.
            unsafe { libc::_exit(0) }
        }
        let pid = Pid::from_raw(forked).filter(|_| forked > 0).expect("the kernel can do it here");
        waitpid(Some(pid), WaitOptions::empty()).expect("reaped");
        std::fs::remove_dir(&path).expect("removed");
        assert!(is_inside(&born), "{born}");
        assert!(is_inside(&joined), "{joined}");
    }
}
