//! A card that nobody answered in time, and one that nobody needs to answer any more.

use serde_json::json;
use windlass_domain::Taint;
use windlass_domain::approval::{ApprovalCommand, ApprovalState, CardId};
use windlass_store::queue::{Actor, AuditType};
use windlass_store::{Commit, Error as StoreError, TimerChange};

use super::audit::Audited;
use super::journal::{ApprovalJournal, card_timer, review_message};
use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;

impl Engine {
    /// Lets a card lapse whose time is up, and wakes who waits for it. Whoever was faster has done so already; what this
    /// version cannot read is left to one that can.
    pub async fn lapse(&self, card: CardId) -> Result<(), Error> {
        match self.try_lapse(card).await {
            Err(
                Error::Store(StoreError::Conflict { .. } | StoreError::Gone { .. })
                | Error::Card(_)
                | Error::Unreadable(_)
                | Error::NoSuchTask(_),
            ) => Ok(()),
            lapsed => lapsed,
        }
    }

    async fn try_lapse(&self, card: CardId) -> Result<(), Error> {
        let shared = &self.shared;
        let mut journal = ApprovalJournal::load(shared.store.as_ref(), &shared.tenant, card).await?;
        let Some(task) = journal.task() else { return Ok(()) };
        let now = shared.wall();
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        commit.expect.push((journal.stream.clone(), journal.head));
        commit.events = journal.advance([ApprovalCommand::Expire], &shared.redactor, Taint::Auth, now)?;
        for (event_type, actor, decision) in [
            (AuditType::Approval, Actor::ApprovalEngine, "timeout"),
            (AuditType::GateBlock, Actor::ApprovalEngine, "denied"),
        ] {
            let (reason, details) = ("nobody answered in time", json!({"card_id": card}));
            let audited = Audited { event_type, actor, decision, reason, details };
            commit.events.push(audited.about(task, shared, Taint::Auth, now));
        }
        commit.acks.push(review_message(card));
        commit.timers.push(TimerChange::Cancel(card_timer(card)));
        if !journal.is_standing() {
            self.wake(&mut commit, task).await?;
        }
        shared.commit(commit).await?;
        Ok(())
    }

    /// Takes back what is still asked or allowed: the run that wanted it has ended.
    pub(crate) async fn withdraw(&self, rider: &mut Rider, card: CardId, reason: &str) -> Result<(), Error> {
        let shared = &self.shared;
        let mut journal = ApprovalJournal::load(shared.store.as_ref(), &shared.tenant, card).await?;
        let was_open = matches!(journal.state, ApprovalState::Requested { .. });
        let head = (journal.stream.clone(), journal.head);
        let withdraw = [ApprovalCommand::Withdraw { reason: reason.to_owned() }];
        // What was refused or has lapsed allows nothing, and stays as it is.
        let Ok(rows) = journal.advance(withdraw, &shared.redactor, Taint::Auth, shared.wall()) else { return Ok(()) };
        rider.expect.push(head);
        rider.events.extend(rows);
        if was_open {
            rider.acks.push(review_message(card));
            rider.timers.push(TimerChange::Cancel(card_timer(card)));
        }
        Ok(())
    }
}
