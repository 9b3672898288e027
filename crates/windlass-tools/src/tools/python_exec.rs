//! `python_exec` (seed 001 §5.3): a Python script in the sandbox. It is passed word for word as `python3 -c`, so that the script
//! itself is what a card shows and a yes binds, and is judged as `bash` with the same words would be. `Once`, as for any program.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, Permit, Prepared, Program, ToolSpec};

use crate::context::{Confinement, Context};
use crate::program::{LONGEST_TIMEOUT, Started, place, reach, timeout};
use crate::tool::{Output, Preparing, Running, Tool, arguments, spec, typed};

/// What the table of risks judges at most, and well below what the kernel takes as one argument.
const LONGEST_SCRIPT: usize = 60_000;

#[derive(Debug, Clone, Copy)]
pub struct PythonExec(pub Confinement);

#[derive(Deserialize)]
struct Arguments {
    script: String,
    timeout_seconds: Option<u64>,
}

impl Tool for PythonExec {
    fn spec(&self) -> ToolSpec {
        spec(
            "python_exec",
            &format!(
                "Run a Python script with python3 {}. It starts in the workspace and has no standard input; the result has the \
                 exit code and the output, standard error included.",
                place(self.0)
            ),
            json!({
                "type": "object",
                "properties": {
                    "script": { "type": "string", "minLength": 1, "description": "The script itself, not a path" },
                    "timeout_seconds": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": LONGEST_TIMEOUT,
                        "description": "The script is killed after this; 120 by default",
                    },
                },
                "required": ["script"],
                "additionalProperties": false,
            }),
        )
    }

    fn preparing(&self) -> Preparing {
        Preparing::AtOnce
    }

    fn prepare(&self, arguments: &Value, _: &Context) -> Result<Prepared, String> {
        let Arguments { script, .. } = typed(arguments)?;
        if script.contains('\0') {
            return Err("`script`: must not contain a zero byte".to_owned());
        }
        if script.len() > LONGEST_SCRIPT {
            return Err(format!(
                "`script`: has {} bytes, at most {LONGEST_SCRIPT} are run; write it to a file and run that with bash",
                script.len()
            ));
        }
        let program = Some(Program { argv: argv(&script), cwd: String::new() });
        Ok(Prepared { program, ..Prepared::new(Effect::Once, reach(self.0)) })
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, running: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            match arguments(&permit.redeem().call) {
                Ok(Arguments { script, timeout_seconds }) => {
                    let (ways, timeout) = ([argv(&script)], timeout(timeout_seconds));
                    Started { ways: &ways, folder: "".into(), timeout }.run(context, running).await
                }
                Err(reason) => Output::error(reason),
            }
        })
    }
}

fn argv(script: &str) -> Vec<String> {
    ["python3", "-c", script].map(str::to_owned).to_vec()
}
