//! A line of the log: seed 000 §16.3's event, level and fields. What models, tools and people wrote stands in it as data: a
//! line is one line, whatever is in it, and moves no cursor.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use windlass_domain::{Wall, is_hidden};

/// A field longer than this is cut.
const LONGEST: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warn,
    Info,
    Debug,
}

impl Level {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Warn => "WARN",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    pub level: Level,
    pub event: &'static str,
    pub fields: Vec<(&'static str, Value)>,
}

impl LogLine {
    pub const fn new(level: Level, event: &'static str) -> Self {
        Self { level, event, fields: Vec::new() }
    }

    #[must_use]
    pub fn with(mut self, field: &'static str, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::String(text) => Value::String(cut(text)),
            value => value,
        };
        self.fields.push((field, value));
        self
    }

    /// Without the line's end.
    pub fn written(&self, format: Format, at: Wall) -> String {
        let line = match format {
            Format::Text => {
                let mut line = format!("{} {:<5} {}", at.to_rfc3339(), self.level.as_str(), self.event);
                for (name, value) in &self.fields {
                    write!(line, " {name}={value}").expect("a string takes what is written");
                }
                line
            }
            Format::Json => {
                let mut entry = Map::new();
                entry.insert("timestamp".into(), at.to_rfc3339().into());
                entry.insert("level".into(), self.level.as_str().into());
                entry.insert("event".into(), self.event.into());
                entry.extend(self.fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
                Value::Object(entry).to_string()
            }
        };
        tamed(&line)
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// JSON has escaped quotes and the controls of ASCII; these it lets through. They occur inside strings alone, where `\u` stands
/// for them in both formats.
fn tamed(line: &str) -> String {
    let mut tame = String::with_capacity(line.len());
    for character in line.chars() {
        if is_hidden(character) {
            let units = &mut [0; 2];
            for unit in character.encode_utf16(units) {
                write!(tame, "\\u{unit:04x}").expect("a string takes what is written");
            }
        } else {
            tame.push(character);
        }
    }
    tame
}
