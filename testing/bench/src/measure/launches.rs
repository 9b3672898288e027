//! What it adds to run a program of others under Windlass: a task from `windlass run --agent` to its verified end, against the same
//! program run bare for one turn. A stand-in for Claude Code is there on every machine: a shell script that says what has to be said,
//! asks no model and does nothing else, so that nearly all that is measured is Windlass's. Real programs ask the same scripted server,
//! bare as through the gateway; its one answer calls no tool, so that nobody needs leave for anything.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde_json::Value;

use super::bare::Turn;
use crate::figures::{median, millis};
use crate::process::{Mark, Measured, Priority};

const STAND_IN: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.325 (Claude Code)"; exit 0; fi
session=s-1
while [ $# -gt 0 ]; do case $1 in --session-id|--resume) session=$2 ;; esac; shift; done
read -r first
printf '{"type":"system","subtype":"init","session_id":"%s","permissionMode":"default","mcp_servers":[{"name":"windlass","status":"connected"}]}\n' "$session"
: > there.txt
printf '{"type":"result","uuid":"2","subtype":"success","is_error":false,"result":"Done.","session_id":"%s"}\n' "$session"
read -r last
exit 0
"#;
pub const GOAL: &str = "Say that it is done.";
/// Of the model server's script: one answer, without a call.
pub const MODEL: &str = "rehearsal/default";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    StandIn,
    ClaudeCode,
    Codex,
    Copilot,
    OpenCode,
    Pi,
}

impl Program {
    const REAL: [Self; 5] = [Self::ClaudeCode, Self::Codex, Self::Copilot, Self::OpenCode, Self::Pi];

    pub const fn name(self) -> &'static str {
        match self {
            Self::StandIn => "a shell script",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Copilot => "Copilot",
            Self::OpenCode => "OpenCode",
            Self::Pi => "Pi",
        }
    }

    const fn agent(self) -> &'static str {
        match self {
            Self::StandIn | Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// What is true once it has done its work, and of a real program, which does none, before that.
    const fn finish_line(self) -> &'static str {
        match self {
            Self::StandIn => "command: test -f there.txt",
            Self::ClaudeCode | Self::Codex | Self::Copilot | Self::OpenCode | Self::Pi => "command: test -d .",
        }
    }

    /// As the folder of `make agents` names it.
    const fn file(self) -> &'static str {
        match self {
            Self::StandIn | Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
        }
    }

    fn is_in(self, agents: &Path) -> bool {
        agents.join("bin").join(self.file()).exists()
    }
}

/// The real programs that are not in this folder, and hence not measured.
pub fn missing(agents: Option<&Path>) -> Vec<&'static str> {
    let is_missing = |program: &Program| !agents.is_some_and(|agents| program.is_in(agents));
    Program::REAL.into_iter().filter(is_missing).map(Program::name).collect()
}

/// The middle of several runs of one program, in milliseconds.
pub struct Launches {
    pub program: Program,
    pub windlass: Under,
    pub bare: Bare,
}

#[derive(Debug, Clone, Copy)]
pub struct Under {
    pub wall: f64,
    /// Of Windlass's own process.
    pub own_cpu: f64,
    /// Of all that it started besides.
    pub family_cpu: f64,
    /// From the start to the leave to launch the program: the store, the workspace, the sandbox.
    pub to_leave: f64,
    /// From there to the program's first word: home, gateway, and the program's own start.
    pub to_word: f64,
    pub to_turn_end: f64,
    /// From there to the end of the process: what is open is settled, the checks run, the sandbox is closed.
    pub to_end: f64,
}

#[derive(Debug, Clone, Copy)]
pub struct Bare {
    pub wall: f64,
    pub family_cpu: f64,
    pub to_word: f64,
}

pub struct Bench<'a> {
    pub windlass: &'a Path,
    /// HOST:PORT of the model server.
    pub server: &'a str,
    pub scratch: &'a Path,
    pub priority: Priority,
    /// Where `make agents` has put the real programs.
    pub agents: Option<&'a Path>,
    pub repeats: usize,
}

impl Bench<'_> {
    pub fn measure(&self) -> anyhow::Result<Vec<Launches>> {
        let stand_in = tempfile::tempdir_in(self.scratch)?;
        install_stand_in(stand_in.path())?;
        let mut measured = vec![self.program(Program::StandIn, stand_in.path())?];
        let Some(agents) = self.agents else { return Ok(measured) };
        let agents = agents.canonicalize().with_context(|| format!("{}, as WINDLASS_AGENTS says", agents.display()))?;
        for program in Program::REAL.into_iter().filter(|program| program.is_in(&agents)) {
            measured.push(self.program(program, &agents)?);
        }
        Ok(measured)
    }

    fn program(&self, program: Program, agents: &Path) -> anyhow::Result<Launches> {
        let (mut windlass, mut bare) = (Vec::new(), Vec::new());
        // The first of each is for warming up. In turn, so that a busy moment falls on both.
        for round in 0..=self.repeats {
            let (under, alone) = (self.under(program, agents)?, self.bare(program, agents)?);
            if round > 0 {
                windlass.push(under);
                bare.push(alone);
            }
        }
        let under = |pick: fn(&Under) -> f64| median(windlass.iter().map(pick).collect());
        let alone = |pick: fn(&Bare) -> f64| median(bare.iter().map(pick).collect());
        Ok(Launches {
            program,
            windlass: Under {
                wall: under(|run| run.wall),
                own_cpu: under(|run| run.own_cpu),
                family_cpu: under(|run| run.family_cpu),
                to_leave: under(|run| run.to_leave),
                to_word: under(|run| run.to_word),
                to_turn_end: under(|run| run.to_turn_end),
                to_end: under(|run| run.to_end),
            },
            bare: Bare {
                wall: alone(|run| run.wall),
                family_cpu: alone(|run| run.family_cpu),
                to_word: alone(|run| run.to_word),
            },
        })
    }

    fn under(&self, program: Program, agents: &Path) -> anyhow::Result<Under> {
        let (data_dir, workspace) = (tempfile::tempdir_in(self.scratch)?, tempfile::tempdir_in(self.scratch)?);
        let mut command = self.priority.command(self.windlass);
        command
            .args(["run", GOAL, "--json", "--agent", program.agent(), "--model", MODEL, "--max-attempts", "1"])
            .args(["--base-case", program.finish_line(), "--workspace"])
            .arg(workspace.path())
            .env("WINDLASS_DATA_DIR", data_dir.path())
            .env("WINDLASS_AGENTS", agents)
            .env("LITELLM_API_BASE", format!("http://{}", self.server))
            .env("LITELLM_API_KEY", "none");
        let what = format!("windlass with {}", program.name());
        let before = of_children()?;
        let mut process = Measured::start(command)?;
        let lines = process.lines()?;
        let end = process.finish(&what)?;
        let family = of_children()? - before;
        let seen = Seen::read(&lines, &what)?;
        let between = |from: Mark, to: Mark| millis(to.since(from).wall);
        Ok(Under {
            wall: millis(end.wall),
            own_cpu: millis(end.cpu),
            family_cpu: family - millis(end.cpu),
            to_leave: millis(seen.leave.wall),
            to_word: between(seen.leave, seen.word),
            to_turn_end: between(seen.word, seen.turn_end),
            to_end: between(seen.turn_end, end),
        })
    }

    fn bare(&self, program: Program, agents: &Path) -> anyhow::Result<Bare> {
        let (home, workspace) = (tempfile::tempdir_in(self.scratch)?, tempfile::tempdir_in(self.scratch)?);
        let mut command = self.priority.command(&agents.join("bin").join(program.file()));
        command.current_dir(workspace.path()).env("HOME", home.path());
        Turn { server: self.server, home: home.path(), agents }.arrange(program, &mut command)?;
        let before = of_children()?;
        let mut process = Measured::start(command)?;
        let lines = process.lines()?;
        let end = process.finish(program.name())?;
        let family_cpu = of_children()? - before;
        let said = lines.iter().any(|(_, line)| line.contains("Done."));
        anyhow::ensure!(said, "{}, run bare, did not say that it is done: {lines:?}", program.name());
        let (word, _) = lines.first().context("it said something")?;
        Ok(Bare { wall: millis(end.wall), family_cpu, to_word: millis(word.wall) })
    }
}

fn install_stand_in(agents: &Path) -> anyhow::Result<()> {
    let bin = agents.join("bin");
    fs::create_dir_all(&bin)?;
    let program: PathBuf = bin.join(Program::StandIn.file());
    fs::write(&program, STAND_IN)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Milliseconds of processor time that children had which have been waited for, and theirs.
fn of_children() -> anyhow::Result<f64> {
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((used.user_time() + used.system_time()).num_microseconds() as f64 / 1e3)
}

/// When what was recorded.
struct Seen {
    leave: Mark,
    word: Mark,
    turn_end: Mark,
}

impl Seen {
    fn read(lines: &[(Mark, String)], what: &str) -> anyhow::Result<Self> {
        let (mut leave, mut word, mut turn_end, mut result) = (None, None, None, None);
        for (mark, line) in lines {
            let record: Value = serde_json::from_str(line).with_context(|| format!("{what} printed {line}"))?;
            match (record["type"].as_str().unwrap_or_default(), record["data"]["observed"].as_str()) {
                ("tool.started", _) => leave = leave.or(Some(*mark)),
                ("observation.recorded", Some("session")) => word = word.or(Some(*mark)),
                ("observation.recorded", Some("turn_ended")) => turn_end = Some(*mark),
                ("result", _) => result = Some(record),
                _ => {}
            }
        }
        let result = result.with_context(|| format!("{what} has no result"))?;
        let verified = result["status"] == "COMPLETED" && result["verified"] == true;
        anyhow::ensure!(verified, "{what} did not complete, verified: {result}");
        Ok(Self {
            leave: leave.with_context(|| format!("{what} launched nothing"))?,
            word: word.with_context(|| format!("{what}: the program said nothing"))?,
            turn_end: turn_end.with_context(|| format!("{what}: the program's turn did not end"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn lines(kinds: &[&str]) -> Vec<(Mark, String)> {
        let mark = |at: usize| Mark { wall: Duration::from_secs(at as u64), cpu: Duration::ZERO };
        kinds.iter().enumerate().map(|(at, line)| (mark(at), (*line).to_owned())).collect()
    }

    const LEAVE: &str = r#"{"type":"tool.started","data":{"tool":"launch_agent"}}"#;
    const WORD: &str = r#"{"type":"observation.recorded","data":{"observed":"session"}}"#;
    const TURN_END: &str = r#"{"type":"observation.recorded","data":{"observed":"turn_ended"}}"#;
    const VERIFIED: &str = r#"{"type":"result","status":"COMPLETED","verified":true}"#;

    #[test]
    fn a_run_is_divided_where_its_journal_says() {
        let seen = Seen::read(&lines(&["{}", LEAVE, WORD, WORD, TURN_END, VERIFIED]), "a test").unwrap();
        let at = [seen.leave, seen.word, seen.turn_end].map(|mark| mark.wall.as_secs());
        assert_eq!(at, [1, 2, 4]);
    }

    #[test]
    fn what_is_not_there_is_said() {
        let agents = tempfile::tempdir().unwrap();
        assert_eq!(missing(None), ["Claude Code", "Codex", "Copilot", "OpenCode", "Pi"]);
        install_stand_in(agents.path()).unwrap();
        assert_eq!(missing(Some(agents.path())), ["Codex", "Copilot", "OpenCode", "Pi"]);
    }

    #[test]
    fn a_run_that_was_not_verified_is_not_measured() {
        let unverified = VERIFIED.replace("true", "false");
        let error = Seen::read(&lines(&[LEAVE, WORD, TURN_END, &unverified]), "a test").err().unwrap();
        assert!(error.to_string().contains("did not complete, verified"), "{error}");
        let mute = Seen::read(&lines(&[LEAVE, VERIFIED]), "a test").err().unwrap();
        assert!(mute.to_string().contains("said nothing"), "{mute}");
    }
}
