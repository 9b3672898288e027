//! A run that outgrows its window again and again: what a step costs and what the process holds at its beginning and at its
//! end, how much of a prompt stays as it was from one request to the next, and whether what a person said on the way is still
//! there when it ends.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, calls, words};
use crate::figures::median;
use crate::measure::steps;
use crate::process::{Mark, Measured, Priority};
use crate::script::PAGE;

pub const STEPS: usize = 2_000;
/// A person says something this often.
const EVERY: usize = 20;
const CONFIG: &str = "[compaction]\ncontext_window_tokens = 32000\nmemory_flush_enabled = false\n";

pub struct Long {
    pub compactions: usize,
    /// Milliseconds of a step, in the first and in the last quarter.
    pub first: steps::Cost,
    pub last: steps::Cost,
    /// Resident memory in the first and in the last quarter.
    pub first_kb: f64,
    pub last_kb: f64,
    /// Of the prompt before, byte for byte, outside compactions.
    pub unchanged: f64,
    pub least_unchanged: f64,
    pub facts: usize,
    pub kept: usize,
}

pub fn measure(windlass: &Path, workspace: &Path, scratch: &Path, priority: Priority) -> anyhow::Result<Long> {
    let data_dir = tempfile::tempdir_in(scratch)?;
    std::fs::write(data_dir.path().join("windlass.toml"), CONFIG)?;
    let model = Arc::new(Model::new(windlass, data_dir.path()));
    let answering = Arc::clone(&model);
    let endpoint = Endpoint::start(move |body| answering.answer(body))?;
    let mut command = priority.command(windlass);
    command
        .args(["run", "Read the page again and again.", "--json", "--model", "gpt-4o", "--workspace"])
        .arg(workspace)
        .args(["--max-iterations", "100000", "--timeout", "100000", "--max-tokens", "1000000000000"])
        .args(["--max-cost", "1000000", "--max-attempts", "1"])
        .env("WINDLASS_DATA_DIR", data_dir.path())
        .env("LITELLM_API_BASE", &endpoint.url)
        .env("LITELLM_API_KEY", "none");
    let mut process = Measured::start(command)?;
    let mut seen = Seen::default();
    process.watch(|process, mark, line| seen.take(process, mark, line, &model))?;
    process.finish("a long run")?;
    let heard = model.heard.lock().unwrap_or_else(PoisonError::into_inner);
    seen.figures(&heard)
}

/// What the run said of itself. A turn is a question that is no summary.
#[derive(Default)]
struct Seen {
    marks: Vec<Mark>,
    resident_kb: Vec<f64>,
    /// Whether the conversation was rewritten before the turn.
    rewritten: Vec<bool>,
    compacting: bool,
    compactions: usize,
}

impl Seen {
    fn take(&mut self, process: &Measured, mark: Mark, line: &str, model: &Model) -> anyhow::Result<()> {
        let record: Value = serde_json::from_str(line).with_context(|| format!("it printed {line}"))?;
        let kind = record["type"].as_str().unwrap_or_default();
        if let Some(task) = record["task_id"].as_str() {
            model.task.get_or_init(|| task.to_owned());
        }
        match kind {
            "model.requested" if record["data"]["purpose"].is_null() => {
                self.marks.push(mark);
                self.resident_kb.extend(process.resident_kb().map(|kb| kb as f64));
                self.rewritten.push(std::mem::take(&mut self.compacting));
            }
            "compaction.finished" => self.compactions += 1,
            "result" => anyhow::ensure!(record["status"] == "COMPLETED", "the long run did not complete: {line}"),
            _ => {}
        }
        self.compacting |= kind.starts_with("compaction.");
        Ok(())
    }

    fn figures(&self, heard: &Heard) -> anyhow::Result<Long> {
        let turns = self.marks.len();
        anyhow::ensure!(turns == heard.shares.len(), "{turns} turns, {} requests", heard.shares.len());
        let quarter = turns / 4;
        // The first turn has nothing before it.
        let shares = || heard.shares.iter().zip(&self.rewritten).skip(1).filter(|(_, rewritten)| !**rewritten);
        let (same, all) = shares().fold((0, 0), |(same, all), ((common, before), _)| (same + common, all + before));
        let least = shares().map(|((common, before), _)| *common as f64 / *before as f64).fold(1.0, f64::min);
        let memory = |samples: &[f64]| median(samples.to_vec());
        let samples = self.resident_kb.len();
        anyhow::ensure!(samples > 8, "its memory was not seen");
        Ok(Long {
            compactions: self.compactions,
            first: steps::between(&self.marks, 0, quarter),
            last: steps::between(&self.marks, turns - 1 - quarter, turns - 1),
            first_kb: memory(&self.resident_kb[..samples / 4]),
            last_kb: memory(&self.resident_kb[samples - samples / 4..]),
            unchanged: same as f64 / all as f64,
            least_unchanged: least,
            facts: heard.facts.len(),
            kept: heard.kept,
        })
    }
}

/// The model: it reads another part of the page each time, and remembers what it was shown.
struct Model {
    windlass: PathBuf,
    data_dir: PathBuf,
    task: OnceLock<String>,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    before: Vec<u8>,
    /// For each turn: how much is as it was, and how much there was.
    shares: Vec<(usize, usize)>,
    facts: Vec<String>,
    kept: usize,
}

impl Model {
    fn new(windlass: &Path, data_dir: &Path) -> Self {
        let (windlass, data_dir) = (windlass.to_owned(), data_dir.to_owned());
        Self { windlass, data_dir, task: OnceLock::new(), heard: Mutex::default() }
    }

    fn answer(&self, body: &[u8]) -> Value {
        // Nobody is offered tools for a summary.
        if find(body, b"\"tools\":").is_none() {
            return words("- the page was read in many parts");
        }
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let step = heard.shares.len();
        let prompt = &body[..end_of_messages(body)];
        let common = prompt.iter().zip(&heard.before).take_while(|(now, before)| now == before).count();
        let before = std::mem::replace(&mut heard.before, prompt.to_vec());
        heard.shares.push((common, before.len()));
        // Once more where something that was said during its last answers came too late for its first last word.
        if step >= STEPS {
            heard.kept = in_order(body, &heard.facts);
            return words("Done.");
        }
        if step % EVERY == EVERY - 1 {
            let fact = format!("Instruction {step}: leave part {step} as it is.");
            if self.say(&fact) {
                heard.facts.push(fact);
            }
        }
        let part = json!({"path": PAGE, "offset": 1 + step % 20, "limit": 30 + step});
        calls([(format!("c{step}"), "read", part)])
    }

    /// As a person would, from another terminal.
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures")]
    fn say(&self, words: &str) -> bool {
        let Some(task) = self.task.get() else { return false };
        let mut command = Command::new(&self.windlass);
        command.args(["send", task, words]).env("WINDLASS_DATA_DIR", &self.data_dir);
        command.output().is_ok_and(|output| output.status.success())
    }
}

/// What comes after the messages is the same every time and is not the prompt.
fn end_of_messages(body: &[u8]) -> usize {
    body.iter().rposition(|byte| *byte == b']').unwrap_or(body.len())
}

/// How many of the facts are there, each after the one before.
fn in_order(body: &[u8], facts: &[String]) -> usize {
    let mut rest = body;
    let mut left: VecDeque<&String> = facts.iter().collect();
    while let Some(at) = left.front().and_then(|fact| find(rest, fact.as_bytes())) {
        rest = &rest[at..];
        left.pop_front();
    }
    facts.len() - left.len()
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_counted_in_their_order() {
        let facts = ["one", "two", "three"].map(str::to_owned);
        assert_eq!(in_order(b"one, two and three", &facts), 3);
        assert_eq!(in_order(b"two, one and three", &facts), 1);
        assert_eq!(in_order(b"two and three", &facts), 0);
    }

    #[test]
    fn the_prompt_ends_where_the_messages_do() {
        let body = br#"{"messages":[{"content":"a]"}],"stream":true}"#;
        assert_eq!(&body[..end_of_messages(body)], br#"{"messages":[{"content":"a]"}"#);
    }
}
