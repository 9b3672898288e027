//! `{success, bindings_delta, artifacts}` (seed 004 §7.4): what a worker says of the atom that it was given. It is a summary, which
//! takes the atom's place for all that comes after it: what is too long for one, or of another shape, is a log, and is refused.
//! What it says of success is the agent's word; checks have the last one, where there are any.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::object;

/// Of what an atom came to, so much is told to whoever depends on it.
pub const SUMMARY_CHARS: usize = 1_000;
/// Who names more than this lists a folder.
const MOST_ARTIFACTS: usize = 50;
/// What stands before all else that a worker binds.
const SUMMARY: &str = "summary";

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkerReport {
    pub success: bool,
    /// At most `SUMMARY_CHARS` characters.
    pub bindings_delta: String,
    /// Paths in the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
}

/// As models write it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    success: bool,
    bindings_delta: Value,
    #[serde(default)]
    artifacts: Option<Vec<String>>,
}

impl WorkerReport {
    /// Of an agent whose last decision is that it is done, in these words.
    pub fn done(words: &str) -> Self {
        Self { success: true, bindings_delta: beginning(words), artifacts: Vec::new() }
    }
}

/// What there is of a text in no form.
pub fn beginning(text: &str) -> String {
    text.trim().chars().take(SUMMARY_CHARS).collect()
}

pub fn read_worker_report(text: &str) -> Result<WorkerReport, String> {
    let Written { success, bindings_delta, artifacts } = object::read(text)?;
    let bindings_delta = in_words(bindings_delta)?;
    let length = bindings_delta.chars().count();
    if length == 0 {
        return Err("`bindings_delta.summary` is empty: say what came of it, or what stood in the way".to_owned());
    }
    if length > SUMMARY_CHARS {
        return Err(format!(
            "`bindings_delta` has {length} characters, and may have {SUMMARY_CHARS}: it is a summary of the outcome; no log, no output \
             and no file belongs there"
        ));
    }
    Ok(WorkerReport { success, bindings_delta, artifacts: paths(artifacts.unwrap_or_default())? })
}

/// The summary, then what else is bound, a line for each.
fn in_words(delta: Value) -> Result<String, String> {
    let mut entries = match delta {
        Value::String(words) => return Ok(words.trim().to_owned()),
        Value::Object(entries) => entries,
        _ => return Err("`bindings_delta` must be an object with a `summary`".to_owned()),
    };
    let summary = entries.remove(SUMMARY).unwrap_or(Value::Null);
    let summary = text_of((SUMMARY, summary))?;
    let rest = rest_of(entries)?;
    Ok([summary].into_iter().chain(rest).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"))
}

fn rest_of(entries: Map<String, Value>) -> Result<Vec<String>, String> {
    let line = |(name, value): (String, Value)| text_of((&name, value)).map(|text| (name, text));
    let lines = entries.into_iter().map(line).collect::<Result<Vec<_>, String>>()?;
    Ok(lines.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{name}: {text}")).collect())
}

fn text_of((name, value): (&str, Value)) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.trim().to_owned()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(is_so) => Ok(is_so.to_string()),
        Value::Null => Ok(String::new()),
        Value::Array(_) | Value::Object(_) => Err(format!(
            "`bindings_delta.{name}` must be a text: say it in a sentence, lists and data belong into a file"
        )),
    }
}

fn paths(artifacts: Vec<String>) -> Result<Vec<String>, String> {
    if artifacts.len() > MOST_ARTIFACTS {
        let number = artifacts.len();
        return Err(format!(
            "`artifacts` has {number} paths, and may have {MOST_ARTIFACTS}: name what others will look for"
        ));
    }
    let mut paths: Vec<String> = Vec::with_capacity(artifacts.len());
    for path in artifacts {
        let path = path.trim().trim_start_matches("./");
        let leaves =
            path.is_empty() || path == "." || path.starts_with('/') || path.split('/').any(|part| part == "..");
        if leaves {
            return Err(format!("`artifacts` names `{path}`: give paths in the workspace, as `src/parser.rs`"));
        }
        if !paths.iter().any(|known| known == path) {
            paths.push(path.to_owned());
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let report = read_worker_report(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        let WorkerReport { success, bindings_delta, artifacts } = report;
        assert_eq!(format!("{success} | {} | {}", bindings_delta.replace('\n', "⏎"), artifacts.join(" ")), expected);
    }

    fn refuse(text: &str, words: &str) {
        let problem = read_worker_report(text).expect_err(text);
        assert!(problem.contains(words), "{text}: {problem}");
    }

    #[test]
    fn what_a_worker_binds_is_its_summary_and_what_it_names_besides() {
        check(
            r#"{"success": true, "bindings_delta": {"summary": " Written. "}, "artifacts": []}"#,
            "true | Written. | ",
        );
        check(r#"{"success": true, "bindings_delta": "Written."}"#, "true | Written. | ");
        check(
            "It is done.\n{\"success\": true, \"bindings_delta\": {\"port\": 8080, \"summary\": \"It listens.\", \"tls\": false, \"x\": null}}",
            "true | It listens.⏎port: 8080⏎tls: false | ",
        );
        check(
            r#"{"success": false, "bindings_delta": {"summary": "No compiler."}, "artifacts": ["./a.txt", "b/c.md", "a.txt"]}"#,
            "false | No compiler. | a.txt b/c.md",
        );
        check(r#"{"success": true, "bindings_delta": {"api": "v2"}, "artifacts": null}"#, "true | api: v2 | ");
    }

    #[test]
    fn prose_and_what_is_of_another_shape_is_refused_and_it_is_said_why() {
        refuse("I have written the file.", "no JSON object");
        refuse(r#"{"summary": "Done."}"#, "unknown field `summary`, expected one of `success`, `bindings_delta`");
        refuse(r#"{"success": true}"#, "missing field `bindings_delta`");
        refuse(r#"{"success": "yes", "bindings_delta": "x"}"#, "expected a boolean");
        refuse(r#"{"success": true, "bindings_delta": {}}"#, "`bindings_delta.summary` is empty");
        refuse(r#"{"success": true, "bindings_delta": ["a"]}"#, "must be an object");
        refuse(
            r#"{"success": true, "bindings_delta": {"summary": ["$ make", "cc"]}}"#,
            "`bindings_delta.summary` must be a text",
        );
        for path in ["/etc/passwd", "../up", "a/../../b", " ", ".", "./"] {
            let text = serde_json::json!({"success": true, "bindings_delta": "x", "artifacts": [path]}).to_string();
            refuse(&text, "give paths in the workspace");
        }
    }

    /// Seed 004 §7.5: no raw logs.
    #[test]
    fn a_log_is_no_summary() {
        let log = |lines: usize| "cc -c a.c\n".repeat(lines);
        let report =
            |summary: String| serde_json::json!({"success": true, "bindings_delta": {"summary": summary}}).to_string();
        assert!(read_worker_report(&report(log(100))).is_ok(), "a thousand characters, less the last line's end");
        refuse(&report(log(101)), "no log, no output");
        let listed: Vec<String> = (0..51).map(|number| format!("{number}.o")).collect();
        let text = serde_json::json!({"success": true, "bindings_delta": "x", "artifacts": listed}).to_string();
        refuse(&text, "51 paths");
        assert_eq!(beginning(&log(500)).chars().count(), SUMMARY_CHARS);
    }
}
