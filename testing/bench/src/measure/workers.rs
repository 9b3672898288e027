//! Several workers on one store: how many steps they make together on PostgreSQL, beside one on SQLite; and how soon another goes on with
//! what a worker had that was killed.

#![expect(clippy::disallowed_methods, reason = "a benchmark plays the model, which takes its time")]

use std::io::BufReader;
use std::path::Path;
use std::process::ChildStdout;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_postgres_server::Server;

use crate::client::Client;
use crate::endpoint::{Endpoint, calls};
use crate::figures::Spread;
use crate::process::Measured;
use crate::script::{self, NOTE, Tool};
use crate::service::{Service, Setup};

pub const WORKERS: [usize; 3] = [1, 2, 4];
/// As many as four workers have at once, three times: at its end none is idle for long.
const TASKS: usize = 96;
const STEPS: usize = 20;
const THINKING: Duration = Duration::from_millis(50);
/// Fewer than a task bears.
const DEATHS: usize = 15;
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    /// Of one worker.
    pub sqlite_per_s: f64,
    /// One for each of `WORKERS`.
    pub postgres_per_s: Vec<f64>,
    /// In milliseconds, as the one below.
    pub sqlite_resumed: Spread,
    pub postgres_resumed: Spread,
}

pub fn measure(setup: Setup<'_>, scratch: &Path) -> anyhow::Result<Figures> {
    // Beside the scratch folder, into which nobody else may look: the server is another user's where this is root.
    let server = Server::start_in(scratch.parent().context("a folder stands in another")?);
    let sqlite_per_s = steps_per_s(setup, scratch, 1)?;
    let on_postgres = |workers: &usize| {
        let store = server.database(&format!("steps_{workers}"));
        steps_per_s(Setup { store: Some(&store), ..setup }, scratch, *workers)
    };
    let postgres_per_s = WORKERS.iter().map(on_postgres).collect::<anyhow::Result<Vec<_>>>()?;
    let sqlite_resumed = resumed(setup, scratch)?;
    let store = server.database("deaths");
    let postgres_resumed = resumed(Setup { store: Some(&store), ..setup }, scratch)?;
    Ok(Figures { sqlite_per_s, postgres_per_s, sqlite_resumed, postgres_resumed })
}

/// From the moment the workers are started until nothing is left to do.
fn steps_per_s(setup: Setup<'_>, scratch: &Path, workers: usize) -> anyhow::Result<f64> {
    let data_dir = tempfile::tempdir_in(scratch)?;
    let model = script::model(Tool::Read, STEPS);
    let service = setup.start(data_dir.path(), &["--no-work", "--model", &model], "")?;
    let tasks = (0..TASKS).map(|_| begin(&service)).collect::<anyhow::Result<Vec<_>>>()?;
    let begun = Instant::now();
    let working = (0..workers).map(|_| {
        let mut command = setup.command(data_dir.path());
        command.args(["worker", "--until-idle"]);
        Measured::start(command)
    });
    for mut worker in working.collect::<anyhow::Result<Vec<_>>>()? {
        worker.lines()?;
        worker.finish("a worker")?;
    }
    let took = begun.elapsed();
    let mut client = service.client()?;
    for task in &tasks {
        let told = client.get(&format!("/v1/tasks/{task}"))?.expect(200)?.json()?;
        anyhow::ensure!(told["status"] == "COMPLETED", "a task was left behind: {told}");
    }
    Ok((TASKS * STEPS) as f64 / took.as_secs_f64())
}

fn begin(service: &Service) -> anyhow::Result<String> {
    let limits = json!({"max_iterations": 100_000, "timeout_seconds": 100_000, "max_tokens": 1_000_000_000_000_u64,
        "max_cost_usd": 1_000_000, "max_attempts": 1});
    let wanted = json!({"goal": "Look again and again.", "limits": limits}).to_string();
    let mut client: Client = service.client()?;
    let taken = client.post("/v1/tasks", &wanted)?.expect(202)?.json()?;
    Ok(taken["task_id"].as_str().context("a task has an id")?.to_owned())
}

/// One after the other is killed, each with another standing by.
fn resumed(setup: Setup<'_>, scratch: &Path) -> anyhow::Result<Spread> {
    let model = Arc::new(Model::default());
    let answering = Arc::clone(&model);
    let endpoint = Endpoint::start(move |_| answering.answer())?;
    let setup = Setup { models: endpoint.url.trim_start_matches("http://"), ..setup };
    let data_dir = tempfile::tempdir_in(scratch)?;
    let service = setup.start(data_dir.path(), &["--no-work", "--model", "gpt-4o"], "")?;
    begin(&service)?;
    let mut at_work = StandingBy::start(&setup, data_dir.path())?;
    model.asked_after(Instant::now())?;
    let mut lengths = Vec::new();
    for _ in 0..DEATHS {
        let next = StandingBy::start(&setup, data_dir.path())?;
        let died = at_work.kill();
        lengths.push(model.asked_after(died)? - died);
        at_work = next;
    }
    at_work.kill();
    Ok(Spread::in_millis(lengths))
}

/// A worker that is up.
struct StandingBy {
    process: Measured,
    /// Kept open: a worker that prints into nothing would be killed for it.
    _output: BufReader<ChildStdout>,
}

impl StandingBy {
    fn start(setup: &Setup<'_>, data_dir: &Path) -> anyhow::Result<Self> {
        let mut command = setup.command(data_dir);
        command.args(["worker", "--metrics", "127.0.0.1:0"]);
        let mut process = Measured::start(command)?;
        let (line, output) = process.first_line()?;
        anyhow::ensure!(line.contains("/metrics"), "the worker did not start: {line}");
        // It has said that it is there and is about to look for work, of which there is none.
        std::thread::sleep(Duration::from_millis(300));
        Ok(Self { process, _output: output })
    }

    /// When it was gone.
    fn kill(self) -> Instant {
        self.process.kill();
        Instant::now()
    }
}

/// Reads another part of a file with every answer, and remembers when it was asked.
#[derive(Default)]
struct Model {
    asked: Mutex<Vec<Instant>>,
}

impl Model {
    fn answer(&self) -> Value {
        let number = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push(Instant::now());
            asked.len()
        };
        std::thread::sleep(THINKING);
        calls([(format!("call-{number}"), "read", json!({"path": NOTE, "limit": 100 + number}))])
    }

    /// The first time after that.
    fn asked_after(&self, moment: Instant) -> anyhow::Result<Instant> {
        while moment.elapsed() < PATIENCE {
            let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(first) = asked.into_iter().find(|asked| *asked > moment) {
                return Ok(first);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        anyhow::bail!("nobody went on with the task")
    }
}
