//! A command of the program `windlass`, carried out where the server is. It is for that program alone, which prints what comes back as
//! if it had said it itself; others ask for tasks, cards and records by their own addresses.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandRequest {
    /// One command by its name, with its arguments: an object with one field.
    pub command: Value,
}

/// What the command says, in its order, and the number that it ends with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CommandTold {
    pub said: Vec<Value>,
    pub exit: u8,
}
