//! What the rehearsed model does: a small call again and again, then an end. A track for every number of steps,
//! picked by the model's name.

use std::fmt::Write as _;
use std::path::Path;

/// The file that every `read` reads.
pub const NOTE: &str = "note.txt";
const NOTE_TEXT: &str = "A short note, read again and again.\n";
/// What a real file looks like to a model, about 2 KB of it.
pub const PAGE: &str = "page.txt";

pub const STEPS: [usize; 4] = [20, 100, 400, 2_000];
pub const AGENT_STEPS: usize = 10;
const AGENT_LATENCY_MS: u64 = 200;
/// Of tasks that are worked on for as long as anybody looks.
pub const STEADY_STEPS: usize = 200;
pub const STEADY_MS: u64 = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Reads a short note.
    Read,
    /// Reads 2 KB.
    Page,
    /// Runs `true` in the sandbox.
    Bash,
}

impl Tool {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Page => "page",
            Self::Bash => "bash",
        }
    }

    /// Another call each time, with the same result: an agent that repeats itself is told so.
    fn call(self, step: usize) -> String {
        let lines = 100 + step;
        match self {
            Self::Read => format!("{{ tool: read, args: {{ path: {NOTE}, limit: {lines} }} }}"),
            Self::Page => format!("{{ tool: read, args: {{ path: {PAGE}, limit: {lines} }} }}"),
            Self::Bash => format!("{{ tool: bash, args: {{ command: \"true {step}\" }} }}"),
        }
    }
}

/// The name of the model that makes `steps` calls of `tool`.
pub fn model(tool: Tool, steps: usize) -> String {
    format!("rehearsal/{}-{steps}", tool.name())
}

/// The name of the model that takes its time.
pub fn slow_model() -> String {
    format!("rehearsal/slow-{AGENT_STEPS}")
}

/// The name of the model that goes on and on.
pub fn steady_model() -> String {
    format!("rehearsal/steady-{STEADY_STEPS}")
}

pub fn text() -> String {
    let mut script = "version: 1\ntracks:\n".to_owned();
    for tool in [Tool::Read, Tool::Page, Tool::Bash] {
        for steps in STEPS {
            track(&mut script, &format!("{}-{steps}", tool.name()), tool, steps, 0);
        }
    }
    track(&mut script, &format!("slow-{AGENT_STEPS}"), Tool::Read, AGENT_STEPS, AGENT_LATENCY_MS);
    track(&mut script, &format!("steady-{STEADY_STEPS}"), Tool::Read, STEADY_STEPS, STEADY_MS);
    script.push_str("  default:\n    - reply: Done.\n");
    script
}

fn track(script: &mut String, name: &str, tool: Tool, steps: usize, delay_ms: u64) {
    let how = format!("delay_ms: {delay_ms}, usage: {{ input: 1000, output: 20 }}");
    let calls = (0..steps).map(|step| format!("    - {{ calls: [ {} ], {how} }}\n", tool.call(step)));
    let calls: String = calls.collect();
    writeln!(script, "  {name}:\n{calls}    - {{ reply: Done., {how} }}").expect("text can always grow");
}

/// The folder the rehearsed agent works in.
pub fn lay_out(workspace: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(workspace)?;
    std::fs::write(workspace.join(NOTE), NOTE_TEXT)?;
    let line = "Windlass hauls a load with a drum and a pawl: it only ever moves forward.\n";
    std::fs::write(workspace.join(PAGE), line.repeat(28))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_one_that_can_be_played() {
        windlass_llm::Script::parse(&text()).unwrap();
    }
}
