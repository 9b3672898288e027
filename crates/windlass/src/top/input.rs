//! What comes to the pages, and what they ask for in return: all of it, in two closed lists.

use windlass_domain::{SessionId, TaskId};

use super::sight::{Look, Told};
use crate::show::Line;

#[derive(Debug, Clone)]
pub enum Input {
    Pressed(Key),
    Pasted(String),
    /// The terminal has so many columns and rows.
    Sized(u16, u16),
    /// Something may have happened.
    Hinted,
    Told(Look, Told),
    NotTold(Look, Trouble),
    Answered(Result<Vec<Line>, Trouble>),
    Said(Result<Vec<Line>, Trouble>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Letter(char),
    Ctrl(char),
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
}

/// Why something did not come about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// It may pass: it is tried again.
    Away(String),
    /// It was refused, with the reasons.
    Refused(Vec<Line>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Look(Look),
    Approve {
        card: String,
        confirmed: bool,
    },
    Decline {
        card: String,
        note: String,
    },
    SendBack {
        card: String,
        note: String,
    },
    Reply {
        task: TaskId,
        question: String,
        words: String,
    },
    Say {
        session: SessionId,
        folder: Option<String>,
        words: String,
    },
    /// The screen is painted anew.
    Repaint,
    Leave,
}
