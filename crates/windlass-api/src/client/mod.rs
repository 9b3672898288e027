//! Asking `windlass serve`: one request at a time, each over a connection of its own, and the events of a stream for as long as it lasts.
//! What must not happen twice is sent with a key, so that it can be sent again when a connection breaks. It waits and throws dice by
//! `Surroundings`, and starts nothing beside whoever asks.

mod address;
mod answer;
mod ask;
mod connect;
mod error;
mod events;
mod surroundings;

pub use address::Address;
pub use ask::{Client, Token};
pub use connect::{Dialled, Duplex};
pub use error::Error;
pub use events::{Event, Events};
pub use surroundings::{Pause, Surroundings};
