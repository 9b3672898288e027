//! How the program says that something went wrong: what, and what to do about it, on standard error.

#![expect(clippy::print_stderr, reason = "this is where the program complains")]

use std::io::IsTerminal as _;

use super::style::{Paint, Style};
use crate::config::wants_colour;

pub fn complain(error: &anyhow::Error, hint: Option<&str>) {
    let coloured = std::io::stderr().is_terminal() && wants_colour();
    let paint = if coloured { Paint::Coloured } else { Paint::Plain };
    eprintln!("{} {}", paint.apply(Style::Bad, "error:"), windlass_policy::visible(&format!("{error:#}")));
    if let Some(hint) = hint {
        eprintln!("{} {}", paint.apply(Style::Accent, "hint:"), windlass_policy::visible(hint));
    }
}
