//! Approvals as they are kept: one stream for each card, a message in the tenant's `review` mailbox for as long as a person
//! is asked, and a timer for when nobody answered. What may happen to an approval is `windlass_domain::approval`; whether a
//! signature holds is `windlass_policy::approve`.

mod answer;
mod audit;
mod cards;
mod journal;
mod lapse;
mod plan;
mod request;
mod signs_here;
mod verify;

pub use answer::Answered;
pub(crate) use answer::STANDING_LIFETIME;
pub(crate) use audit::{Audited, trace_of};
pub use cards::{Asked, CardAnswer};
pub(crate) use journal::ApprovalJournal;
pub(crate) use plan::{OwnWord, check_plan, hash_of};
pub(crate) use request::{REVIEW, request};
pub(crate) use verify::{Approved, Use, check_token, use_token};
