//! What one listener is sent: first what was committed after the position they name, read from the store, and then what the tail
//! hands on. The tail is listened to before the store is read, so that nothing falls between; what both have is sent once. Whoever is
//! too slow for the tail is sent from the store again, and what is held for them is bounded in bytes. Before anything is sent, and while there is nothing to send, their token is looked at: one that is good for nothing any more ends it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Deserialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use utoipa::IntoParams;
use windlass_api::Scope;
use windlass_engine::{Engine, Error, FeedEvent};

use super::frame::{Of, frame, is_shown, of};
use super::live::{Piece, missed};
use super::tail::{Heard, News, PAGE, Tail};
use crate::auth::{Caller, as_it_is_now};
use crate::http::Draining;
use crate::problems::Refusal;
use crate::service::Service;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How often the token of somebody is looked at who hears nothing.
const LOOK: Duration = Duration::from_secs(1);
/// Proxies close connections on which nothing is said: after so many looks, something is.
const HEARTBEAT: u32 = 15;
/// What was read for somebody and not sent yet may weigh so much; one is read, whatever it weighs.
const MOST_READY: usize = 1 << 20;
/// So many are read at first: as many more as turn out to be light.
const FIRST_PAGE: usize = 32;

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// From after this position on; without it, and without `Last-Event-ID`, what happens from now on.
    pub after: Option<u64>,
    /// End when everything that was there is sent, instead of waiting for more.
    #[serde(default)]
    pub until_now: bool,
    /// Also what is being said, piece by piece, as events called `delta`, without ids and not all of them.
    #[serde(default)]
    pub live: bool,
}

/// Which events somebody wants.
#[derive(Debug, Clone)]
pub enum Only {
    All,
    /// Those of one task or conversation, and of all that is a part of it: nothing of it stands before this position.
    Of {
        id: String,
        from: u64,
    },
}

impl Only {
    fn wants(&self, of: &Of) -> bool {
        match self {
            Self::All => true,
            Self::Of { id, .. } => of.contains(id),
        }
    }

    async fn wants_piece(&self, engine: &Engine, piece: &Piece) -> bool {
        match self {
            Self::All => true,
            Self::Of { .. } => of(engine, "task", &piece.task).await.is_ok_and(|of| self.wants(&of)),
        }
    }
}

/// They would hear nothing until as much has happened again, and never of that.
fn ahead(last: u64) -> Refusal {
    let detail = format!("nothing has that position yet; the last one is {last}");
    Refusal::new(StatusCode::BAD_REQUEST, "ahead", detail)
        .hint("an older copy of the data was put back: read anew what you go by, and listen from the last position on")
}

struct Listener {
    caller: Caller,
    engine: Engine,
    only: Only,
    position: u64,
    /// What was read and not sent yet, the next one last.
    ready: Vec<Bytes>,
    /// So many records are read in one go.
    page: usize,
    phase: Phase,
    until_now: bool,
    /// Held, so that the tail goes on.
    _tail: Arc<Tail>,
    heard: Heard,
    /// None for those who want records alone.
    live: Option<Receiver<Piece>>,
    draining: Draining,
    service: Arc<Service>,
    is_greeted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Reading what was there.
    CatchingUp,
    Following,
    Over,
}

pub async fn stream(
    service: Arc<Service>,
    caller: &Caller,
    headers: &HeaderMap,
    query: &EventsQuery,
    only: Only,
) -> Result<Response, Refusal> {
    let engine = service.engine(caller);
    let known = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
    let known = known.map(str::parse::<u64>).transpose().map_err(|_| {
        Refusal::new(
            StatusCode::BAD_REQUEST,
            "bad_event_id",
            "`Last-Event-ID` is not the id of an event of this stream",
        )
    })?;
    let opened = service.tails.of(&caller.tenant, engine.clone(), &service.runtime).await;
    let tail = opened.map_err(|error| service.refuse(error))?;
    let heard = tail.listen();
    let live = query.live.then(|| service.live.listen(&caller.tenant));
    let last = engine.last_position().await.map_err(|error| service.refuse(error))?;
    let position = known.or(query.after).unwrap_or(last);
    if position > last {
        return Err(ahead(last));
    }
    let position = match only {
        Only::All => position,
        Only::Of { from, .. } => position.max(from),
    };
    let listener = Listener {
        caller: caller.clone(),
        engine,
        only,
        position,
        ready: Vec::new(),
        page: FIRST_PAGE,
        phase: Phase::CatchingUp,
        until_now: query.until_now,
        _tail: tail,
        heard,
        live,
        draining: service.draining.clone(),
        service,
        is_greeted: false,
    };
    let body = Body::from_stream(unfold(listener, |mut listener| async move {
        let bytes = listener.next().await?;
        Some((Ok::<_, Infallible>(bytes), listener))
    }));
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

impl Listener {
    async fn next(&mut self) -> Option<Bytes> {
        let bytes = self.news().await?;
        self.may_listen().then_some(bytes)
    }

    /// Asked every time: what was taken back is good for nothing at once.
    fn may_listen(&self) -> bool {
        let Service { tokens, runtime, .. } = &*self.service;
        as_it_is_now(&self.caller, &tokens.tokens(), runtime.wall()).is_some_and(|caller| caller.may(Scope::Read))
    }

    async fn news(&mut self) -> Option<Bytes> {
        if !self.is_greeted {
            // At once, so that whoever listens knows that they do.
            self.is_greeted = true;
            return Some(Bytes::from_static(b": listening\n\n"));
        }
        loop {
            // Whoever is far behind comes back with the position they are at. Who wants all that there is until now would take less for all.
            if self.draining.has_begun() && !self.until_now {
                return None;
            }
            if let Some(bytes) = self.ready.pop() {
                return Some(bytes);
            }
            match self.phase {
                Phase::CatchingUp => self.catch_up().await,
                Phase::Following => match self.follow().await {
                    Followed::Said(bytes) => return Some(bytes),
                    Followed::Missed => self.phase = Phase::CatchingUp,
                    Followed::Over => return None,
                },
                Phase::Over => return None,
            }
        }
    }

    async fn catch_up(&mut self) {
        match self.read().await {
            Ok((taken, is_end)) => {
                (self.position, self.ready) = (taken.upto.unwrap_or(self.position), taken.ready);
                self.page = match taken.is_all {
                    true => (self.page * 2).min(PAGE),
                    false => (self.page / 2).max(1),
                };
                if is_end && taken.is_all {
                    self.phase = if self.until_now { Phase::Over } else { Phase::Following };
                }
            }
            Err(error) => {
                // They come back with the position they are at.
                self.service.journal.trouble(&format!("events: {error}"));
                self.phase = Phase::Over;
            }
        }
    }

    /// A page, and whether it is the last one.
    async fn read(&self) -> Result<(Taken, bool), Error> {
        let events = self.engine.events_after(self.position, self.page).await?;
        let is_end = events.len() < self.page;
        let mut told = Vec::with_capacity(events.len());
        for event in events {
            let of = match self.only {
                Only::All => [].into(),
                Only::Of { .. } => of(&self.engine, &event.about, &event.id).await?,
            };
            told.push((event, of));
        }
        Ok((take(told, &self.only, MOST_READY), is_end))
    }

    async fn follow(&mut self) -> Followed {
        let runtime = Arc::clone(&self.service.runtime);
        let (mut look, mut looks) = (runtime.sleep(LOOK), 0);
        loop {
            tokio::select! {
                biased;
                () = self.draining.begins() => return Followed::Over,
                news = self.heard.next() => match news {
                    News::Next(frame) if frame.position <= self.position => {}
                    News::Next(frame) => {
                        self.position = frame.position;
                        if self.only.wants(&frame.of) {
                            return Followed::Said(frame.bytes.clone());
                        }
                    }
                    News::Missed => return Followed::Missed,
                    // Nobody reads any more: they come back with the position they are at.
                    News::Over => return Followed::Over,
                },
                piece = next_piece(&mut self.live) => match piece {
                    Ok(piece) => {
                        if self.only.wants_piece(&self.engine, &piece).await {
                            return Followed::Said(piece.bytes);
                        }
                    }
                    Err(RecvError::Lagged(pieces)) => return Followed::Said(missed(pieces)),
                    Err(RecvError::Closed) => self.live = None,
                },
                () = &mut look => {
                    looks += 1;
                    if !self.may_listen() {
                        return Followed::Over;
                    }
                    if looks == HEARTBEAT {
                        return Followed::Said(Bytes::from(format!(": at {}\n\n", self.position)));
                    }
                    look = runtime.sleep(LOOK);
                }
            }
        }
    }
}

/// What came of waiting for the tail.
enum Followed {
    Said(Bytes),
    /// Some of it went before it was heard.
    Missed,
    Over,
}

/// What is ready to be sent of a page.
struct Taken {
    /// The next one last.
    ready: Vec<Bytes>,
    /// The last record that was looked at.
    upto: Option<u64>,
    /// Nothing of the page was left for later.
    is_all: bool,
}

/// As many as are wanted and do not weigh too much.
fn take(events: Vec<(FeedEvent, Of)>, only: &Only, most: usize) -> Taken {
    let (mut weight, mut taken) = (0, Taken { ready: Vec::new(), upto: None, is_all: true });
    for (event, of) in events {
        if weight > 0 && weight + event.data.len() > most {
            taken.is_all = false;
            break;
        }
        taken.upto = Some(event.position);
        if is_shown(&event) && only.wants(&of) {
            let frame = frame(event, of);
            weight += frame.bytes.len();
            taken.ready.push(frame.bytes);
        }
    }
    taken.ready.reverse();
    taken
}

async fn next_piece(live: &mut Option<Receiver<Piece>>) -> Result<Piece, RecvError> {
    match live {
        Some(live) => live.recv().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::{Taint, Wall};

    use super::*;

    fn event(position: u64, id: &str, length: usize) -> (FeedEvent, Of) {
        let event = FeedEvent {
            position,
            at: Wall::default(),
            about: "execution".to_owned(),
            id: id.to_owned(),
            kind: "x".to_owned(),
            version: 1,
            data: format!("\"{}\"", "x".repeat(length)),
            taint: Taint::Auth,
        };
        (event, [id.to_owned(), "all".to_owned()].into())
    }

    #[test]
    fn what_is_ready_for_somebody_slow_is_bounded_in_bytes_and_nothing_is_left_out() {
        let all: Vec<(FeedEvent, Of)> = (1..=40).map(|position| event(position, "a", 1_000)).collect();
        let (mut at, mut sent) = (0, 0);
        while at < 40 {
            let rest = all.iter().filter(|(event, _)| event.position > at).cloned().collect();
            let taken = take(rest, &Only::All, 5_000);
            let weight: usize = taken.ready.iter().map(Bytes::len).sum();
            assert!((1..6_000).contains(&weight), "{weight}");
            at = taken.upto.unwrap();
            sent += taken.ready.len();
            assert_eq!(taken.is_all, at == 40);
        }
        assert_eq!(sent, 40);
        let large = take(vec![event(1, "a", 1 << 20), event(2, "a", 1)], &Only::All, 5_000);
        assert_eq!((large.ready.len(), large.upto, large.is_all), (1, Some(1), false), "one, whatever it weighs");
    }

    #[test]
    fn what_nobody_wants_weighs_nothing() {
        let others = (1..=40).map(|position| event(position, "b", 1_000)).chain([event(41, "a", 10)]).collect();
        let taken = take(others, &Only::Of { id: "a".to_owned(), from: 0 }, 5_000);
        assert_eq!((taken.ready.len(), taken.upto, taken.is_all), (1, Some(41), true));
    }
}
