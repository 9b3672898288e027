//! A `git` at work: fed and heard without ever waiting longer than it may be silent, and not at all once somebody wants to stop. What a
//! repository names may be a pipe that nobody writes into, and git waits for that for ever. Whatever it has started ends with it.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::error::Error;
use crate::stream::ShouldStop;

const WHAT: &str = "git";
/// How often whoever waits looks whether somebody wants to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Of its complaints, so much is kept; the rest is read all the same, so that it can go on.
const MOST_COMPLAINTS: usize = 64 * 1024;

/// How long a git may be waited for.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'a> {
    /// In which it takes in nothing, says nothing and does not end.
    pub silence: Duration,
    pub should_stop: ShouldStop<'a>,
}

impl Patience<'_> {
    /// Waits until one of these can go on. `words` is what git was told to do.
    fn wait(self, words: &str, ready: &mut [PollFd<'_>]) -> Result<(), Error> {
        let mut silent = Duration::ZERO;
        let look = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK_EVERY.subsec_nanos()) };
        loop {
            self.should_stop.heed()?;
            match poll(ready, Some(&look)) {
                Ok(0) => silent += LOOK_EVERY,
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::ours(WHAT, errno.into())),
            }
            if silent >= self.silence {
                return Err(Error::GitSilent { words: words.to_owned(), seconds: self.silence.as_secs() });
            }
        }
    }
}

/// All of its processes, none of which outlives whoever waits for it.
struct Group {
    leader: Child,
    has_ended: bool,
}

impl Group {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.leader)
    }

    /// What became of the leader. While nobody has asked, its number is nobody else's.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.has_ended {
            let _ = kill_process_group(self.pid(), Signal::KILL);
            self.has_ended = true;
        }
        self.leader.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

pub(super) struct AtWork<'a> {
    group: Group,
    /// Readable once it has ended.
    end: OwnedFd,
    words: String,
    patience: Patience<'a>,
}

pub(super) struct Ended {
    pub status: ExitStatus,
    pub said: Vec<u8>,
    pub complaints: Vec<u8>,
}

impl<'a> AtWork<'a> {
    /// `words` is what `command` is told to do.
    pub fn start(mut command: Command, words: &str, patience: Patience<'a>) -> Result<Self, Error> {
        let leader = command.process_group(0).spawn().map_err(failed)?;
        let group = Group { leader, has_ended: false };
        let end = pidfd_open(group.pid(), PidfdFlags::empty()).map_err(|errno| failed(errno.into()))?;
        Ok(Self { group, end, words: words.to_owned(), patience })
    }

    /// Where it takes something in, once.
    pub fn stdin(&mut self) -> Result<Feeding<'a>, Error> {
        let pipe = self.group.leader.stdin.take().ok_or_else(|| failed(io::Error::other("it takes nothing in")))?;
        never_block(&pipe)?;
        Ok(Feeding { pipe, words: self.words.clone(), patience: self.patience, cut: None })
    }

    /// All that it says, when it has ended.
    pub fn hear(mut self) -> Result<Ended, Error> {
        let mut out = Hearing::of(self.group.leader.stdout.take())?;
        let mut err = Hearing::of(self.group.leader.stderr.take())?;
        loop {
            let mut ready = vec![PollFd::new(&self.end, PollFlags::IN)];
            ready.extend(out.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            ready.extend(err.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            self.patience.wait(&self.words, &mut ready)?;
            let has_ended = !ready[0].revents().is_empty();
            out.read(usize::MAX)?;
            err.read(MOST_COMPLAINTS)?;
            // Whoever it started may hold a pipe open: nobody waits for those.
            if has_ended {
                let status = self.group.end().map_err(failed)?;
                return Ok(Ended { status, said: out.bytes, complaints: err.bytes });
            }
        }
    }
}

/// One of its pipes, and what came out of it.
struct Hearing<Pipe> {
    pipe: Option<Pipe>,
    bytes: Vec<u8>,
}

impl<Pipe: Read + AsFd> Hearing<Pipe> {
    fn of(pipe: Option<Pipe>) -> Result<Self, Error> {
        pipe.iter().try_for_each(never_block)?;
        Ok(Self { pipe, bytes: Vec::new() })
    }

    /// What there is now. What is more than `most` is heard and forgotten.
    fn read(&mut self, most: usize) -> Result<(), Error> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        let mut piece = [0; 16 * 1024];
        loop {
            match pipe.read(&mut piece) {
                Ok(0) => {
                    self.pipe = None;
                    return Ok(());
                }
                Ok(read) => {
                    let kept = read.min(most.saturating_sub(self.bytes.len()));
                    self.bytes.extend_from_slice(&piece[..kept]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

/// What it is told, as fast as it takes it in.
pub(super) struct Feeding<'a> {
    pipe: ChildStdin,
    words: String,
    patience: Patience<'a>,
    /// Why nobody waits any more.
    pub cut: Option<Error>,
}

impl Write for Feeding<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.pipe.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return done,
            }
            let waited = self.patience.wait(&self.words, &mut [PollFd::new(&self.pipe, PollFlags::OUT)]);
            if let Err(cut) = waited {
                let told = io::Error::other(cut.to_string());
                self.cut = Some(cut);
                return Err(told);
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn never_block(pipe: &impl AsFd) -> Result<(), Error> {
    let flags = fcntl_getfl(pipe).and_then(|flags| fcntl_setfl(pipe, flags | OFlags::NONBLOCK));
    flags.map_err(|errno| failed(errno.into()))
}

fn failed(error: io::Error) -> Error {
    Error::ours(WHAT, error)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "programs that do what git does when it waits for ever")]

    use std::process::Stdio;

    use super::*;

    fn start(script: &str, silence: Duration) -> AtWork<'static> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let patience = Patience { silence, should_stop: ShouldStop::NEVER };
        AtWork::start(command, "fast-import", patience).expect("a shell")
    }

    const SHORT: Duration = Duration::from_millis(200);
    const LONG: Duration = Duration::from_secs(24 * 60 * 60);

    #[test]
    fn who_takes_nothing_in_is_not_fed_for_ever() {
        let mut git = start("exec sleep 1000", SHORT);
        let mut feeding = git.stdin().unwrap();
        assert!(feeding.write_all(&[0; 1 << 20]).is_err());
        assert!(matches!(feeding.cut, Some(Error::GitSilent { .. })));
    }

    #[test]
    fn who_closes_its_mouth_and_does_not_end_is_not_waited_for() {
        let heard = start("exec sleep 1000 >&- 2>&-", SHORT).hear();
        assert!(matches!(heard, Err(Error::GitSilent { words, .. }) if words == "fast-import"));
    }

    #[test]
    fn all_that_it_says_is_heard_and_nobody_that_it_started_is_waited_for() {
        let Ended { status, said, complaints } =
            start("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; sleep 1000 & exit 3", LONG).hear().unwrap();
        assert_eq!((status.code(), said.len(), complaints.len()), (Some(3), 300_000, MOST_COMPLAINTS));
    }

    #[test]
    fn all_that_it_started_ends_with_it() {
        let mut git = start("(echo begun; sleep 5; echo alive) & exec sleep 1000", LONG);
        let mut out = git.group.leader.stdout.take().expect("a pipe");
        let mut begun = [0; 6];
        out.read_exact(&mut begun).unwrap();
        assert_eq!(begun, *b"begun\n");
        drop(git);
        let mut said = String::new();
        out.read_to_string(&mut said).unwrap();
        assert_eq!(said, "", "nobody is left to say anything");
    }
}
