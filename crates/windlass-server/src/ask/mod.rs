//! What comes with a request: its body, its query, the names in its path, the key that it bears. Each is read in one way, within
//! limits, and what cannot be read is refused with a reason.

mod body;
mod fits;
mod idempotent;
mod listed;
mod named;
mod paged;
mod path;
mod query;
mod range;
mod rate;
mod roomy;
mod share;
mod tag;
mod to_its_end;

#[cfg(test)]
pub use body::whole_within as body_within;
pub use body::{Sent, whole as whole_body};
pub use idempotent::{KEY, LONGEST_KEY, heard_once, keeps_answers};
pub use listed::{Place, listed};
pub use named::{MayBe, named, nothing, own_name};
pub use paged::{Page, PageQuery};
pub use path::InPath;
pub use query::Asked;
pub use range::part_of;
pub use rate::{Rates, hold_to_rate};
pub use roomy::room_for_files;
pub use share::{Bounds, Share, Shares, hold_to_share};
pub use tag::tagged;
pub use to_its_end::to_its_end;
