//! `bash`: a command in the sandbox. What it does is unknown before and may not be done twice, hence `Once`.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, CallStatus, CancelSignal, Effect, Permit, Prepared, Program, Reach, Stop, ToolSpec};
use windlass_sandbox::{Command, Error, Exit, Status, Streams};
use windlass_workspace::{Kind, WorkspacePath};

use crate::context::{Confinement, Context};
use crate::stream::TextStream;
use crate::tool::{Output, Running, Tool, arguments, spec, typed};

const DEFAULT_TIMEOUT: u64 = 120;
const LONGEST_TIMEOUT: u64 = 3_600;
/// Of more than this the middle is read and thrown away: a flood must not fill memory or disk.
const KEPT_OUTPUT: usize = 8 * 1024 * 1024;

const SEALED: &str =
    "Run a shell command in the sandbox: /workspace is writable, there is no network and no standard input.";
const RESTRICTED: &str = "Run a shell command in the sandbox: /workspace is writable, there is no standard input, and of the \
network only hosts that the operator listed, through the proxy that HTTP_PROXY and HTTPS_PROXY name.";
const UNCONFINED: &str = "Run a shell command on the operator's machine, without a sandbox: it starts in the workspace, where \
relative paths lead (there is no /workspace for it), and there is no standard input. It can reach whatever the operator \
can: stay in the workspace.";
const RESULT: &str = "The result has the exit code and the output, standard error included. Everything the command starts ends \
with it, background processes too.";

#[derive(Debug, Clone, Copy)]
pub struct Bash(pub Confinement);

impl Bash {
    const fn reach(self) -> Reach {
        match self.0 {
            Confinement::Sealed => Reach::Program,
            Confinement::Restricted | Confinement::Nothing => Reach::NetworkProgram,
        }
    }
}

#[derive(Deserialize)]
struct Arguments {
    command: String,
    timeout_seconds: Option<u64>,
    cwd: Option<String>,
}

impl Arguments {
    fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT))
    }

    fn folder(&self) -> Result<WorkspacePath, String> {
        WorkspacePath::parse(self.cwd.as_deref().unwrap_or_default()).map_err(|error| error.to_string())
    }
}

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        let place = match self.0 {
            Confinement::Sealed => SEALED,
            Confinement::Restricted => RESTRICTED,
            Confinement::Nothing => UNCONFINED,
        };
        spec(
            "bash",
            &format!("{place} {RESULT}"),
            json!({
                "type": "object",
                "properties": {
                    "command": { "type": "string", "minLength": 1, "description": "Run as bash -c" },
                    "timeout_seconds": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": LONGEST_TIMEOUT,
                        "description": "The command is killed after this; 120 by default",
                    },
                    "cwd": { "type": "string", "description": "The folder to run in; /workspace by default" },
                },
                "required": ["command"],
                "additionalProperties": false,
            }),
        )
    }

    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String> {
        let arguments: Arguments = typed(arguments)?;
        if arguments.command.contains('\0') {
            return Err("`command`: must not contain a zero byte".to_owned());
        }
        let folder = arguments.folder()?;
        match context.root.metadata(&folder) {
            Ok(metadata) if metadata.kind == Kind::Folder => Ok(Prepared {
                program: Some(Program { argv: argv("bash", &arguments.command), cwd: folder.to_record() }),
                ..Prepared::new(Effect::Once, self.reach())
            }),
            Ok(_) => Err(format!("`cwd`: {folder} is not a folder")),
            Err(error) => Err(format!("`cwd`: {error}")),
        }
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, running: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            let arguments: Arguments = match arguments(&permit.redeem().call) {
                Ok(arguments) => arguments,
                Err(reason) => return Output::error(reason),
            };
            let folder = match arguments.folder() {
                Ok(folder) => folder.as_path().to_owned(),
                Err(reason) => return Output::error(reason),
            };
            let Running { cancel, watch } = running;
            let ended = match execute("bash", &arguments, &folder, context, &cancel, watch).await {
                // Nothing has run yet, so nothing runs twice.
                Err(Error::NotStarted { source, .. }) if source.kind() == ErrorKind::NotFound => {
                    execute("sh", &arguments, &folder, context, &cancel, watch).await
                }
                other => other,
            };
            match ended {
                Ok(exit) => told(exit, &arguments, cancel.raised()),
                Err(error @ Error::Died { .. }) => {
                    let output = Output::error(format!("{error}. Whether the command took effect is not known"));
                    Output { status: CallStatus::Interrupted, ..output }
                }
                Err(error) => Output::error(format!("failed to {error}")),
            }
        })
    }
}

fn argv(shell: &str, command: &str) -> Vec<String> {
    [shell, "-c", command].map(str::to_owned).to_vec()
}

async fn execute(
    shell: &str,
    arguments: &Arguments,
    folder: &PathBuf,
    context: &Context,
    cancel: &CancelSignal,
    watch: &mut (dyn FnMut(&str) + Send),
) -> Result<Exit, Error> {
    let mut command = Command::new(argv(shell, &arguments.command));
    command.cwd.clone_from(folder);
    command.streams = Streams::Together;
    command.timeout = arguments.timeout();
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

/// How it ended comes first: the end of a long output is what gets cut off.
fn told(exit: Exit, arguments: &Arguments, stop: Option<Stop>) -> Output {
    let (status, mut text) = ending(exit.status, arguments, stop);
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

fn ending(status: Status, arguments: &Arguments, stop: Option<Stop>) -> (CallStatus, String) {
    match status {
        Status::Code(0) => (CallStatus::Ok, "Exit code: 0".to_owned()),
        Status::Code(code) => (CallStatus::Error, format!("Exit code: {code}")),
        Status::Signal(signal) => (CallStatus::Error, format!("Killed by signal {signal}{}.", name(signal))),
        Status::TimedOut => (
            CallStatus::TimedOut,
            format!(
                "Timed out after {} seconds; the command and everything it started were killed. Give it a larger \
                 timeout_seconds (at most {LONGEST_TIMEOUT}) or a smaller task.",
                arguments.timeout().as_secs()
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
