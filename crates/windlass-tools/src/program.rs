//! A program in the sandbox, for the tools that start one: what it can reach, its deadline, and how its end is told.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use windlass_domain::{CallStatus, CancelSignal, Reach, Stop};
use windlass_sandbox::{Command, Error, Exit, Status, Streams};

use crate::context::{Confinement, Context};
use crate::stream::TextStream;
use crate::tool::{Output, Running};

const DEFAULT_TIMEOUT: u64 = 120;
pub(crate) const LONGEST_TIMEOUT: u64 = 3_600;
/// Of more than this the middle is read and thrown away: a flood must not fill memory or disk.
const KEPT_OUTPUT: usize = 8 * 1024 * 1024;

/// What is about to be started.
pub(crate) struct Started<'a> {
    /// The first of these that is there.
    pub ways: &'a [Vec<String>],
    /// Below the workspace.
    pub folder: PathBuf,
    pub timeout: Duration,
}

/// What a program can read, and where what it is given can go.
pub(crate) const fn reach(confinement: Confinement) -> Reach {
    match confinement {
        Confinement::Sealed => Reach::Program,
        Confinement::Restricted | Confinement::Nothing => Reach::NetworkProgram,
    }
}

/// Where it runs, for whoever is about to start one.
pub(crate) const fn place(confinement: Confinement) -> &'static str {
    match confinement {
        Confinement::Sealed => "in the sandbox, without network",
        Confinement::Restricted => "in the sandbox, with no network but the hosts that the operator listed",
        Confinement::Nothing => "on the operator's machine, without a sandbox: stay in the workspace",
    }
}

pub(crate) fn timeout(seconds: Option<u64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(DEFAULT_TIMEOUT))
}

impl Started<'_> {
    pub async fn run(self, context: &Context, running: Running<'_>) -> Output {
        let Running { cancel, watch } = running;
        let mut ended = Err(Error::Closed);
        for argv in self.ways {
            ended = self.execute(argv, context, &cancel, watch).await;
            // Nothing has run yet, so nothing runs twice.
            if !matches!(&ended, Err(Error::NotStarted { source, .. }) if source.kind() == ErrorKind::NotFound) {
                break;
            }
        }
        match ended {
            Ok(exit) => told(exit, self.timeout, cancel.raised()),
            Err(error @ Error::Died { .. }) => {
                let output = Output::error(format!("{error}. Whether the command took effect is not known"));
                Output { status: CallStatus::Interrupted, ..output }
            }
            Err(error) => Output::error(format!("failed to {error}")),
        }
    }

    async fn execute(
        &self,
        argv: &[String],
        context: &Context,
        cancel: &CancelSignal,
        watch: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Exit, Error> {
        let mut command = Command::new(argv);
        command.cwd.clone_from(&self.folder);
        command.streams = Streams::Together;
        command.timeout = self.timeout;
        command.output_cap = KEPT_OUTPUT;
        let mut text = TextStream::default();
        let waiting = cancel.wait();
        let stop = Box::pin(async move {
            waiting.await;
        });
        let mut seen = |_, bytes: &[u8]| text.push(bytes, watch);
        let exit = context.sandbox.run(command, &mut seen, stop).await;
        text.finish(watch);
        exit
    }
}

/// How it ended comes first: the end of a long output is what gets cut off.
fn told(exit: Exit, timeout: Duration, stop: Option<Stop>) -> Output {
    let (status, mut text) = ending(exit.status, timeout, stop);
    if exit.dropped > 0 {
        // Where they are missing the output itself says so.
        text.push_str(&format!("\n[{} bytes in the middle of the output were left out]", exit.dropped));
    }
    if exit.combined.is_empty() {
        text.push_str("\n(no output)");
    } else {
        text.push_str("\n\n");
        text.push_str(&String::from_utf8_lossy(&exit.combined));
    }
    Output { status, ..Output::ok(text) }
}

fn ending(status: Status, timeout: Duration, stop: Option<Stop>) -> (CallStatus, String) {
    match status {
        Status::Code(0) => (CallStatus::Ok, "Exit code: 0".to_owned()),
        Status::Code(code) => (CallStatus::Error, format!("Exit code: {code}")),
        Status::Signal(signal) => (CallStatus::Error, format!("Killed by signal {signal}{}.", name(signal))),
        Status::TimedOut => (
            CallStatus::TimedOut,
            format!(
                "Timed out after {} seconds; the command and everything it started were killed. Give it a larger \
                 timeout_seconds (at most {LONGEST_TIMEOUT}) or a smaller task.",
                timeout.as_secs()
            ),
        ),
        Status::Cancelled => (
            match stop {
                Some(Stop::Pause | Stop::LeaseLost) => CallStatus::Interrupted,
                Some(Stop::Cancel) | None => CallStatus::Cancelled,
            },
            "Stopped before it finished; the command and everything it started were killed.".to_owned(),
        ),
        Status::OutOfMemory => (
            CallStatus::Error,
            "Killed: the sandbox ran out of memory. Use less memory or fewer parallel jobs.".to_owned(),
        ),
        Status::TooManyProcesses => {
            (CallStatus::Error, "Killed: the sandbox ran out of processes. Start fewer at a time.".to_owned())
        }
    }
}

fn name(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (aborted)",
        8 => " (arithmetic error)",
        9 => " (killed)",
        11 => " (segmentation fault)",
        15 => " (terminated)",
        24 => " (processor time limit)",
        25 => " (file size limit)",
        _ => "",
    }
}
