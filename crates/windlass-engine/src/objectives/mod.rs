//! Objectives from outside: beginning what was agreed on (`start`), having it written again (`send_back`), and changing it while it is
//! worked on (`redirect`). Each is one commit of whoever asks for it, beside those who drive the task: what they then try to write is
//! overtaken, and they look again.

mod redirect;
mod start;

pub use redirect::{Preview, Redirected};
pub use start::Started;
