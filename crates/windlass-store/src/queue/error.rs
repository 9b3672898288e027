//! Why a queue said no: the message is not what it should be, or the store says no.

use windlass_domain::{MessageId, Tenant};

use crate::queue::Invalid;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("message {message_id} breaks the contract of queues: {why}")]
    Invalid { message_id: MessageId, why: Invalid },

    #[error("a commit of tenant {commit} cannot do anything with a message of tenant {message}")]
    OtherTenant { commit: Tenant, message: Tenant },

    #[error(transparent)]
    Store(#[from] crate::error::Error),
}
