//! What can go wrong around a command, one variant per decision a caller can make. How a command itself ended is
//! never an error; that is [`crate::Exit`].

use std::io;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operator installs something.
    #[error("find {program}: {hint}")]
    Missing { program: String, hint: &'static str },

    /// The operator allows something.
    #[error("create a sandbox: {detail}; {hint}")]
    Refused { detail: String, hint: &'static str },

    /// Nothing may run here. A denial that had to deny did not.
    #[error("confine: {what}; nothing was run")]
    NotConfined { what: String },

    /// The caller corrects the policy.
    #[error("open a sandbox: policy field `{field}`: {why}")]
    Policy { field: &'static str, why: String },

    /// The caller corrects the command.
    #[error("run a command: {why}")]
    Command { why: String },

    /// The command does not exist inside, or may not be executed; the sandbox is fine.
    #[error("start {program}: {source}")]
    NotStarted { program: String, source: io::Error },

    /// The caller opens another sandbox.
    #[error("run a command: the sandbox was closed")]
    Closed,

    /// The sandbox ended by itself or stopped answering; whether the command took effect is not known.
    #[error("keep the sandbox running: {detail}; open another one")]
    Died { detail: String },

    #[error("{doing}: {source}")]
    Io { doing: &'static str, source: io::Error },
}

impl Error {
    pub(crate) fn policy(field: &'static str, why: impl Into<String>) -> Self {
        Self::Policy { field, why: why.into() }
    }

    pub(crate) fn command(why: impl Into<String>) -> Self {
        Self::Command { why: why.into() }
    }

    /// For `map_err`: says what was being done.
    pub(crate) fn io<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Io { doing, source: error.into() }
    }
}
