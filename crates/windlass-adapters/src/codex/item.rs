//! Codex's items, questions and errors in our words.

use std::path::PathBuf;

use serde_json::{Value, json};
use windlass_domain::Usage;
use windlass_domain::execution::{Failure, TurnEnd};

use crate::frame::{content, failure, kept, list, number, text};
use crate::{CommandLine, Proposal, Proposed};

/// What of a question is the call's own: asked again it is the same, so that an approval fits.
const OWN: [&str; 5] = ["kind", "command", "cwd", "additionalPermissions", "networkApprovalContext"];

pub fn command(params: &Value) -> Proposed {
    let own = OWN.into_iter().filter_map(|name| Some((name.to_owned(), params.get(name)?.clone())));
    let arguments: Value = own.filter(|(_, value)| !value.is_null()).collect();
    let proposal = match text(params, "/command") {
        "" => Proposal::Other,
        line => {
            let cwd = params.get("cwd").and_then(Value::as_str).map(PathBuf::from);
            Proposal::Command { line: CommandLine::Shell(line.to_owned()), cwd }
        }
    };
    Proposed { tool: "bash".to_owned(), arguments, proposal }
}

/// The question names the item only; what it changes was announced before.
pub fn change(announced: Option<&Value>) -> Proposed {
    let arguments = announced.cloned().unwrap_or_default();
    let paths: Vec<PathBuf> = list(&arguments, "/changes").iter().flat_map(paths).collect();
    let proposal = if paths.is_empty() { Proposal::Other } else { Proposal::Change { paths } };
    Proposed { tool: "edit".to_owned(), arguments, proposal }
}

/// Where a file is, and where it is moved to.
fn paths(change: &Value) -> impl Iterator<Item = PathBuf> + '_ {
    [text(change, "/path"), text(change, "/kind/move_path")]
        .into_iter()
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

/// The call that an item is, if it is one.
pub fn doing(item: &Value) -> Option<(String, Value)> {
    match text(item, "/type") {
        "commandExecution" => {
            Some(("bash".to_owned(), json!({ "command": item.get("command"), "cwd": item.get("cwd") })))
        }
        "fileChange" => Some(("edit".to_owned(), json!({ "changes": item.get("changes") }))),
        "mcpToolCall" => {
            let tool = format!("mcp__{}__{}", text(item, "/server"), text(item, "/tool"));
            Some((tool, item.get("arguments").cloned().unwrap_or_default()))
        }
        "webSearch" => Some(("web_search".to_owned(), json!({ "query": item.get("query") }))),
        _ => None,
    }
}

pub fn output(item: &Value) -> String {
    match text(item, "/type") {
        "commandExecution" => kept(text(item, "/aggregatedOutput")),
        "mcpToolCall" => match item.pointer("/result/content") {
            Some(blocks) => content(blocks),
            None => kept(text(item, "/error/message")),
        },
        _ => String::new(),
    }
}

/// Of one request to the model. What came from the provider's cache is part of the input, as with us.
pub fn usage(params: &Value) -> Usage {
    let last = |name: &str| number(params, &format!("/tokenUsage/last/{name}"));
    Usage {
        input: last("inputTokens"),
        output: last("outputTokens"),
        cached_input: last("cachedInputTokens"),
        cache_write: last("cacheWriteInputTokens"),
    }
}

pub fn end(params: &Value, message: String) -> TurnEnd {
    match text(params, "/turn/status") {
        "completed" => TurnEnd::Completed { message },
        "interrupted" => TurnEnd::Interrupted,
        _ => {
            let error = params.pointer("/turn/error").unwrap_or(&Value::Null);
            TurnEnd::Failed { reason: kept(text(error, "/message")), why: why(error) }
        }
    }
}

/// A name, or a name with a status of the model's server below it. `other` is what it says when the server finds a request wrong.
fn why(error: &Value) -> Failure {
    match error.get("codexErrorInfo") {
        Some(Value::String(name)) => match name.as_str() {
            "unauthorized" => Failure::Login,
            "other"
            | "badRequest"
            | "modelNotFound"
            | "internalServerError"
            | "serverOverloaded"
            | "flexUnavailable"
            | "usageLimitExceeded"
            | "rateLimitExceeded" => Failure::Model,
            _ => Failure::Agent,
        },
        Some(Value::Object(named)) => {
            failure(named.values().find_map(|about| about.get("httpStatusCode")?.as_u64()).unwrap_or_default())
        }
        _ => Failure::Agent,
    }
}
