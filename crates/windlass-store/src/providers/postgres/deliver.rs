//! What a commit does to messages in shared queues. Each change is one statement that both looks and writes: what it does not
//! find as it should be it does not touch, and the commit is refused. `SKIP LOCKED` has no place here: takers are transactions
//! that take turns, so none ever finds a message locked; whoever comes second is refused and looks for another.

use tokio_postgres::Row;
use windlass_domain::{MessageId, OwnerId, Tenant, Wall};

use crate::commit::{Committed, MOST_PROMOTED};
use crate::delivery::{Delivery, DeliveryChange, Takeover};
use crate::error::Error;
use crate::owner::Owner;
use crate::providers::postgres::apply::{Applying, first};
use crate::providers::postgres::codec::{Columns as _, Text, int, limit, millis, uuid};
use crate::providers::postgres::failure::Failure;
use crate::providers::postgres::step::{Step, Value, values};

const LEASE_READY: &str = "
    WITH living AS (SELECT FROM owners WHERE id = $3 AND NOT retired), leased AS (
        UPDATE messages SET leased_by = $3, leased_at = $4, deliveries = deliveries + 1
        WHERE tenant = $1 AND id = $2 AND not_before IS NULL AND leased_by IS NULL AND dead_reason IS NULL
          AND EXISTS (SELECT FROM living)
        RETURNING deliveries
    )
    SELECT EXISTS (SELECT FROM living), (SELECT deliveries FROM leased)";

const LEASE_TAKEN_OVER: &str = "
    WITH living AS (SELECT FROM owners WHERE id = $3 AND NOT retired), leased AS (
        UPDATE messages SET leased_by = $3, leased_at = $4, deliveries = deliveries + 1
        WHERE tenant = $1 AND id = $2 AND leased_by = $5 AND deliveries = $6 AND EXISTS (SELECT FROM living)
          AND EXISTS (SELECT FROM owners WHERE id = $5 AND epoch = $7 AND beat = $8)
        RETURNING deliveries
    )
    SELECT EXISTS (SELECT FROM living), (SELECT deliveries FROM leased)";

impl<'a> Applying<'a, '_> {
    pub(super) fn change_delivery(&mut self, change: &'a DeliveryChange) {
        match change {
            DeliveryChange::Lease { message, owner, from } => self.deliver(*message, *owner, *from),
            DeliveryChange::Hasten(message) => self.hasten(*message),
            DeliveryChange::Ack(delivery) => {
                let sql = "DELETE FROM messages WHERE tenant = $1 AND id = $2 AND leased_by = $3 AND deliveries = $4
                           RETURNING 1";
                self.change_present(delivery, sql, values![]);
                self.never_again(delivery.message_id);
            }
            DeliveryChange::Nack { delivery, not_before: Some(time) } => {
                let sql = "UPDATE messages SET leased_by = NULL, leased_at = NULL, not_before = $5
                           WHERE tenant = $1 AND id = $2 AND leased_by = $3 AND deliveries = $4 RETURNING 1";
                self.change_present(delivery, sql, values![millis(*time)]);
            }
            DeliveryChange::Nack { delivery, not_before: None } => self.give_back(delivery),
            DeliveryChange::Dead { delivery, reason } => {
                let sql = "UPDATE messages SET leased_by = NULL, leased_at = NULL, dead_reason = $5, dead_at = $6
                           WHERE tenant = $1 AND id = $2 AND leased_by = $3 AND deliveries = $4 RETURNING 1";
                self.change_present(delivery, sql, values![Text(reason.as_str()), self.at]);
            }
            DeliveryChange::Retry(message) => self.retry(*message),
            DeliveryChange::Drop(message) => self.drop_dead(*message),
        }
    }

    fn deliver(&mut self, message: MessageId, owner: OwnerId, from: Option<Takeover>) {
        let mut values = values![self.tenant, uuid(&message), uuid(&owner), self.at];
        let sql = match from {
            None => LEASE_READY,
            Some(Takeover { holder, number }) => {
                let Owner { id, epoch } = holder.owner();
                values.extend(values![uuid(&id), i64::from(number), int(epoch.0), int(holder.beat())]);
                LEASE_TAKEN_OVER
            }
        };
        self.push(Step::ask(sql, values, move |rows, committed| {
            let row = first(&rows)?;
            if !row.value::<bool>(0)? {
                return Err(Failure::Refused(Error::Gone { what: format!("owner {owner}") }));
            }
            if row.is_null(1) {
                return Err(Failure::Refused(Error::NotReady { message }));
            }
            committed.deliveries.push(Delivery { message_id: message, owner, number: row.small(1)? });
            Ok(())
        }));
    }

    /// The first four values say which delivery; `more` are those that follow.
    fn change_present(&mut self, delivery: &'a Delivery, sql: &'static str, more: Vec<Value<'a>>) {
        let mut values = self.which(delivery);
        values.extend(more);
        self.push(Step::must_find(sql, values, || Error::StaleDelivery { delivery: *delivery }));
    }

    fn which(&self, delivery: &Delivery) -> Vec<Value<'a>> {
        values![self.tenant, uuid(&delivery.message_id), uuid(&delivery.owner), i64::from(delivery.number)]
    }

    fn give_back(&mut self, delivery: &'a Delivery) {
        let sql = "UPDATE messages SET leased_by = NULL, leased_at = NULL
                   WHERE tenant = $1 AND id = $2 AND leased_by = $3 AND deliveries = $4
                   RETURNING tenant, queue";
        let values = self.which(delivery);
        self.push(ready(sql, values, Some(Error::StaleDelivery { delivery: *delivery })));
    }

    fn hasten(&mut self, message: MessageId) {
        let sql = "UPDATE messages SET not_before = NULL WHERE tenant = $1 AND id = $2 AND not_before IS NOT NULL
                   RETURNING tenant, queue";
        let values = values![self.tenant, uuid(&message)];
        self.push(ready(sql, values, Some(Error::NotReady { message })));
    }

    fn retry(&mut self, message: MessageId) {
        let sql = "UPDATE messages SET dead_reason = NULL, dead_at = NULL, forgiven = deliveries
                   WHERE tenant = $1 AND id = $2 AND dead_reason IS NOT NULL
                   RETURNING tenant, queue";
        let values = values![self.tenant, uuid(&message)];
        self.push(ready(sql, values, Some(Error::Gone { what: format!("dead letter {message}") })));
    }

    fn drop_dead(&mut self, message: MessageId) {
        let sql = "DELETE FROM messages WHERE tenant = $1 AND id = $2 AND dead_reason IS NOT NULL RETURNING 1";
        let refusal = move || Error::Gone { what: format!("dead letter {message}") };
        self.push(Step::must_find(sql, values![self.tenant, uuid(&message)], refusal));
        self.never_again(message);
    }

    pub(super) fn promote(&mut self, now: Wall) {
        let sql = "UPDATE messages SET not_before = NULL WHERE key = ANY (ARRAY
                       (SELECT key FROM messages WHERE not_before <= $1 ORDER BY not_before LIMIT $2))
                   RETURNING tenant, queue";
        self.push(ready(sql, values![millis(now), limit(MOST_PROMOTED)], None));
    }

    pub(super) fn ready_what_was_delivered_to(&mut self, owner: OwnerId) {
        let sql = "UPDATE messages SET leased_by = NULL, leased_at = NULL WHERE leased_by = $1 RETURNING tenant, queue";
        self.push(ready(sql, values![uuid(&owner)], None));
    }

    pub(super) fn ready_what_was_delivered_to_retired(&mut self, owner: &Owner) {
        let sql = "UPDATE messages SET leased_by = NULL, leased_at = NULL
                   WHERE leased_by = $1 AND EXISTS (SELECT FROM owners WHERE id = $1 AND epoch = $2)
                   RETURNING tenant, queue";
        self.push(ready(sql, values![uuid(&owner.id), int(owner.epoch.0)], None));
    }
}

/// A statement that makes messages ready, and notes whose and where; `refusal` is for one that must find something.
fn ready<'a>(sql: &'static str, values: Vec<Value<'a>>, refusal: Option<Error>) -> Step<'a> {
    Step::ask(sql, values, move |rows: Vec<Row>, committed: &mut Committed| {
        if let (true, Some(refusal)) = (rows.is_empty(), refusal) {
            return Err(Failure::Refused(refusal));
        }
        for row in &rows {
            let readied = (Tenant::new(row.text(0)?), row.text(1)?);
            if !committed.readied.contains(&readied) {
                committed.readied.push(readied);
            }
        }
        Ok(())
    })
}
