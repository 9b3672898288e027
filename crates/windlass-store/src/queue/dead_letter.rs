//! Dead letters: what no consumer takes any more, with the reason, until a person retries or drops it. They are listed and
//! read with `Store::dead_letters` and `Store::message`.

use windlass_domain::{MessageId, Tenant, Wall};

use crate::commit::Commit;
use crate::delivery::DeliveryChange;
use crate::error::Error as StoreError;
use crate::queue::audit::{AuditType, decided};
use crate::queue::{Desk, Error, Leased};
use crate::store::Store;

impl Desk<'_> {
    pub async fn dead_letter(&self, leased: &Leased, reason: &str) -> Result<(), Error> {
        let mut commit = Commit::unfenced(leased.message.scope_id.clone(), self.runtime.wall());
        commit.deliveries.push(DeliveryChange::Dead { delivery: leased.delivery, reason: reason.to_owned() });
        self.store.commit(commit).await?;
        self.tell_duration(leased, "dead_letter");
        Ok(())
    }
}

/// Puts a dead letter back into its queue, with all its tries before it. `Gone`: it is no dead letter.
pub async fn retry(store: &dyn Store, tenant: &Tenant, message: MessageId, at: Wall) -> Result<(), StoreError> {
    decide(store, tenant, message, at, DeliveryChange::Retry(message), (AuditType::Enqueue, "retry")).await
}

/// Throws a dead letter away. `Gone`: it is no dead letter.
pub async fn drop_letter(store: &dyn Store, tenant: &Tenant, message: MessageId, at: Wall) -> Result<(), StoreError> {
    decide(store, tenant, message, at, DeliveryChange::Drop(message), (AuditType::Dequeue, "drop")).await
}

async fn decide(
    store: &dyn Store,
    tenant: &Tenant,
    message: MessageId,
    at: Wall,
    change: DeliveryChange,
    (event_type, decision): (AuditType, &str),
) -> Result<(), StoreError> {
    let mut commit = Commit::unfenced(tenant.clone(), at);
    // One that is not there, or not dead, is refused by the commit.
    let letter = store.message(tenant, message).await?;
    commit.events.extend(letter.map(|letter| decided(event_type, decision, &letter, at)));
    commit.deliveries.push(change);
    store.commit(commit).await.map(drop)
}
