//! Why the server did not do what it was asked to. Whoever is told knows whether to mend the address, the token, the request or the
//! network. Nothing here ever quotes a token.

use crate::Problem;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`{0}` is not the address of a server: it must be such as https://host:7117")]
    BadAddress(String),

    #[error("a token is not sent to {0} over plain http: anybody on the way could read it")]
    Unencrypted(String),

    #[error("the token has characters that HTTP cannot carry")]
    BadToken,

    #[error("{server} cannot be reached ({why})")]
    Unreachable { server: String, why: String },

    #[error("{server} has a certificate that this machine does not trust ({why})")]
    Untrusted { server: String, why: String },

    /// TLS where there is none, or the other way round, or something else at that port.
    #[error("what answers at {server} is not a Windlass server ({why})")]
    NotWindlass { server: String, why: String },

    /// Whether it was heard is not known.
    #[error("the connection to {server} broke off ({why})")]
    Broken { server: String, why: String },

    #[error("{server} has not answered for {seconds} s")]
    Slow { server: String, seconds: u64 },

    #[error("the answer of {server} is larger than {most} bytes")]
    TooLarge { server: String, most: usize },

    #[error("{}", .0.detail)]
    Refused(Box<Problem>),
}

impl Error {
    /// At once, or nearly.
    pub(super) fn is_worth_another_try(&self) -> bool {
        match self {
            Self::Broken { .. } => true,
            Self::Refused(problem) => problem.code == "too_often",
            _ => false,
        }
    }

    /// Whether asking again, later, may be answered.
    pub const fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Broken { .. } | Self::Slow { .. } => true,
            Self::Refused(problem) => matches!(problem.status, 429 | 503),
            _ => false,
        }
    }
}
