//! One run of the release binary, `windlass run --json`, watched step by step: a step is one model call and one tool call,
//! and ends when the next question is safe on disk. What was said is counted as the messages go over the wire; what was
//! stored, by the sizes of the files that are left.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use crate::figures::{median, millis};
use crate::process::{Mark, Measured, Priority};
use crate::script::{Tool, model};
use crate::server::Server;

/// How many steps before a given one are taken together to say what a step there costs.
const WINDOW: usize = 20;

pub struct Bench<'a> {
    pub windlass: &'a Path,
    pub server: &'a Server,
    pub workspace: &'a Path,
    pub scratch: &'a Path,
    pub priority: Priority,
}

/// One run. `marks[n]` is when question `n + 1` was recorded.
pub struct Steps {
    pub marks: Vec<Mark>,
    pub whole: Mark,
    pub said_bytes: u64,
    pub stored: Stored,
    /// What the tool answered the first time.
    pub result: String,
}

#[derive(Debug, Clone, Copy)]
pub struct Stored {
    pub database: u64,
    pub blobs: u64,
    pub traces: u64,
}

impl Stored {
    pub const fn truth(&self) -> u64 {
        self.database + self.blobs
    }
}

/// What a step costs, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub wall: f64,
    pub cpu: f64,
}

impl Steps {
    /// Per step, from the first question to the last: what is measured of the peers too.
    pub fn per_step(&self) -> Cost {
        between(&self.marks, 0, self.marks.len() - 1)
    }

    /// Per step around step `at`.
    pub fn marginal(&self, at: usize) -> Cost {
        marginal(&self.marks, at)
    }
}

pub fn marginal(marks: &[Mark], at: usize) -> Cost {
    let last = at.min(marks.len() - 1);
    between(marks, last.saturating_sub(WINDOW), last)
}

pub fn between(marks: &[Mark], first: usize, last: usize) -> Cost {
    let spent = marks[last].since(marks[first]);
    let steps = (last - first) as f64;
    Cost { wall: millis(spent.wall) / steps, cpu: millis(spent.cpu) / steps }
}

/// The middle of several runs, figure by figure.
pub fn middle(costs: impl Iterator<Item = Cost>) -> Cost {
    let (wall, cpu) = costs.map(|cost| (cost.wall, cost.cpu)).unzip();
    Cost { wall: median(wall), cpu: median(cpu) }
}

impl Bench<'_> {
    pub fn run(&self, tool: Tool, steps: usize) -> anyhow::Result<Steps> {
        let data_dir = tempfile::tempdir_in(self.scratch)?;
        let mut process = Measured::start(self.command(tool, steps, data_dir.path()))?;
        let lines = process.lines()?;
        let what = format!("windlass, {} × {steps}", tool.name());
        let whole = process.finish(&what)?;
        let mut run = read(&lines, &what)?;
        anyhow::ensure!(run.marks.len() == steps + 1, "{what} asked {} times", run.marks.len());
        run.whole = whole;
        run.stored = stored(data_dir.path());
        Ok(run)
    }

    fn command(&self, tool: Tool, steps: usize, data_dir: &Path) -> std::process::Command {
        let mut command = self.priority.command(self.windlass);
        command
            .args(["run", "Do as the script says.", "--json", "--model", &model(tool, steps), "--workspace"])
            .arg(self.workspace)
            .args(["--max-iterations", "100000", "--timeout", "100000", "--max-tokens", "1000000000000"])
            .args(["--max-cost", "1000000", "--max-attempts", "1"])
            .env("WINDLASS_DATA_DIR", data_dir)
            .env("LITELLM_API_BASE", format!("http://{}", self.server.address))
            .env("LITELLM_API_KEY", "none");
        command
    }
}

fn read(lines: &[(Mark, String)], what: &str) -> anyhow::Result<Steps> {
    let mut run = Steps {
        marks: Vec::new(),
        whole: Mark::default(),
        said_bytes: 0,
        stored: Stored { database: 0, blobs: 0, traces: 0 },
        result: String::new(),
    };
    for (mark, line) in lines {
        let record: Value = serde_json::from_str(line).with_context(|| format!("{what} printed {line}"))?;
        let data = &record["data"];
        match record["type"].as_str().unwrap_or_default() {
            "model.requested" => run.marks.push(*mark),
            "message.accepted" => run.said_bytes += spoken(&user(data)),
            "model.responded" => run.said_bytes += spoken(&assistant(data)),
            "tool.finished" => {
                anyhow::ensure!(data["status"] == "ok", "{what}: a tool failed: {line}");
                run.said_bytes += spoken(&tool(data));
                if run.result.is_empty() {
                    run.result = data["content"].as_str().unwrap_or_default().to_owned();
                }
            }
            "result" => anyhow::ensure!(record["status"] == "COMPLETED", "{what} did not complete: {line}"),
            _ => {}
        }
    }
    anyhow::ensure!(run.marks.len() > 1, "{what} made no step");
    Ok(run)
}

/// Messages as OpenAI's chat completions have them, with the comma between.
fn spoken(message: &Value) -> u64 {
    message.to_string().len() as u64 + 1
}

fn user(data: &Value) -> Value {
    serde_json::json!({"role": "user", "content": data["content"]})
}

fn assistant(data: &Value) -> Value {
    let call = |call: &Value| {
        let function = serde_json::json!({"name": call["tool"], "arguments": call["arguments"].to_string()});
        serde_json::json!({"id": call["call_id"], "type": "function", "function": function})
    };
    let calls: Vec<Value> = data["calls"].as_array().into_iter().flatten().map(call).collect();
    match calls.is_empty() {
        true => serde_json::json!({"role": "assistant", "content": data["text"]}),
        false => serde_json::json!({"role": "assistant", "content": null, "tool_calls": calls}),
    }
}

fn tool(data: &Value) -> Value {
    serde_json::json!({"role": "tool", "tool_call_id": data["call_id"], "content": data["content"]})
}

fn stored(data_dir: &Path) -> Stored {
    let database = files(data_dir).filter(|path| path.to_string_lossy().contains("windlass.db"));
    Stored {
        database: database.map(|path| size(&path)).sum(),
        blobs: below(&data_dir.join("blobs")),
        traces: below(&data_dir.join("traces")),
    }
}

pub fn below(folder: &Path) -> u64 {
    files(folder).map(|path| if path.is_dir() { below(&path) } else { size(&path) }).sum()
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |found| found.len())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn mark(millis: u64) -> Mark {
        Mark { wall: Duration::from_millis(2 * millis), cpu: Duration::from_millis(millis) }
    }

    #[test]
    fn a_step_is_what_lies_between_two_questions() {
        let marks: Vec<Mark> = (0..=100).map(|step| mark(step * step)).collect();
        let whole = between(&marks, 0, 100);
        assert_eq!((whole.wall, whole.cpu), (200.0, 100.0));
        assert_eq!(marginal(&marks, 100).cpu, (10_000.0 - 6_400.0) / 20.0);
        assert_eq!(marginal(&marks, 5).cpu, 5.0);
    }

    #[test]
    fn what_was_said_is_what_goes_over_the_wire() {
        let line = |kind: &str, data: &str| (Mark::default(), format!(r#"{{"type":"{kind}","data":{data}}}"#));
        let lines = [
            line("message.accepted", r#"{"content":"go"}"#),
            line("model.requested", "{}"),
            line("model.responded", r#"{"text":"","calls":[{"call_id":"c","tool":"read","arguments":{"path":"a"}}]}"#),
            line("tool.finished", r#"{"call_id":"c","status":"ok","content":"hi"}"#),
            line("model.requested", "{}"),
        ];
        let run = read(&lines, "a test").unwrap();
        let sent = [
            r#",{"role":"user","content":"go"}"#,
            r#",{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}"#,
            r#",{"role":"tool","tool_call_id":"c","content":"hi"}"#,
        ];
        assert_eq!(run.said_bytes, sent.iter().map(|message| message.len() as u64).sum::<u64>());
        assert_eq!((run.marks.len(), run.result.as_str()), (2, "hi"));
    }
}
