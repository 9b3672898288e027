//! YAML for people, from values. Whatever text holds it comes back the same: what could be taken for something else, or could not be
//! seen, is quoted and written out. Text of several lines stays so where that is safe. A zero byte, which no reader takes, becomes
//! its picture.

use std::fmt::Write as _;

/// A value to be written.
pub(crate) enum Out {
    /// As it is: a number, a truth value, or nothing.
    Word(String),
    Text(String),
    /// An entry a line.
    List(Vec<Out>),
    /// On one line: names, paths and the like.
    Row(Vec<String>),
    Map(Vec<(String, Out)>),
}

impl Out {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub fn word(word: impl ToString) -> Self {
        Self::Word(word.to_string())
    }

    pub fn row<Name: ToString>(names: impl IntoIterator<Item = Name>) -> Self {
        Self::Row(names.into_iter().map(|name| name.to_string()).collect())
    }

    pub fn map<Name: Into<String>>(fields: impl IntoIterator<Item = (Name, Self)>) -> Self {
        Self::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::List(items) => items.is_empty(),
            Self::Map(fields) => fields.is_empty(),
            Self::Word(_) | Self::Text(_) | Self::Row(_) => false,
        }
    }
}

/// A mapping, from the left edge.
pub(crate) fn yaml(fields: &[(String, Out)]) -> String {
    let mut text = String::new();
    map(&mut text, fields, 0);
    text
}

fn map(to: &mut String, fields: &[(String, Out)], indent: usize) {
    for (place, (name, value)) in fields.iter().enumerate() {
        // The first stands behind what opened it.
        if place > 0 || indent == 0 {
            blanks(to, indent);
        }
        to.push_str(&inline(name));
        to.push(':');
        below(to, value, indent);
    }
}

/// What stands behind a colon.
fn below(to: &mut String, value: &Out, indent: usize) {
    match value {
        Out::Map(fields) if !value.is_empty() => {
            to.push('\n');
            blanks(to, indent + 2);
            map(to, fields, indent + 2);
        }
        Out::List(items) if !value.is_empty() => {
            to.push('\n');
            for item in items {
                entry(to, item, indent + 2);
            }
        }
        Out::Text(text) if is_passage(text) => passage(to, text, indent + 2),
        _ => {
            to.push(' ');
            to.push_str(&scalar(value));
            to.push('\n');
        }
    }
}

fn entry(to: &mut String, item: &Out, indent: usize) {
    blanks(to, indent);
    to.push_str("- ");
    match item {
        Out::Map(fields) if !item.is_empty() => map(to, fields, indent + 2),
        _ => {
            to.push_str(&scalar(item));
            to.push('\n');
        }
    }
}

fn scalar(value: &Out) -> String {
    match value {
        Out::Word(word) => word.clone(),
        Out::Text(text) => inline(text),
        Out::Row(names) => format!("[{}]", names.iter().map(|name| inline(name)).collect::<Vec<_>>().join(", ")),
        // A list in a list is not written here.
        Out::List(_) => "[]".to_owned(),
        Out::Map(_) => "{}".to_owned(),
    }
}

fn blanks(to: &mut String, number: usize) {
    to.extend(std::iter::repeat_n(' ', number));
}

/// Whether it reads better on lines of its own, and every reader of YAML would read it as it is.
fn is_passage(text: &str) -> bool {
    let is_seen = |letter: char| letter == '\n' || is_printable(letter);
    text.contains('\n')
        && text.chars().all(is_seen)
        && !text.starts_with([' ', '\n'])
        && !text.ends_with('\n')
        && text.lines().all(|line| !line.ends_with(' '))
}

fn passage(to: &mut String, text: &str, indent: usize) {
    to.push_str(" |-\n");
    for line in text.split('\n') {
        if !line.is_empty() {
            blanks(to, indent);
            to.push_str(line);
        }
        to.push('\n');
    }
}

/// On one line, plain where it cannot be taken for anything but a word.
fn inline(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

fn is_plain(text: &str) -> bool {
    const OTHERWISE: &[&str] = &["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '/' | '.' | ' ');
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(is_letter)
        && !text.ends_with(' ')
        && !OTHERWISE.contains(&text.to_ascii_lowercase().as_str())
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '\0' => quoted.push('\u{2400}'),
            _ if is_printable(letter) => quoted.push(letter),
            _ => write!(quoted, "\\U{:08X}", u32::from(letter)).expect("a string takes what is written"),
        }
    }
    quoted.push('"');
    quoted
}

/// YAML's own idea of it, less what moves the cursor, breaks lines or is not seen.
const fn is_printable(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..='\u{200a}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205f}'
        | '\u{2070}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Collector;
    use crate::yaml::{Value, read};

    fn back(fields: &[(String, Out)]) -> (String, Option<Value>) {
        let text = yaml(fields);
        let mut problems = Collector::default();
        let read = read(&text, 1 << 20, &mut problems).map(|node| node.value);
        assert!(problems.is_empty(), "{text}");
        (text, read)
    }

    #[test]
    fn what_is_written_is_what_people_would_write() {
        let list = Out::List(vec![Out::map([("id", Out::text("a")), ("after", Out::row(["b", "c"]))]), Out::text("x")]);
        let fields = [
            ("goal".to_owned(), Out::text("Say \"yes\": it is\ndone")),
            ("count".to_owned(), Out::word(3)),
            ("list".to_owned(), list),
            ("none".to_owned(), Out::List(Vec::new())),
            ("word".to_owned(), Out::text("true")),
        ];
        let expected = "goal: |-\n  Say \"yes\": it is\n  done\ncount: 3\nlist:\n  - id: a\n    after: [b, c]\n  - x\nnone: []\nword: \"true\"\n";
        assert_eq!(back(&fields).0, expected);
    }

    #[test]
    fn every_character_comes_back() {
        let mut letters = (0..=0x0010_ffff_u32).filter_map(char::from_u32).filter(|letter| *letter != '\0').peekable();
        while letters.peek().is_some() {
            let some: String = letters.by_ref().take(997).collect();
            let (_, read) = back(&[("text".to_owned(), Out::text(some.clone()))]);
            let Some(Value::Map(entries)) = read else { panic!("a mapping") };
            assert_eq!(entries[0].1.value, Value::Text(some));
        }
    }
}
