//! Asking gates, the operator's and after them those that the plan sets for the item at work: predicates are decided at once, scripts run in a sandbox of their own, models score as
//! executions of their own. No agent sees a gate; it sees what was refused, and why.

use serde_json::{Value, json};
use windlass_domain::risk::{GateSaid, Ruling};
use windlass_domain::{CancelSignal, Host, Taint, TaskId};
use windlass_policy::gate::{
    Answer, Evaluation, Gate, GateType, Law as GateLaw, Outcome, Record, Request, Step, Subject, Trigger,
};
use windlass_policy::risk::Place;
use windlass_store::NewEvent;
use windlass_store::queue::{Actor, AuditType};

use super::execution_host::ExecutionHost;
use crate::approvals::Audited;
use crate::engine::Shared;
use crate::gates::{GateScript, run_script};

/// Who is held to gates, and to which besides the operator's.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    host: Option<&'a ExecutionHost>,
    /// Of the item.
    own: &'a [Gate],
}

impl<'a> Held<'a> {
    pub fn execution(host: &'a ExecutionHost) -> Self {
        Self { host: Some(host), own: &host.gates }
    }

    /// Words that no execution has heard yet, and the gates of the item they are for.
    pub const fn words(own: &'a [Gate]) -> Self {
        Self { host: None, own }
    }

    fn gates(self, shared: &'a Shared) -> impl Iterator<Item = &'a Gate> {
        shared.law.gates.iter().chain(self.own)
    }

    fn has_any(self, shared: &Shared, trigger: Trigger) -> bool {
        self.gates(shared).any(|gate| gate.on == trigger)
    }
}

/// All gates of a trigger, in order. With none there is nothing to ask.
pub async fn ask_gates(shared: &Shared, trigger: Trigger, subject: Subject, place: &Place, held: Held<'_>) -> Outcome {
    let law = &shared.law;
    let mut evaluation = Evaluation::new(held.gates(shared), trigger, subject, GateLaw { table: &law.table, place });
    loop {
        match evaluation.step() {
            Step::Done(outcome) => return *outcome,
            Step::Ask(request) => {
                // A judge has a lease and a conversation of its own; so much is not carried by everybody who asks.
                let answered = Box::pin(answer(shared, request, held.host)).await;
                evaluation.answer(answered);
            }
        }
    }
}

/// Before there is an execution no model can be asked: it would be nobody's.
async fn answer(shared: &Shared, request: Request, host: Option<&ExecutionHost>) -> Answer {
    match (request, host) {
        (Request::Script { argv, stdin, timeout_seconds, .. }, _) => {
            let stopping = host.map_or_else(CancelSignal::never, Host::cancel);
            script(shared, GateScript { argv, stdin, timeout_seconds }, stopping).await
        }
        (Request::Score { criteria, input, timeout_seconds, .. }, Some(host)) => {
            host.score(&criteria, &input, timeout_seconds).await
        }
        (Request::Score { .. }, None) => Answer::Failed("no model can be asked before the task runs".to_owned()),
    }
}

/// A gate that was not heard out has not said yes.
async fn script(shared: &Shared, script: GateScript, stopping: CancelSignal) -> Answer {
    let provider = match shared.equipment.sandboxes(&shared.law.sandbox) {
        Ok(provider) => provider,
        Err(error) => return Answer::Failed(error.message),
    };
    let folder = shared.data_dir.join("checks").join(format!("gate-{:032x}", shared.runtime.random()));
    let mut policy = shared.equipment.policy(&folder);
    policy.hidden.push(shared.data_dir.clone());
    let cancel = Box::pin(async move {
        stopping.wait().await;
    });
    let scripts = shared.law.scripts.as_deref();
    run_script(shared.runtime.as_ref(), provider.as_ref(), policy, scripts, script, cancel).await
}

/// What gates made of words: the words as they may go on, or why they may not; and what the audit keeps of that.
pub struct Passed {
    pub text: Result<String, String>,
    pub audited: Option<NewEvent>,
}

/// Words of a user on their way in, or of an agent on their way out. A gate that wants an approval blocks: there is nobody
/// to ask in the middle of a sentence.
pub async fn pass_words(
    shared: &Shared,
    trigger: Trigger,
    text: String,
    (task, taint): (TaskId, Taint),
    held: Held<'_>,
) -> Passed {
    if !held.has_any(shared, trigger) {
        return Passed { text: Ok(text), audited: None };
    }
    let subject = match trigger {
        Trigger::EveryUserMessage => Subject::message(text.clone(), taint),
        _ => Subject::response(text.clone(), taint),
    };
    let mut outcome = ask_gates(shared, trigger, subject, &Place::workspace(), held).await;
    if outcome.decision == Ruling::Continue && !outcome.rewritten.is_empty() && !held.own.is_empty() {
        // What an item's gate made of the words, the operator's have not seen.
        let operators = Held { own: &[], ..held };
        let again = ask_gates(shared, trigger, outcome.subject.clone(), &Place::workspace(), operators).await;
        outcome = joined(outcome, again);
    }
    let details = json!({"gates": said(&outcome), "rewritten": outcome.rewritten, "on_block": outcome.on_block});
    if outcome.decision != Ruling::Continue {
        let why = reason(&outcome);
        let audited = Some(audit(shared, task, taint, "block", &why, details));
        return Passed { text: Err(why), audited };
    }
    let rewritten = !outcome.rewritten.is_empty();
    let audited = rewritten.then(|| audit(shared, task, taint, "rewrite", "", details));
    let passed = outcome.subject.message.or(outcome.subject.response).unwrap_or(text);
    Passed { text: Ok(passed), audited }
}

/// The second word stands, and both are on record.
fn joined(mut first: Outcome, second: Outcome) -> Outcome {
    first.records.extend(second.records);
    first.rewritten.extend(second.rewritten);
    Outcome { records: first.records, rewritten: first.rewritten, ..second }
}

fn audit(shared: &Shared, task: TaskId, taint: Taint, decision: &str, reason: &str, details: Value) -> NewEvent {
    let (event_type, actor) = (AuditType::GateBlock, Actor::GateRunner);
    Audited { event_type, actor, decision, reason, details }.about(task, shared, taint, shared.wall())
}

impl ExecutionHost {
    pub(super) fn has_gates(&self, trigger: Trigger) -> bool {
        Held::execution(self).has_any(&self.shared, trigger)
    }

    /// Whether any of its gates is of this kind, at whatever trigger.
    pub(super) fn has_gates_of(&self, kind: GateType) -> bool {
        Held::execution(self).gates(&self.shared).any(|gate| gate.kind == kind)
    }

    /// Asks the gates about each result of the step that has just been made; why it goes no further, if it does not.
    pub async fn after_step(&self) -> Option<(String, NewEvent)> {
        if !self.has_gates(Trigger::AfterStep) {
            return None;
        }
        for finished in self.step() {
            let step = serde_json::to_value(&finished).expect("a result is plain data");
            let tool = Some(finished.tool.clone());
            let subject = Subject { tool, step: Some(step), ..Subject::nothing(finished.taint) };
            let held = Held::execution(self);
            let outcome = ask_gates(&self.shared, Trigger::AfterStep, subject, &Place::workspace(), held).await;
            if outcome.decision != Ruling::Continue {
                let why = reason(&outcome);
                let details = json!({"gates": said(&outcome), "call_id": finished.call_id, "tool": finished.tool});
                let audited = audit(&self.shared, self.task, finished.taint, "block", &why, details);
                return Some((why, audited));
            }
        }
        None
    }
}

/// What the gates said, as it is kept.
pub fn said(outcome: &Outcome) -> Vec<GateSaid> {
    let said = |record: &Record| GateSaid {
        gate: record.gate.clone(),
        ruling: record.decision,
        reason: record.reason.clone(),
        score: record.score,
    };
    outcome.records.iter().map(said).collect()
}

/// The gate that decided, and its words.
pub fn reason(outcome: &Outcome) -> String {
    let decided = outcome.records.iter().find(|record| record.decision == outcome.decision);
    match (outcome.decision, decided) {
        (Ruling::Continue, _) | (_, None) => String::new(),
        (_, Some(Record { gate, reason, .. })) => format!("the gate `{gate}`: {reason}"),
    }
}
