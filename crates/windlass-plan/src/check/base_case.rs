//! A base case: one check, a list of them, or a checklist whose items may hold further groups. All of them must pass, so
//! groups are only a way to write: they become one flat list, and a group's words become the beginning of its checks' names.

use std::collections::BTreeMap;

use windlass_domain::{BaseCase, Check};

use crate::fields::{Field, Fields, Unknown};
use crate::problem::{Collector, Position, Problems};
use crate::value;
use crate::yaml::{self, Node, Value};

use super::form::{self, Draft};
use super::name;

/// More than anybody writes by hand, little enough to read at once.
const MOST_BYTES: usize = 64 * 1024;
/// Each costs a sandbox and a copy of the tree.
const MOST_CHECKS: usize = 100;

/// Reads a base case, as a file or as the one argument of `--base-case`.
pub fn parse_base_case(yaml: &str) -> Result<BaseCase, Problems> {
    let mut reader = Reader::default();
    match yaml::read(yaml, MOST_BYTES, &mut reader.problems) {
        Some(node) => reader.group(&node, &Label::default()),
        None if reader.problems.is_empty() => reader.problems.report(Position::START, EMPTY),
        None => {}
    }
    let checks = reader.named();
    reader.problems.finish(BaseCase(checks))
}

/// The checks of an item in a larger document.
pub(crate) fn checks(node: &Node, problems: &mut Collector) -> Vec<Check> {
    let mut reader = Reader { problems: std::mem::take(problems), ..Reader::default() };
    reader.group(node, &Label::default());
    let checks = reader.named();
    *problems = reader.problems;
    checks
}

const EMPTY: &str = "there is no check here; leave the base case out to run without one";

#[derive(Default)]
struct Reader {
    problems: Collector,
    /// Checks met, read or not.
    met: usize,
    drafts: Vec<(Label, Draft)>,
}

/// The words of the checklist items around a check.
#[derive(Clone, Default)]
struct Label {
    groups: Vec<String>,
    item: Option<String>,
}

impl Label {
    /// Inside this item, which turns out to be a group.
    fn opened(&self) -> Self {
        Self { groups: self.groups.iter().chain(&self.item).cloned().collect(), item: None }
    }

    fn with(&self, name: &str) -> String {
        let groups = self.groups.iter().map(String::as_str);
        groups.chain([name]).collect::<Vec<_>>().join(" / ")
    }
}

impl Reader {
    /// A check, a list of checks, or a checklist.
    fn group(&mut self, node: &Node, label: &Label) {
        match &node.value {
            Value::List(items) if !items.is_empty() => {
                for item in items {
                    self.group(item, &label.opened());
                }
            }
            Value::List(_) | Value::Null => self.problems.report(node.at, EMPTY),
            Value::Text(text) => {
                let message = format!("a check is a mapping; did you mean `command: {}`?", name::on_one_line(text));
                self.problems.report(node.at, message);
            }
            Value::Map(_) => self.check_or_checklist(node, label),
        }
    }

    fn check_or_checklist(&mut self, node: &Node, label: &Label) {
        let Some(fields) = Fields::of(node, &mut self.problems) else {
            return;
        };
        if let Some(list) = fields.get("checklist") {
            fields.reject_unknown(&["checklist"], &mut self.problems);
            self.checklist(list, &label.opened());
            return;
        }
        self.met += 1;
        if self.met == MOST_CHECKS + 1 {
            self.problems.report(fields.at, format!("at most {MOST_CHECKS} checks are run; join some of them"));
        }
        if self.met <= MOST_CHECKS
            && let Some(draft) = form::check(&fields, &mut self.problems)
        {
            self.drafts.push((label.clone(), draft));
        }
    }

    fn checklist(&mut self, field: Field<'_>, label: &Label) {
        match &field.value.value {
            Value::List(items) if !items.is_empty() => {
                for item in items {
                    self.item(item, label);
                }
            }
            _ => {
                let message =
                    format!("`{}` needs a list of items, each with `item` and `check` or `group`", field.name);
                self.problems.report(field.value.at, message);
            }
        }
    }

    fn item(&mut self, node: &Node, label: &Label) {
        let Some(fields) = Fields::of(node, &mut self.problems) else {
            self.problems.report(node.at, "an item needs the fields `item` and `check` or `group`");
            return;
        };
        let unknown = fields.reject_unknown(&["item", "check", "group"], &mut self.problems);
        let words = match fields.get("item") {
            Some(field) => value::text(field, &mut self.problems).map(name::on_one_line),
            None => {
                self.problems.report(fields.at, "this item does not say what it is; add `item: …`");
                None
            }
        };
        let label = Label { item: words, ..label.clone() };
        match (fields.get("check"), fields.get("group")) {
            (Some(check), None) => self.group(check.value, &label),
            (None, Some(group)) => self.nested(group, &label.opened()),
            (Some(_), Some(group)) => {
                self.problems.report(group.at, "an item has either a `check` or a `group`; make two items");
            }
            (None, None) if unknown == Unknown::None => {
                self.problems.report(fields.at, "this item proves nothing; add a `check` or a `group`");
            }
            (None, None) => {}
        }
    }

    /// A group inside a checklist: more items, or anything a base case may be.
    fn nested(&mut self, field: Field<'_>, label: &Label) {
        let is_item = |node: &Node| match &node.value {
            Value::Map(entries) => entries.iter().any(|(key, _)| key.value == Value::Text("item".to_owned())),
            _ => false,
        };
        match &field.value.value {
            Value::List(items) if items.iter().any(is_item) => self.checklist(field, label),
            _ => self.group(field.value, label),
        }
    }

    /// The checks with names that differ: given ones must, derived ones are numbered until they do.
    fn named(&mut self) -> Vec<Check> {
        let mut taken: BTreeMap<String, Position> = BTreeMap::new();
        let mut drafts = std::mem::take(&mut self.drafts);
        for (label, draft) in &mut drafts {
            let Some(given) = draft.name.as_ref().or(label.item.as_ref()) else {
                continue;
            };
            let name = label.with(given);
            if let Some(first) = taken.insert(name.clone(), draft.at) {
                self.problems.report(draft.at, format!("the name {name:?} is already used at {first}; choose another"));
            }
            draft.name = Some(name);
        }
        let named = |(label, draft): (Label, Draft)| {
            let name = draft.name.clone().unwrap_or_else(|| {
                let name = free_name(&label.with(&name::derived(&draft.probe)), &taken);
                taken.insert(name.clone(), draft.at);
                name
            });
            draft.named(name)
        };
        drafts.into_iter().map(named).collect()
    }
}

fn free_name(wanted: &str, taken: &BTreeMap<String, Position>) -> String {
    let mut name = wanted.to_owned();
    let mut count = 1;
    while taken.contains_key(&name) {
        count += 1;
        name = format!("{wanted} ({count})");
    }
    name
}
