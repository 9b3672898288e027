//! Which consumer has dealt with which message. The mark is part of the commit that holds the effects: it is there exactly
//! when they are, and a second commit with the same mark is refused as a duplicate.

use windlass_domain::{MessageId, Tenant};

use crate::commit::{Commit, Marker};
use crate::error::Error;
use crate::store::Store;

fn marker(consumer_name: &str, message: MessageId) -> Marker {
    Marker { scope: format!("consumer/{consumer_name}"), key: message.to_string() }
}

pub async fn has_processed(
    store: &dyn Store,
    tenant: &Tenant,
    consumer_name: &str,
    message: MessageId,
) -> Result<bool, Error> {
    store.is_marked(tenant, &marker(consumer_name, message)).await
}

pub fn mark_processed(commit: &mut Commit, consumer_name: &str, message: MessageId) {
    commit.processed.push(marker(consumer_name, message));
}
