//! Conditions as they are written: a word (`ok`, `error`) or a mapping of one word to what it is about; one, or a list of them.

use windlass_domain::pattern::{Condition, Material};

use crate::check::path;
use crate::fields::{Field, Fields};
use crate::problem::Collector;
use crate::suggestion::nearest;
use crate::value;
use crate::yaml::Value;

const WORDS: &[&str] = &["ok", "error", "output_contains", "arguments_contain", "called", "file_exists", "given"];
const LONGEST_TEXT: usize = 200;

/// Whether the newest call can be asked about: before a step begins there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Done,
    Skipping,
}

pub(super) fn conditions(field: Field<'_>, about: About, problems: &mut Collector) -> Vec<Condition> {
    match &field.value.value {
        Value::List(items) => {
            let each = items.iter().map(|value| Field { at: value.at, value, ..field });
            each.filter_map(|field| condition(field, about, problems)).collect()
        }
        Value::Null => Vec::new(),
        Value::Text(_) | Value::Map(_) => condition(field, about, problems).into_iter().collect(),
    }
}

fn condition(field: Field<'_>, about: About, problems: &mut Collector) -> Option<Condition> {
    let read = match &field.value.value {
        Value::Text(word) => match word.as_str() {
            "ok" => Condition::Ok,
            "error" => Condition::Error,
            word => return unknown(field, word, problems),
        },
        Value::Map(entries) if entries.len() == 1 => {
            let fields = Fields::of(field.value, problems)?;
            let given = fields.given(WORDS);
            let Some(inner) = given.first().copied() else {
                fields.reject_unknown(WORDS, problems);
                return None;
            };
            about_something(inner, problems)?
        }
        _ => {
            let message =
                format!("`{}` takes `ok`, or one word and what it is about, as `file_exists: a.txt`", field.name);
            problems.report(field.value.at, message);
            return None;
        }
    };
    let is_of_call = !matches!(read, Condition::Called(_) | Condition::FileExists(_) | Condition::Given(_));
    if about == About::Skipping && is_of_call {
        let message = "a step that is to be skipped has made no call yet; use called, file_exists or given";
        problems.report(field.value.at, message);
        return None;
    }
    Some(read)
}

fn about_something(field: Field<'_>, problems: &mut Collector) -> Option<Condition> {
    Some(match field.name {
        "output_contains" => Condition::OutputContains(some_text(field, problems)?),
        "arguments_contain" => Condition::ArgumentsContain(some_text(field, problems)?),
        "called" => Condition::Called(super::read::tools(field, problems)),
        "file_exists" => Condition::FileExists(path(field, problems)?),
        "given" => {
            let word = value::text(field, problems)?;
            let Some(material) = Material::parse(word) else {
                problems.report(field.value.at, format!("`given` must be one of {}", Material::WORDS.join(", ")));
                return None;
            };
            Condition::Given(material)
        }
        word => {
            problems.report(field.at, format!("`{word}` stands alone, without anything after it"));
            return None;
        }
    })
}

/// A text that everything has in it decides nothing.
fn some_text(field: Field<'_>, problems: &mut Collector) -> Option<String> {
    let text = value::text(field, problems)?;
    if text.is_empty() || text.len() > LONGEST_TEXT {
        problems.report(field.value.at, format!("`{}` must have 1 to {LONGEST_TEXT} letters", field.name));
        return None;
    }
    Some(text.to_owned())
}

fn unknown(field: Field<'_>, word: &str, problems: &mut Collector) -> Option<Condition> {
    let hint = match nearest(word, WORDS) {
        Some(meant) if meant == "ok" || meant == "error" => format!("did you mean `{meant}`?"),
        Some(meant) => format!("write `{meant}: …`, with what it is about"),
        None => format!("known here: {}", WORDS.join(", ")),
    };
    problems.report(field.value.at, format!("unknown condition `{word}`; {hint}"));
    None
}
