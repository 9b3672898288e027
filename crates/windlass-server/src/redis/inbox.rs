//! Reading the streams, as one of a group. An entry is acknowledged after the commit that heeded it; one that cannot be heeded now stays
//! pending and is tried again, before what came after it in the same session; one that can never be goes to the dead letters. What a
//! consumer had that is known to be gone is claimed at once, what an unknown one had after a lease's time.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use redis::aio::MultiplexedConnection;
use redis::streams::{StreamInfoConsumersReply, StreamPendingCountReply, StreamReadReply};
use redis::{RedisResult, cmd};
use windlass_domain::{OwnerId, millis};

use super::door::{Broken, Shared};
use super::entry::{Inlet, headings};
use super::heed::{Heeding, heed};
use super::notice::{Refused, refused};
use super::scripts::{LEASE, LET_GO, run};
use crate::http::Draining;

const GROUP: &str = "windlass";
const AT_A_TIME: usize = 64;
const WAITS: Duration = Duration::from_millis(1_000);
/// While something is set aside.
const WAITS_LITTLE: Duration = Duration::from_millis(100);
/// Beyond what Redis was asked to wait: a connection that says nothing for so long is broken.
const GRACE: Duration = Duration::from_secs(10);
const CLAIM_EVERY: Duration = Duration::from_secs(3);

pub struct Inbox {
    shared: Arc<Shared>,
}

/// An entry of a stream.
struct Entry {
    inlet: Inlet,
    id: String,
    json: Option<String>,
}

/// What a round came to.
#[derive(Default)]
struct Round {
    /// Sessions whose next entry waits: those behind it wait too.
    held: BTreeSet<String>,
    is_anything_aside: bool,
}

impl Inbox {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub async fn run(&self, stop: &Draining) -> Result<(), Broken> {
        let mut reader = self.shared.link.patient().await?;
        let mut reading = Reading {
            shared: &self.shared,
            quick: self.shared.link.quick().await?,
            me: self.shared.parts.engine.owner_id().await?.to_string(),
            complaint: String::new(),
        };
        reading.make_groups().await?;
        let runtime = &self.shared.parts.runtime;
        let mut claimed_at = None;
        let mut is_anything_pending = true;
        while !stop.has_begun() {
            let now = runtime.now();
            if claimed_at.is_none_or(|at| now - at >= CLAIM_EVERY) {
                claimed_at = Some(now);
                is_anything_pending |= reading.claim().await?;
            }
            let mut round = Round::default();
            if is_anything_pending {
                let pending = read(&mut reading.quick, &reading.me, "0", None).await?;
                reading.heed_all(pending, &mut round).await?;
            }
            let waits = if round.is_anything_aside { WAITS_LITTLE } else { WAITS };
            let me = reading.me.clone();
            let new = pin!(read(&mut reader, &me, ">", Some(waits)));
            let limit = runtime.sleep(waits + GRACE);
            let mut end = stop.clone();
            let new = match select(new, select(pin!(end.begins()), limit)).await {
                Either::Left((new, _)) => new?,
                Either::Right((Either::Left(_), _)) => return Ok(()),
                Either::Right((Either::Right(_), _)) => return Err(Broken::Silent),
            };
            reading.heed_all(new, &mut round).await?;
            is_anything_pending = round.is_anything_aside;
        }
        Ok(())
    }
}

async fn read(
    connection: &mut MultiplexedConnection,
    me: &str,
    after: &str,
    waits: Option<Duration>,
) -> RedisResult<Vec<Entry>> {
    let mut command = cmd("XREADGROUP");
    command.arg("GROUP").arg(GROUP).arg(me).arg("COUNT").arg(AT_A_TIME);
    if let Some(waits) = waits {
        command.arg("BLOCK").arg(millis(waits));
    }
    command.arg("STREAMS").arg(&Inlet::ALL.map(Inlet::stream)).arg(&Inlet::ALL.map(|_| after));
    let reply: Option<StreamReadReply> = command.query_async(connection).await?;
    let mut entries = Vec::new();
    for stream in reply.map(|reply| reply.keys).unwrap_or_default() {
        let Some(inlet) = Inlet::ALL.into_iter().find(|inlet| inlet.stream() == stream.key) else { continue };
        entries.extend(stream.ids.into_iter().map(|entry| Entry { inlet, json: entry.get("json"), id: entry.id }));
    }
    Ok(entries)
}

struct Reading<'a> {
    shared: &'a Shared,
    quick: MultiplexedConnection,
    /// This process's name in the group.
    me: String,
    /// What was complained of last: it is said once, however often it is met.
    complaint: String,
}

impl Reading<'_> {
    /// From the first entry on: what was put there before anybody read is meant for whoever does.
    async fn make_groups(&mut self) -> Result<(), Broken> {
        for inlet in Inlet::ALL {
            let mut create = cmd("XGROUP");
            create.arg("CREATE").arg(inlet.stream()).arg(GROUP).arg("0").arg("MKSTREAM");
            match create.query_async::<()>(&mut self.quick).await {
                Err(error) if error.code() != Some("BUSYGROUP") => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    async fn heed_all(&mut self, entries: Vec<Entry>, round: &mut Round) -> Result<(), Broken> {
        for entry in entries {
            self.heed(entry, round).await?;
        }
        Ok(())
    }

    async fn heed(&mut self, entry: Entry, round: &mut Round) -> Result<(), Broken> {
        let Some(json) = &entry.json else {
            let why = Refused::unreadable("it has no field `json`".to_owned());
            return self.refuse(&entry, "", &why).await;
        };
        let session = headings(json).session_id.unwrap_or_default();
        let is_behind = !session.is_empty() && round.held.contains(&session);
        if is_behind || !self.lease(&session).await? {
            round.set_aside(session);
            return Ok(());
        }
        let heeded = heed(&self.shared.parts, entry.inlet, &entry.id, json).await;
        let done = match heeded {
            Heeding::Done => self.acknowledge(&entry).await,
            Heeding::Never(why) => self.refuse(&entry, json, &why).await,
            Heeding::Later(why) => {
                self.complain(format!("{} {}: {why}; tried again", entry.inlet.stream(), entry.id));
                round.set_aside(session.clone());
                Ok(())
            }
        };
        self.let_go(&session).await?;
        done
    }

    fn complain(&mut self, complaint: String) {
        if complaint != self.complaint {
            self.shared.parts.journal.trouble(&complaint);
            self.complaint = complaint;
        }
    }

    async fn acknowledge(&mut self, entry: &Entry) -> Result<(), Broken> {
        let mut acknowledge = cmd("XACK");
        acknowledge.arg(entry.inlet.stream()).arg(GROUP).arg(&entry.id);
        Ok(acknowledge.query_async::<()>(&mut self.quick).await?)
    }

    /// What is said about it and its end are one: it is neither lost nor said twice.
    async fn refuse(&mut self, entry: &Entry, json: &str, why: &Refused) -> Result<(), Broken> {
        let mut at_once = redis::pipe();
        at_once.atomic();
        for (stream, notice) in refused(entry.inlet, &entry.id, json, why, &headings(json)) {
            let most = self.shared.parts.most_kept;
            at_once.cmd("XADD").arg(stream).arg("MAXLEN").arg("~").arg(most).arg("*").arg("json").arg(notice).ignore();
        }
        at_once.cmd("XACK").arg(entry.inlet.stream()).arg(GROUP).arg(&entry.id).ignore();
        Ok(at_once.query_async::<()>(&mut self.quick).await?)
    }

    /// Whether the session is ours now. One that another program holds is left to it until its time is up.
    async fn lease(&mut self, session: &str) -> Result<bool, Broken> {
        if session.is_empty() {
            return Ok(true);
        }
        let (key, lasts) = (lease_key(session), millis(self.shared.parts.lease).to_string());
        let mut from = String::new();
        loop {
            let held = run(&mut self.quick, LEASE, &[&key], &[&self.me, &lasts, &from]).await?;
            let held: Option<String> = redis::from_redis_value(held).map_err(redis::RedisError::from)?;
            match held {
                None => return Ok(true),
                Some(holder) if holder != from && self.lives(&holder).await? == Some(false) => from = holder,
                Some(_) => return Ok(false),
            }
        }
    }

    async fn let_go(&mut self, session: &str) -> Result<(), Broken> {
        if !session.is_empty() {
            run(&mut self.quick, LET_GO, &[&lease_key(session)], &[&self.me]).await?;
        }
        Ok(())
    }

    /// None: nobody here knows such a process.
    async fn lives(&self, name: &str) -> Result<Option<bool>, Broken> {
        match name.parse::<OwnerId>() {
            Ok(process) => Ok(self.shared.parts.engine.lives(process).await?),
            Err(_) => Ok(None),
        }
    }

    /// Takes over what others had who are gone. Whether there was anything.
    async fn claim(&mut self) -> Result<bool, Broken> {
        let mut is_anything_claimed = false;
        for inlet in Inlet::ALL {
            let mut ask = cmd("XINFO");
            ask.arg("CONSUMERS").arg(inlet.stream()).arg(GROUP);
            let known: StreamInfoConsumersReply = ask.query_async(&mut self.quick).await?;
            for consumer in known.consumers {
                if consumer.name == self.me {
                    continue;
                }
                let idle = match self.lives(&consumer.name).await? {
                    Some(true) => continue,
                    Some(false) => 0,
                    None => millis(self.shared.parts.lease),
                };
                is_anything_claimed |= self.claim_from(inlet, &consumer.name, idle).await?;
                if consumer.pending == 0 && idle == 0 {
                    let mut forget = cmd("XGROUP");
                    forget.arg("DELCONSUMER").arg(inlet.stream()).arg(GROUP).arg(&consumer.name);
                    forget.query_async::<()>(&mut self.quick).await?;
                }
            }
        }
        Ok(is_anything_claimed)
    }

    async fn claim_from(&mut self, inlet: Inlet, consumer: &str, idle: u64) -> Result<bool, Broken> {
        let mut ask = cmd("XPENDING");
        ask.arg(inlet.stream()).arg(GROUP).arg("IDLE").arg(idle).arg("-").arg("+").arg(AT_A_TIME).arg(consumer);
        let pending: StreamPendingCountReply = ask.query_async(&mut self.quick).await?;
        if pending.ids.is_empty() {
            return Ok(false);
        }
        let ids: Vec<&str> = pending.ids.iter().map(|pending| pending.id.as_str()).collect();
        let mut claim = cmd("XCLAIM");
        claim.arg(inlet.stream()).arg(GROUP).arg(&self.me).arg(idle).arg(&ids).arg("JUSTID");
        claim.query_async::<redis::Value>(&mut self.quick).await?;
        Ok(true)
    }
}

impl Round {
    fn set_aside(&mut self, session: String) {
        self.is_anything_aside = true;
        if !session.is_empty() {
            self.held.insert(session);
        }
    }
}

fn lease_key(session: &str) -> String {
    format!("session:lease:{session}")
}
