//! What programs ask the terminal they run in, and what it answers. Programs with a screen of their own wait for some of these before they
//! show anything. Nothing that was printed is ever part of an answer: a program could otherwise type.

/// Hears questions in what is printed, one letter after the other.
#[derive(Debug, Default)]
pub struct Ear {
    state: State,
    /// Of a sequence, as far as a question could be in it.
    heard: String,
    wants_bracketed_pastes: bool,
    leaves_its_page: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    Escape,
    Control,
    /// Of the operating system's kind, which ends with BEL or ST.
    Command,
    CommandEscape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query {
    /// Is all well?
    Status,
    Cursor,
    /// What are you?
    Attributes,
    Foreground,
    Background,
}

/// No question is longer.
const LONGEST: usize = 8;

impl Ear {
    pub fn hear(&mut self, letter: char) -> Option<Query> {
        use State::{Command, CommandEscape, Control, Escape, Outside};
        self.leaves_its_page = false;
        // As the emulator reads it: these break off whatever was begun.
        if matches!(letter, '\u{18}' | '\u{1a}') {
            self.state = Outside;
            return None;
        }
        let (next, is_end) = match (self.state, letter) {
            (Outside | Escape | Control, '\u{1b}') => (Escape, false),
            (Outside, _) => return None,
            (Escape, '[') => (Control, false),
            (Escape, ']') => (Command, false),
            (Escape, _) => (Outside, false),
            (Control, '\u{40}'..='\u{7e}') => (Outside, true),
            (Command, '\u{7}') | (CommandEscape, '\\') => (Outside, true),
            (Command, '\u{1b}') => (CommandEscape, false),
            (CommandEscape, '[') => (Control, false),
            (CommandEscape, ']') => (Command, false),
            (CommandEscape, _) => (Outside, false),
            (Control, _) => (Control, false),
            (Command, _) => (Command, false),
        };
        let (before, is_begun) = (std::mem::replace(&mut self.state, next), next != Outside && !is_end);
        if matches!(before, Control | Command) && (is_end && before == Control || is_begun && next == before) {
            if self.heard.len() <= LONGEST {
                self.heard.push(letter);
            }
        } else if is_begun && next != before && next != CommandEscape {
            self.heard.clear();
        }
        if !is_end {
            return None;
        }
        match (before, self.heard.as_str()) {
            (Control, "?2004h") => self.wants_bracketed_pastes = true,
            (Control, "?2004l") => self.wants_bracketed_pastes = false,
            (Control, "?1049l" | "?1047l" | "?47l") => self.leaves_its_page = true,
            _ => {}
        }
        question(before, &self.heard)
    }

    /// With the letter that was heard last, a page of the program's own goes.
    pub const fn leaves_its_page(&self) -> bool {
        self.leaves_its_page
    }

    pub const fn wants_bracketed_pastes(&self) -> bool {
        self.wants_bracketed_pastes
    }
}

fn question(kind: State, heard: &str) -> Option<Query> {
    match (kind, heard) {
        (State::Control, "5n") => Some(Query::Status),
        (State::Control, "6n") => Some(Query::Cursor),
        (State::Control, "c" | "0c") => Some(Query::Attributes),
        (State::Command | State::CommandEscape, "10;?") => Some(Query::Foreground),
        (State::Command | State::CommandEscape, "11;?") => Some(Query::Background),
        _ => None,
    }
}

impl Query {
    /// With the cursor at a row and a column, both counted from none.
    pub fn answer(self, (row, col): (usize, usize)) -> String {
        match self {
            Self::Status => "\u{1b}[0n".to_owned(),
            Self::Cursor => format!("\u{1b}[{};{}R", row + 1, col + 1),
            // One of the VT220 kind, with colours.
            Self::Attributes => "\u{1b}[?62;22c".to_owned(),
            Self::Foreground => "\u{1b}]10;rgb:d0d0/d0d0/d0d0\u{1b}\\".to_owned(),
            Self::Background => "\u{1b}]11;rgb:0000/0000/0000\u{1b}\\".to_owned(),
        }
    }
}
