//! A consumer that works for long looks whether its message is still its own. There is nothing to extend: the owner's one
//! heartbeat keeps all that is delivered to it. What is checked here is checked again by the commit that ends the work.

use crate::error::Error as StoreError;
use crate::queue::refusal::Asked;
use crate::queue::telemetry::TelemetryName;
use crate::queue::{Desk, Error, Leased};
use crate::record::Standing;

impl Desk<'_> {
    /// `StaleDelivery`: another may have it; stop working on it.
    pub async fn heartbeat(&self, leased: &mut Leased) -> Result<(), Error> {
        let delivery = leased.delivery;
        let found = self.store.message(&leased.message.scope_id, delivery.message_id).await?;
        let is_ours = found.is_some_and(|message| {
            message.deliveries == delivery.number
                && matches!(message.standing, Standing::Leased { owner, .. } if owner == delivery.owner)
        });
        if !is_ours {
            let asked = Asked::with(leased, &leased.message.scope_id, "heartbeat");
            return self.audited(&asked, Err(StoreError::StaleDelivery { delivery }.into())).await;
        }
        leased.heartbeats += 1;
        self.tell(TelemetryName::LeaseHeartbeat, leased.queue, &leased.message, u64::from(leased.heartbeats));
        Ok(())
    }
}
