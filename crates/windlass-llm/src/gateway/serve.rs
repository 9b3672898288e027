//! The gateway and its connections: each is served in a task of its own, no more than so many at once, and all of them end
//! with the future that `serve` returns.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use windlass_domain::{BoxFuture, Runtime, Secret};

use crate::chat::Setup;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::gateway::activity::Activity;
use crate::gateway::service::Service;
use crate::gateway::{Elsewhere, Meter};
use crate::rehearsal::Script;
use crate::watchdog::Watchdog;
use crate::wire::Endpoint;

/// When the process has no file descriptor left for a connection: others will end.
const PAUSE: Duration = Duration::from_millis(50);
/// Names, values and all.
const LONGEST_HEAD: usize = 64 << 10;

pub struct GatewayParts {
    pub upstream: Upstream,
    /// What upstream calls the model that answers, and what is metered and priced.
    pub model: String,
    /// What the agent has to show. It is no credential of anybody else's.
    pub key: Secret,
    pub meter: Arc<dyn Meter>,
    pub setup: Setup,
    pub limits: Limits,
    /// Who answers below a path such as `/mcp`.
    pub elsewhere: Option<(String, Arc<dyn Elsewhere>)>,
}

/// Who answers.
#[derive(Clone)]
pub enum Upstream {
    /// One track of a script, whatever model the agent names.
    Rehearsal { script: Arc<Script>, track: String },
    /// A model server that speaks this language.
    Model { dialect: Dialect, endpoint: Endpoint },
}

/// What one agent may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub connections: usize,
    /// One request's body, in bytes.
    pub body: usize,
    /// The bodies of all requests that are being read and sent on, together. No less than one.
    pub bodies: usize,
    /// How long a body may be on its way.
    pub receiving: Duration,
    /// How long a connection may stay without a request.
    pub idle: Duration,
    /// How long a portion of an answer may wait to be read.
    pub stalled: Duration,
    /// How often an agent that waits for a translated answer is told that there will be one.
    pub ping: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            body: 32 << 20,
            bodies: 128 << 20,
            receiving: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            stalled: Duration::from_secs(120),
            ping: Duration::from_secs(10),
        }
    }
}

pub struct Gateway {
    service: Arc<Service>,
    runtime: Arc<dyn Runtime>,
    limits: Limits,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Gateway {
    pub fn new(parts: GatewayParts) -> Result<Self, Error> {
        let (runtime, limits) = (Arc::clone(&parts.setup.runtime), parts.limits);
        Ok(Self { service: Arc::new(Service::new(parts)?), runtime, limits })
    }

    /// Serves until it is dropped; with it end all connections, and every account that is open is closed.
    pub async fn serve(self, listener: std::net::TcpListener) -> std::io::Result<()> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let free = Arc::new(Semaphore::new(self.limits.connections));
        let (_open, closing) = watch::channel(());
        loop {
            let Ok(place) = Arc::clone(&free).acquire_owned().await else { return Ok(()) };
            match listener.accept().await {
                Ok((stream, _)) => self.converse(stream, place, closing.clone()),
                Err(_) => self.runtime.sleep(PAUSE).await,
            }
        }
    }

    fn converse(&self, stream: TcpStream, place: OwnedSemaphorePermit, mut closing: watch::Receiver<()>) {
        let _ = stream.set_nodelay(true);
        let activity = Activity::new(Arc::clone(&self.runtime), self.limits);
        let talk = talk(stream, Arc::clone(&self.service), activity, Arc::clone(&self.runtime));
        self.runtime.spawn(Box::pin(async move {
            let _place = place;
            tokio::select! {
                () = talk => {}
                // Nothing is ever sent: it ends when the gateway does.
                _ = closing.changed() => {}
            }
        }));
    }
}

/// Until the agent hangs up, or nothing happens for too long.
async fn talk(stream: TcpStream, service: Arc<Service>, activity: Arc<Activity>, runtime: Arc<dyn Runtime>) {
    let mut connection = connection(stream, service, Arc::clone(&activity));
    let mut watchdog = Watchdog::new(runtime);
    while let Some(look) = activity.next_look() {
        if watchdog.guard(look, connection.as_mut()).await.is_ok() {
            return;
        }
    }
}

fn connection(stream: TcpStream, service: Arc<Service>, activity: Arc<Activity>) -> BoxFuture<'static, ()> {
    let answer = service_fn(move |request| {
        let (service, activity) = (Arc::clone(&service), Arc::clone(&activity));
        async move {
            activity.answering();
            let response = service.answer(request).await;
            Ok::<_, std::convert::Infallible>(response.map(|body| activity.watch(body)))
        }
    });
    let mut builder = http1::Builder::new();
    builder.header_read_timeout(None).max_buf_size(LONGEST_HEAD);
    let connection = builder.serve_connection(TokioIo::new(stream), answer);
    // However it ends is the agent's business.
    Box::pin(async move { _ = connection.await })
}
