//! Any agent that speaks the Agent Client Protocol, version 1, over its standard streams: `adapter.rs` what is started, `talk.rs` the
//! talk, `call.rs` a tool call as the protocol tells it in pieces, `question.rs` what may be answered, `ending.rs` how a turn ended.

mod adapter;
mod call;
mod ending;
mod question;
mod talk;

pub use adapter::{Acp, opening, possible};
pub use talk::{Asks, Opening, Talk};
