//! Who owns an execution. The execution knows no more of its owner than this.

use serde::{Deserialize, Serialize};

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
