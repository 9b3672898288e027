//! Here-documents: text between a line and its delimiter. What it is fed to decides whether it is code; expansions inside
//! run in any case, unless the delimiter is quoted.

use super::parser::{Parser, Read};
use super::word::Word;

/// A here-document whose text has not begun yet.
pub struct Pending {
    delimiter: String,
    expands: bool,
    tabs_stripped: bool,
}

impl Pending {
    pub fn new(delimiter: &Word, tabs_stripped: bool) -> Self {
        Self { delimiter: delimiter.whole().text, expands: !delimiter.quoted, tabs_stripped }
    }
}

impl Parser<'_> {
    /// At the beginning of a line: the texts of all here-documents that the line before opened.
    pub fn heredoc_bodies(&mut self) -> Read<()> {
        for pending in std::mem::take(&mut self.pending) {
            let started = self.at;
            let ended = self.find_delimiter(&pending);
            if pending.expands {
                let mut body = Parser {
                    text: &self.text[started..ended],
                    at: 0,
                    depth: self.depth + 1,
                    doubled: self.doubled,
                    script: std::mem::take(&mut self.script),
                    pending: Vec::new(),
                };
                let read = body.heredoc_text();
                self.script = body.script;
                read?;
            }
        }
        Ok(())
    }

    /// Where the text ends; the reader then stands behind the delimiter. Without one the text goes on to the end, as it does
    /// for a shell.
    fn find_delimiter(&mut self, pending: &Pending) -> usize {
        loop {
            let rest = &self.text[self.at..];
            if rest.is_empty() {
                return self.at;
            }
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = &rest[..length];
            let line_start = self.at;
            self.at += (length + 1).min(rest.len());
            let line = if pending.tabs_stripped { line.trim_start_matches('\t') } else { line };
            if line == pending.delimiter {
                return line_start;
            }
        }
    }
}
