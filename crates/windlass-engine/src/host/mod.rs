//! The host of one execution: every record, leave and request of its runner passes here and nowhere else.

mod asking;
mod authorise;
mod blocked;
mod card;
mod child;
mod child_end;
mod child_output;
mod child_run;
mod child_told;
mod commit;
mod deliver;
mod execution_host;
mod find;
mod gates;
mod ground;
mod journal;
mod judge;
mod kin;
mod memory;
mod memos;
mod refusals;
mod refused_call;
mod rider;
mod runner_port;
mod seen;
mod shown;
mod tell_user;
mod validate_plan;

pub(crate) use child_end::bill;
pub(crate) use execution_host::{ExecutionHost, HostParts};
pub(crate) use gates::{Held, Passed, pass_words};
pub(crate) use ground::Ground;
pub(crate) use journal::{Decided, Journal, load};
pub(crate) use refusals::{Refusals, When};
pub(crate) use rider::Rider;
pub(crate) use validate_plan::wrong;
