//! The end of a tenant's events, read once for all who listen. It reads while anybody does, and is gone with the last of them. What
//! it hands on is bounded: whoever does not keep up is let go, and comes back with the position they were at.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::broadcast;
use windlass_domain::{Runtime, Tenant};
use windlass_engine::{Engine, Error};

use super::frame::{Frame, frame, is_shown};

const BUFFER: usize = 4_096;
pub const PAGE: usize = 500;
/// A hint may be lost.
const LOOK_ANYWAY: Duration = Duration::from_secs(2);
/// When the store does not answer: it is asked again.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Tails {
    tails: Mutex<BTreeMap<Tenant, Weak<Tail>>>,
}

/// Whoever has it listens; it ends when nobody has.
pub struct Tail {
    sender: broadcast::Sender<Frame>,
}

impl Tail {
    pub fn listen(&self) -> broadcast::Receiver<Frame> {
        self.sender.subscribe()
    }
}

impl Tails {
    /// The tenant's one. What is committed after this call is heard by whoever listens to it.
    pub async fn of(&self, tenant: &Tenant, engine: Engine, runtime: &Arc<dyn Runtime>) -> Result<Arc<Tail>, Error> {
        if let Some(tail) = self.known(tenant) {
            return Ok(tail);
        }
        let from = engine.last_position().await?;
        let mut tails = self.tails.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tail) = tails.get(tenant).and_then(Weak::upgrade) {
            return Ok(tail);
        }
        let tail = Arc::new(Tail { sender: broadcast::Sender::new(BUFFER) });
        tails.insert(tenant.clone(), Arc::downgrade(&tail));
        runtime.spawn(Box::pin(read(Arc::downgrade(&tail), engine, from, Arc::clone(runtime))));
        Ok(tail)
    }

    fn known(&self, tenant: &Tenant) -> Option<Arc<Tail>> {
        self.tails.lock().unwrap_or_else(PoisonError::into_inner).get(tenant).and_then(Weak::upgrade)
    }
}

async fn read(tail: Weak<Tail>, engine: Engine, mut position: u64, runtime: Arc<dyn Runtime>) {
    let mut hints = engine.hints();
    loop {
        let Some(listened_to) = tail.upgrade() else { return };
        match engine.events_after(position, PAGE).await {
            Ok(events) => {
                let is_all = events.len() < PAGE;
                for event in events {
                    position = event.position;
                    if is_shown(&event) {
                        // Nobody listening at this moment is no trouble.
                        let _heard = listened_to.sender.send(frame(event));
                    }
                }
                drop(listened_to);
                if is_all {
                    hints.changed(LOOK_ANYWAY).await;
                }
            }
            Err(_) => {
                drop(listened_to);
                runtime.sleep(PAUSE).await;
            }
        }
    }
}
