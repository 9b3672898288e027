//! The rehearsal server, in a process of its own, so that its work is not counted as anybody else's.

use std::io::BufReader;
use std::path::Path;
use std::process::ChildStdout;

use anyhow::Context as _;

use crate::process::{Measured, Priority};

pub struct Server {
    process: Option<Measured>,
    /// Kept open: a server that prints into nothing would be killed for it.
    _output: BufReader<ChildStdout>,
    /// HOST:PORT.
    pub address: String,
}

impl Server {
    /// With the priority of what it serves: an answer that waits for the neighbours of a busy machine says nothing.
    pub fn start(windlass: &Path, script: &Path, priority: Priority) -> anyhow::Result<Self> {
        let mut command = priority.command(windlass);
        command.args(["rehearse", "serve", "--script"]).arg(script);
        let mut process = Measured::start(command)?;
        let (line, output) = process.first_line()?;
        let address = line.trim().rsplit("http://").next().filter(|_| line.contains("http://"));
        let address = address.context("the rehearsal server did not say where it listens")?.to_owned();
        Ok(Self { process: Some(process), _output: output, address })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.kill();
        }
    }
}
