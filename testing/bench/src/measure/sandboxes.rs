//! One `true`: started plainly, started under bubblewrap by hand, as the only command of a sandbox, and as one more command
//! in a sandbox that is open. In turn, so that a busy moment falls on all of them. Containers the same, where there is a daemon.

#![expect(clippy::disallowed_methods, reason = "a benchmark starts programs for comparison and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::path::Path;
use std::process::{Command as Program, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use windlass_sandbox::{Bubblewrap, Cgroups, Command, Docker, Policy, Provider, Sandbox, Supervisor, discard, never};

use crate::arguments::Sandboxes;
use crate::figures::{median, millis};

/// Each the median, in milliseconds. What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub plain: f64,
    pub bubblewrap: f64,
    /// Open a sandbox, run one command, close it.
    pub cold: f64,
    /// The same, up to the command's result.
    pub cold_result: f64,
    /// The same, to the end, without control groups: joining one can wait for the kernel longer than everything else.
    pub cold_without_groups: f64,
    pub warm: f64,
    pub warm_bash: f64,
    pub plain_bash: f64,
    /// Where there is a daemon.
    pub docker: Option<DockerFigures>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct DockerFigures {
    /// As those of the same names above.
    pub cold: f64,
    pub cold_result: f64,
    pub warm: f64,
    /// `docker run --rm`, by hand, from the same image and without a network.
    pub by_hand: f64,
}

const ROUNDS: usize = 40;
const WARM_PER_ROUND: usize = 10;
/// A container takes a hundred times as long as bubblewrap.
const DOCKER_ROUNDS: usize = 10;

pub fn run(sandboxes: &Sandboxes) -> anyhow::Result<()> {
    let executor = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut figures = executor.block_on(rounds(&sandboxes.windlass, &sandboxes.scratch))?;
    if let Some(socket) = &sandboxes.docker {
        figures.docker = Some(executor.block_on(containers(socket, &sandboxes.windlass, &sandboxes.scratch))?);
    }
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

#[derive(Default)]
struct Samples {
    plain: Vec<f64>,
    plain_bash: Vec<f64>,
    bubblewrap: Vec<f64>,
    cold: Vec<(f64, f64)>,
    cold_without_groups: Vec<(f64, f64)>,
    warm: Vec<f64>,
    warm_bash: Vec<f64>,
}

async fn rounds(windlass: &Path, scratch: &Path) -> anyhow::Result<Figures> {
    let workspace = tempfile::tempdir_in(scratch)?;
    let supervisor = Supervisor { program: windlass.to_owned(), args: vec!["__supervise".into()] };
    let provider = Bubblewrap::new(supervisor.clone());
    let without_groups = Bubblewrap::new(supervisor).cgroups(Cgroups::Never);
    let warm = provider.open(Policy::new(workspace.path())).await?;
    let mut samples = Samples::default();
    for _ in 0..ROUNDS {
        samples.plain.push(timed(&["/bin/true"])?);
        samples.plain_bash.push(timed(&["/bin/bash", "-c", "true"])?);
        samples.bubblewrap.push(timed(&BARE_BUBBLEWRAP)?);
        samples.cold.push(cold(&provider, workspace.path()).await?);
        samples.cold_without_groups.push(cold(&without_groups, workspace.path()).await?);
        for _ in 0..WARM_PER_ROUND {
            samples.warm.push(millis(command(warm.as_ref(), Command::new(["/bin/true"])).await?));
            samples.warm_bash.push(millis(command(warm.as_ref(), Command::bash("true")).await?));
        }
    }
    warm.close().await;
    Ok(samples.figures())
}

async fn containers(socket: &Path, windlass: &Path, scratch: &Path) -> anyhow::Result<DockerFigures> {
    let workspace = tempfile::tempdir_in(scratch)?;
    let supervisor = Supervisor { program: windlass.to_owned(), args: vec!["__supervise".into()] };
    let provider = Docker::new(supervisor).socket(socket);
    let warm = provider.open(Policy::new(workspace.path())).await?;
    let (mut colds, mut warms, mut by_hand) = (Vec::new(), Vec::new(), Vec::new());
    let host = format!("unix://{}", socket.display());
    let words = ["docker", "--host", &host, "run", "--rm", "--network=none", "execution-agent:latest", "/bin/true"];
    for _ in 0..DOCKER_ROUNDS {
        by_hand.push(timed(&words)?);
        colds.push(cold(&provider, workspace.path()).await?);
        for _ in 0..WARM_PER_ROUND {
            warms.push(millis(command(warm.as_ref(), Command::new(["/bin/true"])).await?));
        }
    }
    warm.close().await;
    let (results, ends): (Vec<f64>, Vec<f64>) = colds.into_iter().unzip();
    Ok(DockerFigures {
        cold: median(ends),
        cold_result: median(results),
        warm: median(warms),
        by_hand: median(by_hand),
    })
}

impl Samples {
    fn figures(self) -> Figures {
        let (results, ends): (Vec<f64>, Vec<f64>) = self.cold.into_iter().unzip();
        Figures {
            plain: median(self.plain),
            plain_bash: median(self.plain_bash),
            bubblewrap: median(self.bubblewrap),
            cold: median(ends),
            cold_result: median(results),
            cold_without_groups: median(self.cold_without_groups.into_iter().map(|(_, end)| end).collect()),
            warm: median(self.warm),
            warm_bash: median(self.warm_bash),
            docker: None,
        }
    }
}

/// To the command's result, and to the end of the sandbox.
async fn cold(provider: &dyn Provider, workspace: &Path) -> anyhow::Result<(f64, f64)> {
    let begun = Instant::now();
    let sandbox = provider.open(Policy::new(workspace)).await?;
    command(sandbox.as_ref(), Command::new(["/bin/true"])).await?;
    let result = millis(begun.elapsed());
    sandbox.close().await;
    Ok((result, millis(begun.elapsed())))
}

/// What the peers' figures call bubblewrap: every namespace, the whole system read-only.
const BARE_BUBBLEWRAP: [&str; 12] = [
    "bwrap",
    "--unshare-all",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--",
    "/bin/true",
];

fn timed(words: &[&str]) -> anyhow::Result<f64> {
    let begun = Instant::now();
    let status = Program::new(words[0]).args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    let length = begun.elapsed();
    anyhow::ensure!(status.success(), "{words:?} ended with {status}");
    Ok(millis(length))
}

async fn command(sandbox: &dyn Sandbox, command: Command) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let exit = sandbox.run(command, &mut discard, never()).await?;
    let length = begun.elapsed();
    anyhow::ensure!(exit.success(), "a sandboxed command ended with {:?}", exit.status);
    Ok(length)
}
