//! Documents that people write, looked at before they are used: what is wrong with one, and where, or what it says.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What a document is meant to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentWord {
    #[default]
    Plan,
    Goal,
    Pattern,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CheckRequest {
    pub kind: DocumentWord,
    #[schema(max_length = 1048576)]
    pub document: String,
}

/// What is wrong with a document at one place. Both numbers begin at one, and columns count characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Misfit {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// Nothing was done with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Checked {
    /// All of them, in the order of the document. None: it can be used.
    pub misfits: Vec<Misfit>,
    /// The plan, goal or pattern that it is.
    pub read: Option<Value>,
    /// Of a plan or a goal: what it can come to at worst.
    pub worst_case: Option<Value>,
}
