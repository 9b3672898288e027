//! A call that needs a person: its card is put, and once there is a yes, its token is used for the very call that was shown;
//! and a call that asks a person, whose question is put, or watches something, whose monitor is set.

use std::sync::Arc;

use windlass_domain::approval::{CardId, bound};
use windlass_domain::execution::{CallDecision, DecisionOutcome, ExecutionCommand};
use windlass_domain::monitor::{MonitoringSchedule, SetBy};
use windlass_domain::{QuestionAsked, Refused, RequestId, Usd, UserQuestion};
use windlass_policy::approve::binding_hash;
use windlass_sandbox::Policy;

use super::authorise::{Candidate, Judged, Record, deny};
use super::card::{Question, card, item_shown, scope_of};
use super::execution_host::ExecutionHost;
use super::find::Finding;
use super::seen::Wanted;
use crate::Error;
use crate::approvals::{Approved, Use, request, use_token};
use crate::engine::Engine;
use crate::questions::put_question;

impl ExecutionHost {
    pub(super) async fn ask(
        &self,
        record: &mut Record,
        candidate: &Candidate<'_>,
        finding: &Finding,
    ) -> Result<Judged, Refused> {
        let now = self.shared.wall();
        let card_id = CardId::new(now, self.shared.runtime.random());
        let policy = self.shared.equipment.policy(&self.folder);
        let wanted = self.wanted(candidate, finding, &policy);
        let question = Question {
            card_id,
            tenant: self.shared.tenant.clone(),
            task: self.task,
            state: candidate.state,
            item: item_shown(&self.created),
            before: self.before(&wanted).await?,
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
    pub(super) async fn use_approval(
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
            Ok(binding) => Approved::Call { binding, risk, scope: scope_of(&candidate.open.call.tool) },
            Err(unshowable) => return Ok(deny(record, &candidate.open.call, format!("not done: {unshowable}"))),
        };
        let wanted = Use { card_id, task: self.task, what };
        let used = use_token(&self.shared, &wanted, &mut record.rider).await;
        match used.map_err(|error| Refused::Store(error.to_string()))? {
            Ok(()) => self.let_go(record, candidate).await,
            Err(why) => {
                record.rider.events.push(self.audit_block(&candidate, finding, &why));
                let told = format!("not done: the approval does not hold: {why}. Ask again if it is still wanted.");
                Ok(deny(record, &candidate.open.call, told))
            }
        }
    }

    /// The call waits from the commit on that puts its question before people.
    pub(super) fn put(
        &self,
        record: &mut Record,
        candidate: &Candidate<'_>,
        question: UserQuestion,
    ) -> Result<Judged, Refused> {
        let now = self.shared.wall();
        let request_id = RequestId::new(now, self.shared.runtime.random());
        let call_id = candidate.open.call.call_id.clone();
        let asked = QuestionAsked {
            request_id,
            task_id: self.task,
            execution_id: self.execution,
            call_id: call_id.clone(),
            asked: question,
        };
        put_question(&mut record.rider, asked, &self.shared.redactor, candidate.state.taint, now)
            .map_err(|refused| Refused::Store(refused.to_string()))?;
        let outcome = DecisionOutcome::Question { request_id };
        record.commands.push(ExecutionCommand::Decide(CallDecision { call_id, outcome }));
        Ok(Judged::Waiting)
    }

    /// The call waits from the commit on that sets the monitor.
    pub(super) async fn watch(
        &self,
        record: &mut Record,
        candidate: &Candidate<'_>,
        schedule: MonitoringSchedule,
    ) -> Result<Judged, Refused> {
        let engine = Engine { shared: Arc::clone(&self.shared) };
        let set =
            engine.set_monitor(&mut record.rider, self.task, schedule, (SetBy::Agent, candidate.state.taint)).await;
        match set {
            Err(Error::Monitor(why)) => {
                let now = self.shared.wall().to_rfc3339();
                return Ok(deny(record, &candidate.open.call, format!("not done: {why}. It is {now} now.")));
            }
            set => set.map_err(|error| Refused::Store(error.to_string()))?,
        }
        let call_id = candidate.open.call.call_id.clone();
        let outcome = DecisionOutcome::Monitoring { task_id: self.task };
        record.commands.push(ExecutionCommand::Decide(CallDecision { call_id, outcome }));
        Ok(Judged::Waiting)
    }

    fn wanted<'a>(&'a self, candidate: &'a Candidate<'_>, finding: &'a Finding, policy: &'a Policy) -> Wanted<'a> {
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
