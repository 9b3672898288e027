//! Giving a message back after a failure: it waits, longer each time, and after the last try it is dead.

use windlass_domain::Wall;

use crate::commit::Commit;
use crate::delivery::DeliveryChange;
use crate::queue::backoff::delay;
use crate::queue::refusal::Asked;
use crate::queue::{Desk, Error, Leased};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nacked {
    /// It comes back, not before this.
    Later { not_before: Wall },
    /// That was its last try.
    Dead,
}

impl Desk<'_> {
    pub async fn nack(&self, leased: &Leased, reason: &str) -> Result<Nacked, Error> {
        if leased.attempt >= self.max_deliveries {
            let reason = format!("{} deliveries came to nothing; the last: {reason}", leased.attempt);
            self.dead_letter(leased, &reason).await?;
            return Ok(Nacked::Dead);
        }
        let now = self.runtime.wall();
        let not_before = now + delay(leased.attempt, self.runtime.random());
        let mut commit = Commit::unfenced(leased.message.scope_id.clone(), now);
        let delivery = leased.delivery;
        commit.deliveries.push(DeliveryChange::Nack { delivery, not_before: Some(not_before) });
        self.change(leased, "nack", commit).await?;
        self.tell_duration(leased, "nack");
        Ok(Nacked::Later { not_before })
    }

    /// Commits what happens to a message in hand.
    pub(super) async fn change(&self, leased: &Leased, verb: &'static str, commit: Commit) -> Result<(), Error> {
        let asked = Asked::with(leased, &commit.tenant, verb);
        let outcome = self.store.commit(commit).await.map_err(Error::from);
        self.audited(&asked, outcome).await.map(drop)
    }
}
