//! Redis streams (seed 000 §19): a front door like HTTP, and never the truth. What comes in is heeded by the engine, which knows what it has
//! heeded, and acknowledged after its commit; what goes out is read from the engine's records. So Redis may deliver twice, vanish for an
//! hour, or come back empty.
//!
//! `entry` and `notice` translate; `inbox` reads the group's streams; `outbox` follows the records; `mirror` keeps the three kinds of keys.

mod door;
mod entry;
mod heed;
mod inbox;
mod link;
mod mirror;
mod notice;
mod outbox;
mod scripts;

pub use door::{RedisDoor, RedisParts, SigningKey};
pub use link::BadAddress;
