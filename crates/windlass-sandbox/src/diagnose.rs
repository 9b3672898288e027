//! What this machine can confine with, in words for an operator.

use std::{path::Path, time::Duration};

use crate::{
    Bubblewrap, Cgroups, Command, Docker, Error, Limits, Policy, Provider, discard,
    host::{Groups, Version},
    never,
};

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

/// The same for a provider that is there if the operator wants it: its daemon, and a command in one of its containers. What dead
/// owners have left is removed.
pub async fn diagnose_docker(provider: &Docker, scratch: &Path) -> Vec<Finding> {
    let finding = |name, (state, detail)| Finding { name, state, detail };
    let (socket, version) = match provider.version().await {
        Ok(found) => found,
        Err(error) => return vec![finding("docker", (State::Missing, error.to_string()))],
    };
    let mut detail = format!("{version} at {}", socket.display());
    if let Ok(removed @ 1..) = provider.sweep().await {
        detail.push_str(&format!("; removed {removed} that dead processes had left"));
    }
    let tried = match try_one(provider, scratch).await {
        Ok(()) => (State::Good, "a command ran in a container".to_owned()),
        Err(error) => (State::Missing, error.to_string()),
    };
    vec![finding("docker", (State::Good, detail)), finding("docker sandbox", tried)]
}

async fn bubblewrap(provider: &Bubblewrap) -> Finding {
    let (state, detail) = match provider.version().await {
        Ok((path, version)) => (State::Good, format!("{version} at {}", path.display())),
        Err(error) => (State::Missing, error.to_string()),
    };
    Finding { name: "bubblewrap", state, detail }
}

/// What holds the limits here, and what it does not hold.
pub fn control_groups() -> Finding {
    let groups = Groups::create(Cgroups::WhereWritable, &Limits::default());
    holding(groups.as_ref().and_then(Groups::memory_version), groups.as_ref().and_then(Groups::processes_version))
}

fn holding(memory: Option<Version>, processes: Option<Version>) -> Finding {
    let by = |version| match version {
        Some(Version::One) => "a group (v1)",
        Some(Version::Two) => "a group (v2)",
        None => "rlimits and counting",
    };
    let mut detail = format!("memory is held by {}, processes by {}", by(memory), by(processes));
    if memory.is_none() {
        detail.push_str(COUNTED_MEMORY);
    }
    if processes.is_none() {
        detail.push_str(COUNTED_PROCESSES);
    }
    let is_held = memory.is_some() && processes.is_some();
    if !is_held {
        detail.push_str(DELEGATE);
    }
    let state = if is_held { State::Good } else { State::Weak };
    Finding { name: "control groups", state, detail }
}

const COUNTED_MEMORY: &str = "
memory is counted ten times a second, so that a command may go over for a moment
counted: what processes have for themselves and share, /tmp, /dev/shm, the home
not counted: buffers of pipes and sockets, a workspace that lies in memory, what a program hides on purpose
not allowed, because it could not be counted: memfd_create";

const COUNTED_PROCESSES: &str = "
processes are counted ten times a second; for anybody but root the kernel holds them too, from Linux 5.14 on";

const DELEGATE: &str = "
the kernel holds both in a group that you may write: systemd-run --user --scope -p Delegate=yes windlass run ...";

async fn confinement(provider: &Bubblewrap, scratch: &Path) -> Finding {
    let (state, detail) = match try_one(provider, scratch).await {
        Ok(()) => (State::Good, "a command ran confined".to_owned()),
        Err(error) => (State::Missing, error.to_string()),
    };
    Finding { name: "confinement", state, detail }
}

async fn try_one(provider: &dyn Provider, scratch: &Path) -> Result<(), Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(memory: Option<Version>, processes: Option<Version>, first_line: &str, gaps: &[&str]) {
        let finding = holding(memory, processes);
        assert_eq!(finding.detail.lines().next(), Some(first_line));
        for gap in ["not counted: buffers", "memfd_create", "processes are counted", "systemd-run"] {
            assert_eq!(finding.detail.contains(gap), gaps.contains(&gap), "{gap}: {}", finding.detail);
        }
        assert_eq!(finding.state == State::Good, gaps.is_empty());
    }

    #[test]
    fn what_nothing_holds_is_said() {
        let (one, two) = (Some(Version::One), Some(Version::Two));
        check(two, two, "memory is held by a group (v2), processes by a group (v2)", &[]);
        check(
            one,
            None,
            "memory is held by a group (v1), processes by rlimits and counting",
            &["processes are counted", "systemd-run"],
        );
        check(
            None,
            one,
            "memory is held by rlimits and counting, processes by a group (v1)",
            &["not counted: buffers", "memfd_create", "systemd-run"],
        );
        let everything = ["not counted: buffers", "memfd_create", "processes are counted", "systemd-run"];
        check(None, None, "memory is held by rlimits and counting, processes by rlimits and counting", &everything);
    }
}
