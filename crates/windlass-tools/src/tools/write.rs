//! `write`: a whole file, created or replaced.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Permit, Prepared, Reach, ToolSpec};
use windlass_workspace::WorkspacePath;

use crate::change;
use crate::context::Context;
use crate::tool::{Output, Running, Tool, arguments, spec, typed};

/// What it replaces has to be read, to know what it was.
const LARGEST_REPLACED: u64 = 256 * 1024 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct Write;

#[derive(Deserialize)]
struct Arguments {
    path: String,
    content: String,
}

impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        spec(
            "write",
            "Create a file, or replace all of an existing one. Missing folders are created. \
             To change a part of a file use edit.",
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "minLength": 1,
                        "description": "Relative to /workspace, or absolute below it",
                    },
                    "content": { "type": "string", "description": "The whole content of the file" },
                },
                "required": ["path", "content"],
                "additionalProperties": false,
            }),
        )
    }

    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String> {
        let Arguments { path, content } = typed(arguments)?;
        let told = |error: windlass_workspace::Error| error.to_string();
        let path = WorkspacePath::parse(&path).map_err(told)?;
        context.root.check_write(&path).map_err(told)?;
        let before = context.root.digest(&path).map_err(told)?;
        let size = content.len();
        let result = match before {
            None => format!("Created {path} ({size} bytes)."),
            Some(_) => format!("Replaced {path} ({size} bytes)."),
        };
        Ok(Prepared::new(change::intend(&path, before, content.as_bytes(), result), Reach::Context))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        let root = context.root.clone();
        Box::pin(context.runtime.blocking(move || {
            let Arguments { path, content } = match arguments(&permit.call().call) {
                Ok(arguments) => arguments,
                Err(reason) => return Output::error(reason),
            };
            match WorkspacePath::parse(&path) {
                Ok(path) => change::perform(permit, &root, &path, LARGEST_REPLACED, |_| Ok(content.into_bytes())),
                Err(error) => Output::error(error.to_string()),
            }
        }))
    }
}
