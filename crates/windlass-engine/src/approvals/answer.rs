//! A person's answer: decided, signed where it is a yes, and heard by whoever waits for it, in one commit. An answer that
//! comes late, twice or from nowhere changes nothing but the audit.

use std::time::Duration;

use serde_json::json;
use windlass_domain::approval::{
    Answer, ApprovalCommand, ApprovalScope, ApprovalState, CardId, Nonce, Rejected, TokenId, Verdict,
};
use windlass_domain::execution::{AgentInjection, InjectionType};
use windlass_domain::task::Control;
use windlass_domain::{Taint, TaskId, Wall};
use windlass_policy::approve::{Order, OwnerKey, issue};
use windlass_store::queue::{Actor, AuditType};
use windlass_store::{Commit, Error as StoreError, NewEvent, NewMessage, TimerChange};

use super::audit::Audited;
use super::journal::{ApprovalJournal, card_timer, review_message};
use super::plan::ISSUER_LIFETIME;
use crate::Error;
use crate::coordinate::Mandate;
use crate::engine::Engine;
use crate::gates::gates_of;
use crate::submit::Heard;

/// Others may write to the task's stream meanwhile; nobody does so for long.
const TRIES: usize = 16;

/// How long a goal is mended on one word.
pub const STANDING_LIFETIME: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// An answer that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    pub task: TaskId,
    pub verdict: Verdict,
}

impl Engine {
    /// `key` signs a yes; nothing else is done with it.
    pub async fn answer(&self, card: CardId, answer: Answer, key: &OwnerKey) -> Result<Answered, Error> {
        self.answer_as(card, answer, key, &Mandate::own()).await
    }

    pub(crate) async fn answer_as(
        &self,
        card: CardId,
        answer: Answer,
        key: &OwnerKey,
        mandate: &Mandate,
    ) -> Result<Answered, Error> {
        self.knows(key)?;
        let answer = Box::pin(self.passed(card, answer)).await?;
        let mut tries = 0;
        loop {
            tries += 1;
            let journal = ApprovalJournal::load(self.shared.store.as_ref(), &self.shared.tenant, card).await?;
            // A card that nobody put stands in the audit by its own number.
            let task = journal.task().unwrap_or_else(|| card.to_string().parse().expect("every id is a UUID"));
            if answer.verdict.allows() && matches!(journal.state, ApprovalState::Requested { .. }) {
                Box::pin(self.signs_here(&journal, task)).await?;
            }
            match self.try_answer(journal, (card, task), &answer, key, mandate).await {
                Err(Error::Store(StoreError::Conflict { .. })) if tries < TRIES => {}
                Err(Error::Card(rejected)) => {
                    self.audit_refusal(card, task, &answer, &rejected).await?;
                    return Err(Error::Card(rejected));
                }
                answered => return answered,
            }
        }
    }

    /// A reason for a no is words of a person's to an agent, and passes the gates as such. What is said beside a yes travels as a
    /// message, and passes them when it is heard.
    async fn passed(&self, card: CardId, answer: Answer) -> Result<Answer, Error> {
        if answer.verdict.allows() || answer.note.trim().is_empty() {
            return Ok(answer);
        }
        let journal = ApprovalJournal::load(self.shared.store.as_ref(), &self.shared.tenant, card).await?;
        let Some(task) = journal.task() else { return Ok(answer) };
        let gates = gates_of(&self.shared, task).await?;
        let Heard { words, audited } = self.hear(task, answer.note.clone(), &gates).await?;
        if let Some(audited) = audited {
            let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
            commit.events.push(audited);
            self.shared.commit(commit).await?;
        }
        Ok(Answer { note: words, ..answer })
    }

    /// What is signed with a key that nobody knows would be refused when it is used; better now.
    fn knows(&self, key: &OwnerKey) -> Result<(), Error> {
        let Some(keyring) = &self.shared.keyring else { return Ok(()) };
        match keyring.public_keys() {
            Ok(keys) if keys.was_retired(&key.key_id(), self.shared.wall()) => {
                Err(Error::Unsigned(format!("the key {} was retired", key.key_id())))
            }
            Ok(keys) if keys.knows(&key.key_id()) => Ok(()),
            Ok(_) => Err(Error::Unsigned(format!("the key {} is not one of the owner's", key.key_id()))),
            Err(why) => Err(Error::Unsigned(why)),
        }
    }

    async fn try_answer(
        &self,
        mut journal: ApprovalJournal,
        (card, task): (CardId, TaskId),
        answer: &Answer,
        key: &OwnerKey,
        mandate: &Mandate,
    ) -> Result<Answered, Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        commit.expect.push((journal.stream.clone(), journal.head));
        let mandated = mandate.rider(self).await?;
        let heard = [ApprovalCommand::Answer(answer.clone())];
        commit.events = journal.advance(heard, &shared.redactor, answer.taint, now)?;
        if answer.verdict.allows() {
            commit.events.extend(self.issue(&mut journal, key, now)?);
        }
        commit.events.extend(self.decided(card, task, answer, now));
        mandated.ride(&mut commit);
        commit.acks.push(review_message(card));
        commit.timers.push(TimerChange::Cancel(card_timer(card)));
        // A goal hears of it when it is looked at.
        if !journal.is_standing() {
            commit.messages.extend(self.said_besides(task, answer)?);
            self.wake(&mut commit, task).await?;
        }
        shared.commit(commit).await?;
        Ok(Answered { task, verdict: answer.verdict })
    }

    /// What was decided, as it was kept, becomes a token.
    fn issue(&self, journal: &mut ApprovalJournal, key: &OwnerKey, now: Wall) -> Result<Vec<NewEvent>, Error> {
        let shared = &self.shared;
        let ApprovalState::Decided { card, decision } = &journal.state else {
            return Err(Error::Card(Rejected::NotAnswered));
        };
        let lifetime = match card.binds.scope {
            ApprovalScope::Standing => STANDING_LIFETIME,
            // Work that takes days goes on: how often it is used is counted, and for what is bound.
            ApprovalScope::FullPlan => ISSUER_LIFETIME,
            _ => shared.law.card_lifetime,
        };
        let order = Order {
            card,
            decision,
            token_id: TokenId::new(now, shared.runtime.random()),
            nonce: Nonce::new(shared.runtime.random()),
            issued_at: now,
            expires_at: now + lifetime,
        };
        let token = issue(order, key).map_err(|error| Error::Unsigned(error.to_string()))?;
        let issued = [ApprovalCommand::Issue(Box::new(token))];
        Ok(journal.advance(issued, &shared.redactor, Taint::Auth, now)?)
    }

    /// What a person added to a yes, for the agent to hear. Words beside a no are part of the call's result.
    fn said_besides(&self, task: TaskId, answer: &Answer) -> Result<Option<NewMessage>, Error> {
        let conditions = answer.conditions.iter().map(|condition| format!("on condition: {condition}"));
        let note = Some(answer.note.trim().to_owned()).filter(|note| !note.is_empty());
        let words: Vec<String> = conditions.chain(note).collect();
        if !answer.verdict.allows() || words.is_empty() {
            return Ok(None);
        }
        let content = format!("approved, {}", words.join("; "));
        let injection = AgentInjection { injection_type: InjectionType::HitlResponse, content, metadata: None };
        self.mail(task, Control::Inject(injection), answer.taint).map(Some)
    }

    /// For the audit: what a person said, and, if that was no yes, the call that is not let through.
    fn decided(&self, card: CardId, task: TaskId, answer: &Answer, now: Wall) -> Vec<NewEvent> {
        let Answer { verdict, by, note, taint, approval_strength, .. } = answer;
        let audit = |event_type, actor, decision| {
            let details = json!({"card_id": card, "by": by, "approval_strength": approval_strength});
            let audited = Audited { event_type, actor, decision, reason: note, details };
            audited.about(task, &self.shared, *taint, now)
        };
        let mut events = vec![audit(AuditType::Approval, Actor::User, word(*verdict))];
        if !verdict.allows() {
            events.push(audit(AuditType::GateBlock, Actor::ApprovalEngine, "denied"));
        }
        events
    }

    async fn audit_refusal(
        &self,
        card: CardId,
        task: TaskId,
        answer: &Answer,
        rejected: &Rejected,
    ) -> Result<(), Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let reason = rejected.to_string();
        let details = json!({"card_id": card, "by": answer.by, "verdict": answer.verdict});
        let (event_type, actor) = (AuditType::Approval, Actor::User);
        let audited = Audited { event_type, actor, decision: "refused", reason: &reason, details };
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        commit.events.push(audited.about(task, shared, answer.taint, now));
        shared.commit(commit).await?;
        Ok(())
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approved => "approved",
        Verdict::Declined => "declined",
        Verdict::EditRequested => "edit_requested",
        Verdict::Conditional => "conditional",
    }
}
