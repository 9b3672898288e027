//! A message from outside, as bytes. What is known of its sender is what its door knows, and not what the bytes say.

use windlass_domain::queue::{QueueMessage, Sender};
use windlass_domain::{Taint, Tenant, TraceId};

use crate::commit::{Commit, Committed};
use crate::queue::audit::AuditType;
use crate::queue::refusal::{Asked, shortened};
use crate::queue::{Desk, Error, Invalid, LARGEST_MESSAGE, Queue};

/// Where it came in.
#[derive(Debug, Clone)]
pub struct Door {
    pub tenant: Tenant,
    pub sender: Sender,
    /// At least so tainted is what comes through it.
    pub taint: Taint,
}

/// What is too large is not looked at.
fn read(bytes: &[u8]) -> Result<QueueMessage, Invalid> {
    if bytes.len() > LARGEST_MESSAGE {
        return Err(Invalid::TooLarge { most: LARGEST_MESSAGE });
    }
    serde_json::from_slice(bytes).map_err(|error| Invalid::Malformed { detail: shortened(&error.to_string()) })
}

impl Desk<'_> {
    /// Reads a message and enqueues it.
    pub async fn receive(&self, door: &Door, queue: Queue, bytes: &[u8]) -> Result<Committed, Error> {
        let at = self.runtime.wall();
        match read(bytes) {
            Ok(message) => {
                let message = QueueMessage { taint: message.taint.join(door.taint), ..message };
                let commit = Commit::unfenced(door.tenant.clone(), at);
                if message.sender == door.sender {
                    return self.enqueue(commit, queue, &message).await;
                }
                let why = Invalid::OtherSender { said: message.sender, is: door.sender };
                let asked = Asked { actor: door.sender.into(), ..Asked::to_enqueue(&door.tenant, queue, &message) };
                self.audited(&asked, Err(Error::Invalid { message_id: message.message_id, why })).await
            }
            Err(why) => {
                let asked = Asked {
                    event_type: AuditType::Enqueue,
                    verb: "enqueue",
                    actor: door.sender.into(),
                    tenant: door.tenant.clone(),
                    queue: queue.name().to_owned(),
                    trace_id: TraceId::new(at, self.runtime.random()),
                    message_id: None,
                    taint: Taint::External,
                };
                self.audited(&asked, Err(Error::NotAMessage { queue, why })).await
            }
        }
    }
}
