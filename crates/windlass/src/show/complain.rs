//! How the program says that something went wrong: what, and what to do about it, on standard error.

#![expect(clippy::print_stderr, reason = "this is where the program complains")]

use std::io::{IsTerminal as _, Write as _};

use super::line::{Length, Line};
use super::screen::columns;
use super::style::{Paint, Style};
use crate::config::wants_colour;

/// Something that went wrong beside the work.
pub fn mention(what: &str) {
    say(Style::Warn, "warning:", what);
}

pub fn complain(error: &anyhow::Error, hint: Option<&str>) {
    say(Style::Bad, "error:", &format!("{error:#}"));
    if let Some(hint) = hint {
        say(Style::Accent, "hint:", hint);
    }
}

/// A line of the log, in one piece. Where nobody reads, nothing is the worse for it.
pub fn print_log(line: &str) {
    let _nobody_reads = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

fn say(style: Style, word: &str, text: &str) {
    let coloured = std::io::stderr().is_terminal() && wants_colour();
    let paint = if coloured { Paint::Coloured } else { Paint::Plain };
    let width = columns(std::io::stderr());
    for (index, line) in text.lines().enumerate() {
        let line = match index {
            0 => Line::new().add(style, word).plain(" ").plain(line),
            _ => Line::new().plain(line),
        };
        line.rows(paint, width, Length::Whole).iter().for_each(|row| eprintln!("{row}"));
    }
}
