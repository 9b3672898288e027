//! Being done with one message and taking the next, in one commit where both are one tenant's: a consumer that does one
//! message after another waits for the disk once for each, not twice.

use crate::commit::{Commit, Committed};
use crate::delivery::DeliveryChange;
use crate::queue::head::Chosen;
use crate::queue::lease::TakenAs;
use crate::queue::{Consumer, Desk, Error, Leased};

/// Larger effects are not kept in memory twice, in case the next message is lost to another.
const LARGEST_SHARED: usize = 64 << 10;

/// What came of each; neither depends on the other.
#[derive(Debug)]
pub struct Turn {
    pub acked: Result<Committed, Error>,
    /// `None`: there was nothing to take before the ack; what the ack itself enqueued is a hint away.
    pub next: Result<Option<Leased>, Error>,
}

impl Desk<'_> {
    /// As `ack`, and as `lease`.
    pub async fn ack_and_lease(&self, leased: &Leased, effects: Commit, consumer: &mut Consumer) -> Turn {
        let chosen = match self.choose(consumer).await {
            Ok(chosen) => chosen,
            Err(error) => return Turn { acked: self.ack(leased, effects).await, next: Err(error) },
        };
        if let Some(reached) = &chosen
            && let Some((committed, next)) = self.in_one(leased, &effects, consumer, reached).await
        {
            self.tell_acked(leased);
            let next = match next {
                Some(next) => Ok(Some(next)),
                // It was put aside.
                None => self.lease(consumer).await,
            };
            return Turn { acked: Ok(committed), next };
        }
        let acked = self.ack(leased, effects).await;
        Turn { acked, next: self.lease_chosen(consumer, chosen).await }
    }

    /// `None`: it cannot be, or one of the two is refused; nothing has happened, and each is to be tried by itself.
    async fn in_one(
        &self,
        leased: &Leased,
        effects: &Commit,
        consumer: &mut Consumer,
        Chosen { message, .. }: &Chosen,
    ) -> Option<(Committed, Option<Leased>)> {
        let is_one_tenant_s = message.tenant == effects.tenant && leased.message.scope_id == effects.tenant;
        if !is_one_tenant_s || effects.bytes() > LARGEST_SHARED {
            return None;
        }
        let mut commit = effects.clone();
        commit.deliveries.push(DeliveryChange::Ack(leased.delivery));
        self.take_within(commit, consumer, message, TakenAs::Ready).await.ok()
    }
}
