//! Taking the next message. Which it is is a matter of turns between tenants, then of priority, then of age; that nobody
//! else has it is decided by the commit, and a consumer that lost the race takes another.

use std::collections::BTreeSet;

use windlass_domain::queue::QueueMessage;
use windlass_domain::{EventFamily as _, MessageId, OwnerId, Tenant, Wall};

use crate::commit::{Commit, Committed};
use crate::delivery::{Delivery, DeliveryChange, Takeover};
use crate::error::Error as StoreError;
use crate::queue::audit::dequeued;
use crate::queue::head::Chosen;
use crate::queue::place::in_turn;
use crate::queue::refusal::Asked;
use crate::queue::{Consumer, Desk, Error, Leased};
use crate::record::{Next, StoredMessage};

/// Far more consumers than this on one queue gain nothing from one another.
const LARGEST_CROWD: usize = 64;

/// How often a lost race is run again. Each lost round means that another consumer won it.
pub(super) const ROUNDS: usize = 100;

/// How a message stood when it was taken.
pub(super) enum TakenAs {
    Ready,
    /// It does not wait for its time.
    Delayed,
    Abandoned(Takeover),
}

impl TakenAs {
    fn changes(self, message: MessageId, owner: OwnerId) -> Vec<DeliveryChange> {
        let lease = |from| DeliveryChange::Lease { message, owner, from };
        match self {
            Self::Ready => vec![lease(None)],
            Self::Delayed => vec![DeliveryChange::Hasten(message), lease(None)],
            Self::Abandoned(takeover) => vec![lease(Some(takeover))],
        }
    }
}

impl Desk<'_> {
    /// `None`: there is nothing to take.
    pub async fn lease(&self, consumer: &mut Consumer) -> Result<Option<Leased>, Error> {
        let chosen = self.choose(consumer).await?;
        self.lease_chosen(consumer, chosen).await
    }

    pub(super) async fn lease_chosen(
        &self,
        consumer: &mut Consumer,
        mut chosen: Option<Chosen>,
    ) -> Result<Option<Leased>, Error> {
        for _ in 0..ROUNDS {
            let Some(reached) = chosen.take() else { return Ok(None) };
            match self.take(consumer, &reached.message, TakenAs::Ready).await {
                Err(Error::Store(StoreError::NotReady { .. })) => {
                    consumer.crowd = (consumer.crowd * 2).min(LARGEST_CROWD);
                }
                Ok(Some(leased)) => {
                    consumer.crowd = (consumer.crowd * 3 / 4).max(1);
                    return Ok(Some(leased));
                }
                // It was put aside.
                Ok(None) => {}
                Err(error) => return Err(error),
            }
            drop(reached);
            chosen = self.choose(consumer).await?;
        }
        Ok(None)
    }

    /// The head of the queue. In a crowd, any of the first few: if all reached for the very first, one would have it and the
    /// others would have wasted a commit.
    pub(super) async fn choose(&self, consumer: &Consumer) -> Result<Option<Chosen>, Error> {
        let pick = |count: usize| match consumer.crowd {
            1 => 0,
            _ => usize::try_from(self.runtime.random() % count as u128).expect("less than a crowd"),
        };
        if consumer.full.is_empty()
            && let Some(chosen) = consumer.head.choose(self.runtime.now(), pick)
        {
            return Ok(Some(chosen));
        }
        let now = self.runtime.wall();
        let mut next = self.look(consumer, now).await?;
        if next.due {
            self.promote(now).await?;
            next = self.look(consumer, now).await?;
        }
        consumer.head.fill(next.ready, self.runtime.now());
        Ok(consumer.head.choose(self.runtime.now(), pick))
    }

    async fn look(&self, consumer: &Consumer, now: Wall) -> Result<Next, Error> {
        let (served, page) = (consumer.served.as_ref(), consumer.crowd.max(consumer.head.page()));
        let mut all = Next { ready: Vec::new(), due: false };
        for lane in &consumer.lanes {
            let next = self.next_in(consumer, lane, now, page).await?;
            all.ready.extend(next.ready);
            all.due |= next.due;
        }
        Ok(Next { ready: in_turn(all.ready, served, page), ..all })
    }

    /// Those at the head of a lane that are nobody's who has had enough: past such a tenant it looks at the one after.
    async fn next_in(&self, consumer: &Consumer, lane: &str, now: Wall, page: usize) -> Result<Next, Error> {
        let mut after = consumer.served.clone();
        let mut passed = BTreeSet::new();
        loop {
            let mut next = self.store.next(lane, after.as_ref(), now, page).await?;
            let last = next.ready.iter().map(|message| message.tenant.clone()).find(|tenant| !passed.contains(tenant));
            next.ready.retain(|message| !consumer.full.contains(&message.tenant));
            match last {
                Some(tenant) if next.ready.is_empty() => {
                    passed.insert(tenant.clone());
                    after = Some(tenant);
                }
                _ => return Ok(next),
            }
        }
    }

    async fn promote(&self, now: Wall) -> Result<(), Error> {
        // A commit names a tenant; what is promoted is everybody's.
        let mut commit = Commit::unfenced(Tenant::new("process"), now);
        commit.promote = Some(now);
        self.store.commit(commit).await?;
        Ok(())
    }

    /// Leases this very message. One that cannot be read, or that has been tried too often, goes to the dead letters at once:
    /// `None`.
    pub(super) async fn take(
        &self,
        consumer: &mut Consumer,
        stored: &StoredMessage,
        was: TakenAs,
    ) -> Result<Option<Leased>, Error> {
        let commit = Commit::unfenced(stored.tenant.clone(), self.runtime.wall());
        self.take_within(commit, consumer, stored, was).await.map(|(_, leased)| leased)
    }

    /// The same as the last part of a bigger commit.
    pub(super) async fn take_within(
        &self,
        mut commit: Commit,
        consumer: &mut Consumer,
        stored: &StoredMessage,
        was: TakenAs,
    ) -> Result<(Committed, Option<Leased>), Error> {
        let (message, owner, at) = (stored.message_id, consumer.owner, self.runtime.wall());
        commit.deliveries.extend(was.changes(message, owner));
        let delivery = Delivery { message_id: message, owner, number: stored.deliveries + 1 };
        let attempt = stored.attempts() + 1;
        let read = QueueMessage::decode(&stored.kind, stored.version, &stored.data);
        let refusal = match &read {
            Err(unreadable) => Some(("malformed", unreadable.to_string())),
            Ok(_) if attempt > self.max_deliveries => {
                Some(("tried_too_often", format!("{} deliveries came to nothing", attempt - 1)))
            }
            Ok(message) => {
                commit.events.push(dequeued(consumer.queue, message, owner, at));
                None
            }
        };
        if let Some((word, reason)) = &refusal {
            commit.events.push(Asked::to_lease(consumer.queue, stored).refused(word, reason, at));
            commit.deliveries.push(DeliveryChange::Dead { delivery, reason: reason.clone() });
        }
        let committed = self.store.commit(commit).await.map_err(|refusal| match refusal {
            // It was taken and given back since it was looked at: it is not the message that was to be put aside.
            StoreError::StaleDelivery { .. } => StoreError::NotReady { message },
            other => other,
        })?;
        consumer.served = Some(stored.tenant.clone());
        match (read, refusal) {
            (Ok(message), None) => {
                let leased = self.in_hand(consumer, stored, message, &committed);
                Ok((committed, Some(leased)))
            }
            _ => Ok((committed, None)),
        }
    }

    fn in_hand(
        &self,
        consumer: &Consumer,
        stored: &StoredMessage,
        message: QueueMessage,
        committed: &Committed,
    ) -> Leased {
        let delivery = *committed.deliveries.last().expect("a lease that was committed has its delivery");
        let attempt = delivery.number.saturating_sub(stored.forgiven);
        // The row is what the store vouches for; what the text says can only add to it.
        let taint = message.taint.join(stored.taint);
        let message = QueueMessage { taint, ..message };
        self.hand_over(consumer.queue, message, delivery, attempt)
    }
}
