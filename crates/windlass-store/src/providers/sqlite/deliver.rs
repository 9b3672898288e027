//! What a commit does to messages in shared queues, as SQL. Each change is one statement that both looks and writes: what
//! it does not find as it should be it does not touch, and the commit is refused.

use rusqlite::{Row, params};
use windlass_domain::{MessageId, OwnerId, Tenant, Wall};

use crate::commit::MOST_PROMOTED;
use crate::delivery::{Delivery, DeliveryChange, Takeover};
use crate::error::Error;
use crate::providers::sqlite::apply::{Applied, Applying, refuse};
use crate::providers::sqlite::codec::{id_bytes, int, limit};

impl Applying<'_> {
    pub(super) fn change_delivery(&mut self, change: &DeliveryChange) -> Applied<()> {
        match change {
            DeliveryChange::Lease { message, owner, from } => self.deliver(*message, *owner, *from),
            DeliveryChange::Hasten(message) => self.hasten(*message),
            DeliveryChange::Ack(delivery) => {
                let sql = "DELETE FROM messages WHERE tenant = ?1 AND id = ?2 AND leased_by = ?3 AND deliveries = ?4";
                self.change_present(delivery, sql, params![])?;
                self.never_again(delivery.message_id)
            }
            DeliveryChange::Nack { delivery, not_before: Some(time) } => {
                let sql = "UPDATE messages SET leased_by = NULL, leased_at = NULL, not_before = ?5
                           WHERE tenant = ?1 AND id = ?2 AND leased_by = ?3 AND deliveries = ?4";
                self.change_present(delivery, sql, params![int(time.as_millis())])
            }
            DeliveryChange::Nack { delivery, not_before: None } => self.give_back(delivery),
            DeliveryChange::Dead { delivery, reason } => {
                let sql = "UPDATE messages SET leased_by = NULL, leased_at = NULL, dead_reason = ?5, dead_at = ?6
                           WHERE tenant = ?1 AND id = ?2 AND leased_by = ?3 AND deliveries = ?4";
                self.change_present(delivery, sql, params![reason, self.at])
            }
            DeliveryChange::Retry(message) => self.retry(*message),
            DeliveryChange::Drop(message) => self.drop_dead(*message),
        }
    }

    fn deliver(&mut self, message: MessageId, owner: OwnerId, from: Option<Takeover>) -> Applied<()> {
        self.require_owner(owner)?;
        let (message_id, owner_id) = (id_bytes(&message), id_bytes(&owner));
        let number = match from {
            None => {
                let sql = "UPDATE messages SET leased_by = ?3, leased_at = ?4, deliveries = deliveries + 1
                           WHERE tenant = ?1 AND id = ?2
                             AND not_before IS NULL AND leased_by IS NULL AND dead_reason IS NULL
                           RETURNING deliveries";
                self.number(sql, params![self.tenant, message_id, owner_id, self.at])?
            }
            Some(Takeover { holder, number }) if self.is_still_gone(&holder)? => {
                let sql = "UPDATE messages SET leased_by = ?3, leased_at = ?4, deliveries = deliveries + 1
                           WHERE tenant = ?1 AND id = ?2 AND leased_by = ?5 AND deliveries = ?6
                           RETURNING deliveries";
                let holder = id_bytes(&holder.owner().id);
                self.number(sql, params![self.tenant, message_id, owner_id, self.at, holder, number])?
            }
            Some(_) => None,
        };
        let Some(number) = number else { return refuse(Error::NotReady { message }) };
        self.committed.deliveries.push(Delivery { message_id: message, owner, number });
        Ok(())
    }

    /// What a writing statement returns, if it found its row. It is run to its end, for foreign keys are checked last.
    fn number(&self, sql: &str, values: impl rusqlite::Params) -> Applied<Option<u32>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let number = rows.next()?.map(|row| row.get(0)).transpose()?;
        while rows.next()?.is_some() {}
        Ok(number)
    }

    /// The first four parameters say which delivery; `more` are those that follow.
    fn change_present(&self, delivery: &Delivery, sql: &str, more: &[&dyn rusqlite::ToSql]) -> Applied<()> {
        let (message, owner) = (id_bytes(&delivery.message_id), id_bytes(&delivery.owner));
        let mut values: Vec<&dyn rusqlite::ToSql> = vec![&self.tenant, &message, &owner, &delivery.number];
        values.extend(more);
        match self.execute(sql, &values[..])? {
            0 => refuse(Error::StaleDelivery { delivery: *delivery }),
            _ => Ok(()),
        }
    }

    fn give_back(&mut self, delivery: &Delivery) -> Applied<()> {
        let sql = "UPDATE messages SET leased_by = NULL, leased_at = NULL
                   WHERE tenant = ?1 AND id = ?2 AND leased_by = ?3 AND deliveries = ?4
                   RETURNING tenant, queue";
        let (tenant, message, owner) = (self.tenant, id_bytes(&delivery.message_id), id_bytes(&delivery.owner));
        match self.ready(sql, params![tenant, message, owner, delivery.number])? {
            0 => refuse(Error::StaleDelivery { delivery: *delivery }),
            _ => Ok(()),
        }
    }

    fn hasten(&mut self, message: MessageId) -> Applied<()> {
        let sql = "UPDATE messages SET not_before = NULL WHERE tenant = ?1 AND id = ?2 AND not_before IS NOT NULL
                   RETURNING tenant, queue";
        let tenant = self.tenant;
        match self.ready(sql, params![tenant, id_bytes(&message)])? {
            0 => refuse(Error::NotReady { message }),
            _ => Ok(()),
        }
    }

    fn retry(&mut self, message: MessageId) -> Applied<()> {
        let sql = "UPDATE messages SET dead_reason = NULL, dead_at = NULL, forgiven = deliveries
                   WHERE tenant = ?1 AND id = ?2 AND dead_reason IS NOT NULL
                   RETURNING tenant, queue";
        let tenant = self.tenant;
        match self.ready(sql, params![tenant, id_bytes(&message)])? {
            0 => refuse(Error::Gone { what: format!("dead letter {message}") }),
            _ => Ok(()),
        }
    }

    fn drop_dead(&self, message: MessageId) -> Applied<()> {
        let sql = "DELETE FROM messages WHERE tenant = ?1 AND id = ?2 AND dead_reason IS NOT NULL";
        match self.execute(sql, params![self.tenant, id_bytes(&message)])? {
            0 => refuse(Error::Gone { what: format!("dead letter {message}") }),
            _ => self.never_again(message),
        }
    }

    pub(super) fn promote(&mut self, now: Wall) -> Applied<()> {
        let sql = "UPDATE messages SET not_before = NULL WHERE key IN
                       (SELECT key FROM messages INDEXED BY messages_delayed
                        WHERE not_before <= ?1 ORDER BY not_before LIMIT ?2)
                   RETURNING tenant, queue";
        self.ready(sql, params![int(now.as_millis()), limit(MOST_PROMOTED)]).map(drop)
    }

    pub(super) fn ready_what_was_delivered_to(&mut self, owner: [u8; 16]) -> Applied<()> {
        let sql = "UPDATE messages SET leased_by = NULL, leased_at = NULL WHERE leased_by = ?1 RETURNING tenant, queue";
        self.ready(sql, params![owner]).map(drop)
    }

    /// Runs a statement that makes messages ready, and notes whose and where.
    fn ready(&mut self, sql: &str, values: impl rusqlite::Params) -> Applied<usize> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let place = |row: &Row<'_>| Ok((Tenant::new(row.get::<_, String>(0)?), row.get::<_, String>(1)?));
        let mut count = 0;
        for readied in statement.query_map(values, place)? {
            let readied = readied?;
            count += 1;
            if !self.committed.readied.contains(&readied) {
                self.committed.readied.push(readied);
            }
        }
        Ok(count)
    }
}
