//! One server with ten thousand tasks that wait for a person, and then with a thousand besides that are worked on: what it holds
//! and how much it works, beside the same server with no task at all. The tasks that wait are whole runs of the native loop, left in
//! the store before the server begins. Those that are worked on belong to many tenants, since a tenant has eight at a time; their
//! model takes two seconds for an answer, and each answer reads a file.

#![expect(clippy::disallowed_methods, reason = "a benchmark waits while others work, and starts what it needs")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::Client;
use crate::house::House;
use crate::measure::parked::park;
use crate::script::{STEADY_MS, STEADY_STEPS, steady_model};
use crate::service::{Service, Setup, shut};

pub const IDLE: usize = 10_000;
pub const ACTIVE: usize = 1_000;
/// As many as a tenant has at a time.
const EACH: usize = 8;
/// How long the server is looked at.
const SPAN: Duration = Duration::from_secs(15);
/// What was begun at the start is over by then.
const SETTLING: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub empty: Stand,
    pub idle: Stand,
    pub active: Stand,
    /// Answers of the model, while it was looked at with tasks that are worked on.
    pub answers_per_s: f64,
    /// If nobody but the model took any time.
    pub ideal_per_s: f64,
    /// From the first request to when all of them were worked on.
    pub begun_s: f64,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Stand {
    pub mb: f64,
    /// Processor time, for each second.
    pub cpu_ms_per_s: f64,
}

pub fn measure(setup: Setup<'_>, scratch: &Path) -> anyhow::Result<Figures> {
    let nothing = tempfile::tempdir_in(scratch)?;
    let empty = look(&setup.start(nothing.path(), &[], "")?)?;
    let data_dir = tempfile::tempdir_in(scratch)?;
    leave_waiting(data_dir.path())?;
    shut(data_dir.path())?;
    let tokens = tokens(setup.windlass, data_dir.path())?;
    let more = ["--concurrency", &ACTIVE.to_string(), "--model", &steady_model()];
    let service = setup.start(data_dir.path(), &more, &tenants(setup.workspace))?;
    let idle = look(&service)?;
    let begun = Instant::now();
    for token in &tokens {
        let mut client = Client::connect(&service.address, token)?;
        (0..EACH).try_for_each(|_| begin(&mut client))?;
    }
    let mut client = service.client()?;
    while answers(&mut client)? < ACTIVE as f64 {
        anyhow::ensure!(begun.elapsed() < PATIENCE, "{} of {ACTIVE} tasks had an answer", answers(&mut client)?);
        std::thread::sleep(Duration::from_millis(200));
    }
    let begun_s = begun.elapsed().as_secs_f64();
    let (before, since) = (answers(&mut client)?, Instant::now());
    let active = look(&service)?;
    let answers_per_s = (answers(&mut client)? - before) / since.elapsed().as_secs_f64();
    let ideal_per_s = ACTIVE as f64 * 1e3 / STEADY_MS as f64;
    Ok(Figures { empty, idle, active, answers_per_s, ideal_per_s, begun_s })
}

/// What the server does when nobody asks it for anything.
fn look(service: &Service) -> anyhow::Result<Stand> {
    service.client()?.get("/v1/health")?.expect(200)?;
    std::thread::sleep(SETTLING);
    let before = service.mark();
    std::thread::sleep(SPAN);
    let worked = service.mark().since(before);
    Ok(Stand { mb: service.resident_mb(), cpu_ms_per_s: worked.cpu.as_secs_f64() * 1e3 / worked.wall.as_secs_f64() })
}

fn leave_waiting(data_dir: &Path) -> anyhow::Result<()> {
    let workspace = data_dir.with_extension("workspace");
    std::fs::create_dir(&workspace)?;
    // The tasks are this machine's, as the server goes by it.
    std::fs::write(data_dir.join("machine"), "bench\n")?;
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore)?;
    let House { engine, .. } = House::open(data_dir, executor.handle().clone())?;
    executor.block_on(park(&engine, &workspace, IDLE, executor.handle()))?;
    executor.block_on(engine.close())?;
    Ok(())
}

fn tenant(number: usize) -> String {
    format!("tenant-{number}")
}

fn tenants(workspace: &Path) -> String {
    let mut config = String::new();
    for number in 0..ACTIVE / EACH {
        writeln!(config, "[tenants.{}]\nworkspaces = [{:?}]", tenant(number), workspace.display().to_string())
            .expect("text can always grow");
    }
    config
}

/// One for each tenant.
fn tokens(windlass: &Path, data_dir: &Path) -> anyhow::Result<Vec<String>> {
    let token = |number| {
        let name = tenant(number);
        let mut command = Command::new(windlass);
        command.args(["token", "add", &name, "--tenant", &name, "--scope", "read,write,approve", "--json"]);
        let made = command.env("WINDLASS_DATA_DIR", data_dir).output()?;
        let made: Value = serde_json::from_slice(&made.stdout)
            .with_context(|| format!("no token: {}", String::from_utf8_lossy(&made.stderr)))?;
        Ok(made["token"].as_str().context("a token")?.to_owned())
    };
    (0..ACTIVE / EACH).map(token).collect()
}

fn begin(client: &mut Client) -> anyhow::Result<()> {
    let limits =
        json!({"max_iterations": STEADY_STEPS * 2, "max_tokens": 1_000_000_000_u64, "max_cost_usd": 1_000_000});
    let wanted = json!({"goal": "Do as the script says.", "limits": limits}).to_string();
    client.post("/v1/tasks", &wanted)?.expect(202).map(drop)
}

/// How often a model has answered so far, as the server counts it.
fn answers(client: &mut Client) -> anyhow::Result<f64> {
    let told = client.get("/v1/metrics")?.expect(200)?.body;
    let counts = told.lines().filter(|line| line.starts_with("agent_llm_latency_ms_count"));
    Ok(counts.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum())
}
