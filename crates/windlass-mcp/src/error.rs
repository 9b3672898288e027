//! Why a server did not do what it was asked to. What a caller decides by is whether the call may have happened.

use windlass_domain::Stop;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing was asked yet.
    #[error("the server cannot be started or reached: {0}")]
    Unreachable(String),
    /// What was asked last may have been done.
    #[error("the server broke off: {0}")]
    Broken(String),
    /// What was asked last may have been done.
    #[error("the server does not keep to the protocol: {0}")]
    Protocol(String),
    /// What was asked last may still be going on.
    #[error("the server did not answer within {seconds} seconds")]
    Late { seconds: u64 },
    #[error("stopped before the server answered")]
    Stopped(Stop),
    #[error("the server refused: {message} (code {code})")]
    Refused { code: i64, message: String },
    /// Not called: the tool is no longer what the operator accepted.
    #[error(
        "the server has changed its definition of `{tool}` since the operator accepted it, so that it was not called"
    )]
    Changed { tool: String },
    /// Not called.
    #[error("the server no longer has a usable tool `{tool}`")]
    Gone { tool: String },
}

impl Error {
    /// Whether the session is of no more use.
    pub const fn ends_session(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Broken(_) | Self::Protocol(_))
    }
}
