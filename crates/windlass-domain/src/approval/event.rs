//! The records of an approval's own stream, in the order of seed 001 §6.5.

use serde::{Deserialize, Serialize};

use crate::approval::{ApprovalToken, Card, Nonce, Strength, Verdict};
use crate::event::events;

events! {
    pub enum ApprovalEvent {
        Requested(Requested) = "approval.requested",
        Decided(Decided) = "approval.decided",
        Expired(Expired) = "approval.expired",
        Withdrawn(Withdrawn) = "approval.withdrawn",
        Issued(Issued) = "approval.issued",
        Verified(Verified) = "approval.verified",
        VerifyFailed(VerifyFailed) = "approval.verify_failed",
        Attached(Attached) = "approval.attached",
        Checked(Checked) = "approval.checked",
        CheckFailed(CheckFailed) = "approval.check_failed",
        Executed(Executed) = "approval.executed",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requested {
    pub card: Card,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    pub verdict: Verdict,
    /// Who answered, as the channel knows them.
    pub by: String,
    pub approval_strength: Strength,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// What the person added; for `edit_requested`, what should change.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Nobody answered in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expired {}

/// The run ended, so that there is nothing left to allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawn {
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    pub token: ApprovalToken,
}

/// One use is spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    pub execution_nonce: Nonce,
    /// Which use, from 0.
    pub slot: u32,
}

/// Somebody showed a token that did not hold. It says nothing about the token that was issued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyFailed {
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    pub execution_nonce: Nonce,
    pub work_item_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    pub execution_nonce: Nonce,
}

/// What was about to run is not what was allowed; this use is blocked for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFailed {
    pub execution_nonce: Nonce,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    pub execution_nonce: Nonce,
}
