//! `publish_deliverable` (seed 000 §8.5): names a file as something the user should get. The tool looks at the file; the
//! host keeps it. Asking twice is asking once, because the host files deliverables by path: hence `Read`, which may be
//! run again after a crash.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, DeliverableType, Effect, HostRequest, HostWork, Permit, Prepared, Reach, ToolSpec};
use windlass_workspace::{Root, WorkspacePath};

use crate::context::Context;
use crate::tool::{Output, Running, Tool, arguments, spec, typed};

const DESCRIPTION: &str = "\
Mark a file in your workspace as a deliverable for the user.
Call this when you have completed a piece of work that the user should review.
Deliverables are packaged in the final result.";

#[derive(Debug, Clone, Copy)]
pub struct PublishDeliverable;

#[derive(Deserialize)]
struct Arguments {
    filepath: String,
    description: String,
    #[serde(rename = "type")]
    kind: DeliverableType,
}

impl Tool for PublishDeliverable {
    fn spec(&self) -> ToolSpec {
        spec(
            "publish_deliverable",
            DESCRIPTION,
            json!({
                "type": "object",
                "properties": {
                    "filepath": {
                        "type": "string",
                        "description": "Path relative to /workspace/ (e.g., \"output/report.md\")",
                    },
                    "description": { "type": "string", "description": "What this deliverable is" },
                    "type": { "type": "string", "enum": ["report", "code", "data", "screenshot", "other"] },
                },
                "required": ["filepath", "description", "type"],
            }),
        )
    }

    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String> {
        let arguments: Arguments = typed(arguments)?;
        let (path, _) = look(&context.root, &arguments.filepath)?;
        Ok(Prepared::new(Effect::Read, Reach::Files(vec![path.to_record()])))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        let root = context.root.clone();
        Box::pin(context.runtime.blocking(move || {
            let published = arguments(&permit.call().call).and_then(|arguments: Arguments| publish(&root, arguments));
            match published {
                Ok((text, work)) => {
                    let request = Some(HostRequest { permit, work });
                    Output { request, ..Output::ok(text) }
                }
                Err(reason) => Output::error(reason),
            }
        }))
    }
}

/// What the model is told once it is done, and what the host is to do.
fn publish(root: &Root, arguments: Arguments) -> Result<(String, HostWork), String> {
    let (path, size) = look(root, &arguments.filepath)?;
    let filepath = path.to_record();
    let text = format!("Published {path} ({size} bytes) as a deliverable.");
    let Arguments { description, kind, .. } = arguments;
    Ok((text, HostWork::Deliver { filepath, description, kind }))
}

fn look(root: &Root, filepath: &str) -> Result<(WorkspacePath, u64), String> {
    let told = |error: windlass_workspace::Error| error.to_string();
    let path = WorkspacePath::parse(filepath).map_err(told)?;
    let (_, metadata) = root.open_file(&path).map_err(told)?;
    Ok((path, metadata.size))
}
