//! Objectives from outside: beginning what was agreed on (`start`), having it written again (`send_back`), and changing it while it is
//! worked on (`redirect`), also in a person's own words (`suggest`). Each is one commit of whoever asks for it, beside those who drive the task: what they then try to write is
//! overtaken, and they look again.

mod redirect;
mod start;
mod suggest;

pub use redirect::{Preview, Redirected, Wanted};
pub use start::Started;
pub use suggest::Suggested;
