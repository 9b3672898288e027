//! `glob`: files by the pattern of their paths, in order.

use std::ops::ControlFlow;

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, CancelSignal, Effect, Permit, Prepared, Reach, ToolSpec};
use windlass_workspace::{Root, Search, WorkspacePath};

use crate::context::Context;
use crate::tool::{Nature, Output, Preparing, Running, Tool, arguments, spec, typed};

const MOST_SHOWN: usize = 1_000;

#[derive(Debug, Clone, Copy)]
pub struct Glob;

#[derive(Deserialize)]
struct Arguments {
    pattern: String,
    path: Option<String>,
}

impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        spec(
            "glob",
            "Find files by path pattern, such as src/**/*.rs or *.{ts,tsx}. A pattern without a slash matches names at any \
             depth. Files ignored by .gitignore are passed over unless path names their folder.",
            json!({
                "type": "object",
                "properties": {
                    "pattern": { "type": "string", "minLength": 1, "description": "Relative to path" },
                    "path": { "type": "string", "description": "The folder to search; /workspace by default" },
                },
                "required": ["pattern"],
                "additionalProperties": false,
            }),
        )
    }

    fn nature(&self) -> Nature {
        Nature::Looks
    }

    fn preparing(&self) -> Preparing {
        Preparing::AtOnce
    }

    fn prepare(&self, arguments: &Value, _: &Context) -> Result<Prepared, String> {
        let arguments: Arguments = typed(arguments)?;
        matcher(&arguments.pattern)?;
        let folder = folder(arguments.path.as_deref())?;
        Ok(Prepared::new(Effect::Read, Reach::Files(vec![folder.to_record()])))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, running: Running<'a>) -> BoxFuture<'a, Output> {
        let (root, cancel) = (context.root.clone(), running.cancel);
        Box::pin(context.runtime.blocking(move || {
            let found = arguments(&permit.redeem().call).and_then(|arguments| find(&root, &arguments, &cancel));
            Output::from_result(found)
        }))
    }
}

fn find(root: &Root, arguments: &Arguments, cancel: &CancelSignal) -> Result<String, String> {
    let (matcher, folder) = (matcher(&arguments.pattern)?, folder(arguments.path.as_deref())?);
    let mut found = Vec::new();
    let visited = Search::default().run(root, &folder, &mut |visit| {
        let below = visit.path().strip_prefix(folder.as_path()).unwrap_or(visit.path());
        if matcher.is_match(below) {
            found.push(visit.shown());
        }
        if cancel.raised().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    visited.map_err(|error| error.to_string())?;
    if cancel.raised().is_some() {
        return Err("stopped before the search was done".to_owned());
    }
    found.sort_unstable();
    Ok(told(&found, &arguments.pattern))
}

fn told(found: &[String], pattern: &str) -> String {
    if found.is_empty() {
        return format!("No files match {pattern}. Ignored files were not searched.");
    }
    let mut text = found.iter().take(MOST_SHOWN).map(|path| format!("{path}\n")).collect::<String>();
    if found.len() > MOST_SHOWN {
        text.push_str(&format!("[the first {MOST_SHOWN} of {} files; narrow the pattern or the path]", found.len()));
    }
    text
}

/// A pattern as models write it: perhaps absolute, perhaps a bare name.
pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let relative = pattern.strip_prefix("/workspace/").unwrap_or(pattern).trim_start_matches("./");
    if relative.starts_with('/') || relative.split('/').any(|part| part == "..") {
        return Err(format!("`{pattern}`: a pattern is relative and without `..`; name the folder in path"));
    }
    let anywhere = if relative.contains('/') { relative.to_owned() } else { format!("**/{relative}") };
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| format!("`{pattern}` is no glob: {}", error.kind()))
}

pub(super) fn folder(path: Option<&str>) -> Result<WorkspacePath, String> {
    WorkspacePath::parse(path.unwrap_or_default()).map_err(|error| error.to_string())
}
