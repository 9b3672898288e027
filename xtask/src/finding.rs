//! A finding: one broken rule at one place, worded so that the reader knows what to do next. It prints as
//! `path:line: message [rule]`.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub path: String,
    /// Counted from 1. A rule about a whole file points at its first line.
    pub line: usize,
    pub message: String,
    /// Filled in by `tidy`, which knows what each rule is called.
    pub rule: &'static str,
}

impl Finding {
    pub fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), rule: "" }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, message, rule } = self;
        write!(formatter, "{path}:{line}: {message} [{rule}]")
    }
}
