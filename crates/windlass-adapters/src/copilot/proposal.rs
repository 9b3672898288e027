//! What GitHub Copilot CLI asks leave for, in our words. It names the kind of what it wants rather than the tool, and asks twice for a
//! file outside its folder: for the place, then for the file.

use std::path::PathBuf;

use serde_json::Value;

use crate::jsonrpc::{list, text};
use crate::{CommandLine, Proposal, Proposed};

/// What of a question is not the call's own: asked again it may be another, and an approval would not fit.
const PASSING: [&str; 8] = [
    "toolCallId",
    "intention",
    "canOfferSessionApproval",
    "commands",
    "commandSegments",
    "possiblePaths",
    "possibleUrls",
    "hasWriteFileRedirection",
];

pub fn proposed(asked: &Value) -> Proposed {
    let (tool, proposal) = match text(asked, "/kind") {
        "shell" => (
            "bash",
            Proposal::Command { line: CommandLine::Shell(text(asked, "/fullCommandText").to_owned()), cwd: None },
        ),
        "write" => (written(asked), Proposal::Change { paths: changed(asked) }),
        "read" => ("read", Proposal::Read { paths: vec![PathBuf::from(text(asked, "/path"))] }),
        "url" => ("web_fetch", Proposal::Fetch { url: text(asked, "/url").to_owned() }),
        kind => match text(asked, "/toolName") {
            "" => (kind, Proposal::Other),
            tool => (tool, Proposal::Other),
        },
    };
    let mut arguments = asked.clone();
    if let Value::Object(own) = &mut arguments {
        own.retain(|name, _| !PASSING.contains(&name.as_str()));
    }
    Proposed { tool: tool.to_owned(), arguments, proposal }
}

/// A new file has nothing before it.
fn written(asked: &Value) -> &'static str {
    let edits = list(asked, "/fileEdits");
    if !edits.is_empty() && edits.iter().all(|edit| edit.get("before").is_none()) { "write" } else { "edit" }
}

/// Every file that is touched, the named one first: a move touches two.
fn changed(asked: &Value) -> Vec<PathBuf> {
    let sides =
        list(asked, "/fileEdits").iter().flat_map(|edit| [text(edit, "/before/path"), text(edit, "/after/path")]);
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in std::iter::once(text(asked, "/fileName")).chain(sides).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// What we call a tool of its.
pub fn tool(name: &str) -> &str {
    match name {
        "create" => "write",
        "view" => "read",
        other => other,
    }
}
