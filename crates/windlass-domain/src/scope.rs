//! Who owns an execution, and on whose account one is begun. The execution knows no more of its owner than this: a kind and an id, which is
//! that of a task, or a digest where what is meant has no id of its own. A digest names a folder or a file and shows neither.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::TaskId;
use crate::task::{Part, TaskCreated};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    pub kind: ScopeKind,
    pub id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeKind {
    System,
    Repository,
    Mission,
    Task,
    Artifact,
}

/// On whose account an execution is begun.
#[derive(Debug, Clone, Copy)]
pub enum Account<'a> {
    /// On Windlass's own, for this duty of its. So far no duty needs an agent: what `doctor` and `agent test` start is no execution.
    Windlass { duty: &'a str },
    /// It is an attempt of this task.
    Attempt { of: TaskId, created: &'a TaskCreated },
    /// It judges what is done for this task.
    Judge { of: TaskId, created: &'a TaskCreated },
    /// Another execution has sent it, which works for this task and has this scope.
    Child { of: TaskId, parent: &'a Scope, writes: Option<&'a str> },
}

impl Scope {
    /// Contracts §6. Whoever works on an atom, or on what was asked for directly, works for that task; whoever plans, looks, judges or
    /// advises for a plan works for the whole of it. While somebody only talks there is no task yet, and a folder is all there is. Whose
    /// words become a file works for that file, and whoever is sent otherwise for what its sender works for.
    pub fn of(account: Account<'_>) -> Self {
        match account {
            Account::Windlass { duty } => Self { kind: ScopeKind::System, id: duty.to_owned() },
            Account::Attempt { of, created } => match &created.part_of {
                _ if created.turn.is_some() => Self::repository(created),
                Some(whole) if !matches!(whole.part, Part::Atom { .. }) => Self::mission(whole.root),
                Some(_) | None => Self::task(of),
            },
            Account::Judge { of, created } => match &created.part_of {
                _ if created.turn.is_some() => Self::repository(created),
                Some(whole) => Self::mission(whole.root),
                None => Self::task(of),
            },
            Account::Child { of, writes: Some(file), .. } => {
                let deliverable = Digest::of(of.to_string().as_bytes()).chain(file.as_bytes());
                Self { kind: ScopeKind::Artifact, id: deliverable.to_string() }
            }
            Account::Child { parent, writes: None, .. } => parent.clone(),
        }
    }

    fn task(task: TaskId) -> Self {
        Self { kind: ScopeKind::Task, id: task.to_string() }
    }

    fn mission(root: TaskId) -> Self {
        Self { kind: ScopeKind::Mission, id: root.to_string() }
    }

    /// The same path is another folder on another machine.
    fn repository(created: &TaskCreated) -> Self {
        let machine = Digest::of(created.placement.as_deref().unwrap_or_default().as_bytes());
        Self { kind: ScopeKind::Repository, id: machine.chain(created.workspace.as_bytes()).to_string() }
    }
}

impl ScopeKind {
    pub const ALL: [Self; 5] = [Self::System, Self::Repository, Self::Mission, Self::Task, Self::Artifact];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Repository => "repository",
            Self::Mission => "mission",
            Self::Task => "task",
            Self::Artifact => "artifact",
        }
    }
}

/// What an agent is there to do; it decides the toolset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Proxy,
    Planner,
    Executor,
    Researcher,
    Probe,
    Worker,
    Verifier,
    Tactician,
    Subagent,
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Planner => "planner",
            Self::Executor => "executor",
            Self::Researcher => "researcher",
            Self::Probe => "probe",
            Self::Worker => "worker",
            Self::Verifier => "verifier",
            Self::Tactician => "tactician",
            Self::Subagent => "subagent",
        }
    }
}
