//! Standard output: lines that stay, and on a terminal one status line below them that does not.

use std::io::{IsTerminal as _, Write as _};

use super::line::Line;
use super::style::Paint;
use crate::config::wants_colour;

#[derive(Debug)]
pub struct Screen {
    paint: Paint,
    is_terminal: bool,
    /// What the status line holds now.
    status: String,
}

impl Screen {
    pub fn new() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let paint = if is_terminal && wants_colour() { Paint::Coloured } else { Paint::Plain };
        Self { paint, is_terminal, status: String::new() }
    }

    /// Prints a line for good. A reader that has gone away is no reason to stop the work.
    pub fn print(&mut self, line: &Line) {
        self.put(&format!("{}\n", line.render(self.paint, self.width())));
    }

    /// Prints a line of any length whole.
    pub fn print_whole(&mut self, line: &Line) {
        self.put(&format!("{}\n", line.render(self.paint, None)));
    }

    fn put(&mut self, text: &str) {
        let mut out = std::io::stdout().lock();
        let _read_by_nobody = match self.status.is_empty() {
            true => write!(out, "{text}"),
            false => write!(out, "\r\x1b[2K{text}{}", self.status),
        };
        let _read_by_nobody = out.flush();
    }

    /// Replaces the status line; nothing where there is no terminal.
    pub fn status(&mut self, line: &Line) {
        if !self.is_terminal {
            return;
        }
        let text = line.render(self.paint, self.width());
        if text == self.status {
            return;
        }
        let mut out = std::io::stdout().lock();
        let _read_by_nobody = write!(out, "\r\x1b[2K{text}");
        let _read_by_nobody = out.flush();
        self.status = text;
    }

    pub fn clear_status(&mut self) {
        if !self.status.is_empty() {
            self.status.clear();
            let mut out = std::io::stdout().lock();
            let _read_by_nobody = write!(out, "\r\x1b[2K");
            let _read_by_nobody = out.flush();
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
