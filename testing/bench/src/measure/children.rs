//! An agent that hands its work to a hundred others at once, beside the same agent without any: what each of them costs.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::endpoint::{Endpoint, calls, words};
use crate::figures::millis;
use crate::process::{Measured, Priority};
use crate::script::NOTE;

pub const CHILDREN: usize = 100;
pub const STEPS: usize = 10;
/// What the model takes for an answer.
pub const LATENCY: Duration = Duration::from_millis(50);
const ERRAND: &str = "Read the note again and again.";

pub struct Children {
    pub with: Run,
    pub without: Run,
}

pub struct Run {
    pub wall_ms: f64,
    pub cpu_ms: f64,
    pub peak_kb: f64,
}

pub fn measure(windlass: &Path, workspace: &Path, scratch: &Path, priority: Priority) -> anyhow::Result<Children> {
    let run = |children: usize| once(windlass, workspace, scratch, priority, children);
    Ok(Children { with: run(CHILDREN)?, without: run(0)? })
}

fn once(windlass: &Path, workspace: &Path, scratch: &Path, priority: Priority, children: usize) -> anyhow::Result<Run> {
    let data_dir = tempfile::tempdir_in(scratch)?;
    std::fs::write(data_dir.path().join("windlass.toml"), format!("[subagents]\nmax_parallel = {CHILDREN}\n"))?;
    let endpoint = Endpoint::start(move |body| answer(body, children))?;
    let mut command = priority.command(windlass);
    command
        .args(["run", "Hand it on.", "--json", "--model", "gpt-4o", "--workspace"])
        .arg(workspace)
        .args(["--max-iterations", "100000", "--timeout", "100000", "--max-tokens", "1000000000000"])
        .args(["--max-cost", "1000000", "--max-attempts", "1"])
        .env("WINDLASS_DATA_DIR", data_dir.path())
        .env("LITELLM_API_BASE", &endpoint.url)
        .env("LITELLM_API_KEY", "none");
    let mut process = Measured::start(command)?;
    let (mut peak, mut ended) = (0, 0);
    process.watch(|process, _, line| {
        peak = process.peak_kb().unwrap_or(peak);
        ended += usize::from(line.contains("\"type\":\"subagent.finished\"") && line.contains("\"completed\""));
        Ok(())
    })?;
    let whole = process.finish("an agent with others")?;
    anyhow::ensure!(ended == children, "{ended} of {children} agents completed");
    Ok(Run { wall_ms: millis(whole.wall), cpu_ms: millis(whole.cpu), peak_kb: peak as f64 })
}

#[expect(clippy::disallowed_methods, reason = "a model takes its time")]
fn answer(body: &[u8], children: usize) -> Value {
    std::thread::sleep(LATENCY);
    let text = String::from_utf8_lossy(body);
    let answered = text.matches("\"role\":\"assistant\"").count();
    let is_child = text.contains(ERRAND) && !text.contains("Hand it on.");
    let number = |index: usize| format!("c{answered}-{index}");
    match (is_child, answered) {
        (true, STEPS) => words("It was read."),
        (true, _) => calls([(number(0), "read", json!({"path": NOTE, "limit": 1 + answered}))]),
        (false, 0) if children > 0 => {
            calls((0..children).map(|index| (number(index), "spawn_agent", json!({"task": ERRAND}))))
        }
        (false, _) => words("Done."),
    }
}
