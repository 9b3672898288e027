//! What is wrong with a document, and where. A reader collects problems and goes on, so that one run shows them all;
//! `Problems` is what it hands back, sorted, and never empty.

use std::fmt;

/// Where something stands in its document; both numbers begin at one, columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Position {
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub at: Position,
    /// A lower-case fragment that says what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

/// At least one problem, in the order of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Where a reader drops problems while it reads on.
#[derive(Debug, Default)]
pub(crate) struct Collector(Vec<Problem>);

impl Collector {
    pub fn report(&mut self, at: Position, message: impl Into<String>) {
        self.0.push(Problem { at, message: message.into() });
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was wrong, where nothing could be read at all.
    pub fn into_problems(mut self, otherwise: &str) -> Problems {
        if self.0.is_empty() {
            self.report(Position::START, otherwise);
        }
        self.0.sort();
        Problems(self.0)
    }

    /// The value that was read, unless anything at all was wrong.
    pub fn finish<T>(mut self, value: T) -> Result<T, Problems> {
        if self.0.is_empty() {
            return Ok(value);
        }
        self.0.sort();
        Err(Problems(self.0))
    }
}
