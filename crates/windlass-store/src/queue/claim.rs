//! Taking this very message, because somebody asked for it and not because its turn has come.

use windlass_domain::{MessageId, Tenant};

use crate::delivery::Delivery;
use crate::error::Error as StoreError;
use crate::owner::Witness;
use crate::queue::lease::{ROUNDS, TakenAs};
use crate::queue::{Consumer, Desk, Error, Leased};
use crate::record::{LeasedMessage, Standing};

impl Desk<'_> {
    /// Leases the message if it is ready, or delayed, or held by an owner that is gone. `None`: somebody holds it who lives,
    /// or is not known to be gone (a silent one needs several looks), or it is not in this queue, or can be done only where
    /// this consumer is not, or it is a dead letter, maybe since just now.
    pub async fn claim(
        &self,
        consumer: &mut Consumer,
        witness: &mut Witness,
        tenant: &Tenant,
        message: MessageId,
    ) -> Result<Option<Leased>, Error> {
        for _ in 0..ROUNDS {
            match self.claim_as_it_stands(consumer, witness, tenant, message).await {
                // It changed between the look and the commit: look again.
                Err(Error::Store(StoreError::NotReady { .. })) => {}
                claimed => return claimed,
            }
        }
        Ok(None)
    }

    async fn claim_as_it_stands(
        &self,
        consumer: &mut Consumer,
        witness: &mut Witness,
        tenant: &Tenant,
        message: MessageId,
    ) -> Result<Option<Leased>, Error> {
        let found = self.store.message(tenant, message).await?;
        let Some(stored) = found.filter(|stored| consumer.lanes.contains(&stored.queue)) else { return Ok(None) };
        match stored.standing {
            Standing::Ready => self.take(consumer, &stored, TakenAs::Ready).await,
            Standing::Delayed { .. } => self.take(consumer, &stored, TakenAs::Delayed).await,
            Standing::Leased { owner, .. } if owner != consumer.owner => {
                let Some(holder) = self.store.owner(owner).await? else { return Ok(None) };
                let delivery = Delivery { message_id: message, owner, number: stored.deliveries };
                self.take_from(consumer, witness, &LeasedMessage { message: stored, delivery, holder }).await
            }
            Standing::Leased { .. } | Standing::Dead { .. } => Ok(None),
        }
    }
}
