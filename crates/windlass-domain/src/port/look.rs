//! What an agent may read of the work that it is part of (contracts §6): the objective, its own atom and others, what came of those that
//! it rests on, the plan, memos and files. Bound to its scope, and nothing of it changes anything.

use serde::Serialize;

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "read", rename_all = "snake_case")]
pub enum Look {
    Objective,
    /// Without a name, the one that the execution works on.
    Atom {
        atom: Option<String>,
    },
    Bindings,
    /// So many at most.
    Memo {
        query: String,
        limit: usize,
    },
    /// A file of the workspace, from this byte on.
    Artifact {
        name: String,
        offset: usize,
        limit: usize,
    },
    Plan,
}

impl Look {
    /// As a person reads that it was asked.
    pub fn in_words(&self) -> String {
        match self {
            Self::Objective => "its objective".to_owned(),
            Self::Atom { atom: None } => "its own atom".to_owned(),
            Self::Atom { atom: Some(atom) } => format!("the atom {atom}"),
            Self::Bindings => "what its atom rests on".to_owned(),
            Self::Memo { query, .. } => format!("memos about \"{query}\""),
            Self::Artifact { name, offset: 0, .. } => format!("the file {name}"),
            Self::Artifact { name, offset, .. } => format!("the file {name} from byte {offset} on"),
            Self::Plan => "the plan".to_owned(),
        }
    }
}

/// What there is to be read for an execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holdings {
    pub objective: bool,
    /// It works on an atom of a work graph.
    pub graph: bool,
    pub plan: bool,
}
