//! Standard output: lines that stay, and on a terminal one status line below them that does not.

use std::io::IsTerminal as _;

use super::line::Line;
use super::output::{WhenFull, output};
use super::style::Paint;
use crate::config::wants_colour;

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

    /// Prints a line for good.
    pub fn print(&mut self, line: &Line) {
        self.put(&format!("{}\n", line.render(self.paint, self.width())));
    }

    /// Prints a line of any length whole.
    pub fn print_whole(&mut self, line: &Line) {
        self.put(&format!("{}\n", line.render(self.paint, None)));
    }

    fn put(&mut self, text: &str) {
        let text = match self.status.is_empty() {
            true => text.to_owned(),
            false => format!("\r\x1b[2K{text}{}", self.status),
        };
        output().send(text.into_bytes(), self.when_full);
    }

    /// Replaces the status line; nothing where there is no terminal, or one that is behind.
    pub fn status(&mut self, line: &Line) {
        if !self.is_terminal || !output().is_read() {
            return;
        }
        let text = line.render(self.paint, self.width());
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

    fn width(&self) -> Option<usize> {
        if !self.is_terminal {
            return None;
        }
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    }
}
