//! Redis streams (seed 000 §19): a front door like HTTP, and never the truth. What comes in is heeded by the engine, which knows what it has
//! heeded, and acknowledged after its commit; what goes out is read from the engine's records. So Redis may deliver twice, vanish for an
//! hour, or come back empty.
//!
//! `entry` and `notice` translate; `inbox` reads the group's streams, in the order that `backlog` keeps; `outbox` follows the records; `mirror`
//! keeps the keys of tasks, and `touched` hears which of them others have changed.

mod backlog;
mod complaints;
mod delivered;
mod door;
mod entry;
mod heed;
mod holding;
mod inbox;
mod link;
mod mirror;
mod notice;
mod others;
mod outbox;
mod scripts;
mod touched;

pub use door::{RedisDoor, RedisParts, SigningKey};
pub use link::BadAddress;
