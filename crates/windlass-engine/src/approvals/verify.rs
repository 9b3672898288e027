//! Using a token: verified, attached, checked and executed in the very commit that starts what it allows. A token that does
//! not hold is told apart by its reason, recorded and audited, and nothing is started.

use serde_json::json;
use windlass_domain::approval::{
    ApprovalCommand, ApprovalScope, ApprovalState, ApprovalToken, CardId, Nonce as TokenNonce, Proof, RiskLevel,
    Strength,
};
use windlass_domain::{Digest, GoalId, Taint, TaskId};
use windlass_policy::approve::{Subject, check, verify};
use windlass_store::Nonce;
use windlass_store::queue::{Actor, AuditType};

use super::audit::Audited;
use super::journal::ApprovalJournal;
use crate::Error;
use crate::engine::Shared;
use crate::host::Rider;

/// What is about to happen.
pub struct Use {
    pub card_id: CardId,
    pub task: TaskId,
    pub what: Approved,
}

impl Use {
    /// A task that mends a goal is not what the goal's token names; the goal is.
    fn work_item(&self) -> String {
        match self.what {
            Approved::Spawn { goal, .. } => goal.to_string(),
            Approved::Plan(_) | Approved::Call { .. } | Approved::OneMore(_) => self.task.to_string(),
        }
    }
}

/// Computed from the thing itself: nothing that is asked of a token comes from where the token lies.
#[derive(Debug, Clone, Copy)]
pub enum Approved {
    Plan(Digest),
    Call {
        binding: Digest,
        risk: RiskLevel,
        scope: ApprovalScope,
    },
    /// A task that mends a goal: the goal as a whole, and the policy by which it spawns.
    Spawn {
        goal: GoalId,
        hash: Digest,
        policy: Digest,
    },
    /// An attempt beside those that a plan allows.
    OneMore(Digest),
}

impl Approved {
    const fn plan_hash(self) -> Option<Digest> {
        match self {
            Self::Plan(hash) | Self::Spawn { hash, .. } => Some(hash),
            Self::Call { .. } | Self::OneMore(_) => None,
        }
    }

    const fn binding_hash(self) -> Option<Digest> {
        match self {
            Self::Plan(_) | Self::Spawn { .. } => None,
            Self::Call { binding, .. } | Self::OneMore(binding) => Some(binding),
        }
    }

    const fn spawn_policy_hash(self) -> Option<Digest> {
        match self {
            Self::Spawn { policy, .. } => Some(policy),
            Self::Plan(_) | Self::Call { .. } | Self::OneMore(_) => None,
        }
    }

    const fn scope(self) -> ApprovalScope {
        match self {
            Self::Plan(_) => ApprovalScope::FullPlan,
            Self::Call { scope, .. } => scope,
            Self::Spawn { .. } => ApprovalScope::Standing,
            Self::OneMore(_) => ApprovalScope::Budget,
        }
    }

    /// Whoever issues a run is taken at their word; a call by how risky it is.
    const fn least_strength(self) -> Strength {
        match self {
            Self::Plan(_) => Strength::Implied,
            Self::Call { risk, .. } => risk.least_strength(),
            Self::OneMore(_) => Strength::Explicit,
            // Nobody is asked again: a standing word is one that was meant.
            Self::Spawn { .. } => Strength::Confirmed,
        }
    }
}

/// Adds the use to `rider`; or, where the token does not hold, the record of that, and says why.
pub async fn use_token(shared: &Shared, wanted: &Use, rider: &mut Rider) -> Result<Result<(), String>, Error> {
    let Use { card_id, task, .. } = *wanted;
    let mut journal = ApprovalJournal::load(shared.store.as_ref(), &shared.tenant, card_id).await?;
    rider.expect.push((journal.stream.clone(), journal.head));
    let now = shared.wall();
    let audit = |event_type, decision, reason: &str| {
        let details = json!({"card_id": card_id});
        let audited = Audited { event_type, actor: Actor::ApprovalEngine, decision, reason, details };
        audited.about(task, shared, Taint::Auth, now)
    };
    let nonce = TokenNonce::new(shared.runtime.random());
    match prove(shared, wanted, &journal, nonce) {
        Ok(proof) => {
            rider.nonces.extend(proof.claims().map(Nonce));
            let used = [
                ApprovalCommand::Verify(Box::new(proof)),
                ApprovalCommand::Attach { execution_nonce: nonce, work_item_id: wanted.work_item() },
                ApprovalCommand::Check { execution_nonce: nonce },
                ApprovalCommand::Execute { execution_nonce: nonce },
            ];
            rider.events.extend(journal.advance(used, &shared.redactor, Taint::Auth, now)?);
            rider.events.push(audit(AuditType::Verify, "verified", ""));
            rider.events.push(audit(AuditType::Check, "passed", ""));
            Ok(Ok(()))
        }
        Err(reason) => {
            let failed = [ApprovalCommand::RecordFailedVerify { reason: reason.clone() }];
            rider.events.extend(journal.advance(failed, &shared.redactor, Taint::Auth, now)?);
            rider.events.push(audit(AuditType::Verify, "refused", &reason));
            Ok(Err(reason))
        }
    }
}

/// Asks again whether what a token was used for is what it allows; spends nothing. Several may do so at once, so that only the audit
/// hears of it.
pub async fn check_token(shared: &Shared, wanted: &Use, rider: &mut Rider) -> Result<Result<(), String>, Error> {
    let journal = ApprovalJournal::load(shared.store.as_ref(), &shared.tenant, wanted.card_id).await?;
    let checked = still_holds(shared, wanted, &journal);
    let (decision, reason) = match &checked {
        Ok(()) => ("passed", ""),
        Err(reason) => ("refused", reason.as_str()),
    };
    let details = json!({"card_id": wanted.card_id});
    let audited = Audited { event_type: AuditType::Check, actor: Actor::ApprovalEngine, decision, reason, details };
    rider.events.push(audited.about(wanted.task, shared, Taint::Auth, shared.wall()));
    Ok(checked)
}

fn still_holds(shared: &Shared, wanted: &Use, journal: &ApprovalJournal) -> Result<(), String> {
    let token = token(&journal.state)?;
    let nonce = *token.execution_nonces.last().ok_or("no attempt was begun with it")?;
    let keys = shared.keyring.as_ref().ok_or("this process has no keyring")?.public_keys()?;
    check(&token, &subject(shared, wanted, &token), &keys, nonce).map_err(|refusal| refusal.to_string())
}

fn token(state: &ApprovalState) -> Result<ApprovalToken, String> {
    state.token().ok_or_else(|| match state {
        ApprovalState::Withdrawn { reason, .. } => format!("it was taken back: {reason}"),
        _ => "there is no token".to_owned(),
    })
}

fn subject(shared: &Shared, wanted: &Use, token: &ApprovalToken) -> Subject {
    Subject {
        tenant: shared.tenant.clone(),
        work_item_id: wanted.work_item(),
        scope: wanted.what.scope(),
        plan_hash: wanted.what.plan_hash(),
        binding_hash: wanted.what.binding_hash(),
        spawn_policy_hash: wanted.what.spawn_policy_hash(),
        least_strength: wanted.what.least_strength(),
        executions_used: token.executions_used,
        execution_nonces: token.execution_nonces.clone(),
    }
}

fn prove(shared: &Shared, wanted: &Use, journal: &ApprovalJournal, nonce: TokenNonce) -> Result<Proof, String> {
    let token = token(&journal.state)?;
    let keyring = shared.keyring.as_ref().ok_or("this process has no keyring")?;
    let keys = keyring.public_keys()?;
    let subject = subject(shared, wanted, &token);
    let proof = verify(&token, &subject, &keys, shared.wall(), nonce).map_err(|refusal| refusal.to_string())?;
    let mut used = token;
    used.executions_used += 1;
    used.execution_nonces.push(nonce);
    let (executions_used, execution_nonces) = (used.executions_used, used.execution_nonces.clone());
    let entered = Subject { executions_used, execution_nonces, ..subject };
    check(&used, &entered, &keys, nonce).map_err(|refusal| refusal.to_string())?;
    Ok(proof)
}
