//! Approvals (contracts §3, seed 001 §6.5): a card asks a person, the answer becomes a signed token, and each use of the
//! token is verified, attached, checked and executed. One approval is one stream, `approval/<card_id>`.
//!
//! ```text
//! requested → decided → issued → (verified → attached → checked → executed), once for each of max_executions
//!     │          ├→ declined, edit_requested                      └→ blocked, when the check fails
//!     ├→ expired
//!     └→ withdrawn, from anywhere before: the run ended
//! ```
//!
//! Signatures are made and checked in `windlass-policy`; here a `Proof` stands for one that was.

mod bound;
mod card;
mod command;
mod decide;
mod event;
mod proof;
mod state;
mod token;

pub use crate::id::{CardId, TokenId};
pub use bound::{WorstCase, bound, bound_plan};
pub use card::{Binding, Card, DEFAULT_LIFETIME, RiskLevel};
pub use command::{Answer, ApprovalCommand, Rejected};
pub use decide::decide;
pub use event::{
    ApprovalEvent, Attached, CheckFailed, Checked, Decided, Executed, Expired, Issued, Requested, Verified,
    VerifyFailed, Withdrawn,
};
pub use proof::Proof;
pub use state::{ApprovalState, Stage, Use};
pub use token::{ApprovalScope, ApprovalToken, KeyId, Nonce, Signature, Strength, Verdict};
