//! A program that is being measured: started, watched from outside, and never slowed down by being watched. Its processor
//! time is that of its own threads; what it starts in turn has its own account.

#![expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures and reads the clock")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

/// Whether the measured program goes before everything else on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    Normal,
    RealTime,
}

impl Priority {
    /// `program`, to be started with this priority.
    pub fn command(self, program: &Path) -> Command {
        match self {
            Self::Normal => Command::new(program),
            Self::RealTime => {
                let mut command = Command::new("chrt");
                command.args(["-r", "5"]).arg(program);
                command
            }
        }
    }
}

/// A moment in the life of the program: how long it has lived, how long it has worked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mark {
    pub wall: Duration,
    pub cpu: Duration,
}

impl Mark {
    pub fn since(self, earlier: Self) -> Self {
        Self { wall: self.wall.saturating_sub(earlier.wall), cpu: self.cpu.saturating_sub(earlier.cpu) }
    }
}

pub struct Measured {
    child: Child,
    clock: ClockId,
    begun: Instant,
}

impl Measured {
    pub fn start(mut command: Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let begun = Instant::now();
        let child = command.spawn().with_context(|| format!("{:?} could not be started", command.get_program()))?;
        let clock = clock_getcpuclockid(Pid::from_raw(child.id().cast_signed()))?;
        Ok(Self { child, clock, begun })
    }

    pub fn mark(&self) -> Mark {
        // A process that has been waited for has no clock any more; before that even a dead one does.
        let cpu = clock_gettime(self.clock).map(Duration::from).unwrap_or_default();
        Mark { wall: self.begun.elapsed(), cpu }
    }

    /// Each line it prints, and when; to the end.
    pub fn lines(&mut self) -> anyhow::Result<Vec<(Mark, String)>> {
        let mut lines = Vec::new();
        self.watch(|_, mark, line| {
            lines.push((mark, line.to_owned()));
            Ok(())
        })?;
        Ok(lines)
    }

    /// Shows each line it prints to `look`, as it comes; to the end.
    pub fn watch(&mut self, mut look: impl FnMut(&Self, Mark, &str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut output = BufReader::new(self.take_output()?);
        let mut line = String::new();
        while output.read_line(&mut line)? > 0 {
            look(self, self.mark(), &line)?;
            line.clear();
        }
        Ok(())
    }

    pub fn first_line(&mut self) -> anyhow::Result<(String, BufReader<ChildStdout>)> {
        let mut output = BufReader::new(self.take_output()?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        Ok((line, output))
    }

    fn take_output(&mut self) -> anyhow::Result<ChildStdout> {
        self.child.stdout.take().context("its output is read once")
    }

    /// The most memory it has held, in KB. Nothing once it has ended.
    pub fn peak_kb(&self) -> Option<u64> {
        status_kb(self.child.id(), "VmHWM:")
    }

    /// What it holds now, in KB. Nothing once it has ended.
    pub fn resident_kb(&self) -> Option<u64> {
        status_kb(self.child.id(), "VmRSS:")
    }

    /// Waits for its end; fails when it failed.
    pub fn finish(mut self, what: &str) -> anyhow::Result<Mark> {
        // Waiting without collecting first, so that the last mark counts the way out, too.
        let id = nix::sys::wait::Id::Pid(Pid::from_raw(self.child.id().cast_signed()));
        let stay = nix::sys::wait::WaitPidFlag::WEXITED | nix::sys::wait::WaitPidFlag::WNOWAIT;
        nix::sys::wait::waitid(id, stay)?;
        let end = self.mark();
        let status = self.child.wait()?;
        anyhow::ensure!(status.success(), "{what} ended with {status}");
        Ok(end)
    }

    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A field of `/proc/PID/status`.
pub fn status_kb(pid: u32, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Of this process, all threads.
pub fn own_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}
