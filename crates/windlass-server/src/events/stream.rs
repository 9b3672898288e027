//! What one listener is sent: first what was committed after the position they name, read from the store, and then what the tail
//! hands on. The tail is listened to before the store is read, so that nothing falls between; what both have is sent once. Before
//! anything is sent, and while there is nothing to send, their token is looked at: one that is good for nothing any more ends it.

use std::collections::BTreeSet;
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
use windlass_engine::Engine;

use super::frame::{Frame, frame, is_shown};
use super::live::{Piece, missed};
use super::tail::{PAGE, Tail};
use crate::auth::{Caller, as_it_is_now};
use crate::http::Draining;
use crate::problems::Refusal;
use crate::service::Service;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How often the token of somebody is looked at who hears nothing.
const LOOK: Duration = Duration::from_secs(1);
/// Proxies close connections on which nothing is said: after so many looks, something is.
const HEARTBEAT: u32 = 15;

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
    /// Those of streams with these ids, whatever they are about, and of those that these say have begun.
    Of(BTreeSet<String>),
}

impl Only {
    fn wants(&mut self, frame: &Frame) -> bool {
        match self {
            Self::All => true,
            Self::Of(ids) if ids.contains(&frame.id) || frame.of.as_ref().is_some_and(|of| ids.contains(of)) => {
                ids.insert(frame.id.clone());
                ids.extend(frame.begins.iter().cloned());
                true
            }
            Self::Of(_) => false,
        }
    }

    fn wants_piece(&self, piece: &Piece) -> bool {
        match self {
            Self::All => true,
            Self::Of(ids) => piece.is_of(ids),
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
    ready: Vec<Frame>,
    phase: Phase,
    until_now: bool,
    /// Held, so that the tail goes on.
    _tail: Arc<Tail>,
    receiver: Receiver<Frame>,
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
    let receiver = tail.listen();
    let live = query.live.then(|| service.live.listen(&caller.tenant));
    let last = engine.last_position().await.map_err(|error| service.refuse(error))?;
    let position = known.or(query.after).unwrap_or(last);
    if position > last {
        return Err(ahead(last));
    }
    let listener = Listener {
        caller: caller.clone(),
        engine,
        only,
        position,
        ready: Vec::new(),
        phase: Phase::CatchingUp,
        until_now: query.until_now,
        _tail: tail,
        receiver,
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
            if let Some(frame) = self.ready.pop() {
                return Some(frame.bytes);
            }
            match self.phase {
                Phase::CatchingUp => self.catch_up().await,
                Phase::Following => return self.follow().await,
                Phase::Over => return None,
            }
        }
    }

    async fn catch_up(&mut self) {
        match self.engine.events_after(self.position, PAGE).await {
            Ok(events) => {
                if events.len() < PAGE {
                    self.phase = if self.until_now { Phase::Over } else { Phase::Following };
                }
                self.position = events.last().map_or(self.position, |event| event.position);
                let shown: Vec<Frame> = events.into_iter().filter(is_shown).map(frame).collect();
                self.ready = shown.into_iter().filter(|frame| self.only.wants(frame)).collect();
                self.ready.reverse();
            }
            Err(error) => {
                // They come back with the position they are at.
                self.service.journal.trouble(&format!("events: {error}"));
                self.phase = Phase::Over;
            }
        }
    }

    async fn follow(&mut self) -> Option<Bytes> {
        let runtime = Arc::clone(&self.service.runtime);
        let (mut look, mut looks) = (runtime.sleep(LOOK), 0);
        loop {
            tokio::select! {
                biased;
                () = self.draining.begins() => return None,
                heard = self.receiver.recv() => match heard {
                    Ok(frame) if frame.position <= self.position => {}
                    Ok(frame) => {
                        self.position = frame.position;
                        if self.only.wants(&frame) {
                            return Some(frame.bytes);
                        }
                    }
                    // Too slow, or nobody reads any more: they come back with the position they are at.
                    Err(RecvError::Lagged(_) | RecvError::Closed) => return None,
                },
                piece = next_piece(&mut self.live) => match piece {
                    Ok(piece) if self.only.wants_piece(&piece) => return Some(piece.bytes),
                    Ok(_) => {}
                    Err(RecvError::Lagged(pieces)) => return Some(missed(pieces)),
                    Err(RecvError::Closed) => self.live = None,
                },
                () = &mut look => {
                    looks += 1;
                    if !self.may_listen() {
                        return None;
                    }
                    if looks == HEARTBEAT {
                        return Some(Bytes::from(format!(": at {}\n\n", self.position)));
                    }
                    look = runtime.sleep(LOOK);
                }
            }
        }
    }
}

async fn next_piece(live: &mut Option<Receiver<Piece>>) -> Result<Piece, RecvError> {
    match live {
        Some(live) => live.recv().await,
        None => std::future::pending().await,
    }
}
