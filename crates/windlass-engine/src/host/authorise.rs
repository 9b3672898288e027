//! The one gate path: every call that wants to be run is judged here, and what was decided is committed before anybody
//! learns of it. In order: budget, the operator's gates, risk, taint (`find`), approval (`asking`). The strictest word
//! stands; what follows from a no is `blocked`'s.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_domain::execution::{
    CallDecision, CallPhase, DecisionOutcome, ExecutionCommand, ExecutionState, OpenCall, Rejected, RiskChecked,
};
use windlass_domain::risk::{Level, Ruling};
use windlass_domain::{
    Call, CallOutcome, CallStatus, Effect, Host, Intent, Permit, Prepared, Refused, Taint, ToolCall, Verdict,
};
use windlass_policy::MARKER;
use windlass_policy::risk::Risk;

use super::blocked::none_started;
use super::execution_host::ExecutionHost;
use super::find::Finding;
use super::gates::said;
use super::rider::Rider;
use crate::tripwire::TripwirePoint;

/// What is to be recorded of the judged calls, together.
#[derive(Default)]
pub struct Record {
    pub commands: Vec<ExecutionCommand>,
    pub rider: Rider,
    /// A gate ends the attempt: another may do better.
    pub ends: Option<String>,
}

/// What the rules say of one call.
pub enum Judged {
    Allowed(Call),
    Denied,
    Rewritten,
    Waiting,
}

/// A call that is about to be judged.
pub struct Candidate<'a> {
    pub state: &'a ExecutionState,
    pub open: &'a OpenCall,
    pub prepared: Prepared,
}

impl ExecutionHost {
    pub(super) async fn judge(&self, intents: Vec<Intent>) -> Result<Vec<Verdict>, Refused> {
        self.ground.refresh(&self.shared).await.map_err(|error| Refused::Store(error.to_string()))?;
        let state = self.state();
        let mut record = Record::default();
        let mut judged = Vec::with_capacity(intents.len());
        let mut seen = BTreeSet::new();
        let is_spawned = |call_id| state.open_call(call_id).and_then(OpenCall::started) == Some(&Effect::Child);
        let only_rejoins = intents.iter().all(|intent| is_spawned(&intent.call_id));
        for Intent { call_id, prepared } in intents {
            let Some(open) = state.open_call(&call_id) else { return Err(Rejected::NoSuchCall(call_id).into()) };
            // What is recorded of a call and the use of its approval stand together: nothing here may be refused later.
            let is_in_flight = matches!(open.started(), Some(Effect::Once));
            if is_in_flight || !seen.insert(call_id.clone()) {
                return Err(Rejected::OnlyOnce(call_id).into());
            }
            let candidate = Candidate { state: &state, open, prepared };
            judged.push(self.judge_one(candidate, &mut record).await?);
        }
        self.ground.stamp(&self.shared, &record.commands, &state).await;
        drop(state);
        // Whoever was told to stop while gates were asked starts nothing: the calls stay open, to be judged anew. Agents that were
        // spawned before are gone on with, so that each comes to its own end.
        if self.cancel().raised().is_some() && !only_rejoins {
            return Ok(judged.into_iter().map(|_| Verdict::Rewritten).collect());
        }
        let judged = if record.ends.is_some() { none_started(&mut record, judged) } else { judged };
        self.commit(record.commands, record.rider).await?;
        self.shared.pass(TripwirePoint::Permitted).await;
        if let Some(reason) = record.ends {
            return Err(Refused::Blocked(reason));
        }
        Ok(judged.into_iter().map(verdict).collect())
    }

    /// The call is taken from the journal: what was asked for is what is judged, and what is permitted.
    async fn judge_one(&self, candidate: Candidate<'_>, record: &mut Record) -> Result<Judged, Refused> {
        if candidate.open.started() == Some(&Effect::Child) {
            return Ok(start(record, candidate));
        }
        if let Some(reason) = self.cannot_be(&candidate) {
            return Ok(deny(record, &candidate.open.call, reason));
        }
        // It was allowed before, and did not happen.
        if candidate.open.started().is_some() {
            return Ok(start(record, candidate));
        }
        let finding = self.find(&candidate).await;
        let is_first = !matches!(candidate.open.phase, CallPhase::Approved(_));
        if is_first && (finding.risk.level >= Level::Medium || finding.ruling != Ruling::Continue) {
            record.commands.push(checked(&candidate, &finding));
        }
        let rewritten = !finding.outcome.rewritten.is_empty();
        match (finding.ruling, &candidate.open.phase) {
            (Ruling::Block, _) => Ok(self.block(record, &candidate, &finding)),
            (_, CallPhase::Asked) if rewritten => Ok(rewrite(record, &candidate, &finding)),
            (_, _) if rewritten => Ok(deny(record, &candidate.open.call, REWRITES_AGAIN.to_owned())),
            (Ruling::RequireApproval, CallPhase::Approved(card)) => {
                let card = *card;
                self.use_approval(record, candidate, &finding, card).await
            }
            (Ruling::RequireApproval, _) => self.ask(record, &candidate, &finding).await,
            (Ruling::Continue, _) => self.let_go(record, candidate).await,
        }
    }

    /// Nothing stands in its way. A call that asks a person, or watches something, is not run: it waits for what is said then.
    pub(super) async fn let_go(&self, record: &mut Record, mut candidate: Candidate<'_>) -> Result<Judged, Refused> {
        let Prepared { question, monitor, .. } = &mut candidate.prepared;
        match (question.take(), monitor.take()) {
            (Some(question), _) => self.put(record, &candidate, question),
            (None, Some(schedule)) => self.watch(record, &candidate, schedule).await,
            (None, None) => Ok(start(record, candidate)),
        }
    }

    /// Reasons that no rule has to be asked for.
    fn cannot_be(&self, candidate: &Candidate<'_>) -> Option<String> {
        let Candidate { state, open, prepared } = candidate;
        let limits = state.header.as_ref().map(|header| &header.limits);
        let now = self.shared.wall();
        let exhausted = limits.and_then(|limits| limits.exhausted_for_calls(&state.spent_by(now)));
        if let Some(exhausted) = exhausted.or_else(|| self.family_is_out_of(now)) {
            return Some(exhausted.to_string());
        }
        let writes = prepared.effect != Effect::Read;
        (writes && open.call.arguments.get().contains(MARKER)).then(would_write_the_marker)
    }
}

const REWRITES_AGAIN: &str = "not done: a gate rewrites what gates have rewritten";

/// A credential was taken out of what the model read or wrote. What stands there instead must not reach a file or a command
/// as if it were the real thing.
fn would_write_the_marker() -> String {
    format!(
        "not done: the arguments hold `{MARKER}`, which stands for a credential that is never shown or passed on. Leave it out: \
         with `edit`, replace only text around it; in a command, let a program read it from where it is."
    )
}

fn start(record: &mut Record, candidate: Candidate<'_>) -> Judged {
    let call = candidate.open.call.clone();
    let Prepared { effect, reach, .. } = candidate.prepared;
    let started = ExecutionCommand::StartCall { call_id: call.call_id.clone(), effect: effect.clone(), reach };
    record.commands.push(started);
    Judged::Allowed(Call { call, effect })
}

pub fn deny(record: &mut Record, call: &ToolCall, content: String) -> Judged {
    record.commands.push(ExecutionCommand::FinishCall {
        outcome: CallOutcome {
            call_id: call.call_id.clone(),
            status: CallStatus::Denied,
            content,
            full_output: None,
            images: Vec::new(),
            duration_ms: 0,
        },
        // The host's own words.
        taint: Taint::Owner,
    });
    Judged::Denied
}

fn rewrite(record: &mut Record, candidate: &Candidate<'_>, finding: &Finding) -> Judged {
    let arguments = finding.outcome.subject.tool_args.as_ref().unwrap_or(&Value::Null);
    let arguments = serde_json::value::to_raw_value(arguments).expect("a value is JSON");
    let gates = finding.outcome.rewritten.iter().map(|rewrite| rewrite.gate.clone()).collect();
    let call_id = candidate.open.call.call_id.clone();
    let outcome = DecisionOutcome::Rewritten { gates, arguments };
    record.commands.push(ExecutionCommand::Decide(CallDecision { call_id, outcome }));
    Judged::Rewritten
}

fn checked(candidate: &Candidate<'_>, finding: &Finding) -> ExecutionCommand {
    let ToolCall { call_id, tool, .. } = &candidate.open.call;
    let Risk { level, reasons, .. } = &finding.risk;
    ExecutionCommand::CheckRisk(RiskChecked {
        call_id: call_id.clone(),
        tool: tool.clone(),
        level: *level,
        reasons: reasons.clone(),
        ruling: finding.ruling,
        gates: said(&finding.outcome),
    })
}

fn verdict(judged: Judged) -> Verdict {
    #[expect(clippy::disallowed_methods, reason = "the one place that issues permits: what they allow is committed")]
    match judged {
        Judged::Allowed(call) => Verdict::Granted(Permit::issue(call)),
        Judged::Denied => Verdict::Denied,
        Judged::Rewritten => Verdict::Rewritten,
        Judged::Waiting => Verdict::Waiting,
    }
}
