//! The whole benchmark: sets the stage, measures what was asked for, prints the table, and keeps it where that was asked.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark talks to whoever ran it")]

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use windlass_postgres_server::Server as PostgresServer;

use crate::arguments::{Asked, Options, Subject};
use crate::machine::Machine;
use crate::measure::graph_shapes::Shape;
use crate::measure::{
    agents, children, console, floor, launches, long, observations, sandboxes, start, steps, workers,
};
use crate::peers::Peers;
use crate::process::{Measured, Priority};
use crate::report::{self, Beside, Findings, Growth};
use crate::script::{self, STEPS, Tool};
use crate::server::Server;

const AGENTS: usize = 1_000;
const STARTS: usize = 10;
/// So many sandboxes tell what one costs.
const AGENTS_WITH_SANDBOX: usize = 50;

/// In the repository that worktrees are made of: as many as are kept in the table, and what one has time for otherwise.
const FILES: usize = 50_000;
const FEWER_FILES: usize = 10_000;

struct Stage<'a> {
    options: &'a Options,
    windlass: PathBuf,
    scratch: tempfile::TempDir,
    server: Server,
    priority: Priority,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let stage = Stage::set(options)?;
    let machine = Machine::look(stage.scratch.path());
    let peers = options.peers.as_deref().map(Peers::read).transpose()?.unwrap_or_default();
    let findings = stage.measure()?;
    let text = report::page(&machine.looked_at_again(), &findings, &peers, options.real_time);
    println!("{text}");
    anyhow::ensure!(findings.failed.is_empty(), "not measured: {}", findings.failed.join("; "));
    if options.write {
        anyhow::ensure!(options.only.is_empty(), "a part of the table is not kept; leave out --only");
        let path = docs()?.join("benchmarks.md");
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// `docs/` of the repository this was built from, or below the folder it is started in.
fn docs() -> anyhow::Result<PathBuf> {
    let candidates = [PathBuf::from("docs"), PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"))];
    candidates.into_iter().find(|folder| folder.is_dir()).context("there is no docs/ here; start it in the repository")
}

impl<'a> Stage<'a> {
    fn set(options: &'a Options) -> anyhow::Result<Self> {
        let here = std::env::current_exe()?;
        let beside = here.parent().context("a program stands in a folder")?;
        let windlass = options.windlass.clone().unwrap_or_else(|| beside.join("windlass"));
        let hint = "build it first: cargo build --release --bin windlass";
        let windlass = windlass.canonicalize().with_context(|| format!("{}: {hint}", windlass.display()))?;
        let scratch = tempfile::tempdir_in(options.scratch.as_deref().unwrap_or(beside))?;
        let script = scratch.path().join("script.yaml");
        std::fs::write(&script, script::text())?;
        script::lay_out(&scratch.path().join("workspace"))?;
        let priority = if options.real_time { Priority::RealTime } else { Priority::Normal };
        let server = Server::start(&windlass, &script, priority)?;
        Ok(Self { options, windlass, scratch, server, priority })
    }

    fn measure(&self) -> anyhow::Result<Findings> {
        let wanted = |subject| self.options.only.is_empty() || self.options.only.contains(&subject);
        let mut findings = Findings::default();
        if wanted(Subject::Start) {
            say("start to first request");
            findings.start =
                Some(start::measure(&self.windlass, &self.workspace(), self.scratch.path(), self.priority, STARTS)?);
        }
        if wanted(Subject::Steps) {
            self.steps(&mut findings)?;
        }
        if wanted(Subject::Agents) {
            self.agents(&mut findings)?;
        }
        if wanted(Subject::Long) {
            for _ in 0..self.options.repeats {
                say("a long run");
                let run = long::measure(&self.windlass, &self.workspace(), self.scratch.path(), self.priority)?;
                findings.long.push(run);
            }
        }
        if wanted(Subject::Children) {
            say("sub-agents");
            let measured = children::measure(&self.windlass, &self.workspace(), self.scratch.path(), self.priority)?;
            findings.children = Some(measured);
        }
        if wanted(Subject::Sandboxes) {
            say("sandboxes");
            findings.sandboxes = Some(self.sandboxes()?);
        }
        if wanted(Subject::Commits) {
            say("commits");
            let mut command = self.part("commits")?;
            command.arg("--scratch").arg(self.scratch.path());
            findings.commits = Some(figures(command, "commits")?);
        }
        if wanted(Subject::Queues) {
            say("queues");
            let mut command = self.part("queues")?;
            command.arg("--scratch").arg(self.scratch.path());
            findings.queues = Some(figures(command, "queues")?);
        }
        if wanted(Subject::Law) {
            say("gates, risk and approvals");
            findings.law = Some(figures(self.part("law")?, "the law")?);
        }
        if wanted(Subject::Parked) {
            say("waiting for a person");
            let mut command = self.part("parked")?;
            command.arg("--scratch").arg(self.scratch.path());
            findings.parked = Some(figures(command, "parked tasks")?);
        }
        if wanted(Subject::Worktrees) {
            say("worktrees");
            let mut command = self.part("worktrees")?;
            let files = if self.options.write { FILES } else { FEWER_FILES };
            command.arg("--scratch").arg(self.scratch.path()).args(["--files", &files.to_string()]);
            findings.worktrees = Some(figures(command, "worktrees")?);
        }
        if wanted(Subject::Plans) {
            say("plans");
            let mut command = self.part("plans")?;
            command.arg("--scratch").arg(self.scratch.path());
            findings.plans = Some(figures(command, "plans")?);
        }
        if wanted(Subject::Graphs) {
            for shape in Shape::ALL {
                say(&format!("{} graphs", shape.name()));
                let mut command = self.part("graphs")?;
                command.arg("--scratch").arg(self.scratch.path()).args(["--shape", shape.name()]);
                findings.graphs.push(figures(command, "graphs")?);
            }
        }
        if wanted(Subject::Ways) {
            say("ways and contexts");
            let mut command = self.part("ways")?;
            command.arg("--scratch").arg(self.scratch.path());
            findings.ways = Some(figures(command, "ways")?);
        }
        if wanted(Subject::Gateway) {
            say("the gateway");
            findings.gateway = Some(figures(self.part("gateway")?, "the gateway")?);
        }
        if wanted(Subject::Foreign) {
            self.foreign(&mut findings)?;
        }
        if wanted(Subject::Terminals) {
            say("terminals");
            let mut command = self.part("terminals")?;
            command.arg("--windlass").arg(&self.windlass).arg("--scratch").arg(self.scratch.path());
            findings.terminals = Some(figures(command, "terminals")?);
        }
        if wanted(Subject::Service) {
            findings.many_tasks = Some(self.asked(Asked::Tasks)?);
            findings.creating = Some(self.asked(Asked::Creating)?);
            findings.fan_out = Some(self.asked(Asked::FanOut)?);
            findings.injecting = Some(self.asked(Asked::Injecting)?);
        }
        if wanted(Subject::Service) || wanted(Subject::Workers) {
            findings.workers = self.workers()?;
        }
        if wanted(Subject::Console) {
            // A browser is more likely to fail than everything before it, of which the table is shown in any case.
            match self.console() {
                Ok(console) => findings.console = console,
                Err(error) => findings.failed.push(format!("the console ({error:#})")),
            }
        }
        Ok(findings)
    }

    fn asked<T: serde::de::DeserializeOwned>(&self, asked: Asked) -> anyhow::Result<T> {
        say(&format!("the service: {}", asked.name()));
        let mut command = self.part("service")?;
        command
            .args(["--asked", asked.name(), "--server", &self.server.address, "--windlass"])
            .arg(&self.windlass)
            .arg("--workspace")
            .arg(self.workspace())
            .arg("--scratch")
            .arg(self.scratch.path());
        figures(command, asked.name())
    }

    fn workers(&self) -> anyhow::Result<Option<workers::Figures>> {
        if !PostgresServer::is_installed() {
            say("skipped workers on PostgreSQL; to measure them: scripts/setup postgres");
            return Ok(None);
        }
        self.asked(Asked::Workers).map(Some)
    }

    fn console(&self) -> anyhow::Result<Option<console::Figures>> {
        match console::tools() {
            Ok(web) => {
                say("the console");
                figures(console::command(&web, &self.windlass), "the console").map(Some)
            }
            Err(how) => {
                say(&format!("skipped the console; to measure it: {how}, and build again"));
                Ok(None)
            }
        }
    }

    fn foreign(&self, findings: &mut Findings) -> anyhow::Result<()> {
        say("programs of others");
        let agents = agents_folder();
        let missing = launches::missing(agents.as_deref());
        if !missing.is_empty() {
            say(&format!(
                "without {}: `make agents` installs them, WINDLASS_AGENTS names another folder",
                missing.join(", ")
            ));
        }
        let bench = launches::Bench {
            windlass: &self.windlass,
            server: &self.server.address,
            scratch: self.scratch.path(),
            priority: self.priority,
            agents: agents.as_deref(),
            repeats: self.options.repeats,
        };
        findings.launches = bench.measure()?;
        say("observations");
        let journal = tempfile::tempdir_in(self.scratch.path())?;
        let mut command = self.part("observations")?;
        command.arg("--scratch").arg(self.scratch.path()).arg("--journal").arg(journal.path());
        let observed: observations::Figures = figures(command, "observations")?;
        say("replay");
        let mut command = self.part("replay")?;
        command.arg("--data-dir").arg(journal.path()).args(["--execution", &observed.execution.to_string()]);
        findings.replay = Some(figures(command, "replay")?);
        findings.observations = Some(observed);
        Ok(())
    }

    /// This program again, as one of its parts.
    fn part(&self, name: &str) -> anyhow::Result<std::process::Command> {
        let mut command = self.priority.command(&std::env::current_exe()?);
        command.arg(name);
        Ok(command)
    }

    fn sandboxes(&self) -> anyhow::Result<sandboxes::Figures> {
        let mut command = self.part("sandboxes")?;
        command.arg("--windlass").arg(&self.windlass).arg("--scratch").arg(self.scratch.path());
        if let Some(socket) = &self.options.docker {
            command.arg("--docker").arg(socket);
        }
        figures(command, "sandboxes")
    }

    fn workspace(&self) -> PathBuf {
        self.scratch.path().join("workspace")
    }

    fn steps(&self, findings: &mut Findings) -> anyhow::Result<()> {
        let workspace = self.workspace();
        let bench = steps::Bench {
            windlass: &self.windlass,
            server: &self.server,
            workspace: &workspace,
            scratch: self.scratch.path(),
            priority: self.priority,
        };
        for (tool, counts) in [(Tool::Read, &STEPS[..]), (Tool::Bash, &STEPS[..3]), (Tool::Page, &STEPS[1..3])] {
            for &count in counts {
                say(&format!("{} × {count}", tool.name()));
                let mut growth = Growth { tool, count, windlass: Vec::new(), floor: Vec::new() };
                // In turn, so that a busy moment falls on both.
                for _ in 0..self.options.repeats {
                    let run = bench.run(tool, count)?;
                    if tool == Tool::Read {
                        growth.floor.push(self.floor(&script::model(tool, count), &run.result, 1)?);
                    }
                    growth.windlass.push(run);
                }
                findings.steps.push(growth);
            }
        }
        Ok(())
    }

    fn floor(&self, model: &str, result: &str, agents: usize) -> anyhow::Result<floor::Figures> {
        let folder = tempfile::tempdir_in(self.scratch.path())?;
        let mut command = self.part("floor")?;
        command
            .args(["--server", &self.server.address, "--model", model, "--result", result])
            .args(["--agents", &agents.to_string(), "--database"])
            .arg(folder.path().join("floor.db"));
        figures(command, "the floor")
    }

    fn agents(&self, findings: &mut Findings) -> anyhow::Result<()> {
        say(&format!("{AGENTS} agents"));
        let model = script::slow_model();
        findings.agents = Some(Beside {
            count: AGENTS,
            windlass: self.together(AGENTS, None)?,
            floor: self.floor(&model, "A short note, read again and again.\n", AGENTS)?,
            sandboxed: (AGENTS_WITH_SANDBOX, self.together(AGENTS_WITH_SANDBOX, Some(&self.windlass))?),
            unsandboxed: self.together(AGENTS_WITH_SANDBOX, None)?,
        });
        Ok(())
    }

    fn together(&self, agents: usize, supervisor: Option<&Path>) -> anyhow::Result<agents::Figures> {
        let data_dir = tempfile::tempdir_in(self.scratch.path())?;
        let mut command = self.part("agents")?;
        command
            .args(["--server", &self.server.address, "--model", &script::slow_model()])
            .args(["--agents", &agents.to_string(), "--workspace"])
            .arg(self.workspace())
            .arg("--data-dir")
            .arg(data_dir.path());
        if let Some(program) = supervisor {
            command.arg("--supervisor").arg(program);
        }
        figures(command, "many agents")
    }
}

/// Where `make agents` has put the real programs, as it is said to Windlass itself.
#[expect(clippy::disallowed_methods, reason = "a benchmark is a program, and this is where it is told so")]
fn agents_folder() -> Option<PathBuf> {
    std::env::var_os("WINDLASS_AGENTS").map(PathBuf::from)
}

/// What a part of this program prints.
fn figures<T: serde::de::DeserializeOwned>(command: std::process::Command, what: &str) -> anyhow::Result<T> {
    let mut process = Measured::start(command)?;
    let lines = process.lines()?;
    process.finish(what)?;
    let (_, last) = lines.last().with_context(|| format!("{what} said nothing"))?;
    serde_json::from_str(last).with_context(|| format!("{what} printed {last}"))
}

fn say(what: &str) {
    eprintln!("bench: {what}");
}
