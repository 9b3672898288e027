//! The server put together: routes, the layers that every request passes, and the listener.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use tokio::sync::Semaphore;
use windlass_domain::Runtime;
use windlass_engine::Engine;

use crate::ask::{Bounds, Rates, Shares, heard_once, hold_to_rate, hold_to_share, room_for_files, tagged, to_its_end};
use crate::auth::{Names, Scopes, Tickets, admit, hold_to_scope};
use crate::console;
use crate::events::{Live, Tails};
use crate::http::{Drain, Limits, Listener, Made, Tls};
use crate::port::{House, Journal, TokenBook};
use crate::problems::Refusal;
use crate::pulse::Pulse;
use crate::routes;
use crate::service::Service;
use crate::terminals::TerminalPlaces;

/// Everything a server stands on.
pub struct ServerParts {
    pub engine: Engine,
    pub runtime: Arc<dyn Runtime>,
    pub names: Names,
    pub tokens: Arc<dyn TokenBook>,
    pub journal: Arc<dyn Journal>,
    pub house: Arc<dyn House>,
    pub terminals: TerminalPlaces,
    /// Where those who work in this process tell what is being said.
    pub live: Live,
    /// How often a token may ask.
    pub requests_per_second: u32,
    pub limits: Limits,
    pub tls: Option<Tls>,
}

pub struct Server {
    listener: Listener,
}

impl Server {
    pub async fn bind(address: SocketAddr, parts: ServerParts, drain: &Drain) -> std::io::Result<Self> {
        let ServerParts {
            engine,
            runtime,
            names,
            tokens,
            journal,
            house,
            terminals,
            live,
            requests_per_second,
            limits,
            tls,
        } = parts;
        let draining = drain.watched();
        let tls = tls.map(|tls| tls.telling(&journal));
        let service = Service {
            all: engine,
            runtime: Arc::clone(&runtime),
            names,
            tokens,
            journal,
            house,
            limits,
            large_bodies: Semaphore::new(limits.large_bodies),
            shares: Shares::new(Bounds::of_connections(limits.connections)),
            shares_of_files: Shares::new(Bounds::of_large_bodies(limits.large_bodies)),
            rates: Rates::new(requests_per_second),
            tails: Tails::default(),
            live,
            tickets: Tickets::default(),
            terminals,
            draining: draining.clone(),
            pulse: Pulse::default(),
        };
        let made = Made { router: router(Arc::new(service)), runtime, limits, draining };
        Ok(Self { listener: Listener::bind(address, tls, made).await? })
    }

    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the drain begins, and then until what was asked is answered or `at_most` so long.
    pub async fn run(self, at_most: Duration) {
        self.listener.run(at_most).await;
    }
}

/// From the outside in: nothing of ours escapes as a panic, nobody comes in unknown, and nobody does more than they may.
fn router(service: Arc<Service>) -> Router {
    let (routes, document) = routes::routes().split_for_parts();
    let scopes = Arc::new(Scopes::of(&document));
    routes
        .route_layer(from_fn(tagged))
        .route_layer(from_fn_with_state(Arc::clone(&service), heard_once))
        .route_layer(from_fn_with_state(Arc::clone(&service), room_for_files))
        .route_layer(from_fn_with_state(scopes, hold_to_scope))
        .route_layer(from_fn_with_state(Arc::clone(&service), hold_to_share))
        .route_layer(from_fn_with_state(Arc::clone(&service), hold_to_rate))
        .route_layer(from_fn_with_state(Arc::clone(&service.runtime), to_its_end))
        .fallback(console::serve)
        .method_not_allowed_fallback(async || Refusal::wrong_method())
        .layer(from_fn_with_state(Arc::clone(&service), admit))
        .layer(from_fn_with_state(Arc::clone(&service), whatever_happens))
        .with_state(service)
}

async fn whatever_happens(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let asked = format!("{} {}", request.method(), request.uri().path());
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = answered.unwrap_or_else(|_| {
        service.journal.trouble(&format!("{asked}: a bug of ours; nothing of it was answered"));
        Refusal::broken().into_response()
    });
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
