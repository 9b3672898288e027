//! Proof that a token's signature was checked and held, for one use of it. Only `windlass-policy` makes one, after a strict
//! check; the commit that records the use makes it unique, so that of many who verify the same use one wins.

use crate::approval::{ApprovalToken, Nonce};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    token: ApprovalToken,
    execution_nonce: Nonce,
}

impl Proof {
    /// For `windlass-policy` alone: the signature of `token` was checked against a key of its owner.
    pub const fn of_checked_signature(token: ApprovalToken, execution_nonce: Nonce) -> Self {
        Self { token, execution_nonce }
    }

    pub const fn token(&self) -> &ApprovalToken {
        &self.token
    }

    pub const fn execution_nonce(&self) -> Nonce {
        self.execution_nonce
    }

    /// Which use of the token this is, from 0.
    pub const fn slot(&self) -> u32 {
        self.token.executions_used
    }

    /// What the commit must claim, both or nothing: the slot is what many may race for, the nonce is what nobody may use
    /// again, with this token or another.
    pub fn claims(&self) -> [String; 2] {
        let Self { token, execution_nonce } = self;
        [format!("approval/{}/{}", token.token_id, token.executions_used), format!("approval-nonce/{execution_nonce}")]
    }
}
