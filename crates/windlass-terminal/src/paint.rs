//! What a person is shown: the emulator's screen, cell by cell, in letters, colours and places alone. A painter remembers what it painted
//! and paints only the lines that have become others. Of what a program asks its terminal for one thing is passed on: to be told that something is
//! pasted, since each line of it would be sent off otherwise.

use avt::{Cell, Color, Pen};

use crate::screen::Screen;
use crate::size::Size;

/// Of one person who looks on.
#[derive(Debug, Default)]
pub struct Painter {
    painted: Option<Painted>,
}

#[derive(Debug)]
struct Painted {
    size: Size,
    lines: Vec<String>,
    cursor: Option<(usize, usize)>,
    wants_bracketed_pastes: bool,
}

impl Painter {
    /// Empty, where nothing is to be done.
    pub fn paint(&mut self, screen: &Screen) -> String {
        let emulator = screen.emulator();
        let lines: Vec<String> = emulator.screen().visible_lines().map(|line| painted_line(line.cells())).collect();
        let now = Painted {
            size: screen.size(),
            lines,
            cursor: emulator.cursor().position(),
            wants_bracketed_pastes: screen.wants_bracketed_pastes(),
        };
        let before = self.painted.take().filter(|before| before.size == now.size);
        let mut out = String::new();
        if before.is_none() {
            out.push_str("\u{1b}[0m\u{1b}[2J");
        }
        if before.as_ref().is_none_or(|before| before.wants_bracketed_pastes != now.wants_bracketed_pastes) {
            out.push_str(if now.wants_bracketed_pastes { "\u{1b}[?2004h" } else { "\u{1b}[?2004l" });
        }
        for (row, line) in now.lines.iter().enumerate() {
            let is_same = before.as_ref().is_some_and(|before| before.lines[row] == *line);
            if !is_same {
                out.push_str(&format!("\u{1b}[{};1H\u{1b}[0m\u{1b}[2K{line}", row + 1));
            }
        }
        let is_moved = before.as_ref().is_none_or(|before| before.cursor != now.cursor);
        if !out.is_empty() || is_moved {
            match now.cursor {
                Some((col, row)) => {
                    let col = col.min(usize::from(now.size.cols) - 1);
                    out.push_str(&format!("\u{1b}[0m\u{1b}[{};{}H\u{1b}[?25h", row + 1, col + 1));
                }
                None => out.push_str("\u{1b}[0m\u{1b}[?25l"),
            }
        }
        self.painted = Some(now);
        out
    }

    /// Of what was painted last; none before.
    pub fn size(&self) -> Option<Size> {
        self.painted.as_ref().map(|painted| painted.size)
    }

    /// What has scrolled away, for a terminal of the same size on which nothing stands yet: afterwards it has scrolled away there too, line
    /// by line, and nothing else has.
    pub fn history(screen: &Screen) -> String {
        let rows = usize::from(screen.size().rows);
        let all = screen.emulator().screen();
        let scrolled = all.all_lines().count().saturating_sub(rows);
        let mut out = String::from("\u{1b}[0m\u{1b}[2J\u{1b}[1;1H");
        for line in all.all_lines().take(scrolled) {
            out.push_str(&format!("{}\u{1b}[0m\r\n", painted_line(line.cells())));
        }
        // Those that are still to be seen.
        out.push_str(&format!("\u{1b}[{rows};1H{}", "\n".repeat(scrolled.min(rows - 1))));
        out
    }

    /// As if nothing had been painted yet.
    pub fn forget(&mut self) {
        self.painted = None;
    }
}

fn painted_line(cells: &[Cell]) -> String {
    let is_blank = |cell: &&Cell| cell.char() == ' ' && cell.pen().is_default();
    let end = cells.len() - cells.iter().rev().take_while(is_blank).count();
    let (mut out, mut pen) = (String::new(), Pen::default());
    for cell in cells[..end].iter().filter(|cell| cell.width() > 0) {
        if *cell.pen() != pen {
            pen = *cell.pen();
            out.push_str(&rendition(&pen));
        }
        out.push(shown(cell.char()));
    }
    out
}

/// A letter that does nothing but stand where it is.
fn shown(letter: char) -> char {
    let turns_others = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    if letter.is_control() || turns_others { char::REPLACEMENT_CHARACTER } else { letter }
}

fn rendition(pen: &Pen) -> String {
    let mut out = "\u{1b}[0".to_owned();
    let switches = [
        (pen.is_bold(), 1),
        (pen.is_faint(), 2),
        (pen.is_italic(), 3),
        (pen.is_underline(), 4),
        (pen.is_blink(), 5),
        (pen.is_inverse(), 7),
        (pen.is_strikethrough(), 9),
    ];
    let on = switches.iter().filter(|(is_on, _)| *is_on);
    on.for_each(|(_, number)| out.push_str(&format!(";{number}")));
    for (color, kind) in [(pen.foreground(), 38), (pen.background(), 48)] {
        match color {
            Some(Color::Indexed(number)) => out.push_str(&format!(";{kind};5;{number}")),
            Some(Color::RGB(rgb)) => out.push_str(&format!(";{kind};2;{};{};{}", rgb.r, rgb.g, rgb.b)),
            None => {}
        }
    }
    out.push('m');
    out
}
