//! `windlass serve` in a process of its own, as it is for those who ask it.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark starts what it measures, and a thread reads what that prints"
)]

use std::io::{BufRead as _, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::client::Client;
use crate::process::{Mark, Measured, Priority};

/// Nobody is told here that they ask too often, or for too much.
const CONFIG: &str = "[server]\nrequests_per_second = 1000000\n\
    [server.limits]\nmax_tokens = 1000000000000\nmax_cost_usd = 1000000\n";

/// What a server is started with.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub windlass: &'a Path,
    pub workspace: &'a Path,
    pub priority: Priority,
    /// HOST:PORT of the model server.
    pub models: &'a str,
    /// The address of its store; without one it is in the data directory.
    pub store: Option<&'a str>,
}

pub struct Service {
    process: Option<Measured>,
    /// HOST:PORT.
    pub address: String,
    /// Good for everything.
    pub token: String,
}

/// Nobody else may look into it: tokens are there.
pub fn shut(data_dir: &Path) -> std::io::Result<()> {
    std::fs::set_permissions(data_dir, std::fs::Permissions::from_mode(0o700))
}

impl Setup<'_> {
    /// The program, told where its data, its store and its models are.
    pub fn command(&self, data_dir: &Path) -> Command {
        let mut command = self.priority.command(self.windlass);
        command
            .env("WINDLASS_DATA_DIR", data_dir)
            .env("WINDLASS_LOG", "warn")
            .env("LITELLM_API_BASE", format!("http://{}", self.models))
            .env("LITELLM_API_KEY", "none");
        if let Some(store) = self.store {
            command.env("WINDLASS_STORE_URL", store);
        }
        command
    }

    /// With its data in `data_dir`, these arguments, and this at the end of its configuration.
    pub fn start(&self, data_dir: &Path, more: &[&str], config: &str) -> anyhow::Result<Service> {
        shut(data_dir)?;
        std::fs::write(data_dir.join("windlass.toml"), format!("{CONFIG}{config}"))?;
        let mut command = self.command(data_dir);
        command.args(["serve", "--listen", "127.0.0.1:0", "--workspace"]).arg(self.workspace).args(more);
        let mut process = Measured::start(command)?;
        let (mut line, mut output) = process.first_line()?;
        while !line.is_empty() && !line.starts_with("serving at ") {
            line.clear();
            output.read_line(&mut line)?;
        }
        let address = line.trim().strip_prefix("serving at http://").context("the service did not say where it is")?;
        // A server that prints into nothing would be killed for it, and one whose output nobody reads would wait.
        std::thread::spawn(move || {
            let mut lost = [0; 4096];
            while output.read(&mut lost).is_ok_and(|read| read > 0) {}
        });
        let token = std::fs::read_to_string(data_dir.join("token"))?.trim().to_owned();
        Ok(Service { process: Some(process), address: address.to_owned(), token })
    }
}

impl Service {
    pub fn client(&self) -> anyhow::Result<Client> {
        Client::connect(&self.address, &self.token)
    }

    pub fn mark(&self) -> Mark {
        self.process.as_ref().map(Measured::mark).unwrap_or_default()
    }

    pub fn resident_mb(&self) -> f64 {
        self.process.as_ref().and_then(Measured::resident_kb).unwrap_or_default() as f64 / 1024.0
    }
}

/// What it was at is nobody's any more: the folder it had goes with it.
impl Drop for Service {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.kill();
        }
    }
}
