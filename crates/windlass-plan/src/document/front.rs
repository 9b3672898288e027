//! The two halves of a document: front matter between two lines of `---`, and the body after it.

use crate::problem::{Collector, Position};

pub(super) struct Halves<'a> {
    /// With the line that opens it, so that places in it are places in the document.
    pub front: &'a str,
    pub body: &'a str,
    /// The body's first line.
    pub body_line: usize,
}

pub(super) fn split<'a>(document: &'a str, problems: &mut Collector) -> Option<Halves<'a>> {
    let mut start = 0;
    for (index, line) in document.split_inclusive('\n').enumerate() {
        let is_rule = line.trim_end() == "---";
        if index == 0 && !is_rule {
            problems.report(Position::START, "a plan begins with a line `---`, its fields, and another line `---`");
            return None;
        }
        if index > 0 && is_rule {
            let body = &document[start + line.len()..];
            return Some(Halves { front: &document[..start], body, body_line: index + 2 });
        }
        start += line.len();
    }
    problems.report(Position::START, "the fields do not end; close them with a line `---`");
    None
}
