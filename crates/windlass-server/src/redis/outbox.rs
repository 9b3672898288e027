//! Telling what happened: the engine's records in their order, as entries of the streams that go out and as flags of tasks. How far that has
//! come stands in the store, and per stream in Redis, in the same step as the entry: two servers may tell at once, and a crash between the
//! two has nothing said twice, unless Redis itself has forgotten it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select;
use redis::aio::MultiplexedConnection;
use windlass_domain::coordinate::Channel;
use windlass_engine::{Outgoing, Published};

use super::door::{Broken, Shared};
use super::mirror::Mirror;
use super::notice::notice;
use super::scripts::{FLAG, PUBLISH, run};
use crate::http::Draining;

/// As the store knows it.
const NAME: &str = "redis";
/// How often it is looked without a hint, and for what other programs put under the tasks' keys.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// So many records may be read again after a crash that nobody is told of.
const SAVE_EVERY: u64 = 2_000;
/// For how long the flag of a task that was cancelled stays, in seconds.
const FLAG_STAYS: &str = "86400";

pub struct Outbox {
    shared: Arc<Shared>,
}

impl Outbox {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub async fn run(&self, stop: &Draining) -> Result<(), Broken> {
        let engine = &self.shared.parts.engine;
        let mut connection = self.shared.link.quick().await?;
        let outbox = engine.outbox(NAME).await?;
        let keys = Keys::of(&outbox.outbox_id);
        let (mut position, mut saved) = (outbox.position, outbox.position);
        let mut mirror = Mirror::new(&self.shared.parts, keys.flags.clone());
        mirror.set_up(&mut connection).await?;
        let mut hints = engine.hints();
        while !stop.has_begun() {
            let page = engine.outgoing(Channel::Redis, position).await?;
            for outgoing in &page.entries {
                self.tell(&mut connection, &keys, outgoing).await?;
            }
            position = page.upto;
            if !page.entries.is_empty() || position - saved >= SAVE_EVERY {
                engine.outbox_moved(NAME, position).await?;
                saved = position;
            }
            if page.is_last {
                mirror.look(&mut connection).await?;
                let mut end = stop.clone();
                select(pin!(hints.changed(LOOK_EVERY)), pin!(end.begins())).await;
            }
        }
        Ok(())
    }

    async fn tell(
        &self,
        connection: &mut MultiplexedConnection,
        keys: &Keys,
        outgoing: &Outgoing,
    ) -> Result<(), Broken> {
        let position = outgoing.position.to_string();
        if let Some((stream, json)) = notice(outgoing) {
            let most = self.shared.parts.most_kept.to_string();
            run(connection, PUBLISH, &[&keys.positions, stream], &[&position, &json, &most]).await?;
        }
        if let Published::Status { task_id, status } = &outgoing.what {
            let flag = format!("task:status:{task_id}");
            let arguments = [&position, task_id.as_str(), status.unwrap_or_default(), FLAG_STAYS];
            run(connection, FLAG, &[&keys.positions, &flag, &keys.flags], &arguments).await?;
        }
        Ok(())
    }
}

/// What is kept in Redis about this store's telling.
struct Keys {
    /// Of the last entry in each stream.
    positions: String,
    /// Of each task that is under way, its flag as it was set.
    flags: String,
}

impl Keys {
    fn of(outbox_id: &str) -> Self {
        Self { positions: format!("windlass:outbox:{outbox_id}"), flags: format!("windlass:flags:{outbox_id}") }
    }
}
