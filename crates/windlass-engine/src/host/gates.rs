//! Asking the operator's gates: predicates are decided at once, scripts run in a sandbox of their own, models score as
//! executions of their own. No agent sees a gate; it sees what was refused, and why.

use serde_json::{Value, json};
use windlass_domain::risk::{GateSaid, Ruling};
use windlass_domain::{CancelSignal, Host, Taint, TaskId};
use windlass_policy::gate::{Answer, Evaluation, Law as GateLaw, Outcome, Record, Request, Step, Subject, Trigger};
use windlass_policy::risk::Place;
use windlass_store::NewEvent;
use windlass_store::queue::{Actor, AuditType};

use super::execution_host::ExecutionHost;
use crate::approvals::Audited;
use crate::engine::Shared;
use crate::gates::{GateScript, run_script};

/// All gates of a trigger, in order. With none there is nothing to ask.
pub async fn ask_gates(
    shared: &Shared,
    trigger: Trigger,
    subject: Subject,
    place: &Place,
    host: Option<&ExecutionHost>,
) -> Outcome {
    let law = &shared.law;
    let mut evaluation = Evaluation::new(&law.gates, trigger, subject, GateLaw { table: &law.table, place });
    loop {
        match evaluation.step() {
            Step::Done(outcome) => return *outcome,
            Step::Ask(request) => {
                // A judge has a lease and a conversation of its own; so much is not carried by everybody who asks.
                let answered = Box::pin(answer(shared, request, host)).await;
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

pub(super) fn has_gates(shared: &Shared, trigger: Trigger) -> bool {
    shared.law.gates.iter().any(|gate| gate.on == trigger)
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
    host: Option<&ExecutionHost>,
) -> Passed {
    if !has_gates(shared, trigger) {
        return Passed { text: Ok(text), audited: None };
    }
    let subject = match trigger {
        Trigger::EveryUserMessage => Subject::message(text.clone(), taint),
        _ => Subject::response(text.clone(), taint),
    };
    let outcome = ask_gates(shared, trigger, subject, &Place::workspace(), host).await;
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

fn audit(shared: &Shared, task: TaskId, taint: Taint, decision: &str, reason: &str, details: Value) -> NewEvent {
    let (event_type, actor) = (AuditType::GateBlock, Actor::GateRunner);
    Audited { event_type, actor, decision, reason, details }.about(task, shared, taint, shared.wall())
}

impl ExecutionHost {
    /// Asks the gates about each result of the step that has just been made; why it goes no further, if it does not.
    pub async fn after_step(&self) -> Option<(String, NewEvent)> {
        if !has_gates(&self.shared, Trigger::AfterStep) {
            return None;
        }
        for finished in self.step() {
            let step = serde_json::to_value(&finished).expect("a result is plain data");
            let tool = Some(finished.tool.clone());
            let subject = Subject { tool, step: Some(step), ..Subject::nothing(finished.taint) };
            let outcome = ask_gates(&self.shared, Trigger::AfterStep, subject, &Place::workspace(), Some(self)).await;
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
