//! The files are what the journal and the ledger say they are; and where nothing was uncertain, what they are without any
//! misfortune.

use std::collections::{BTreeMap, BTreeSet};

use windlass_domain::CallStatus;
use windlass_domain::execution::ExecutionEvent;

use super::folded::{Execution, Folded, JournaledCall};
use crate::history::History;
use crate::language::effects;
use crate::ledger::Effect;
use crate::plan::Proof;
use crate::scenario::Ends;

/// The runtime's own, whose content is the tools' affair.
const OF_THE_RUNTIME: [&str; 3] = [".plan.md", ".scratch/", ".memo/"];

type Files = BTreeMap<String, String>;

pub fn examine(history: &History, folded: &Folded, clean: &History) -> Vec<String> {
    let found = texts(history);
    let mut complaints = Vec::new();
    let leftovers = found.keys().filter(|name| name.contains("windlass-tmp"));
    complaints.extend(leftovers.map(|name| format!("{name} was left behind")));
    complaints.extend(against_the_journal(history, folded, &found));
    if history.scenario.ends == Ends::Alike && !comes_late(history) {
        complaints.extend(differences("without misfortune", &common(history, clean), &common(clean, history)));
        let plan = |history: &History| history.files.get(".plan.md").cloned();
        if plan(history) != plan(clean) {
            complaints.push(".plan.md is not what it is without misfortune".to_owned());
        }
    }
    complaints
}

fn against_the_journal(history: &History, folded: &Folded, found: &Files) -> Vec<String> {
    let in_order = |files: &Files| if comes_late(history) { sorted(files) } else { files.clone() };
    let compared =
        |cancelled| differences("the journal says", &in_order(found), &in_order(&told(history, folded, cancelled)));
    let complaints = compared(Cancelled::DidNotHappen);
    if can_come_late(history) && compared(Cancelled::HappenedLate).is_empty() {
        return Vec::new();
    }
    complaints
}

/// What became of a write that was called off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cancelled {
    DidNotHappen,
    HappenedLate,
}

/// Leave that was given before a stall is used after it, when another process has taken over meanwhile. What was left
/// to do then happens once and is said to be uncertain, but nobody can say when. On one host file locks rule it out.
fn can_come_late(history: &History) -> bool {
    history.plan.stalls() && history.plan.proof == Proof::Heartbeat
}

fn comes_late(history: &History) -> bool {
    can_come_late(history) && !history.ledger.iter().map(|entry| entry.process).is_sorted()
}

fn sorted(files: &Files) -> Files {
    let sort = |content: &String| {
        let mut lines: Vec<&str> = content.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    files.iter().map(|(name, content)| (name.clone(), sort(content))).collect()
}

fn texts(history: &History) -> Files {
    let is_work = |name: &&String| !OF_THE_RUNTIME.iter().any(|own| name.starts_with(own));
    let names = history.files.keys().filter(is_work);
    names.map(|name| (name.clone(), String::from_utf8_lossy(&history.files[name]).into_owned())).collect()
}

/// What `history` left, less the lines of effects that did not happen in `other`: what was cut off in one of them.
fn common(history: &History, other: &History) -> Files {
    let happened: BTreeSet<&Effect> = other.ledger.iter().map(|entry| &entry.effect).collect();
    let missing = history.ledger.iter().map(|entry| &entry.effect).filter(|effect| !happened.contains(effect));
    let mut files = texts(history);
    for effect in missing {
        let Some(content) = files.get_mut(&effect.file) else { continue };
        *content = content.replacen(&format!("{}\n", effect.text), "", 1);
        if content.is_empty() {
            files.remove(&effect.file);
        }
    }
    files
}

/// The files at the beginning, and then every change in the order in which the journal has its end.
fn told(history: &History, folded: &Folded, cancelled: Cancelled) -> Files {
    let owned = |(name, content): &(&str, &str)| ((*name).to_owned(), (*content).to_owned());
    let mut files: Files = history.scenario.files.iter().map(owned).collect();
    let happened = Happened::of(history, folded);
    for execution in &folded.executions {
        let calls = execution.calls();
        for id in finished_order(execution) {
            let call = calls.iter().find(|call| call.call.call_id.0 == id).expect("a result has its call");
            apply(call, cancelled, &happened, &mut files);
        }
        // What was cut off for good and has no result.
        let open = calls.iter().filter(|call| call.finished.is_empty() && !call.started.is_empty());
        open.for_each(|call| apply(call, cancelled, &happened, &mut files));
    }
    files
}

fn finished_order(execution: &Execution) -> Vec<String> {
    let finished = execution.events.iter().filter_map(|(_, event)| match event {
        ExecutionEvent::ToolFinished(finished) => Some(finished.call_id.0.clone()),
        _ => None,
    });
    finished.collect()
}

/// What the ledger has, and what the journal is certain of.
struct Happened<'a> {
    /// How often each effect happened.
    times: BTreeMap<&'a Effect, usize>,
    /// How often a call with it was not cut off.
    certain: BTreeMap<Effect, usize>,
}

impl<'a> Happened<'a> {
    fn of(history: &'a History, folded: &Folded) -> Self {
        let mut times = BTreeMap::new();
        for entry in &history.ledger {
            *times.entry(&entry.effect).or_default() += 1;
        }
        let mut certain = BTreeMap::new();
        let calls = folded.executions.iter().flat_map(Execution::calls);
        for call in calls.filter(|call| !is_cut_off(call) && call.call.tool == "bash") {
            for effect in effects(&call.argument("command").unwrap_or_default()) {
                *certain.entry(effect).or_default() += 1;
            }
        }
        Self { times, certain }
    }

    /// One that was cut off and made again in the same words happened only where it happened more often than it was made.
    fn in_call(&self, effect: &Effect, call: &JournaledCall<'_>) -> bool {
        let times = self.times.get(effect).copied().unwrap_or_default();
        let certain = self.certain.get(effect).copied().unwrap_or_default();
        times > 0 && (!is_cut_off(call) || times > certain)
    }
}

fn is_cut_off(call: &JournaledCall<'_>) -> bool {
    call.finished.is_empty() || call.finished == [CallStatus::Interrupted]
}

fn apply(call: &JournaledCall<'_>, cancelled: Cancelled, happened: &Happened<'_>, files: &mut Files) {
    let argument = |name| call.argument(name).unwrap_or_default();
    let late = cancelled == Cancelled::HappenedLate && call.finished == [CallStatus::Cancelled];
    let succeeded = call.finished == [CallStatus::Ok] || late;
    match call.call.tool.as_str() {
        "write" if succeeded => {
            files.insert(argument("path"), argument("content"));
        }
        "edit" if succeeded => {
            let content = files.entry(argument("path")).or_default();
            *content = content.replace(&argument("old_string"), &argument("new_string"));
        }
        "bash" => {
            for effect in effects(&argument("command")).into_iter().filter(|effect| happened.in_call(effect, call)) {
                files.entry(effect.file).or_default().push_str(&format!("{}\n", effect.text));
            }
        }
        _ => {}
    }
}

fn differences(said: &str, found: &Files, expected: &Files) -> Vec<String> {
    let names: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    let different = names.into_iter().filter(|name| found.get(*name) != expected.get(*name));
    different.map(|name| format!("{name} is {:?}; {said} {:?}", found.get(name), expected.get(name))).collect()
}
