//! Dead letters: what no consumer takes any more, with the reason, until a person retries or drops it. They are listed and
//! read with `Store::dead_letters` and `Store::message`.

use windlass_domain::{MessageId, Taint, Tenant, TraceId, Wall};

use crate::commit::Commit;
use crate::delivery::DeliveryChange;
use crate::queue::audit::{Actor, AuditType, decided};
use crate::queue::refusal::{Asked, audited};
use crate::queue::{Desk, Error, Leased, queue_of};
use crate::store::Store;

impl Desk<'_> {
    pub async fn dead_letter(&self, leased: &Leased, reason: &str) -> Result<(), Error> {
        let mut commit = Commit::unfenced(leased.message.scope_id.clone(), self.runtime.wall());
        commit.deliveries.push(DeliveryChange::Dead { delivery: leased.delivery, reason: reason.to_owned() });
        self.change(leased, "dead_letter", commit).await?;
        self.tell_duration(leased, "dead_letter");
        Ok(())
    }
}

/// Puts a dead letter back into its queue, with all its tries before it. `Gone`: it is no dead letter.
pub async fn retry(store: &dyn Store, tenant: &Tenant, message: MessageId, at: Wall) -> Result<(), Error> {
    decide(store, tenant, at, DeliveryChange::Retry(message), message, (AuditType::Enqueue, "retry")).await
}

/// Throws a dead letter away. `Gone`: it is no dead letter.
pub async fn drop_letter(store: &dyn Store, tenant: &Tenant, message: MessageId, at: Wall) -> Result<(), Error> {
    decide(store, tenant, at, DeliveryChange::Drop(message), message, (AuditType::Dequeue, "drop")).await
}

async fn decide(
    store: &dyn Store,
    tenant: &Tenant,
    at: Wall,
    change: DeliveryChange,
    message: MessageId,
    (event_type, verb): (AuditType, &'static str),
) -> Result<(), Error> {
    let mut commit = Commit::unfenced(tenant.clone(), at);
    let letter = store.message(tenant, message).await?;
    commit.events.extend(letter.as_ref().map(|letter| decided(event_type, verb, letter, at)));
    // One that is not there, or not dead, is refused by this.
    commit.deliveries.push(change);
    let asked = Asked {
        event_type,
        verb,
        actor: Actor::User,
        tenant: tenant.clone(),
        queue: letter.as_ref().map_or("dead_letters", |letter| queue_of(&letter.queue)).to_owned(),
        trace_id: letter.as_ref().map_or_else(|| trace_of(message), |letter| letter.trace_id),
        message_id: Some(message),
        taint: letter.map_or(Taint::External, |letter| letter.taint),
    };
    let outcome = store.commit(commit).await.map(drop).map_err(Error::from);
    audited(store, at, &asked, outcome).await
}

/// What has no trace begins one.
fn trace_of(message: MessageId) -> TraceId {
    message.to_string().parse().expect("an id of one kind reads as one of another")
}
