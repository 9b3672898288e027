//! Why something outside was not reached, for whoever asked and for the operator's log.

use std::{io, net::IpAddr};

/// One attempt that came to nothing.
#[derive(Debug, thiserror::Error)]
#[error("reach {host}:{port}: {reason}")]
pub struct Refused {
    /// As it was asked for.
    pub host: String,
    pub port: u16,
    pub reason: Reason,
}

#[derive(Debug, thiserror::Error)]
pub enum Reason {
    #[error("it is not among the allowed hosts; an operator can add it to `allowed_hosts`")]
    NotListed,
    #[error("it is allowed on other ports only; an operator can add it with this one to `allowed_hosts`")]
    Port,
    #[error("{address} is not a public address ({what}); an operator can allow the host by its name and port")]
    NotPublic { address: IpAddr, what: &'static str },
    #[error("this is neither a name nor an address")]
    Nonsense,
    #[error("it has no address ({0})")]
    NoAddress(io::Error),
    #[error("it could not be connected to ({0})")]
    NoConnection(io::Error),
    #[error("it did not answer in time")]
    TooSlow,
    #[error("more than {0} bytes would have gone through one connection")]
    TooMuch(u64),
    #[error("more than {0} bytes would have gone through this sandbox's connections")]
    TooMuchInAll(u64),
}

impl Reason {
    /// Whether it was forbidden, and not merely impossible.
    pub fn is_denial(&self) -> bool {
        match self {
            Self::NotListed | Self::Port | Self::NotPublic { .. } | Self::Nonsense => true,
            Self::TooMuch(_) | Self::TooMuchInAll(_) => true,
            Self::NoAddress(_) | Self::NoConnection(_) | Self::TooSlow => false,
        }
    }
}
