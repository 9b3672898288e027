//! A run's own approval: whoever issues it signs what they asked for, goal, checks, limits, folder and sandbox, and each
//! attempt uses that token once. What was asked for and what runs are compared when an attempt begins and whenever it is
//! entered again, so that a task cannot grow between the two.

use std::time::Duration;

use serde_json::json;
use windlass_domain::approval::{
    Answer, ApprovalCommand, ApprovalScope, ApprovalState, Binding, Card, CardId, Nonce, RiskLevel, Strength, TokenId,
    Verdict, bound,
};
use windlass_domain::task::TaskCreated;
use windlass_domain::{Digest, Seq, Taint, TaskId, Usd};
use windlass_policy::approve::{Order, OwnerKey, PlanSeen, Subject, Unhashable, check, issue, plan_hash};
use windlass_store::Commit;
use windlass_store::queue::{Actor, AuditType};

use super::audit::Audited;
use super::journal::ApprovalJournal;
use crate::Error;
use crate::engine::{Engine, Shared};
use crate::host::Rider;

/// Who signs by their own word where nobody knows a name for them.
const NAMELESS: &str = "the issuer";
/// How long attempts may begin on an issuer's word. A task that rests for longer is asked for anew.
pub(super) const ISSUER_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How somebody approves what they begin themselves, and why that is enough.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnWord<'a> {
    pub strength: Strength,
    pub reason: &'a str,
}

/// Contracts §1's fields for a task of one atom; the rest of what the issuer chose stands in the body.
fn plan(created: &TaskCreated) -> PlanSeen {
    let TaskCreated { command, agent_id, role, model, workspace, base_case, budget, sandbox, baseline, .. } = created;
    let skill_digests = created.skills.iter().map(|skill| (skill.name.clone(), skill.digest)).collect();
    let mut body = json!({
        "goal": command.goal,
        "constraints": command.constraints,
        "execution_config": command.execution_config,
        "role": role,
        "model": model,
        "workspace": workspace,
        "sandbox": sandbox,
        "baseline": baseline,
    });
    // Tasks of before had none, and their tokens still hold.
    if !created.attachments.is_empty() {
        body["attachments"] = json!(created.attachments);
    }
    if let Some(from) = &created.forked {
        body["forked"] = json!(from);
    }
    let seen = PlanSeen::one_atom(command.task_id.to_string(), &command.goal, base_case.clone(), budget.clone());
    PlanSeen { agent: agent_id.clone(), needs_approval: false, body: body.to_string(), skill_digests, ..seen }
}

/// What a token for this task binds.
pub fn hash_of(created: &TaskCreated) -> Result<Digest, Unhashable> {
    plan_hash(&plan(created))
}

impl Engine {
    /// The issuer's approval of `created`, as part of the commit that takes the task in.
    pub(crate) fn approve_by_issuer(
        &self,
        commit: &mut Commit,
        card_id: CardId,
        created: &TaskCreated,
        key: &OwnerKey,
    ) -> Result<(), Error> {
        let hash = hash_of(created).map_err(|error| Error::Unsigned(error.to_string()))?;
        let card = self.issuers_card(card_id, created, hash);
        let word = OwnWord {
            strength: Strength::Implied,
            reason: "whoever issues a run approves low and medium calls in its workspace",
        };
        self.sign_own(commit, card, created.command.task_id, word, key)
    }

    /// A card that nobody is asked about: whoever it would be put to does what it says by their own word, as part of a commit.
    pub(crate) fn sign_own(
        &self,
        commit: &mut Commit,
        card: Card,
        task: TaskId,
        word: OwnWord<'_>,
        key: &OwnerKey,
    ) -> Result<(), Error> {
        let shared = &self.shared;
        let (now, card_id) = (commit.at, card.card_id);
        let unsigned = |error: Unhashable| Error::Unsigned(error.to_string());
        let mut journal = ApprovalJournal::new(card_id);
        commit.expect.push((journal.stream.clone(), Seq(0)));
        let issued_by = Answer {
            verdict: Verdict::Approved,
            by: shared.name.as_deref().unwrap_or(NAMELESS).to_owned(),
            approval_strength: word.strength,
            conditions: Vec::new(),
            note: String::new(),
            taint: Taint::Auth,
        };
        let asked = [ApprovalCommand::Request(Box::new(card)), ApprovalCommand::Answer(issued_by)];
        commit.events.extend(journal.advance(asked, &shared.redactor, Taint::Auth, now)?);
        if let ApprovalState::Decided { card, decision } = &journal.state {
            let order = Order {
                card,
                decision,
                token_id: TokenId::new(now, shared.runtime.random()),
                nonce: Nonce::new(shared.runtime.random()),
                issued_at: now,
                expires_at: now + ISSUER_LIFETIME,
            };
            let token = ApprovalCommand::Issue(Box::new(issue(order, key).map_err(unsigned)?));
            commit.events.extend(journal.advance([token], &shared.redactor, Taint::Auth, now)?);
        }
        let mut details = json!({"card_id": card_id, "approval_strength": word.strength});
        if let Some(name) = &shared.name {
            details["by"] = json!(name);
        }
        let audited = Audited {
            event_type: AuditType::Approval,
            actor: Actor::User,
            decision: "approved",
            reason: word.reason,
            details,
        };
        commit.events.push(audited.about(task, shared, Taint::Auth, now));
        Ok(())
    }

    fn issuers_card(&self, card_id: CardId, created: &TaskCreated, plan_hash: Digest) -> Card {
        let shared = &self.shared;
        let task = created.command.task_id;
        Card {
            card_id,
            intent: created.command.goal.lines().next().unwrap_or_default().to_owned(),
            risk_level: RiskLevel::Low,
            rationale: String::new(),
            consequence_label: "an agent works in the sandbox until the checks pass".to_owned(),
            affected_items: vec![created.workspace.clone()],
            details: match &created.forked {
                None => json!({"task_id": task, "sandbox": created.sandbox, "agent": created.agent_id}),
                Some(from) => json!({
                    "task_id": task, "sandbox": created.sandbox, "agent": created.agent_id,
                    "forked_from": {"execution_id": from.execution_id, "turn": from.turn},
                }),
            },
            worst_case: Some(bound(&created.budget, &created.base_case, (0, Usd::ZERO))),
            expires_at: shared.wall() + ISSUER_LIFETIME,
            binds: Binding {
                tenant: shared.tenant.clone(),
                work_item_id: task.to_string(),
                scope: ApprovalScope::FullPlan,
                plan_hash: Some(plan_hash),
                binding_hash: None,
                spawn_policy_hash: None,
                max_executions: created.budget.max_attempts,
            },
        }
    }
}

/// At the entrance of an attempt that was begun before: spends nothing, and asks again whether this is what was approved.
/// The outcome is recorded in `rider`.
pub async fn check_plan(
    shared: &Shared,
    card_id: CardId,
    created: &TaskCreated,
    rider: &mut Rider,
) -> Result<Result<(), String>, Error> {
    let mut journal = ApprovalJournal::load(shared.store.as_ref(), &shared.tenant, card_id).await?;
    let (task, now) = (created.command.task_id, shared.wall());
    let checked = entered(shared, &journal, created);
    rider.expect.push((journal.stream.clone(), journal.head));
    let (decision, reason) = match &checked {
        Ok(_) => ("passed", ""),
        Err(reason) => ("refused", reason.as_str()),
    };
    let details = json!({"card_id": card_id});
    let (event_type, actor) = (AuditType::Check, Actor::ApprovalEngine);
    let audited = Audited { event_type, actor, decision, reason, details };
    rider.events.push(audited.about(task, shared, Taint::Auth, now));
    match checked {
        Ok(execution_nonce) => {
            let check = [ApprovalCommand::Check { execution_nonce }];
            rider.events.extend(journal.advance(check, &shared.redactor, Taint::Auth, now)?);
            Ok(Ok(()))
        }
        Err(reason) => Ok(Err(reason)),
    }
}

fn entered(shared: &Shared, journal: &ApprovalJournal, created: &TaskCreated) -> Result<Nonce, String> {
    let token = journal.state.token().ok_or("there is no token")?;
    let nonce = *token.execution_nonces.last().ok_or("no attempt was begun with it")?;
    let keys = shared.keyring.as_ref().ok_or("this process has no keyring")?.public_keys()?;
    let subject = Subject {
        tenant: shared.tenant.clone(),
        work_item_id: created.command.task_id.to_string(),
        scope: ApprovalScope::FullPlan,
        plan_hash: Some(hash_of(created).map_err(|error| error.to_string())?),
        binding_hash: None,
        spawn_policy_hash: None,
        least_strength: Strength::Implied,
        executions_used: token.executions_used,
        execution_nonces: token.execution_nonces.clone(),
    };
    check(&token, &subject, &keys, nonce).map(|()| nonce).map_err(|refusal| refusal.to_string())
}
