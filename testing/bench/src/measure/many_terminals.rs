//! The memory of a hundred terminals as `windlass run --terminal` has them: programs in a sandbox, each on a pseudo-terminal of its own, on a
//! screen that is full and has scrolled, in a recording that passed the redactor. What is weighed is this process, not the programs.

#![expect(clippy::disallowed_methods, reason = "a measured part spawns on an executor of its own")]

use std::io;
use std::path::Path;
use std::sync::Arc;

use windlass_sandbox::{Bubblewrap, Command, Policy, Provider as _, Running, Sandbox, Streams, Supervisor};
use windlass_terminal::{BoxFuture, Line, Size, Terminal, Terminals};

use super::terminals::{SIZE, options, session};
use crate::process::status_kb;

pub const MANY: usize = 100;
/// By each of them: more than scrolls away.
const PRINTED: usize = 256 << 10;
const FILE: &str = "printed";
/// What stands on a screen when all of it was printed.
const PRINTED_ALL: &str = "all of it";

/// Resident memory for each, in KB.
pub async fn kb_each(windlass: &Path, scratch: &Path) -> anyhow::Result<f64> {
    let house = House::open(windlass, scratch).await?;
    // One before, so that what all share is there.
    let mut open = vec![house.terminal("first").await?];
    let before = resident_kb();
    for number in 0..MANY {
        open.push(house.terminal(&number.to_string()).await?);
    }
    let each = resident_kb().saturating_sub(before) as f64 / MANY as f64;
    for terminal in open {
        let trouble = terminal.trouble();
        anyhow::ensure!(trouble.is_none(), "a recording broke off: {trouble:?}");
        terminal.kill();
    }
    house.sandbox.close().await;
    Ok(each)
}

fn resident_kb() -> u64 {
    status_kb(std::process::id(), "VmRSS:").unwrap_or_default()
}

struct House {
    sandbox: Box<dyn Sandbox>,
    registry: Terminals,
    workspace: tempfile::TempDir,
    recordings: tempfile::TempDir,
}

impl House {
    async fn open(windlass: &Path, scratch: &Path) -> anyhow::Result<Self> {
        let (workspace, recordings) = (tempfile::tempdir_in(scratch)?, tempfile::tempdir_in(scratch)?);
        std::fs::write(workspace.path().join(FILE), session(PRINTED))?;
        let supervisor = Supervisor { program: windlass.to_owned(), args: vec!["__supervise".into()] };
        let sandbox = Bubblewrap::new(supervisor).open(Policy::new(workspace.path())).await?;
        Ok(Self { sandbox, registry: Terminals::default(), workspace, recordings })
    }

    /// One more, once its program has printed all that it has to print; it stays.
    async fn terminal(&self, name: &str) -> anyhow::Result<Terminal> {
        let file = self.workspace.path().join(FILE);
        let script = format!("stty -opost; cat \"$0\"; printf '\\r\\n{PRINTED_ALL}'; read -r _");
        let mut command = Command::new(["sh".into(), "-c".into(), script.into(), file.into_os_string()]);
        command.streams = Streams::Terminal { rows: SIZE.rows, cols: SIZE.cols };
        command.timeout = Command::NO_TIMEOUT;
        let running: Arc<dyn Running> = Arc::from(self.sandbox.start(command).await?);
        let mut options = options(Some(&self.recordings.path().join(name)))?;
        let kill = Arc::clone(&running);
        options.kill = Box::new(move || kill.kill());
        let (terminal, carrying) = self.registry.open(name, Arc::new(Wire(running)), options)?;
        tokio::spawn(carrying);
        let mut changes = terminal.changes();
        while !terminal.look(|screen| screen.text().iter().any(|line| line == PRINTED_ALL)) {
            changes.changed().await?;
        }
        Ok(terminal)
    }
}

/// The sandbox's end of a terminal.
struct Wire(Arc<dyn Running>);

impl Line for Wire {
    fn read(&self) -> BoxFuture<'_, io::Result<Vec<u8>>> {
        Box::pin(async { self.0.read().await.map_err(io::Error::other) })
    }

    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async { self.0.write(bytes).await.map_err(io::Error::other) })
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        self.0.resize(size.rows, size.cols).map_err(io::Error::other)
    }
}
