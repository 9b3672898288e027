//! A document from its first line to its last.

use windlass_domain::plan::{ItemKind, Plan};

use super::body::Body;
use super::item::Reader;
use super::{front, tree};
use crate::problem::{Position, Problems};
use crate::yaml;

/// As much as a planner may well write, and more than a person reads before agreeing to it.
const MOST_BYTES: usize = 1024 * 1024;

/// Says what is wrong with a gate, if anything is; how gates are written is the law's.
pub type GateReader<'a> = &'a dyn Fn(&serde_json::Value) -> Result<(), String>;

/// Reads a plan, with every problem at once. Gates are held against `read_gate`.
pub fn parse_plan(document: &str, read_gate: GateReader<'_>) -> Result<Plan, Problems> {
    let mut reader = Reader::default();
    let plan = plan(document, read_gate, &mut reader);
    match plan {
        Some(plan) => reader.problems.finish(plan),
        None => Err(reader.problems.into_problems("this is not a plan")),
    }
}

fn plan(document: &str, read_gate: GateReader<'_>, reader: &mut Reader) -> Option<Plan> {
    if document.len() > MOST_BYTES {
        let message = format!("this is larger than {} KiB; make it smaller", MOST_BYTES / 1024);
        reader.problems.report(Position::START, message);
        return None;
    }
    let halves = front::split(document, &mut reader.problems)?;
    let node = yaml::read(halves.front, MOST_BYTES, &mut reader.problems)?;
    let root = reader.item(&node, None);
    tree::check(&reader.entries, &mut reader.problems);
    for gate in &reader.gates {
        if let Err(message) = read_gate(&gate.value) {
            reader.problems.report(gate.at, message);
        }
    }
    let ids: Vec<&str> = reader.entries.iter().map(|entry| entry.id.as_str()).collect();
    let body = Body::read(halves.body, halves.body_line, &ids, &mut reader.problems);
    let mut root = root?;
    root.briefing = body.shared();
    if root.kind != ItemKind::Project && root.briefing.what_to_do.is_empty() {
        let at = Position { line: halves.body_line, column: 1 };
        reader.problems.report(at, "nothing says what to do; add a heading `# What to do` and the words below it");
    }
    body.brief(&mut root);
    Some(Plan(root))
}
