//! Why a queue said no: the message is not what it should be, or the store says no.

use windlass_domain::{MessageId, Tenant};

use crate::queue::{Invalid, Queue};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("message {message_id} breaks the contract of queues: {why}")]
    Invalid { message_id: MessageId, why: Invalid },

    #[error("what arrived for {} is not a message: {why}", queue.name())]
    NotAMessage { queue: Queue, why: Invalid },

    #[error("a commit of tenant {commit} cannot do anything with a message of tenant {message}")]
    OtherTenant { commit: Tenant, message: Tenant },

    #[error(transparent)]
    Store(#[from] crate::error::Error),
}

impl Error {
    /// One word for what was refused, for the audit; `None`: nothing was refused, something is the matter with the store.
    pub const fn refusal(&self) -> Option<&'static str> {
        match self {
            Self::Invalid { why, .. } | Self::NotAMessage { why, .. } => Some(why.word()),
            Self::OtherTenant { .. } => Some("other_tenant"),
            Self::Store(error) => error.refusal(),
        }
    }
}
