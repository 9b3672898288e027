//! Standard output: lines that stay, and on a terminal one status line below them that does not.

use std::io::IsTerminal as _;
use std::os::fd::AsFd;

use super::line::{Length, Line};
use super::output::{WhenFull, output};
use super::style::Paint;
use crate::config::wants_colour;

/// Columns right of the status line.
pub const KEPT_FREE: usize = 3;

#[derive(Debug)]
pub struct Screen {
    paint: Paint,
    is_terminal: bool,
    /// What the status line holds now.
    status: String,
    when_full: WhenFull,
}

impl Screen {
    /// For those who have nothing to do but print.
    pub fn new() -> Self {
        Self::with(WhenFull::Wait)
    }

    /// For those who must not be held up by a reader.
    pub fn live() -> Self {
        Self::with(WhenFull::LeaveOut)
    }

    fn with(when_full: WhenFull) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let paint = if is_terminal && wants_colour() { Paint::Coloured } else { Paint::Plain };
        Self { paint, is_terminal, status: String::new(), when_full }
    }

    /// Prints a line for good; what can give way does.
    pub fn print(&mut self, line: &Line) {
        self.put_rows(line, Length::Short);
    }

    /// Prints a line of any length whole.
    pub fn print_whole(&mut self, line: &Line) {
        self.put_rows(line, Length::Whole);
    }

    /// Prints what another program is to read, as it is.
    pub fn print_text(&mut self, text: &str) {
        self.put(text);
    }

    fn put_rows(&mut self, line: &Line, length: Length) {
        let rows = line.rows(self.paint, self.width(), length);
        self.put(&rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    }

    fn put(&mut self, text: &str) {
        let text = match self.status.is_empty() {
            true => text.to_owned(),
            false => format!("\r\x1b[2K{text}{}", self.status),
        };
        output().send(text.into_bytes(), self.when_full);
    }

    /// Prints a question, behind which the answer is typed.
    pub fn prompt(&mut self, line: &Line) {
        self.put(&format!("{} ", line.cut(self.paint, None)));
    }

    /// Replaces the status line; nothing where there is no terminal, or one that is behind.
    pub fn status(&mut self, line: &Line) {
        if !self.is_terminal || !output().is_read() {
            return;
        }
        // Some columns stay free: a terminal shows a Ctrl-C as `^C` behind it, which must not begin a row.
        let text = line.cut(self.paint, self.width().map(|width| width.saturating_sub(KEPT_FREE)));
        if text == self.status {
            return;
        }
        output().send(format!("\r\x1b[2K{text}").into_bytes(), self.when_full);
        self.status = text;
    }

    pub fn clear_status(&mut self) {
        if !self.status.is_empty() {
            self.status.clear();
            output().send(b"\r\x1b[2K".to_vec(), self.when_full);
        }
    }

    /// In columns; nothing where there is no terminal.
    pub fn width(&self) -> Option<usize> {
        if !self.is_terminal {
            return None;
        }
        columns(std::io::stdout())
    }
}

/// How wide a terminal is; nothing where there is none.
pub fn columns(terminal: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
