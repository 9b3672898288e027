//! Reading the streams, as one of a group. An entry is acknowledged after the commit that heeded it; one that cannot be heeded now stays
//! pending and is tried again, before what is newer and of the same session or task (`backlog`); one that can never be goes to the dead
//! letters. What others have of the group is looked at before anything is heeded that may have to wait for it (`others`).

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, join_all, select};
use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Value, cmd};
use windlass_domain::{CallerName, Instant, millis};

use super::backlog::{Backlog, Place, Whose, names};
use super::complaints::{Complaints, Wrong};
use super::delivered::{Body, Delivered, of_entries, of_streams, shown};
use super::door::{Broken, KEPT_FOR, Shared, Works};
use super::entry::{Inlet, headings};
use super::heed::{Heeding, heed};
use super::holding::{Hold, hold, let_go};
use super::notice::{Refused, refused};
use super::others::Others;
use super::scripts::{READ, REFUSE, run};
use crate::http::Draining;

pub const GROUP: &str = "windlass";
/// Of each stream.
const AT_A_TIME: usize = 64;
/// A reading that has so many bytes ends: no more of them need be in memory, beside the last entry of each stream.
pub const HEAVY: usize = 4 << 20;
/// They have nothing to do with each other, and their commits share a transaction.
const AT_ONCE: usize = 8;
/// Between two readings, so that new entries are not kept waiting by those that are tried again.
const MOST_TRIED: usize = 512;
/// Of an entry, before it is refused for what may pass and does not. With the pauses between them some five seconds.
const MOST_FAILURES: u32 = 10;
const WAITS: Duration = Duration::from_millis(1_000);
/// Beyond what Redis was asked to wait: a connection that says nothing for so long is broken.
const GRACE: Duration = Duration::from_secs(10);

pub struct Inbox {
    shared: Arc<Shared>,
    complaints: Complaints,
    pub works: Works,
}

impl Inbox {
    pub fn new(shared: Arc<Shared>) -> Self {
        let complaints = Complaints::new(Arc::clone(&shared.parts.journal));
        Self { shared, complaints, works: Works::default() }
    }

    pub async fn run(&self, stop: &Draining) -> Result<(), Broken> {
        let mut reading = Reading::begin(&self.shared, &self.complaints).await?;
        while !stop.has_begun() {
            reading.look_around().await?;
            let Some(delivered) = reading.read(stop).await? else { return Ok(()) };
            reading.take_in(delivered, Whose::Ours).await?;
            reading.heed_what_is_free().await?;
            self.works.well();
        }
        Ok(())
    }
}

pub(super) struct Reading<'a> {
    pub shared: &'a Shared,
    pub quick: MultiplexedConnection,
    patient: MultiplexedConnection,
    /// This process's name in the group.
    pub me: String,
    /// Those that are streams, and how far each has been read of what was delivered to us before; none: all of that.
    pub inlets: Vec<Inlet>,
    again_from: Option<Vec<String>>,
    /// The last reading brought something: there may be more, and nobody waits for it.
    is_busy: bool,
    pub backlog: Backlog,
    /// Of those that came with the last reading.
    bodies: BTreeMap<Place, Body>,
    pub others: Others,
    pub complaints: &'a Complaints,
}

/// What trying one came to.
enum Tried {
    Done,
    /// Not now, and what there is to say of it.
    Again(Option<(String, String)>),
    /// The same, and it is not tried for ever.
    Failed(String, String),
    Wrong(Wrong),
    /// Another server's is ours by now.
    Ours,
}

impl<'a> Reading<'a> {
    async fn begin(shared: &'a Shared, complaints: &'a Complaints) -> Result<Self, Broken> {
        let mut reading = Self {
            shared,
            quick: shared.link.quick().await?,
            patient: shared.link.patient().await?,
            me: shared.parts.engine.owner_id().await?.to_string(),
            inlets: Vec::new(),
            again_from: None,
            is_busy: false,
            backlog: Backlog::default(),
            bodies: BTreeMap::new(),
            others: Others::default(),
            complaints,
        };
        reading.make_groups().await?;
        Ok(reading)
    }

    pub fn now(&self) -> Instant {
        self.shared.parts.runtime.now()
    }

    /// From the first entry on: what was put there before anybody read is meant for whoever does. A key that is no stream is left out until
    /// it is gone.
    pub async fn make_groups(&mut self) -> Result<(), Broken> {
        for inlet in Inlet::ALL.into_iter().filter(|inlet| !self.inlets.contains(inlet)).collect::<Vec<_>>() {
            let key = inlet.stream();
            let kind: String = cmd("TYPE").arg(key).query_async(&mut self.quick).await?;
            if kind != "none" && kind != "stream" {
                let waits = "nothing can come in by it, and the other streams are read";
                self.complaints.say_wrong(&Wrong { key: key.to_owned(), kind, wanted: "stream", waits });
                continue;
            }
            let mut create = cmd("XGROUP");
            create.arg("CREATE").arg(key).arg(GROUP).arg("0").arg("MKSTREAM");
            match create.query_async::<()>(&mut self.quick).await {
                Err(error) if error.code() != Some("BUSYGROUP") => return Err(error.into()),
                _ => {}
            }
            self.complaints.mended(|about| about == key);
            self.inlets.push(inlet);
            self.again_from = Some(vec!["0".to_owned(); self.inlets.len()]);
        }
        Ok(())
    }

    /// What was delivered to us before, until there is no more of it, and then what is new. None: it is time to end.
    async fn read(&mut self, stop: &Draining) -> Result<Option<Vec<Delivered>>, Broken> {
        if self.backlog.is_full() {
            let most = super::backlog::MOST_KEPT;
            let full = format!(
                "Redis: {most} entries wait to be heeded; nothing new is read until some of them are done with"
            );
            self.complaints.say("backlog", full);
        }
        let now = self.now();
        let waits = self.backlog.next_due().map_or(WAITS, |due| WAITS.min(due - now));
        if self.backlog.is_full() || self.others.has_more() || self.inlets.is_empty() {
            let waits = if self.others.has_more() { Duration::ZERO } else { waits };
            self.shared.wait(waits, stop).await;
            return Ok((!stop.has_begun()).then(Vec::new));
        }
        if let Some(from) = self.again_from.take() {
            return Ok(Some(self.read_again(from).await?));
        }
        if self.is_busy {
            let new = vec![">".to_owned(); self.inlets.len()];
            return Ok(Some(self.read_some(&new).await?));
        }
        let new = self.first_entries(waits);
        let (limit, mut end) = (self.shared.parts.runtime.sleep(waits + GRACE), stop.clone());
        let mut patient = self.patient.clone();
        let reply = match select(pin!(new.query_async(&mut patient)), select(pin!(end.begins()), limit)).await {
            Either::Left((reply, _)) => reply?,
            Either::Right((Either::Left(_), _)) => return Ok(None),
            Either::Right((Either::Right(_), _)) => return Err(Broken::Silent),
        };
        let delivered = of_streams(reply);
        self.is_busy = !delivered.is_empty();
        Ok(Some(delivered))
    }

    async fn read_again(&mut self, mut from: Vec<String>) -> Result<Vec<Delivered>, Broken> {
        let delivered = self.read_some(&from).await?;
        for entry in &delivered {
            if let Some(at) = self.inlets.iter().position(|inlet| *inlet == entry.place.inlet) {
                from[at] = entry.place.id();
            }
        }
        self.again_from = Some(from).filter(|_| !delivered.is_empty());
        Ok(delivered)
    }

    /// What there is after these.
    async fn read_some(&mut self, after: &[String]) -> Result<Vec<Delivered>, Broken> {
        let streams: Vec<&str> = self.inlets.iter().map(|inlet| inlet.stream()).collect();
        let (most, heavy) = (AT_A_TIME.to_string(), HEAVY.to_string());
        let words = [GROUP, &self.me, &most, &heavy].into_iter().chain(after.iter().map(String::as_str));
        let found = run(&mut self.quick, READ, &streams, &words.collect::<Vec<_>>()).await?;
        let delivered = of_streams(found);
        self.is_busy = !delivered.is_empty();
        Ok(delivered)
    }

    /// The first of each stream that comes within that time.
    fn first_entries(&self, waits: Duration) -> redis::Cmd {
        let mut command = cmd("XREADGROUP");
        command.arg("GROUP").arg(GROUP).arg(&self.me).arg("COUNT").arg(1);
        if waits >= Duration::from_millis(1) {
            command.arg("BLOCK").arg(millis(waits));
        }
        let streams: Vec<&str> = self.inlets.iter().map(|inlet| inlet.stream()).collect();
        command.arg("STREAMS").arg(&streams).arg(vec![">"; streams.len()]);
        command
    }

    pub async fn take_in(&mut self, delivered: Vec<Delivered>, whose: Whose) -> Result<(), Broken> {
        if whose == Whose::Ours {
            self.learn_of_others(&delivered).await?;
        }
        let now = self.now();
        for Delivered { place, body } in delivered {
            let names = match &body {
                Body::Json(json) => names(&headings(json)),
                Body::Unreadable { .. } | Body::Deleted => Vec::new(),
            };
            // What nobody can wait for need not be known.
            if whose == Whose::Ours || !names.is_empty() {
                self.backlog.put(place, whose, names, now);
            }
            if whose == Whose::Ours {
                self.bodies.insert(place, body);
            }
        }
        Ok(())
    }

    pub async fn heed_what_is_free(&mut self) -> Result<(), Broken> {
        let mut tried = 0;
        while tried < MOST_TRIED {
            let free = self.backlog.take(self.now(), AT_ONCE);
            if free.is_empty() {
                break;
            }
            tried += free.len();
            let bodies: Vec<_> = free.iter().map(|(place, _)| self.bodies.remove(place)).collect();
            let one = |((place, whose), body): (&(Place, Whose), Option<Body>)| {
                let (place, whose) = (*place, *whose);
                let this = &*self;
                async move {
                    match whose {
                        Whose::Ours => this.try_ours(place, body).await,
                        Whose::Anothers => this.try_anothers(place).await,
                    }
                }
            };
            let came = join_all(free.iter().zip(bodies).map(one)).await;
            for ((place, _), tried) in free.into_iter().zip(came) {
                self.came(place, tried?);
            }
        }
        self.bodies.clear();
        if self.backlog.is_empty() {
            // Whatever it was has passed.
            self.complaints.mended(|about| !Inlet::ALL.iter().any(|inlet| inlet.stream() == about));
        }
        Ok(())
    }

    fn came(&mut self, place: Place, tried: Tried) {
        let now = self.now();
        match tried {
            Tried::Done => return self.backlog.done(place),
            Tried::Ours => return self.backlog.put(place, Whose::Ours, Vec::new(), now),
            Tried::Again(None) => {}
            Tried::Again(Some((about, what))) => self.complaints.say(&about, what),
            Tried::Failed(about, what) => {
                self.complaints.say(&about, what);
                return self.backlog.failed(place, now);
            }
            Tried::Wrong(wrong) => self.complaints.say_wrong(&wrong),
        }
        self.backlog.again(place, now);
    }

    async fn try_ours(&self, place: Place, body: Option<Body>) -> Result<Tried, Broken> {
        let mut redis = self.quick.clone();
        let session = self.backlog.session(place);
        if let Some(session) = session {
            match hold(&self.shared.parts, &mut redis, &self.me, session).await? {
                Hold::Ours => {}
                Hold::Anothers => return Ok(Tried::Again(None)),
                Hold::Wrong(wrong) => return Ok(Tried::Wrong(wrong)),
            }
        }
        let body = match body {
            Some(body) => body,
            None => match self.body(place).await? {
                Some(body) => body,
                // Somebody took it over, and is done with it.
                None => return self.finish(None, session, Tried::Done).await,
            },
        };
        let why = match &body {
            Body::Json(json) => match heed(&self.shared.parts, place.inlet, &place.id(), json).await {
                Heeding::Done => return self.acknowledge(place, session).await,
                Heeding::Later(why) => {
                    let told = format!("{} {}: {why}; tried again", place.inlet.stream(), place.id());
                    return self.finish(None, session, Tried::Again(Some((why, told)))).await;
                }
                Heeding::Perhaps(why) if self.backlog.failures(place) < MOST_FAILURES => {
                    let told = format!("{} {}: {}; tried again", place.inlet.stream(), place.id(), why.reason);
                    return self.finish(None, session, Tried::Failed(why.reason, told)).await;
                }
                Heeding::Perhaps(why) | Heeding::Never(why) => why,
            },
            Body::Unreadable { reason, .. } => Refused::unreadable(reason.clone()),
            Body::Deleted => Refused::unreadable("it was taken out of its stream before it was heeded".to_owned()),
        };
        let tried = self.refuse(place, &body, &why).await?;
        self.finish(None, session, tried).await
    }

    async fn acknowledge(&self, place: Place, session: Option<&CallerName>) -> Result<Tried, Broken> {
        let mut acknowledge = cmd("XACK");
        acknowledge.arg(place.inlet.stream()).arg(GROUP).arg(place.id());
        self.finish(Some(acknowledge), session, Tried::Done).await
    }

    async fn finish(
        &self,
        with: Option<redis::Cmd>,
        session: Option<&CallerName>,
        tried: Tried,
    ) -> Result<Tried, Broken> {
        let_go(with, &mut self.quick.clone(), &self.me, session).await?;
        Ok(tried)
    }

    /// What is said about it and its end are one: it is neither lost nor said twice.
    async fn refuse(&self, place: Place, body: &Body, why: &Refused) -> Result<Tried, Broken> {
        let json = match body {
            Body::Json(json) => json,
            Body::Unreadable { shown, .. } => shown,
            Body::Deleted => "",
        };
        let (inlet, id) = (place.inlet, place.id());
        let notices = refused(inlet, &id, &shown(json), why, &headings(json));
        let (streams, told): (Vec<_>, Vec<_>) = notices.into_iter().unzip();
        let keys: Vec<&str> = std::iter::once(inlet.stream()).chain(streams).collect();
        let most = self.shared.parts.most_kept.to_string();
        let kept = millis(KEPT_FOR).to_string();
        let arguments: Vec<&str> =
            [GROUP, &id, &most, &kept].into_iter().chain(told.iter().map(String::as_str)).collect();
        let wrong: Vec<String> = run(&mut self.quick.clone(), REFUSE, &keys, &arguments).await?;
        match wrong.as_slice() {
            [key, kind] => {
                let waits = "what is refused waits";
                Ok(Tried::Wrong(Wrong { key: key.clone(), kind: kind.clone(), wanted: "stream", waits }))
            }
            _ => Ok(Tried::Done),
        }
    }

    /// What stands in one that has waited. None: it is nothing of ours any more.
    async fn body(&self, place: Place) -> Result<Option<Body>, Broken> {
        let found = read_one(&mut self.quick.clone(), place).await?;
        Ok(match found {
            Some(body) => Some(body),
            None => (self.holder(place).await?.as_ref() == Some(&self.me)).then_some(Body::Deleted),
        })
    }

    async fn try_anothers(&self, place: Place) -> Result<Tried, Broken> {
        Ok(match self.holder(place).await? {
            None => Tried::Done,
            Some(holder) if holder == self.me => Tried::Ours,
            Some(_) => Tried::Again(None),
        })
    }

    /// Who of the group has it, and is not done with it.
    async fn holder(&self, place: Place) -> Result<Option<String>, Broken> {
        let mut ask = cmd("XPENDING");
        ask.arg(place.inlet.stream()).arg(GROUP).arg(place.id()).arg(place.id()).arg(1);
        let found: Vec<(String, String, u64, u64)> = ask.query_async(&mut self.quick.clone()).await?;
        Ok(found.into_iter().next().map(|(_, holder, _, _)| holder))
    }
}

async fn read_one(connection: &mut MultiplexedConnection, place: Place) -> RedisResult<Option<Body>> {
    let mut ask = cmd("XRANGE");
    ask.arg(place.inlet.stream()).arg(place.id()).arg(place.id());
    let found: Value = ask.query_async(connection).await?;
    Ok(of_entries(place.inlet, found).into_iter().next().map(|entry| entry.body))
}
