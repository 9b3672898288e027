//! Leases: the right to work on something, held by one owner at a time. Every taking raises the lease's epoch, and a
//! commit made under an older one changes nothing, so a process that lost its lease without noticing does no harm.

mod row;
mod take;

pub use row::{Claim, Epoch, Fence, LeaseChange, LeaseName, LeaseRow};
pub use take::{Taking, release, take};
