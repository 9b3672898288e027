//! `grep`: lines by regular expression, with ripgrep's own engine, whose time is linear in what it reads whatever the
//! expression. Binary files are passed over; files are opened through the confined root.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, CancelSignal, Effect, Permit, Prepared, Reach, ToolSpec};
use windlass_workspace::{Root, Search, Visit};

use crate::context::Context;
use crate::tool::{Nature, Output, Running, Tool, arguments, spec, typed};
use crate::tools::glob::{folder, matcher};

const DEFAULT_RESULTS: usize = 100;
const LONGEST_LINE: usize = 400;
/// A file with a longer line is not searched, rather than held in memory.
const LONGEST_HELD: usize = 64 * 1024 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct Grep;

#[derive(Deserialize)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    case_insensitive: Option<bool>,
    context: Option<usize>,
    max_results: Option<usize>,
    output_mode: Option<Mode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Content,
    Files,
    Count,
}

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        spec(
            "grep",
            "Search file contents by regular expression (Rust syntax, as in ripgrep). Matches are shown as \
             path:line:text. Files ignored by .gitignore and binary files are passed over, unless path names an ignored \
             file or folder.",
            json!({
                "type": "object",
                "properties": {
                    "pattern": { "type": "string", "minLength": 1, "description": "The regular expression" },
                    "path": { "type": "string", "description": "A file or folder; /workspace by default" },
                    "glob": { "type": "string", "description": "Only files whose path matches, such as *.rs" },
                    "case_insensitive": { "type": "boolean", "default": false },
                    "context": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 20,
                        "description": "Lines to show before and after each match; 0 by default",
                    },
                    "max_results": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 2000,
                        "description": "Matching lines or files to show; 100 by default",
                    },
                    "output_mode": {
                        "type": "string",
                        "enum": ["content", "files", "count"],
                        "default": "content",
                        "description": "Matching lines, only the paths, or the number of matching lines in each file",
                    },
                },
                "required": ["pattern"],
                "additionalProperties": false,
            }),
        )
    }

    fn nature(&self) -> Nature {
        Nature::Looks
    }

    fn prepare(&self, arguments: &Value, _: &Context) -> Result<Prepared, String> {
        let arguments: Arguments = typed(arguments)?;
        expression(&arguments)?;
        arguments.glob.as_deref().map(matcher).transpose()?;
        let folder = folder(arguments.path.as_deref())?;
        Ok(Prepared::new(Effect::Read, Reach::Files(vec![folder.to_record()])))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, running: Running<'a>) -> BoxFuture<'a, Output> {
        let (root, cancel) = (context.root.clone(), running.cancel);
        Box::pin(context.runtime.blocking(move || {
            let found = arguments(&permit.redeem().call).and_then(|arguments| search(&root, &arguments, &cancel));
            Output::from_result(found)
        }))
    }
}

fn expression(arguments: &Arguments) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new()
        .case_insensitive(arguments.case_insensitive.unwrap_or(false))
        .crlf(true)
        .build(&arguments.pattern)
        .map_err(|error| format!("`{}` is no regular expression: {error}", arguments.pattern))
}

fn search(root: &Root, arguments: &Arguments, cancel: &CancelSignal) -> Result<String, String> {
    let expression = expression(arguments)?;
    let glob = arguments.glob.as_deref().map(matcher).transpose()?;
    let folder = folder(arguments.path.as_deref())?;
    let mut results = Results::new(arguments);
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .before_context(arguments.context.unwrap_or(0))
        .after_context(arguments.context.unwrap_or(0))
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        .heap_limit(Some(LONGEST_HELD))
        .build();
    let visited = Search::default().run(root, &folder, &mut |visit| {
        let below = visit.path().strip_prefix(folder.as_path()).unwrap_or(visit.path());
        if glob.as_ref().is_none_or(|glob| glob.is_match(below) || glob.is_match(visit.path())) {
            results.file(visit, &mut searcher, &expression);
        }
        if results.is_full() || cancel.raised().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    visited.map_err(|error| error.to_string())?;
    if cancel.raised().is_some() {
        return Err("stopped before the search was done".to_owned());
    }
    Ok(results.told(&arguments.pattern))
}

struct Results {
    mode: Mode,
    most: usize,
    found: usize,
    text: String,
    /// Whether something was left out because there was enough.
    more: bool,
    unreadable: usize,
}

impl Results {
    fn new(arguments: &Arguments) -> Self {
        Self {
            mode: arguments.output_mode.unwrap_or_default(),
            most: arguments.max_results.unwrap_or(DEFAULT_RESULTS),
            found: 0,
            text: String::new(),
            more: false,
            unreadable: 0,
        }
    }

    fn file(&mut self, visit: &Visit<'_>, searcher: &mut Searcher, expression: &RegexMatcher) {
        let file = match visit.open() {
            Ok(Some(file)) => file,
            Ok(None) => return,
            Err(_) => {
                self.unreadable += 1;
                return;
            }
        };
        let path = visit.shown();
        if self.one_file(&path, &file, searcher, expression).is_err() {
            self.unreadable += 1;
        }
    }

    fn one_file(
        &mut self,
        path: &str,
        file: &File,
        searcher: &mut Searcher,
        expression: &RegexMatcher,
    ) -> io::Result<()> {
        let mut lines = Lines { path, mode: self.mode, left: self.most - self.found, ..Lines::default() };
        searcher.search_file(expression, file, &mut lines)?;
        // A file found to be binary after a few matches shows nothing of them.
        if lines.binary || lines.matches == 0 {
            return Ok(());
        }
        match self.mode {
            Mode::Content => {
                self.found += lines.matches;
                self.more |= lines.more;
                self.text.push_str(&lines.text);
            }
            Mode::Files => {
                self.found += 1;
                self.text.push_str(&format!("{path}\n"));
            }
            Mode::Count => {
                self.found += 1;
                self.text.push_str(&format!("{path}:{}\n", lines.matches));
            }
        }
        Ok(())
    }

    fn is_full(&mut self) -> bool {
        let full = self.found >= self.most;
        self.more |= full;
        full
    }

    fn told(mut self, pattern: &str) -> String {
        if self.found == 0 {
            self.text = format!("No matches for {pattern}. Ignored and binary files were not searched.");
        } else if self.more {
            self.text
                .push_str(&format!("[stopped after {} results; narrow the search or raise max_results]", self.found));
        }
        if self.unreadable > 0 {
            self.text.push_str(&format!("\n[{} files could not be read]", self.unreadable));
        }
        self.text
    }
}

/// The matching lines of one file.
#[derive(Default)]
struct Lines<'a> {
    path: &'a str,
    mode: Mode,
    left: usize,
    matches: usize,
    text: String,
    binary: bool,
    more: bool,
}

impl Lines<'_> {
    fn push(&mut self, separator: char, number: Option<u64>, bytes: &[u8]) {
        if self.mode != Mode::Content {
            return;
        }
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        let number = number.unwrap_or_default();
        self.text.push_str(&format!("{}{separator}{number}{separator}", self.path));
        match line.char_indices().nth(LONGEST_LINE) {
            Some((end, _)) => self.text.push_str(&format!("{}… [line cut]\n", &line[..end])),
            None => self.text.push_str(&format!("{line}\n")),
        }
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.mode == Mode::Content && self.matches == self.left {
            self.more = true;
            return Ok(false);
        }
        self.matches += 1;
        self.push(':', found.line_number(), found.bytes());
        // One match is enough to name a file.
        Ok(self.mode != Mode::Files)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.push('-', context.line_number(), context.bytes());
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.mode == Mode::Content {
            self.text.push_str("--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
