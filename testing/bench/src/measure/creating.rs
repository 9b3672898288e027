//! Tasks asked for over HTTP, by one, eight and sixty-four clients that each wait for an answer before they ask again: how many a
//! second and how long one takes, beside requests for the server's health, which nothing is kept of, from as many clients in the
//! same run. Nobody works on the tasks meanwhile: what is measured is taking them in, and each is on the disk when it is answered.

#![expect(clippy::disallowed_methods, reason = "a client is a thread, and reads the clock")]

use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::figures::Spread;
use crate::measure::commits::syncs;
use crate::service::{Service, Setup};

pub const CLIENTS: [usize; 3] = [1, 8, 64];
const ROUND: Duration = Duration::from_secs(3);

#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub syncs_per_s: f64,
    /// One for each of `CLIENTS`.
    pub rounds: Vec<Round>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Round {
    pub creating: Load,
    pub health: Load,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Load {
    pub per_s: f64,
    /// Milliseconds.
    pub took: Spread,
    /// Of the server, a request.
    pub cpu_micros: f64,
}

pub fn measure(setup: Setup<'_>, scratch: &Path) -> anyhow::Result<Figures> {
    let data_dir = tempfile::tempdir_in(scratch)?;
    let service = setup.start(data_dir.path(), &["--no-work"], "")?;
    let health = |client: &mut Client| client.get("/v1/health")?.expect(200).map(drop);
    // What is built by the first request is nobody's share.
    create(&mut service.client()?)?;
    let before = syncs(scratch)?;
    let mut rounds = Vec::new();
    for clients in CLIENTS {
        let health = load(&service, clients, &health)?;
        rounds.push(Round { creating: load(&service, clients, &create)?, health });
    }
    Ok(Figures { syncs_per_s: f64::midpoint(before, syncs(scratch)?), rounds })
}

pub fn create(client: &mut Client) -> anyhow::Result<()> {
    let wanted = r#"{"goal":"Read the note and say what is in it.","constraints":["Leave the note as it is."]}"#;
    client.post("/v1/tasks", wanted)?.expect(202).map(drop)
}

fn load(
    service: &Service,
    clients: usize,
    ask: &(impl Fn(&mut Client) -> anyhow::Result<()> + Sync),
) -> anyhow::Result<Load> {
    let connections = (0..clients).map(|_| service.client()).collect::<anyhow::Result<Vec<_>>>()?;
    let (before, begun) = (service.mark(), Instant::now());
    let took = std::thread::scope(|scope| {
        let asking: Vec<_> = connections.into_iter().map(|client| scope.spawn(move || again(client, ask))).collect();
        asking.into_iter().map(|client| client.join().expect("a client does not panic")).collect::<Vec<_>>()
    });
    let (elapsed, after) = (begun.elapsed(), service.mark());
    let took: Vec<Duration> = took.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat();
    let requests = took.len() as f64;
    Ok(Load {
        per_s: requests / elapsed.as_secs_f64(),
        took: Spread::in_millis(took),
        cpu_micros: after.since(before).cpu.as_secs_f64() * 1e6 / requests,
    })
}

fn again(mut client: Client, ask: &impl Fn(&mut Client) -> anyhow::Result<()>) -> anyhow::Result<Vec<Duration>> {
    let (begun, mut took) = (Instant::now(), Vec::new());
    while begun.elapsed() < ROUND {
        let asked = Instant::now();
        ask(&mut client)?;
        took.push(asked.elapsed());
    }
    Ok(took)
}
