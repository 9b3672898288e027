//! What the pages ask for and what they are told, here and by a server: words that are ready to be shown, and beside them as little as a page
//! must know to take an answer. It is read anew whenever something happens; a page keeps no truth of its own.

use serde::{Deserialize, Serialize};
use windlass_domain::{SessionId, TaskId};

use crate::show::Line;

/// What a page asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// What is at work, and what waits for a person.
    Desk,
    /// A card or a question, whole.
    Item(String),
    /// A conversation; without one, those that there are.
    Talk(Option<SessionId>),
    /// What happened after this position, as far as it was lately.
    Since(u64),
    /// What happened before this position; without one, lately.
    Before(Option<u64>),
    /// The record at this position.
    Record(u64),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    Desk(Desk),
    /// None: it does not wait any more.
    Item(Option<Item>),
    Talk(Talk),
    Since(News),
    Before(Earlier),
    Record(Vec<Line>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desk {
    /// The tasks that are not over, newest first, a line each.
    pub open: Vec<Line>,
    /// How many of them somebody works on.
    pub running: usize,
    /// Oldest first.
    pub waiting: Vec<Waiting>,
}

/// Something that a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub id: String,
    pub in_short: Line,
    pub about: About,
    /// Anything but a yes to it is a no: nobody hears what should be done instead.
    #[serde(default)]
    pub is_yes_or_no: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    Card(Stakes),
    Question { task: TaskId, options: Vec<String> },
}

/// How a card is approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stakes {
    Ordinary,
    /// In two steps.
    High,
    Irreversible,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub id: String,
    pub lines: Vec<Line>,
    /// How many of the last lines say what follows from a yes.
    pub consequences: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Talk {
    pub session: Option<SessionId>,
    /// Which folder it is about; none before anything was said.
    pub folder: Option<String>,
    pub said: Vec<Line>,
    /// Whether what was said last is being answered.
    pub is_answering: bool,
    /// The work that came of it, with what its agents did last.
    pub work: Vec<Line>,
    pub known: Vec<Known>,
}

/// A conversation that there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    pub session: SessionId,
    pub line: Line,
}

/// Something that happened, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happening {
    pub position: u64,
    pub day: String,
    pub line: Line,
    /// What a search looks through, in small letters.
    pub words: String,
    /// Of no interest unless one looks for it.
    pub is_quiet: bool,
}

/// What happened after something that was told before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    /// Newest first.
    pub happened: Vec<Happening>,
    /// Whether so much happened that some of it is left out.
    pub has_gap: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// Newest first.
    pub happened: Vec<Happening>,
    /// Before which position there is more; none where it began.
    pub more_before: Option<u64>,
}
