//! `bash`: a command in the sandbox. What it does is unknown before and may not be done twice, hence `Once`.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, Permit, Prepared, Program, ToolSpec};
use windlass_workspace::{Kind, WorkspacePath};

use crate::context::{Confinement, Context};
use crate::program::{LONGEST_TIMEOUT, Started, reach, timeout};
use crate::tool::{Output, Running, Tool, arguments, spec, typed};

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

#[derive(Deserialize)]
struct Arguments {
    command: String,
    timeout_seconds: Option<u64>,
    cwd: Option<String>,
}

impl Arguments {
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
                ..Prepared::new(Effect::Once, reach(self.0))
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
            let ways = ["bash", "sh"].map(|shell| argv(shell, &arguments.command));
            let program = Started { ways: &ways, folder, timeout: timeout(arguments.timeout_seconds) };
            program.run(context, running).await
        })
    }
}

fn argv(shell: &str, command: &str) -> Vec<String> {
    [shell, "-c", command].map(str::to_owned).to_vec()
}
