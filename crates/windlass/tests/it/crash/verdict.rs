//! The verdict: what a killed run has in common with one that nobody killed. Everything but what a command that was in
//! flight at the moment of a death would have changed; and of such a command the journal says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::outcome::Outcome;
use crate::support::{CallKey, Story};

static EFFECT: LazyLock<Regex> = LazyLock::new(|| Regex::new("effect-[0-9]+").expect("a pattern"));
static MADE: LazyLock<Regex> = LazyLock::new(|| Regex::new("made-[0-9]+").expect("a pattern"));

/// What the journal did not know when the program died.
#[derive(Debug, Default)]
pub struct Uncertain {
    /// Calls that had leave, may happen once, and had no result.
    pub calls: BTreeSet<CallKey>,
    pub deaths: usize,
}

pub fn complaints(clean: &Outcome, seen: &Outcome, uncertain: &Uncertain) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(ending(clean, seen));
    found.extend(calls(&seen.story));
    found.extend(answers(&clean.story, &seen.story));
    found.extend(requests(&seen.story, uncertain));
    let interrupted = seen.story.interrupted();
    if interrupted != uncertain.calls {
        found.push(format!("interrupted: {interrupted:?}, in flight at a death: {:?}", uncertain.calls));
    }
    let excused = Excused::new(&seen.story, &interrupted);
    found.extend(ledger(clean, seen, &excused));
    found.extend(files(clean, seen, &excused));
    found.extend(trace(seen));
    found
}

/// Of a run whose agents work side by side: what they do stands in no order, and a death may lose a question of each.
pub fn family_complaints(clean: &Outcome, seen: &Outcome, uncertain: &Uncertain) -> Vec<String> {
    let mut found = ending(clean, seen);
    found.extend(calls(&seen.story));
    let interrupted = seen.story.interrupted();
    if interrupted != uncertain.calls {
        found.push(format!("interrupted: {interrupted:?}, in flight at a death: {:?}", uncertain.calls));
    }
    let excused = Excused::new(&seen.story, &interrupted);
    found.extend(ledger(clean, seen, &excused));
    found.extend(files(clean, seen, &excused));
    found.extend(trace(seen));
    let count = |outcome: &Outcome, kind: &str| outcome.story.of(kind).count();
    for kind in ["subagent.spawned", "subagent.finished", "model.responded"] {
        let (seen, clean) = (count(seen, kind), count(clean, kind));
        if seen != clean {
            found.push(format!("{seen} records of {kind}, expected {clean}"));
        }
    }
    found
}

/// What an interrupted call would have done.
struct Excused {
    effects: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl Excused {
    fn new(story: &Story, interrupted: &BTreeSet<CallKey>) -> Self {
        let asked = story.asked();
        let commands: String = interrupted
            .iter()
            .filter_map(|call| asked.get(call)?["arguments"]["command"].as_str())
            .flat_map(|command| [command, "\n"])
            .collect();
        let named = |pattern: &Regex| pattern.find_iter(&commands).map(|found| found.as_str().to_owned()).collect();
        Self { effects: named(&EFFECT), files: named(&MADE) }
    }
}

fn ending(clean: &Outcome, seen: &Outcome) -> Vec<String> {
    let mut found = Vec::new();
    if seen.code.is_some() && seen.code != clean.code {
        found.push(format!("exit code {:?}, expected {:?}", seen.code, clean.code));
    }
    let essence = |outcome: &Outcome| outcome.story.result.as_ref().map(essence);
    if essence(seen) != essence(clean) {
        found.push(format!("result {:#?}, expected {:#?}", essence(seen), essence(clean)));
    }
    let attempts = |outcome: &Outcome| outcome.story.of("attempt.started").count();
    if attempts(seen) != attempts(clean) {
        found.push(format!("{} attempts, expected {}", attempts(seen), attempts(clean)));
    }
    found
}

/// A result without what depends on how long it took and what was asked again.
fn essence(result: &Value) -> Value {
    let kept = ["status", "verified", "checks", "deliverables", "final_message", "error_details"];
    kept.into_iter().map(|field| (field.to_owned(), json!(result[field]))).collect()
}

/// Every call has exactly one result, and one that may happen once has had leave at most once.
pub fn calls(story: &Story) -> Vec<String> {
    let (asked, finished, started) = (story.asked(), story.times("tool.finished"), story.times("tool.started"));
    let mut found = Vec::new();
    for (call, times) in &finished {
        if !asked.contains_key(call) {
            found.push(format!("{times} results for {call:?}, which nobody asked for"));
        }
    }
    for (call, asked) in &asked {
        let results = finished.get(call).copied().unwrap_or_default();
        if results != 1 {
            found.push(format!("{results} results for the call {asked}"));
        }
        if asked["tool"] == "bash" && started.get(call).is_some_and(|times| *times > 1) {
            found.push(format!("begun twice: {asked}"));
        }
    }
    found
}

/// The same results in the same order, but for those of interrupted calls.
fn answers(clean: &Story, seen: &Story) -> Vec<String> {
    let results = |story: &Story| -> Vec<[String; 3]> {
        let field = |record: &Value, name: &str| record["data"][name].as_str().unwrap_or_default().to_owned();
        let result = |record| ["tool", "status", "content"].map(|name| field(record, name));
        story.of("tool.finished").map(result).collect()
    };
    let (clean, seen) = (results(clean), results(seen));
    let pairs = clean.iter().zip(&seen);
    let differing = pairs.filter(|(clean, seen)| clean != seen && !(clean[0] == seen[0] && seen[1] == "interrupted"));
    let mut found: Vec<String> = differing.map(|(clean, seen)| format!("{seen:?}, expected {clean:?}")).collect();
    if clean.len() != seen.len() {
        found.push(format!("{} results, expected {}", seen.len(), clean.len()));
    }
    found
}

/// A question is asked again only because a death lost the answer.
fn requests(story: &Story, uncertain: &Uncertain) -> Option<String> {
    let (asked, answered) = (story.of("model.requested").count(), story.of("model.responded").count());
    let lost = asked.saturating_sub(answered);
    (lost > uncertain.deaths).then(|| format!("{lost} questions asked again after {} deaths", uncertain.deaths))
}

fn ledger(clean: &Outcome, seen: &Outcome, excused: &Excused) -> Vec<String> {
    let mut found = Vec::new();
    for (effect, times) in &seen.ledger {
        if *times > 1 || !clean.ledger.contains_key(effect) {
            found.push(format!("{effect} happened {times} times"));
        }
    }
    for effect in clean.ledger.keys() {
        if !seen.ledger.contains_key(effect) && !excused.effects.contains(effect) {
            found.push(format!("{effect} is lost"));
        }
    }
    found
}

fn files(clean: &Outcome, seen: &Outcome, excused: &Excused) -> Vec<String> {
    let names: BTreeSet<&String> = clean.files.keys().chain(seen.files.keys()).collect();
    let text = |files: &BTreeMap<String, Vec<u8>>, name: &String| {
        files.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    names
        .into_iter()
        .filter(|name| !excused.files.contains(*name))
        .map(|name| (name, text(&clean.files, name), text(&seen.files, name)))
        .filter(|(_, clean, seen)| clean != seen)
        .map(|(name, clean, seen)| format!("the file {name} is {seen:?}, expected {clean:?}"))
        .collect()
}

/// The trace that the result names is there and tells of every call.
fn trace(seen: &Outcome) -> Option<String> {
    let Some(trace) = &seen.trace else { return Some("the trace is missing".to_owned()) };
    let told = seen.story.asked().keys().filter(|(_, call)| trace.contains(call.as_str())).count();
    let asked = seen.story.asked().len();
    (told != asked).then(|| format!("the trace tells of {told} calls of {asked}"))
}
