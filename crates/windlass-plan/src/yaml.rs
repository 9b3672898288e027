//! YAML as a tree that remembers where everything stood. Scalars stay the text that was written: what `3` or `yes` means is
//! for the field that holds it. Size and nesting are bounded before anything is built, and aliases are refused, so that a
//! small document cannot become a large one. Types are not guessed and documents are not merged here.

use serde_saphyr::granit_parser::{self, Event, Parser, ScalarStyle, Span, StrInput};

use crate::problem::{Collector, Position};

const MAX_NESTING: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub at: Position,
    pub value: Value,
    /// Text that was written without quotes.
    pub is_plain: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    /// Nothing, or `~` or `null` without quotes.
    Null,
    List(Vec<Node>),
    /// In the order written; keys may repeat.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// What stands here, for a message that says something else was expected.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "text",
            Value::Null => "nothing",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// The one document in `source`, or nothing when there is none or it could not be read.
pub(crate) fn read(source: &str, most_bytes: usize, problems: &mut Collector) -> Option<Node> {
    if source.len() > most_bytes {
        problems.report(Position::START, format!("this is larger than {} KiB; make it smaller", most_bytes / 1024));
        return None;
    }
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_NESTING,
        block_nesting_limit: MAX_NESTING,
    };
    let mut reader = Reader { events: Parser::new_from_str_with_options(source, options), problems };
    reader.document()
}

struct Reader<'source, 'problems> {
    events: Parser<'source, StrInput<'source>>,
    problems: &'problems mut Collector,
}

impl<'source> Reader<'source, '_> {
    fn document(&mut self) -> Option<Node> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return root,
                Event::DocumentStart(..) if root.is_some() => {
                    self.problems.report(start(&span), "only one document is read; remove what follows `---`");
                    return root;
                }
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                _ => root = Some(self.node(event, span)?),
            }
        }
    }

    /// The next event; nothing once the parser has given up, which is then reported.
    fn next(&mut self) -> Option<(Event<'source>, Span)> {
        match self.events.next()? {
            Ok(next) => Some(next),
            Err(error) => {
                let marker = error.marker();
                let at = Position { line: marker.line(), column: marker.col() + 1 };
                let message = format!(
                    "this is not YAML ({}); text with `: `, ` #`, or in braces a comma, needs quotes around it",
                    error.info()
                );
                self.problems.report(at, message);
                None
            }
        }
    }

    fn node(&mut self, event: Event<'source>, span: Span) -> Option<Node> {
        let at = start(&span);
        let is_plain = matches!(event, Event::Scalar(_, ScalarStyle::Plain, ..));
        let value = match event {
            Event::Scalar(text, style, _, tag) => {
                self.refuse_tag(tag.is_some(), at);
                scalar(&text, style)
            }
            Event::SequenceStart(_, _, tag) => {
                self.refuse_tag(tag.is_some(), at);
                Value::List(self.list()?)
            }
            Event::MappingStart(_, _, tag) => {
                self.refuse_tag(tag.is_some(), at);
                Value::Map(self.map()?)
            }
            _ => {
                self.problems.report(at, "aliases are not read; write the value out");
                return None;
            }
        };
        Some(Node { at, value, is_plain })
    }

    fn list(&mut self) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Some(items),
                (event, span) => items.push(self.node(event, span)?),
            }
        }
    }

    fn map(&mut self) -> Option<Vec<(Node, Node)>> {
        let mut entries = Vec::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return Some(entries),
                (event, span) => self.node(event, span)?,
            };
            let (event, span) = self.next()?;
            entries.push((key, self.node(event, span)?));
        }
    }

    fn refuse_tag(&mut self, tagged: bool, at: Position) {
        if tagged {
            self.problems.report(at, "tags are not read; remove the word that begins with `!`, or quote it");
        }
    }
}

fn start(span: &Span) -> Position {
    Position { line: span.start.line(), column: span.start.col() + 1 }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    let plain = matches!(style, ScalarStyle::Plain);
    match text {
        "" | "~" | "null" | "Null" | "NULL" if plain => Value::Null,
        _ => Value::Text(text.to_owned()),
    }
}
