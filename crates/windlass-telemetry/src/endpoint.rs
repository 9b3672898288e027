//! `GET /metrics` for Prometheus, and nothing else. A web page may talk to this machine too, and so may everybody who has an account on
//! it: whoever asks must call the server by a name that it goes by, and be somebody who may look. Connections are few, and none stays for
//! long.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use windlass_domain::Runtime;

use crate::body::Whole;
use crate::prometheus::CONTENT_TYPE;
use crate::registry::Registry;

const MOST_CONNECTIONS: usize = 32;
const LONGEST_HEAD: usize = 16 << 10;
/// For a connection, whatever it does.
const PATIENCE: Duration = Duration::from_secs(10);
/// When no connection can be accepted: others will end.
const PAUSE: Duration = Duration::from_millis(50);
const NEEDS_A_TOKEN: &str = "send `Authorization: Bearer TOKEN`: the token in the file `token` of the data directory, or one \
                             of `windlass token add NAME --scope admin`\n";

/// Whether somebody who asks with these headers may look.
pub type MayLook = Arc<dyn Fn(&HeaderMap) -> bool + Send + Sync>;

pub struct Endpoint {
    listener: TcpListener,
    shared: Arc<Shared>,
    runtime: Arc<dyn Runtime>,
}

struct Shared {
    registry: Arc<Registry>,
    /// Names besides those of this machine's own loopback.
    hosts: Vec<String>,
    may_look: MayLook,
    connections: AtomicUsize,
}

impl Endpoint {
    pub async fn bind(
        address: SocketAddr,
        hosts: Vec<String>,
        may_look: MayLook,
        registry: Arc<Registry>,
        runtime: Arc<dyn Runtime>,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let shared = Shared { registry, hosts, may_look, connections: AtomicUsize::new(0) };
        Ok(Self { listener, shared: Arc::new(shared), runtime })
    }

    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is dropped.
    pub async fn run(self) {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => self.serve(stream),
                Err(_) => self.runtime.sleep(PAUSE).await,
            }
        }
    }

    fn serve(&self, stream: TcpStream) {
        let Some(place) = Place::take(&self.shared) else { return };
        let too_long = self.runtime.sleep(PATIENCE);
        self.runtime.spawn(Box::pin(async move {
            let answer = service_fn(|request| {
                let response = place.0.answer(&request);
                async move { Ok::<_, std::convert::Infallible>(response) }
            });
            let serving = http1::Builder::new()
                .header_read_timeout(None)
                .max_buf_size(LONGEST_HEAD)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), answer);
            let (mut serving, mut too_long) = (pin!(serving), too_long);
            // Whoever goes away in the middle, or stays too long, is nobody's concern.
            std::future::poll_fn(|context| match serving.as_mut().poll(context) {
                Poll::Ready(_) => Poll::Ready(()),
                Poll::Pending => too_long.as_mut().poll(context),
            })
            .await;
        }));
    }
}

/// One of few; free again when dropped.
struct Place(Arc<Shared>);

impl Place {
    fn take(shared: &Arc<Shared>) -> Option<Self> {
        let place = Self(Arc::clone(shared));
        (shared.connections.fetch_add(1, Ordering::Relaxed) < MOST_CONNECTIONS).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn answer<B>(&self, request: &Request<B>) -> Response<Whole> {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        if hosts.next().is_some() || !host.is_some_and(|host| self.goes_by(host)) {
            return respond(StatusCode::FORBIDDEN, "this server does not go by that name\n".into());
        }
        if !(self.may_look)(request.headers()) {
            let mut response = respond(StatusCode::UNAUTHORIZED, NEEDS_A_TOKEN.into());
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return response;
        }
        match (request.method(), request.uri().path()) {
            (&Method::GET, "/metrics") => respond(StatusCode::OK, self.registry.to_prometheus()),
            (_, "/metrics") => respond(StatusCode::METHOD_NOT_ALLOWED, "only GET\n".into()),
            _ => respond(StatusCode::NOT_FOUND, "there is only /metrics\n".into()),
        }
    }

    fn goes_by(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let is_ours = |ours: &String| ours.eq_ignore_ascii_case(name) || ours.eq_ignore_ascii_case(host);
        ["127.0.0.1", "[::1]"].contains(&name)
            || name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(is_ours)
    }
}

fn respond(status: StatusCode, text: String) -> Response<Whole> {
    let mut response = Response::new(Whole::new(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
