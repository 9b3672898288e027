//! Paths a check may name: inside the workspace, spelled plainly. This is about text only; a link that leads outside is
//! found when the path is looked at.

use crate::fields::Field;
use crate::problem::{Collector, Position};
use crate::value;
use crate::yaml::{Node, Value};

pub(crate) fn path(field: Field<'_>, problems: &mut Collector) -> Option<String> {
    let text = value::text(field, problems)?;
    inside(text, field.value.at, problems)
}

/// One path, or a list of them.
pub(crate) fn paths(field: Field<'_>, problems: &mut Collector) -> Option<Vec<String>> {
    let Value::List(items) = &field.value.value else {
        return Some(vec![path(field, problems)?]);
    };
    let read = |item: &Node| match &item.value {
        Value::Text(text) => inside(text, item.at, problems),
        Value::Null | Value::List(_) | Value::Map(_) => {
            problems.report(item.at, format!("`{}` is a list of paths; this is {}", field.name, item.kind()));
            None
        }
    };
    let paths: Vec<Option<String>> = items.iter().map(read).collect();
    paths.into_iter().collect()
}

/// The path without `./` and doubled slashes, if it stays inside the workspace.
fn inside(text: &str, at: Position, problems: &mut Collector) -> Option<String> {
    if let Some(objection) = objection(text) {
        problems.report(at, format!("{text:?}: {objection}"));
        return None;
    }
    Some(parts(text).collect::<Vec<_>>().join("/"))
}

fn objection(text: &str) -> Option<&'static str> {
    if text.starts_with('/') {
        return Some("name the path from the workspace, without a leading `/`");
    }
    if text.starts_with('~') {
        return Some("`~` is not expanded; name the path from the workspace");
    }
    if parts(text).any(|part| part == "..") {
        return Some("`..` would leave the workspace; name the path from its top");
    }
    if parts(text).next().is_none() {
        return Some("this names the whole workspace; name something in it");
    }
    if text.contains(['*', '?']) {
        return Some("patterns are not expanded; name a file or a folder");
    }
    text.chars().any(char::is_control).then_some("control characters do not belong in a path")
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split('/').filter(|part| !part.is_empty() && *part != ".")
}
