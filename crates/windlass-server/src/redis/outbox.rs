//! Telling what happened: the engine's records in their order, as entries of the streams that go out and as flags of tasks. How far that has
//! come stands in Redis, beside what it is about: per stream in the same step as the entry, so that two servers may tell at once, and a crash
//! has nothing said twice; and for all of them as `upto`, from where whoever begins goes on. A Redis that comes back as it was a while ago
//! thus hears what it lost. The store is told of it only now and then, for a Redis that has forgotten everything: that hears again what it
//! may have been told of the last records.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select;
use redis::aio::MultiplexedConnection;
use redis::{Value, cmd};
use windlass_domain::coordinate::Channel;
use windlass_domain::millis;
use windlass_engine::{Hints, Outgoing, Published};

use super::complaints::{Complaints, Wrong};
use super::door::{Broken, KEPT_FOR, Shared, Works};
use super::mirror::Mirror;
use super::notice::notice;
use super::scripts::{FLAG, PUBLISH, TOLD, run};
use super::touched::{PREFIXES, Touched};
use crate::http::Draining;

/// As the store knows it.
const NAME: &str = "redis";
/// How often it is looked without a hint.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// So many records are between two that say in the store how far it has come.
const SAVE_EVERY: u64 = 2_000;
/// For how long the flag of a task that was cancelled stays, in seconds.
const FLAG_STAYS: &str = "86400";

pub struct Outbox {
    shared: Arc<Shared>,
    complaints: Complaints,
    pub works: Works,
}

impl Outbox {
    pub fn new(shared: Arc<Shared>) -> Self {
        let complaints = Complaints::new(Arc::clone(&shared.parts.journal));
        Self { shared, complaints, works: Works::default() }
    }

    pub async fn run(&self, stop: &Draining) -> Result<(), Broken> {
        let mut telling = Telling::begin(&self.shared, &self.complaints).await?;
        while !stop.has_begun() {
            let is_all = telling.tell_a_page().await?;
            telling.mirror.look(&mut telling.connection).await?;
            telling.go_back_for_what_was_stuck().await?;
            self.works.well();
            if is_all {
                telling.wait(stop).await;
            }
        }
        Ok(())
    }
}

struct Telling<'a> {
    shared: &'a Shared,
    connection: MultiplexedConnection,
    touched: Arc<Touched>,
    keys: Keys,
    position: u64,
    /// As Redis knows it, and the store.
    noted: u64,
    saved: u64,
    /// Keys that are no streams, and the last record before the first that is to be told there.
    stuck: BTreeSet<&'static str>,
    stuck_since: Option<u64>,
    mirror: Mirror<'a>,
    complaints: &'a Complaints,
    hints: Hints,
}

impl<'a> Telling<'a> {
    async fn begin(shared: &'a Shared, complaints: &'a Complaints) -> Result<Self, Broken> {
        let engine = &shared.parts.engine;
        let touched = Arc::new(Touched::default());
        let ears = Arc::clone(&touched);
        let watching = shared.link.watching(&PREFIXES, move |push| ears.hear(&push)).await;
        let is_watching = watching.is_ok();
        let mut connection = match watching {
            Ok(connection) => connection,
            Err(_) => shared.link.quick().await?,
        };
        let outbox = engine.outbox(NAME).await?;
        let keys = Keys::of(&outbox.outbox_id);
        keys.are_hashes(&mut connection).await?;
        let hints = engine.hints();
        let mirror = Mirror::new(&shared.parts, &keys, Arc::clone(&touched), is_watching, complaints);
        let upto: Option<u64> = cmd("HGET").arg(&keys.positions).arg("upto").query_async(&mut connection).await?;
        let position = match upto {
            Some(upto) => upto,
            None => {
                mirror.set_up(&mut connection).await?;
                let mut note = cmd("HSET");
                note.arg(&keys.positions).arg("upto").arg(outbox.position);
                note.query_async::<()>(&mut connection).await?;
                outbox.position
            }
        };
        let (noted, saved, stuck) = (position, outbox.position, BTreeSet::new());
        Ok(Self {
            shared,
            connection,
            touched,
            keys,
            position,
            noted,
            saved,
            stuck,
            stuck_since: None,
            mirror,
            complaints,
            hints,
        })
    }

    /// Whether there is no more.
    async fn tell_a_page(&mut self) -> Result<bool, Broken> {
        let engine = &self.shared.parts.engine;
        let page = engine.outgoing(Channel::Redis, self.position).await?;
        for outgoing in &page.entries {
            self.tell(outgoing).await?;
        }
        self.position = page.upto;
        let told = self.stuck_since.unwrap_or(self.position);
        if told > self.noted && (!page.entries.is_empty() || told - self.noted >= SAVE_EVERY) {
            remembered(&run(&mut self.connection, TOLD, &[&self.keys.positions], &[&told.to_string()]).await?)?;
            self.noted = told;
        }
        if told.saturating_sub(self.saved) >= SAVE_EVERY {
            engine.outbox_moved(NAME, told).await?;
            self.saved = told;
        }
        Ok(page.is_last)
    }

    async fn tell(&mut self, outgoing: &Outgoing) -> Result<(), Broken> {
        let position = outgoing.position.to_string();
        if let Some((stream, json)) = notice(outgoing)
            && !self.stuck.contains(stream)
        {
            let most = self.shared.parts.most_kept.to_string();
            let keys = [self.keys.positions.as_str(), stream];
            let kept = millis(KEPT_FOR).to_string();
            let answer = run(&mut self.connection, PUBLISH, &keys, &[&position, &json, &most, &kept]).await?;
            if let Some(kind) = remembered(&answer)? {
                self.is_stuck(stream, kind, outgoing.position);
            }
        }
        if let Published::Status { task_id, status } = &outgoing.what {
            let flag = format!("task:status:{task_id}");
            let arguments = [&position, task_id.as_str(), status.unwrap_or_default(), FLAG_STAYS];
            let keys = [self.keys.positions.as_str(), &flag, &self.keys.flags];
            remembered(&run(&mut self.connection, FLAG, &keys, &arguments).await?)?;
            // What was pushed for it before there was such a task.
            self.touched.task(task_id);
        }
        Ok(())
    }

    /// The others are told; what belongs there is read again when it is a stream, or nothing.
    fn is_stuck(&mut self, stream: &'static str, kind: String, position: u64) {
        let waits = "what belongs there waits, and the other streams are written";
        self.complaints.say_wrong(&Wrong { key: stream.to_owned(), kind, wanted: "stream", waits });
        self.stuck.insert(stream);
        self.stuck_since.get_or_insert(position - 1);
    }

    async fn go_back_for_what_was_stuck(&mut self) -> Result<(), Broken> {
        let Some(since) = self.stuck_since else { return Ok(()) };
        for stream in &self.stuck {
            let kind: String = cmd("TYPE").arg(stream).query_async(&mut self.connection).await?;
            if kind == "stream" || kind == "none" {
                self.complaints.mended(|about| self.stuck.contains(about));
                self.position = since;
                self.stuck.clear();
                self.stuck_since = None;
                return Ok(());
            }
        }
        Ok(())
    }

    async fn wait(&mut self, stop: &Draining) {
        let mut end = stop.clone();
        let (changed, touched) = (pin!(self.hints.changed(LOOK_EVERY)), pin!(self.touched.rings()));
        select(select(changed, touched), pin!(end.begins())).await;
    }
}

/// What a script says of a key that is in the way.
fn remembered(answer: &Value) -> Result<Option<String>, Broken> {
    match answer {
        Value::Int(-1) => Err(Broken::Forgotten),
        Value::BulkString(kind) => Ok(Some(String::from_utf8_lossy(kind).into_owned())),
        Value::SimpleString(kind) => Ok(Some(kind.clone())),
        _ => Ok(None),
    }
}

/// What is kept in Redis about this store's telling.
pub struct Keys {
    /// Of the last entry in each stream.
    pub positions: String,
    /// Of each task that is under way, its flag as it was set.
    pub flags: String,
}

impl Keys {
    fn of(outbox_id: &str) -> Self {
        Self { positions: format!("windlass:outbox:{outbox_id}"), flags: format!("windlass:flags:{outbox_id}") }
    }

    /// Without them nothing can be told.
    async fn are_hashes(&self, connection: &mut MultiplexedConnection) -> Result<(), Broken> {
        for key in [&self.positions, &self.flags] {
            let kind: String = cmd("TYPE").arg(key).query_async(connection).await?;
            if kind != "hash" && kind != "none" {
                let (key, waits) = (key.clone(), "nothing is told");
                return Err(Broken::Wrong(Wrong { key, kind, wanted: "hash", waits }));
            }
        }
        Ok(())
    }
}
