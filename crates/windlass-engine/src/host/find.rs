//! What the rules have to say about one call: the operator's gates, how risky it is, and whether it could carry data out.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use windlass_domain::plan::InteractionMode;
use windlass_domain::risk::Ruling;
use windlass_domain::{Effect, Probe, Taint};
use windlass_policy::approve::{Leave, Need, Reaches, need};
use windlass_policy::gate::{Escalation, FileSeen, GateType, Outcome, Subject, Trigger};
use windlass_policy::risk::{Place, Risk, assess_call};
use windlass_policy::taint::{self, Deed};
use windlass_workspace::{Kind, Root, SKILL_FOLDERS, WorkspacePath};

use super::authorise::Candidate;
use super::execution_host::ExecutionHost;
use super::gates::{Held, ask_gates, reason};
use super::ground::stain;

/// What was found out about a call.
pub struct Finding {
    pub outcome: Outcome,
    pub risk: Risk,
    pub ruling: Ruling,
    pub reasons: Vec<String>,
}

impl ExecutionHost {
    pub(super) async fn find(&self, candidate: &Candidate<'_>) -> Finding {
        let Candidate { state, open, prepared } = candidate;
        let call = &open.call;
        let place = self.place();
        let arguments: Value = serde_json::from_str(call.arguments.get()).unwrap_or(Value::Null);
        let mut subject = Subject::call(&call.tool, arguments, state.taint);
        subject.files = self.named_files(&subject).await;
        let outcome = ask_gates(&self.shared, Trigger::OnToolCall, subject, &place, Held::execution(self)).await;
        let law = &self.shared.law;
        let arguments = outcome.subject.tool_args.as_ref().unwrap_or(&Value::Null);
        let risk = assess_call(&law.table, &call.tool, arguments, &place);
        let of_risk = match need(risk.level, Leave::Issuer, Reaches::Beyond) {
            Need::Nothing => Ruling::Continue,
            Need::Card => Ruling::RequireApproval,
            Need::Refused => Ruling::Block,
        };
        let of_taint = ruling(taint::leave(state.taint, Deed::Call(&prepared.reach), &law.allowed_hosts));
        let mut reasons = Vec::new();
        if outcome.decision != Ruling::Continue {
            reasons.push(reason(&outcome));
        }
        if of_risk != Ruling::Continue {
            reasons.push(format!("its risk is {}: {}", risk.level.as_str(), risk.reasons.join("; ")));
        }
        let installs = self.installs_skill(candidate);
        if installs != Ruling::Continue {
            reasons.push("it would install a skill from a context that holds external content".to_owned());
        }
        if of_taint != Ruling::Continue {
            reasons.push("it could carry data out of a context that holds external content".to_owned());
        }
        let of_plan = self.wants_confirmation(&prepared.effect);
        if of_plan != Ruling::Continue {
            reasons
                .push("its plan wants you asked before every change (`interaction_mode: confirm_always`)".to_owned());
        }
        let ruling = of_gates(&outcome).max(of_risk).max(of_taint).max(installs).max(of_plan);
        Finding { outcome, risk, ruling, reasons }
    }

    /// Whether the item's plan has a person asked before each call that changes something. Of an agent that is spawned, each call
    /// is asked about, and not that there is one.
    fn wants_confirmation(&self, effect: &Effect) -> Ruling {
        let handling = self.created.part_of.as_ref().and_then(|of| of.part.handling());
        let always = handling.is_some_and(|handling| handling.interaction_mode == InteractionMode::ConfirmAlways);
        match effect {
            Effect::Probe(_) | Effect::Once if always => Ruling::RequireApproval,
            _ => Ruling::Continue,
        }
    }

    /// A file that an external context puts among the skills would be followed by later tasks.
    fn installs_skill(&self, Candidate { state, prepared, .. }: &Candidate<'_>) -> Ruling {
        let Effect::Probe(Probe { path, .. }) = &prepared.effect else { return Ruling::Continue };
        let path = WorkspacePath::parse(path).unwrap_or_else(|_| WorkspacePath::top());
        let is_skill = path.is_top() || SKILL_FOLDERS.iter().any(|folder| path.is_below(folder));
        match is_skill && stain(&prepared.reach, state, &self.labels()) == Taint::External {
            true => ruling(taint::leave(Taint::External, Deed::InstallSkill, &[])),
            false => Ruling::Continue,
        }
    }

    /// The files that a call's arguments name, for gates that look at files.
    async fn named_files(&self, subject: &Subject) -> BTreeMap<String, FileSeen> {
        if !self.has_gates_of(GateType::FileValid) {
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
}

const fn ruling(leave: taint::Leave) -> Ruling {
    match leave {
        taint::Leave::Free => Ruling::Continue,
        taint::Leave::NeedsApproval => Ruling::RequireApproval,
    }
}

/// A block that is to be put to a person asks them; what risk refuses stays refused.
fn of_gates(outcome: &Outcome) -> Ruling {
    match (outcome.decision, outcome.on_block) {
        (Ruling::Block, Some(Escalation::EscalateHuman | Escalation::SuppressAndEscalate)) => Ruling::RequireApproval,
        (decision, _) => decision,
    }
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
