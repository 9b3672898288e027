//! Who says something, by which door it came, and how far it is believed. Whoever takes something in says so; nothing in the thing itself does.

use serde::{Deserialize, Serialize};

use crate::taint::Taint;

/// Whose a session is that was opened on this machine by its own user.
pub const LOCAL_USER: &str = "local";
/// Whose a session is where the caller names nobody.
pub const UNNAMED_USER: &str = "unnamed";

/// What records call those who have no name of their own, so that nobody else may be called so.
const NOBODYS: [&str; 5] = [LOCAL_USER, UNNAMED_USER, "runtime", "system", "windlass"];

/// Whether a name is one that records have for nobody, however it is written.
pub fn is_nobodys(name: &str) -> bool {
    NOBODYS.iter().any(|nobodys| name.trim().eq_ignore_ascii_case(nobodys))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Who, as far as the door knows.
    pub by: String,
    pub channel: Channel,
    pub taint: Taint,
}

/// A front door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    #[default]
    Cli,
    Http,
    Redis,
}

impl Origin {
    /// This machine's own user, at its own terminal.
    pub fn local() -> Self {
        Self { by: LOCAL_USER.to_owned(), channel: Channel::Cli, taint: Taint::Auth }
    }
}
