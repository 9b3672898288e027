//! A mapping read as named fields. Repeated names and keys that are not words are reported when it is opened; names
//! that do not belong are reported by `reject_unknown`, with the word that was probably meant.

use crate::problem::{Collector, Position};
use crate::suggestion::nearest;
use crate::yaml::{Node, Value};

pub(crate) struct Fields<'a> {
    pub at: Position,
    fields: Vec<Field<'a>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub name: &'a str,
    pub at: Position,
    pub value: &'a Node,
}

/// Whether a mapping had fields that do not belong; what is missing may then be only misspelt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    None,
    Some,
}

impl<'a> Fields<'a> {
    /// The fields of a mapping; of anything else there are none, and the caller says what it wanted instead.
    pub fn of(node: &'a Node, problems: &mut Collector) -> Option<Self> {
        let Value::Map(entries) = &node.value else {
            return None;
        };
        let mut fields = Self { at: node.at, fields: Vec::new() };
        for (key, value) in entries {
            let Value::Text(name) = &key.value else {
                problems.report(key.at, format!("a field's name must be a word, not {}", key.kind()));
                continue;
            };
            match fields.get(name) {
                Some(first) => problems.report(key.at, format!("`{name}` is already given at {}", first.at)),
                None => fields.fields.push(Field { name, at: key.at, value }),
            }
        }
        Some(fields)
    }

    pub fn get(&self, name: &str) -> Option<Field<'a>> {
        self.fields.iter().copied().find(|field| field.name == name)
    }

    /// Those of `names` that are given, in the order of `names`.
    pub fn given(&self, names: &[&str]) -> Vec<Field<'a>> {
        names.iter().filter_map(|name| self.get(name)).collect()
    }

    /// Those that are none of `names`.
    pub fn others(&self, names: &[&str]) -> Vec<Field<'a>> {
        self.fields.iter().copied().filter(|field| !names.contains(&field.name)).collect()
    }

    /// Reports what does not belong, and says whether there was anything.
    pub fn reject_unknown(&self, known: &[&str], problems: &mut Collector) -> Unknown {
        let mut found = Unknown::None;
        for field in self.fields.iter().filter(|field| !known.contains(&field.name)) {
            let hint = match nearest(field.name, known) {
                Some(word) => format!("did you mean `{word}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            problems.report(field.at, format!("unknown field `{}`; {hint}", field.name));
            found = Unknown::Some;
        }
        found
    }
}
