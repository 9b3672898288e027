//! The audit chain: every commit that appends events for a tenant leaves on its last row a digest of the tenant's chain so
//! far and of the commit's rows, so that what was written cannot be changed, left out or put in without breaking every
//! digest after it. Cutting off the end breaks nothing, hence heads are worth keeping elsewhere; signing them is not done
//! here.

mod link;
mod verify;

pub use link::{ChainHead, Link};
pub(crate) use link::{Row, genesis, write_row};
pub use verify::{Break, Verified, verify};
