//! `spawn_agent` (seed 000 §8.4): an agent of its own for a piece of the work. The tool looks at what is asked; the host runs
//! the agent. Run again after a crash, the call finds the agent that it began.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, HostRequest, HostWork, Permit, Prepared, Reach, Spawn, ToolSpec};
use windlass_workspace::WorkspacePath;

use crate::context::Context;
use crate::tool::{Output, Running, Tool, arguments, spec, typed};

const DESCRIPTION: &str = "\
Spawn an independent sub-agent to work on a specific task.
Use for context isolation: the sub-agent gets a fresh context window and works independently.
Good for:
- Long research tasks that would fill your context
- Parallel independent work streams
- Tasks that need deep focus without cluttering your context

The sub-agent shares your workspace filesystem.
Results are returned as text when the sub-agent completes.";

const LONGEST_LABEL: usize = 60;
const LONGEST_TASK: usize = 50_000;

#[derive(Debug, Clone, Copy)]
pub struct SpawnAgent {
    pub default_timeout_seconds: u64,
}

#[derive(Deserialize)]
struct Arguments {
    task: String,
    label: Option<String>,
    timeout_seconds: Option<u64>,
    write_output_to: Option<String>,
}

impl Tool for SpawnAgent {
    fn spec(&self) -> ToolSpec {
        spec(
            "spawn_agent",
            DESCRIPTION,
            json!({
                "type": "object",
                "properties": {
                    "task": { "type": "string", "description": "Clear task description for the sub-agent" },
                    "label": {
                        "type": "string",
                        "description": "Short label for tracking (e.g., \"research-pricing\")",
                    },
                    "timeout_seconds": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Timeout in seconds",
                        "default": self.default_timeout_seconds,
                    },
                    "write_output_to": {
                        "type": "string",
                        "description": "File path in workspace to write results (optional)",
                    },
                },
                "required": ["task"],
            }),
        )
    }

    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String> {
        let asked = spawn(typed(arguments)?)?;
        if let Some(path) = &asked.write_output_to {
            let told = |error: windlass_workspace::Error| format!("`write_output_to`: {error}");
            let path = WorkspacePath::parse(path).map_err(told)?;
            context.root.check_write(&path).map_err(told)?;
        }
        // By itself it carries nothing out: whatever the agent does is judged as its parent's calls are.
        Ok(Prepared::new(Effect::Child, Reach::Program))
    }

    fn run<'a>(&'a self, permit: Permit, _: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            match arguments(&permit.call().call).and_then(spawn) {
                Ok(asked) => {
                    let request = Some(HostRequest { permit, work: HostWork::SpawnChild(asked) });
                    Output { request, ..Output::ok("") }
                }
                Err(reason) => Output::error(reason),
            }
        })
    }
}

fn spawn(arguments: Arguments) -> Result<Spawn, String> {
    let Arguments { task, label, timeout_seconds, write_output_to } = arguments;
    if task.trim().is_empty() {
        return Err("`task` is empty; say what the sub-agent should do".to_owned());
    }
    if task.chars().count() > LONGEST_TASK {
        return Err(format!(
            "`task` is longer than {LONGEST_TASK} characters; put the details into a file and name it"
        ));
    }
    let label = label.map(|label| label.trim().to_owned()).filter(|label| !label.is_empty());
    if label.as_ref().is_some_and(|label| label.chars().count() > LONGEST_LABEL || label.contains(char::is_control)) {
        return Err(format!("`label` must be a short name: at most {LONGEST_LABEL} characters in one line"));
    }
    Ok(Spawn { task, label, timeout_seconds, write_output_to })
}
