//! Messages whose consumer is gone. They go straight to whoever finds them: the same as being put back and leased again, in
//! one commit. Who is gone is for a `Witness` to say, and the commit looks once more: a living owner keeps its messages
//! however long it takes.

use std::collections::BTreeMap;

use crate::delivery::Takeover;
use crate::error::Error as StoreError;
use crate::owner::{Judgement, Witness};
use crate::queue::lease::TakenAs;
use crate::queue::telemetry::{QueueTelemetryEvent, TelemetryName};
use crate::queue::{Consumer, Desk, Error, Leased, Queue};
use crate::record::LeasedMessage;

/// As many of each holder's messages as are looked at together.
const PAGE: usize = 16;

#[derive(Debug, Clone, PartialEq)]
pub enum TakenOver {
    Message(Box<Leased>),
    /// Everything that is leased is in living hands, or is not known to be in others.
    Nothing,
}

impl Desk<'_> {
    /// Takes over one message, if there is one to take over. Ask again on every polling tick: a silent holder needs several
    /// looks before it counts as gone.
    pub async fn take_over(&self, consumer: &mut Consumer, witness: &mut Witness) -> Result<TakenOver, Error> {
        for lane in consumer.lanes.clone() {
            for found in self.store.leased(&lane, PAGE).await? {
                if found.holder.id == consumer.owner || consumer.full.contains(&found.message.tenant) {
                    continue;
                }
                match self.take_from(consumer, witness, &found).await {
                    Ok(Some(leased)) => return Ok(TakenOver::Message(Box::new(leased))),
                    Ok(None) | Err(Error::Store(StoreError::NotReady { .. })) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(TakenOver::Nothing)
    }

    /// `None`: its holder lives, or it was put aside.
    pub(super) async fn take_from(
        &self,
        consumer: &mut Consumer,
        witness: &mut Witness,
        found: &LeasedMessage,
    ) -> Result<Option<Leased>, Error> {
        let Judgement::Gone(holder) = witness.look(&found.holder, self.runtime.now())? else { return Ok(None) };
        let takeover = Takeover { holder, number: found.delivery.number };
        let taken = self.take(consumer, &found.message, TakenAs::Abandoned(takeover)).await?;
        self.tell_expired(consumer.queue, found);
        Ok(taken)
    }

    fn tell_expired(&self, queue: Queue, expired: &LeasedMessage) {
        self.telemetry.emit(QueueTelemetryEvent {
            event_name: TelemetryName::LeaseExpired,
            trace_id: expired.message.trace_id,
            queue_name: queue.name().to_owned(),
            message_id: Some(expired.delivery.message_id),
            value: u64::from(expired.delivery.number),
            labels: BTreeMap::from([("owner".to_owned(), expired.delivery.owner.to_string())]),
            created_at: self.runtime.wall(),
        });
    }
}
