//! Here-documents: text between a line and its delimiter. What it is fed to decides whether it is code; expansions inside
//! run in any case, unless the delimiter is quoted.

use super::parser::{Defect, Parser, Read};
use super::word::{Piece, Word};

/// A here-document whose text has not begun yet.
pub struct Pending {
    delimiter: String,
    expands: bool,
    tabs_stripped: bool,
}

impl Pending {
    /// A shell takes `$x` for the letters of a delimiter, which are gone from a word with a hole.
    pub fn new(delimiter: &Word, tabs_stripped: bool) -> Read<Self> {
        let known = delimiter.pieces.iter().all(|piece| matches!(piece, Piece::Text(_)));
        if !known {
            return Err(Defect::Syntax("a here-document ends with an expansion"));
        }
        Ok(Self { delimiter: delimiter.whole().text, expands: !delimiter.quoted, tabs_stripped })
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
            let line_start = self.at;
            if self.text[line_start..].is_empty() {
                return line_start;
            }
            let line = self.heredoc_line(pending);
            let line = if pending.tabs_stripped { line.trim_start_matches('\t') } else { &line };
            if line == pending.delimiter {
                return line_start;
            }
        }
    }

    /// Where expansions are made, a backslash joins the next line to this one: what looks like the end may be none, and the
    /// end may stand on two lines.
    fn heredoc_line(&mut self, pending: &Pending) -> String {
        let mut line = String::new();
        loop {
            let rest = &self.text[self.at..];
            let length = rest.find('\n').unwrap_or(rest.len());
            line.push_str(&rest[..length]);
            self.at += (length + 1).min(rest.len());
            let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
            if !pending.expands || backslashes % 2 == 0 || length == rest.len() {
                return line;
            }
            line.pop();
        }
    }
}
