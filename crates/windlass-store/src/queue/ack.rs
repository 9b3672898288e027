//! Being done with a message: it leaves its queue in the commit that holds what came of it, so that neither happens
//! without the other.

use crate::commit::{Commit, Committed};
use crate::delivery::DeliveryChange;
use crate::queue::refusal::Asked;
use crate::queue::{Desk, Error, Leased};

impl Desk<'_> {
    /// Commits `effects` together with the ack. `StaleDelivery`: the message is another's, and nothing was committed.
    pub async fn ack(&self, leased: &Leased, mut effects: Commit) -> Result<Committed, Error> {
        let asked = Asked::with(leased, &effects.tenant, "ack");
        effects.deliveries.push(DeliveryChange::Ack(leased.delivery));
        let outcome = match leased.require_tenant(&effects.tenant) {
            Ok(()) => self.store.commit(effects).await.map_err(Error::from),
            Err(refusal) => Err(refusal),
        };
        let committed = self.audited(&asked, outcome).await?;
        self.tell_acked(leased);
        Ok(committed)
    }

    /// For whoever acked by a commit of its own, with `DeliveryChange::Ack(leased.delivery)` in it, once that has happened;
    /// had it been refused, `Desk::audited` with `Asked::with` says so.
    pub fn tell_acked(&self, leased: &Leased) {
        self.tell_duration(leased, "ack");
    }
}
