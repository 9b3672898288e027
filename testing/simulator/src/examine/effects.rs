//! Nothing is done twice, and nothing is lost without a word: every effect in the ledger was asked for by a call that had
//! leave, happened at most once, and exactly once where the journal says for certain that its call ran.

use std::collections::BTreeMap;

use windlass_domain::CallStatus;

use super::folded::{Execution, Folded};
use crate::history::History;
use crate::language::effects;
use crate::ledger::Effect;

pub fn examine(history: &History, folded: &Folded) -> Vec<String> {
    compare(history.ledger.iter().map(|entry| &entry.effect), folded.executions.iter())
}

/// What happened in a workspace, with the executions that worked in it.
pub fn compare<'a>(
    ledger: impl Iterator<Item = &'a Effect>,
    executions: impl Iterator<Item = &'a Execution>,
) -> Vec<String> {
    let mut happened: BTreeMap<&Effect, usize> = BTreeMap::new();
    for effect in ledger {
        *happened.entry(effect).or_default() += 1;
    }
    let mut complaints = Vec::new();
    for (effect, count) in &happened {
        if *count > 1 {
            complaints.push(format!("{effect:?} happened {count} times"));
        }
    }
    let mut allowed = Vec::new();
    for call in executions.flat_map(Execution::calls) {
        let wanted = call.argument("command").map(|command| effects(&command)).unwrap_or_default();
        if call.tool_is("bash") && !call.started.is_empty() {
            allowed.extend(wanted.clone());
        }
        let lost = wanted.iter().filter(|effect| !happened.contains_key(effect));
        if call.is_certain() && call.tool_is("bash") {
            complaints.extend(lost.map(|effect| format!("{} ran, but {effect:?} did not happen", call.name())));
        }
        if call.finished == [CallStatus::Denied] {
            let done = wanted.iter().filter(|effect| happened.contains_key(effect));
            complaints.extend(done.map(|effect| format!("{} was denied, but {effect:?} happened", call.name())));
        }
    }
    let unasked = happened.keys().filter(|effect| !allowed.contains(effect));
    complaints.extend(unasked.map(|effect| format!("{effect:?} happened, and no call had leave for it")));
    complaints
}
