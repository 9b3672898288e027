//! A second kind of house: where the law is tried. `caller` is an agent that is not ours and plays a script of calls;
//! `processes` makes engines over one store, each standing for a process; `records` reads what was kept of it all; `death`
//! kills a process at a named place.

mod caller;
mod death;
mod processes;
mod records;
mod things;

pub use caller::{Ask, ask, bash, call, fetch, read, recall, spawn, write};
pub use death::{At, Death, Deed};
pub use processes::{Court, no, owner_key, work, yes};
pub use things::Ring;
