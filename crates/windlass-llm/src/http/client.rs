//! A pool of connections to one server. A connection is lent to one request at a time and comes back when the answer has
//! been read to its end; dropping the answer before that closes it, which is how a request is aborted.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri, header};
use http_body::Body as _;
use hyper::client::conn::http1::SendRequest;
use windlass_domain::{Instant, Runtime};

use crate::error::{Error, Failure};
use crate::http::connect::Connector;
use crate::http::{BaseUrl, RopeBody};
use crate::retry::Deadlines;
use crate::watchdog::Watchdog;

/// Below what servers and the boxes between commonly allow, so that a pooled connection is nearly always alive.
const KEEP_IDLE: Duration = Duration::from_secs(50);
/// How long the end of a body may come after the end of what it says.
const DRAIN: Duration = Duration::from_secs(2);
const MOST_TRAILING_PORTIONS: usize = 8;

pub struct Client {
    connector: Connector,
    runtime: Arc<dyn Runtime>,
    uri: Uri,
    headers: HeaderMap,
    deadlines: Deadlines,
    /// Newest last.
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    sender: SendRequest<RopeBody>,
    since: Instant,
}

impl Client {
    pub fn new(
        url: &BaseUrl,
        mut headers: HeaderMap,
        deadlines: Deadlines,
        runtime: Arc<dyn Runtime>,
    ) -> Result<Arc<Self>, Error> {
        let bad = || Error::Misconfigured("the model server's base URL has characters that HTTP cannot carry".into());
        let uri = url.path.parse::<Uri>().map_err(|_| bad())?;
        headers.insert(header::HOST, HeaderValue::from_str(&url.authority).map_err(|_| bad())?);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("windlass/", env!("CARGO_PKG_VERSION"))));
        let connector = Connector::new(url, runtime.clone())?;
        Ok(Arc::new(Self { connector, runtime, uri, headers, deadlines, idle: Mutex::default() }))
    }

    /// Sends a request and waits for the head of the answer.
    pub async fn post(self: &Arc<Self>, body: &[Bytes]) -> Result<Response<Incoming>, Failure> {
        self.post_with(&HeaderMap::new(), body).await
    }

    /// The same, with these headers in place of our own of the same names.
    pub async fn post_with(
        self: &Arc<Self>,
        headers: &HeaderMap,
        body: &[Bytes],
    ) -> Result<Response<Incoming>, Failure> {
        while let Some(sender) = self.pooled() {
            // The server may have closed it just now, which nobody can know without trying; that costs no retry.
            match self.send_in_time(sender, headers, body).await? {
                Err(error) if error.is_canceled() || error.is_incomplete_message() || error.is_closed() => {}
                result => return result.map_err(|error| broken(&error)),
            }
        }
        let sender = self.connector.connect(self.deadlines.connect).await?;
        self.send_in_time(sender, headers, body).await?.map_err(|error| broken(&error))
    }

    async fn send_in_time(
        self: &Arc<Self>,
        sender: SendRequest<RopeBody>,
        headers: &HeaderMap,
        body: &[Bytes],
    ) -> Result<Result<Response<Incoming>, hyper::Error>, Failure> {
        let limit = self.deadlines.first_byte;
        let deadline = self.runtime.now() + limit;
        let sending = Watchdog::new(self.runtime.clone()).guard(deadline, self.send(sender, headers, body)).await;
        sending.map_err(|_| Failure::never_began(limit))
    }

    async fn send(
        self: &Arc<Self>,
        mut sender: SendRequest<RopeBody>,
        headers: &HeaderMap,
        body: &[Bytes],
    ) -> Result<Response<Incoming>, hyper::Error> {
        sender.ready().await?;
        let mut request = Request::new(RopeBody::new(body.to_vec()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        headers.iter().for_each(|(name, value)| _ = request.headers_mut().insert(name, value.clone()));
        let response = sender.send_request(request).await?;
        Ok(response.map(|body| Incoming { body, lease: Some((sender, Arc::clone(self))) }))
    }

    fn pooled(&self) -> Option<SendRequest<RopeBody>> {
        let now = self.runtime.now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let usable = |candidate: &Idle| now - candidate.since <= KEEP_IDLE && !candidate.sender.is_closed();
        while let Some(candidate) = idle.pop() {
            if usable(&candidate) {
                return Some(candidate.sender);
            }
        }
        None
    }

    fn give_back(&self, sender: SendRequest<RopeBody>) {
        if sender.is_closed() {
            return;
        }
        let now = self.runtime.now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The newest is used first, so the old ones of a busy hour would never be looked at again.
        let expired = idle.partition_point(|candidate| now - candidate.since > KEEP_IDLE);
        idle.drain(..expired);
        idle.push(Idle { sender, since: now });
    }
}

fn broken(error: &hyper::Error) -> Failure {
    Failure::Unheard { reason: format!("the connection broke before an answer came ({error})") }
}

/// The body of an answer, and the connection it comes through.
pub struct Incoming {
    body: hyper::body::Incoming,
    lease: Option<(SendRequest<RopeBody>, Arc<Client>)>,
}

impl Incoming {
    /// The next portion; `None` at the proper end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Failure>> {
        loop {
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Ok(Some(data)));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    self.lease = None;
                    let reason = format!("the connection was cut in the middle of the answer ({error})");
                    return Poll::Ready(Err(Failure::transient(reason)));
                }
                Poll::Ready(None) => {
                    if let Some((sender, client)) = self.lease.take() {
                        client.give_back(sender);
                    }
                    return Poll::Ready(Ok(None));
                }
            }
        }
    }

    /// All has been said. The few bytes that end the body are often a moment behind; the connection is worth waiting for
    /// them, but the answer is not held up by it.
    pub fn release(mut self) {
        let Some(runtime) = self.lease.as_ref().map(|(_, client)| client.runtime.clone()) else { return };
        let patience = runtime.clone();
        let mut drain = Box::pin(async move {
            let deadline = patience.now() + DRAIN;
            let to_the_end = async {
                for _ in 0..MOST_TRAILING_PORTIONS {
                    let Ok(Some(_)) = self.next().await else { break };
                }
            };
            let _ = Watchdog::new(patience).guard(deadline, to_the_end).await;
        });
        let mut once = Context::from_waker(std::task::Waker::noop());
        if drain.as_mut().poll(&mut once).is_pending() {
            runtime.spawn(drain);
        }
    }
}
