//! A scripted model. A script has tracks, a track has entries; which entry answers a request is a pure function of the
//! script, the turn, the try and what the request says, so that a resumed run plays on where it was. `Rehearsal` plays it in
//! the process, behind the same trait, retries and accounting as a real model; `Server` plays it over HTTP, for programs
//! that speak to OpenAI or Anthropic.
//!
//! Words: a *place* is the number of a turn that an entry serves; a *line* is what an entry says; a *fault* here is an entry
//! that fails on purpose.

mod choose;
mod parse;
mod play;
mod provider;
mod script;
mod serve;
mod yaml;

pub use parse::{Problem, Problems};
pub use provider::Rehearsal;
pub use script::Script;
pub use serve::Server;
pub(crate) use serve::{HowPlayed, Played, Service, read};
