//! What this machine can confine with, in words for an operator.

use std::{path::Path, time::Duration};

use crate::{Bubblewrap, Cgroups, Command, Error, Limits, Policy, Provider, discard, host::Groups, never};

/// One line of a diagnosis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub name: &'static str,
    pub state: State,
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Good,
    /// Works, with something less than it could be.
    Weak,
    Missing,
}

/// Looks, and then tries: a sandbox over `scratch`, an empty directory, with one command in it.
pub async fn diagnose(provider: &Bubblewrap, scratch: &Path) -> Vec<Finding> {
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    vec![
        Finding { name: "kernel", state: State::Good, detail: kernel },
        bubblewrap(provider).await,
        control_groups(),
        confinement(provider, scratch).await,
    ]
}

async fn bubblewrap(provider: &Bubblewrap) -> Finding {
    let (state, detail) = match provider.version().await {
        Ok((path, version)) => (State::Good, format!("{version} at {}", path.display())),
        Err(error) => (State::Missing, error.to_string()),
    };
    Finding { name: "bubblewrap", state, detail }
}

/// Whether control groups can hold the limits here.
pub fn control_groups() -> Finding {
    let (state, detail) = match Groups::create(Cgroups::WhereWritable, &Limits::default()) {
        Some(groups) if groups.holds_memory() && groups.holds_processes() => (State::Good, groups.describe()),
        Some(groups) => (State::Weak, groups.describe()),
        None => (
            State::Weak,
            "not writable; limits are held by rlimits and by counting ten times a second \
             (run in a delegated group: systemd-run --user --scope -p Delegate=yes)"
                .to_owned(),
        ),
    };
    Finding { name: "control groups", state, detail }
}

async fn confinement(provider: &Bubblewrap, scratch: &Path) -> Finding {
    let (state, detail) = match try_one(provider, scratch).await {
        Ok(()) => (State::Good, "a command ran confined".to_owned()),
        Err(error) => (State::Missing, error.to_string()),
    };
    Finding { name: "confinement", state, detail }
}

async fn try_one(provider: &Bubblewrap, scratch: &Path) -> Result<(), Error> {
    let sandbox = provider.open(Policy::new(scratch)).await?;
    let mut command = Command::new(["true"]);
    command.timeout = Duration::from_secs(10);
    let exit = sandbox.run(command, &mut discard, never()).await?;
    sandbox.close().await;
    match exit.success() {
        true => Ok(()),
        false => Err(Error::Died { detail: format!("`true` ended with {:?}", exit.status) }),
    }
}
