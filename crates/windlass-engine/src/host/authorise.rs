//! The one gate path: every call that wants to be run is judged here, and what was decided is committed before anybody
//! learns of it. In order: budget, the operator's gates, risk, taint, approval. The strictest word stands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use windlass_domain::approval::{CardId, bound};
use windlass_domain::execution::{
    CallDecision, CallPhase, DecisionOutcome, ExecutionCommand, ExecutionState, OpenCall, Rejected, RiskChecked,
};
use windlass_domain::risk::{Level, Ruling};
use windlass_domain::{
    Call, CallOutcome, CallStatus, Effect, Host, Intent, Permit, Prepared, Refused, Taint, ToolCall, Usd, Verdict,
};
use windlass_policy::MARKER;
use windlass_policy::approve::{Leave, Need, Reaches, binding_hash, need};
use windlass_policy::gate::{Escalation, FileSeen, GateType, Outcome, Subject, Trigger};
use windlass_policy::risk::{Place, Risk, assess_call};
use windlass_policy::taint::{self, Deed};
use windlass_store::queue::{Actor, AuditType};
use windlass_workspace::{Kind, Root, WorkspacePath};

use super::card::{Question, card};
use super::execution_host::ExecutionHost;
use super::gates::{ask_gates, reason, said};
use super::rider::Rider;
use super::seen::Wanted;
use crate::approvals::{Approved, Audited, Use, request, use_token};
use crate::tripwire::TripwirePoint;

/// What is to be recorded of the judged calls, together.
#[derive(Default)]
struct Record {
    commands: Vec<ExecutionCommand>,
    rider: Rider,
    /// A gate ends the attempt: another may do better.
    ends: Option<String>,
}

/// What the rules say of one call.
enum Judged {
    Allowed(Call),
    Denied,
    Rewritten,
    Waiting,
}

/// A call that is about to be judged.
struct Candidate<'a> {
    state: &'a ExecutionState,
    open: &'a OpenCall,
    prepared: Prepared,
}

/// What was found out about a call.
struct Finding {
    outcome: Outcome,
    risk: Risk,
    ruling: Ruling,
    reasons: Vec<String>,
}

impl ExecutionHost {
    pub(super) async fn judge(&self, intents: Vec<Intent>) -> Result<Vec<Verdict>, Refused> {
        let state = self.state();
        let mut record = Record::default();
        let mut judged = Vec::with_capacity(intents.len());
        let mut seen = BTreeSet::new();
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
        drop(state);
        // Whoever was told to stop while gates were asked starts nothing: the calls stay open, to be judged anew.
        if self.cancel().raised().is_some() {
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
            (Ruling::Continue, _) => Ok(start(record, candidate)),
        }
    }

    /// Reasons that no rule has to be asked for.
    fn cannot_be(&self, candidate: &Candidate<'_>) -> Option<String> {
        let Candidate { state, open, prepared } = candidate;
        let limits = state.header.as_ref().map(|header| &header.limits);
        let exhausted = limits.and_then(|limits| limits.exhausted_for_calls(&state.spent_by(self.shared.wall())));
        if let Some(exhausted) = exhausted {
            return Some(exhausted.to_string());
        }
        let writes = prepared.effect != Effect::Read;
        (writes && open.call.arguments.get().contains(MARKER)).then(would_write_the_marker)
    }

    async fn find(&self, candidate: &Candidate<'_>) -> Finding {
        let Candidate { state, open, prepared } = candidate;
        let call = &open.call;
        let place = self.place();
        let arguments: Value = serde_json::from_str(call.arguments.get()).unwrap_or(Value::Null);
        let mut subject = Subject::call(&call.tool, arguments, state.taint);
        subject.files = self.named_files(&subject).await;
        let outcome = ask_gates(&self.shared, Trigger::OnToolCall, subject, &place, Some(self)).await;
        let law = &self.shared.law;
        let arguments = outcome.subject.tool_args.as_ref().unwrap_or(&Value::Null);
        let risk = assess_call(&law.table, &call.tool, arguments, &place);
        let of_risk = match need(risk.level, Leave::Issuer, Reaches::Beyond) {
            Need::Nothing => Ruling::Continue,
            Need::Card => Ruling::RequireApproval,
            Need::Refused => Ruling::Block,
        };
        let carries = taint::leave(state.taint, Deed::Call(&prepared.reach), &law.allowed_hosts);
        let of_taint = match carries {
            taint::Leave::Free => Ruling::Continue,
            taint::Leave::NeedsApproval => Ruling::RequireApproval,
        };
        let mut reasons = Vec::new();
        if outcome.decision != Ruling::Continue {
            reasons.push(reason(&outcome));
        }
        if of_risk != Ruling::Continue {
            reasons.push(format!("its risk is {}: {}", risk.level.as_str(), risk.reasons.join("; ")));
        }
        if of_taint != Ruling::Continue {
            reasons.push("it could carry data out of a context that holds external content".to_owned());
        }
        let ruling = of_gates(&outcome).max(of_risk).max(of_taint);
        Finding { outcome, risk, ruling, reasons }
    }

    /// The files that a call's arguments name, for gates that look at files.
    async fn named_files(&self, subject: &Subject) -> BTreeMap<String, FileSeen> {
        if !self.shared.law.gates.iter().any(|gate| gate.kind == GateType::FileValid) {
            return BTreeMap::new();
        }
        let arguments = subject.tool_args.as_ref().and_then(Value::as_object).into_iter().flatten();
        let named: Vec<String> = arguments.filter_map(|(_, value)| value.as_str().map(str::to_owned)).collect();
        let folder = self.folder.clone();
        self.shared.blocking(move || sizes(&folder, named)).await
    }

    /// Where commands run, as they see it.
    fn place(&self) -> Place {
        match self.created.sandbox.as_str() {
            "process" => {
                let workspace = self.folder.to_string_lossy().into_owned();
                Place { cwd: workspace.clone(), workspace }
            }
            _ => Place::workspace(),
        }
    }

    fn block(&self, record: &mut Record, candidate: &Candidate<'_>, finding: &Finding) -> Judged {
        let call = &candidate.open.call;
        let why = finding.reasons.join("; ");
        record.rider.events.push(self.audit_block(candidate, finding, &why));
        self.escalate(record, finding, &why, candidate.state.taint);
        deny(record, call, format!("not done: {why}. Find another way."))
    }

    /// What the gate wants done besides: somebody else told, the attempt begun anew. What was blocked stays blocked.
    fn escalate(&self, record: &mut Record, finding: &Finding, why: &str, taint: Taint) {
        let Some(escalation) = finding.outcome.on_block else { return };
        if escalation.spends_an_attempt() {
            record.ends = Some(why.to_owned());
        }
        if matches!(escalation, Escalation::TransferToQueue | Escalation::SpawnTask) {
            record.rider.ride_with(self.shared.gate_blocked(self.task, escalation, why, taint));
        }
    }

    fn audit_block(&self, candidate: &Candidate<'_>, finding: &Finding, why: &str) -> windlass_store::NewEvent {
        let ToolCall { call_id, tool, .. } = &candidate.open.call;
        let details = json!({
            "tool": tool,
            "call_id": call_id,
            "execution_id": self.execution,
            "level": finding.risk.level,
            "gate": finding.outcome.by,
            "on_block": finding.outcome.on_block,
        });
        let (event_type, actor) = (AuditType::GateBlock, Actor::GateRunner);
        let audited = Audited { event_type, actor, decision: "block", reason: why, details };
        audited.about(self.task, &self.shared, candidate.state.taint, self.shared.wall())
    }

    async fn ask(&self, record: &mut Record, candidate: &Candidate<'_>, finding: &Finding) -> Result<Judged, Refused> {
        let now = self.shared.wall();
        let card_id = CardId::new(now, self.shared.runtime.random());
        let policy = self.shared.equipment.policy(&self.folder);
        let wanted = self.wanted(candidate, finding, &policy);
        let question = Question {
            card_id,
            tenant: self.shared.tenant.clone(),
            task: self.task,
            state: candidate.state,
            reasons: finding.reasons.clone(),
            worst_case: Some(bound(&self.created.budget, &self.created.base_case, (0, Usd::ZERO))),
            expires_at: now + self.shared.law.card_lifetime,
        };
        let seen = wanted.seen(&self.shared).await;
        let asked = match seen.and_then(|seen| card(&wanted, &seen, question)) {
            Ok(card) => request(&mut record.rider, card, self.task, &self.shared.redactor, candidate.state.taint, now),
            Err(unshowable) => return Ok(deny(record, &candidate.open.call, format!("not done: {unshowable}"))),
        };
        asked.map_err(|refused| Refused::Store(refused.to_string()))?;
        let outcome = DecisionOutcome::Waiting { card_id };
        let call_id = candidate.open.call.call_id.clone();
        record.commands.push(ExecutionCommand::Decide(CallDecision { call_id, outcome }));
        Ok(Judged::Waiting)
    }

    /// What runs must be what was shown: everything is looked at again, and the token is verified against that.
    async fn use_approval(
        &self,
        record: &mut Record,
        candidate: Candidate<'_>,
        finding: &Finding,
        card_id: CardId,
    ) -> Result<Judged, Refused> {
        let policy = self.shared.equipment.policy(&self.folder);
        let wanted = self.wanted(&candidate, finding, &policy);
        let risk = wanted.risk_level();
        let seen = wanted.seen(&self.shared).await;
        let what = match seen.and_then(|seen| Ok(binding_hash(&seen)?)) {
            Ok(binding) => Approved::Call { binding, risk },
            Err(unshowable) => return Ok(deny(record, &candidate.open.call, format!("not done: {unshowable}"))),
        };
        let wanted = Use { card_id, task: self.task, what };
        let used = use_token(&self.shared, &wanted, &mut record.rider).await;
        match used.map_err(|error| Refused::Store(error.to_string()))? {
            Ok(()) => Ok(start(record, candidate)),
            Err(why) => {
                record.rider.events.push(self.audit_block(&candidate, finding, &why));
                let told = format!("not done: the approval does not hold: {why}. Ask again if it is still wanted.");
                Ok(deny(record, &candidate.open.call, told))
            }
        }
    }

    fn wanted<'a>(
        &'a self,
        candidate: &'a Candidate<'_>,
        finding: &'a Finding,
        policy: &'a windlass_sandbox::Policy,
    ) -> Wanted<'a> {
        Wanted {
            call: &candidate.open.call,
            prepared: &candidate.prepared,
            risk: &finding.risk,
            taint: candidate.state.taint,
            execution: self.execution,
            folder: &self.folder,
            policy,
            sandbox: &self.created.sandbox,
        }
    }
}

/// A block that is to be put to a person asks them; what risk refuses stays refused.
fn of_gates(outcome: &Outcome) -> Ruling {
    match (outcome.decision, outcome.on_block) {
        (Ruling::Block, Some(Escalation::EscalateHuman | Escalation::SuppressAndEscalate)) => Ruling::RequireApproval,
        (decision, _) => decision,
    }
}

/// An attempt that ends here begins nothing any more; every call has its result.
fn none_started(record: &mut Record, judged: Vec<Judged>) -> Vec<Judged> {
    record.commands.retain(|command| !matches!(command, ExecutionCommand::StartCall { .. }));
    let denied = judged.into_iter().map(|judged| match judged {
        Judged::Allowed(Call { call, .. }) => deny(record, &call, "not done: a gate ends this attempt".to_owned()),
        other => other,
    });
    denied.collect()
}

/// As they are now; what is not there is left out.
fn sizes(folder: &Path, named: Vec<String>) -> BTreeMap<String, FileSeen> {
    let Ok(root) = Root::open(folder) else { return BTreeMap::new() };
    let size = |name: String| {
        let found = root.metadata(&WorkspacePath::parse(&name).ok()?).ok()?;
        (found.kind == Kind::File).then_some((name, FileSeen { bytes: found.size }))
    };
    named.into_iter().filter_map(size).collect()
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

fn deny(record: &mut Record, call: &ToolCall, content: String) -> Judged {
    record.commands.push(ExecutionCommand::FinishCall {
        outcome: CallOutcome {
            call_id: call.call_id.clone(),
            status: CallStatus::Denied,
            content,
            full_output: None,
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
