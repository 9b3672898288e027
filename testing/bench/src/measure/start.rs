//! From starting the program to the first byte of its first question to the model, and the memory it holds by then. The
//! model server is this process, which answers nothing and ends the program as soon as it has asked.

use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use anyhow::Context as _;

use crate::figures::{median, millis};
use crate::process::{Measured, Priority};

#[derive(Debug, Clone, Copy)]
pub struct Start {
    pub wall_ms: f64,
    pub cpu_ms: f64,
    pub peak_mb: f64,
}

/// A data directory that is made, and one that is there already.
pub struct Starts {
    pub first: Start,
    pub later: Start,
}

pub fn measure(
    windlass: &Path,
    workspace: &Path,
    scratch: &Path,
    priority: Priority,
    repeats: usize,
) -> anyhow::Result<Starts> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let data_dir = tempfile::tempdir_in(scratch)?;
        for starts in [&mut first, &mut later] {
            starts.push(once(windlass, workspace, data_dir.path(), priority, &listener)?);
        }
    }
    Ok(Starts { first: middle(&first), later: middle(&later) })
}

fn once(
    windlass: &Path,
    workspace: &Path,
    data_dir: &Path,
    priority: Priority,
    listener: &TcpListener,
) -> anyhow::Result<Start> {
    let mut command = priority.command(windlass);
    command
        .args(["run", "Do as the script says.", "--json", "--workspace"])
        .arg(workspace)
        .env("WINDLASS_DATA_DIR", data_dir)
        .env("LITELLM_API_BASE", format!("http://{}", listener.local_addr()?))
        .env("LITELLM_API_KEY", "none");
    let process = Measured::start(command)?;
    let (mut connection, _) = listener.accept()?;
    let read = connection.read(&mut [0; 64])?;
    let mark = process.mark();
    let peak_kb = process.peak_kb().context("it ended before it was looked at")?;
    anyhow::ensure!(read > 0, "the program connected and asked nothing");
    process.kill();
    Ok(Start { wall_ms: millis(mark.wall), cpu_ms: millis(mark.cpu), peak_mb: peak_kb as f64 / 1024.0 })
}

fn middle(starts: &[Start]) -> Start {
    let of = |pick: fn(&Start) -> f64| median(starts.iter().map(pick).collect());
    Start { wall_ms: of(|start| start.wall_ms), cpu_ms: of(|start| start.cpu_ms), peak_mb: of(|start| start.peak_mb) }
}
