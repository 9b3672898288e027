//! An agent that speaks another language than its model server. Its request is read into our own messages, asked through a
//! `Provider`, which retries and meters, and the answer is written in the agent's language while it comes.
//!
//! What an agent says arrives, or the request is refused with what could not be said. Three things are not what it says, and are
//! left to the model and its server: how it samples besides the temperature, how much it thinks, and what is only noted for
//! somebody's books. Thoughts stay with the server that thought them.

mod chat;
mod compose;
mod messages;
mod parts;
mod picture;
mod responses;
mod speak;
#[cfg(test)]
mod tests;
mod told;
mod translator;

pub use translator::Translator;
