//! Messages posted to an endpoint of this machine, and what comes back to each. The token goes nowhere else than there. A connection
//! serves one exchange: on this machine another costs nothing, and ending it takes the request back.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body::Body as HttpBody;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use windlass_domain::{BoxFuture, Runtime, Secret};

use crate::serve::body::Body;
use crate::serve::limits::Limits;
use crate::serve::message::{self, Fault, Id, OUR_FAULT};
use crate::sse::Events;

/// An address that the token is not sent to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no endpoint of this machine: it must read http://127.0.0.1:PORT/PATH")]
pub struct Unusable(String);

/// Where messages go, and what has to go with them.
pub(crate) struct Destination {
    authority: String,
    path: String,
    token: Secret,
    pub runtime: Arc<dyn Runtime>,
    pub limits: Limits,
    greeted: Mutex<Option<Greeted>>,
}

/// What a greeting came to.
#[derive(Debug, Clone)]
pub(crate) struct Greeted {
    session: Option<String>,
    version: String,
}

impl Destination {
    pub fn new(url: &str, token: Secret, runtime: Arc<dyn Runtime>, limits: Limits) -> Result<Self, Unusable> {
        let unusable = || Unusable(url.chars().take(200).collect());
        let uri: Uri = url.parse().map_err(|_| unusable())?;
        let host = uri.host().unwrap_or_default();
        if uri.scheme_str() != Some("http") || !matches!(host, "127.0.0.1" | "localhost" | "[::1]") {
            return Err(unusable());
        }
        // Whoever has a name before the host means something else.
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(unusable());
        }
        let authority = format!("{host}:{}", uri.port_u16().unwrap_or(80));
        let path = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str).to_owned();
        let greeted = Mutex::new(None);
        Ok(Self { authority, path, token, runtime, limits, greeted })
    }

    /// In what the last greeting came to everything is said that follows; without one every request speaks for itself.
    pub fn agreed(&self) -> Option<Greeted> {
        self.greeted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn forget(&self) {
        *self.greeted.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// What was agreed on, if this is the answer to a greeting that says so.
    fn keep(&self, session: Option<String>, message: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(message) else { return };
        let Some(version) = message["result"]["protocolVersion"].as_str() else { return };
        let greeted = Greeted { session, version: version.to_owned() };
        *self.greeted.lock().unwrap_or_else(PoisonError::into_inner) = Some(greeted);
    }

    pub async fn sent(&self, method: Method, alone: Option<Alone>, message: Vec<u8>) -> Result<Exchange, String> {
        let cannot = "the session's endpoint cannot be reached, so that nothing was done; the execution may have ended";
        let request = self.request(method, alone, message)?;
        let arrival = || self.runtime.sleep(self.limits.arrival);
        let stream = match select(Box::pin(TcpStream::connect(&self.authority)), arrival()).await {
            Either::Left((Ok(stream), _)) => stream,
            Either::Left((Err(error), _)) => return Err(format!("{cannot}: {error}")),
            Either::Right(_) => return Err(cannot.to_owned()),
        };
        let _ = stream.set_nodelay(true);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| format!("{cannot}: {error}"))?;
        let mut connection: BoxFuture<'static, ()> = Box::pin(async move {
            // What went wrong is told to whoever waits for the answer.
            let _ = connection.await;
        });
        // A call may take longer than that; the endpoint then begins to answer, and says now and then that it is still there.
        let answering = Box::pin(async move { sender.send_request(request).await });
        let patience = self.runtime.sleep(self.limits.quiet + self.limits.arrival);
        let answered = match select(Box::pin(driven(answering, &mut connection)), patience).await {
            Either::Left((answered, _)) => answered,
            Either::Right(_) => {
                return Err("the endpoint does not answer; what was asked may have been done".to_owned());
            }
        };
        let response =
            answered.map_err(|error| format!("the endpoint broke off, what was asked may have been done: {error}"))?;
        Ok(Exchange { response, connection })
    }

    fn request(&self, method: Method, alone: Option<Alone>, message: Vec<u8>) -> Result<Request<Body>, String> {
        let mut request = Request::builder()
            .method(method)
            .uri(&self.path)
            .header("host", &self.authority)
            .header("authorization", format!("Bearer {}", self.token.expose()))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        match (alone, self.agreed()) {
            (Some(Alone { version, method, name }), _) => {
                let told = [("mcp-protocol-version", version), ("mcp-method", Some(method)), ("mcp-name", name)];
                for (header, value) in told {
                    if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
                        request = request.header(header, value);
                    }
                }
            }
            (None, Some(Greeted { session, version })) => {
                request = request.header("mcp-protocol-version", version);
                if let Some(session) = session {
                    request = request.header("mcp-session-id", session);
                }
            }
            (None, None) => {}
        }
        request.body(Body::whole(message)).map_err(|error| format!("this cannot be asked over HTTP: {error}"))
    }

    /// Ends the session, if there is one. Whether that is heard is not waited for long.
    pub async fn goodbye(&self) {
        if self.agreed().is_some_and(|greeted| greeted.session.is_some()) {
            let farewell = self.runtime.sleep(Duration::from_secs(1));
            select(Box::pin(self.sent(Method::DELETE, None, Vec::new())), farewell).await;
        }
    }
}

/// What a request that belongs to no session says of itself, so that it stands in its head as well.
pub(crate) struct Alone {
    pub version: Option<String>,
    pub method: String,
    pub name: Option<String>,
}

/// A future over a connection, which has to be polled as well. The connection may end first.
async fn driven<T>(work: Pin<Box<impl Future<Output = T>>>, connection: &mut BoxFuture<'static, ()>) -> T {
    match select(work, pin!(std::future::poll_fn(|context| connection.as_mut().poll(context)))).await {
        Either::Left((done, _)) => done,
        Either::Right(((), work)) => {
            *connection = Box::pin(std::future::pending());
            work.await
        }
    }
}

/// An answer that has begun.
pub(crate) struct Exchange {
    response: Response<Incoming>,
    connection: BoxFuture<'static, ()>,
}

impl Exchange {
    /// Every message that comes back, as a line.
    pub async fn passed_on(
        mut self,
        to: &Destination,
        id: &Id,
        is_greeting: bool,
        out: &mpsc::Sender<Vec<u8>>,
    ) -> Result<(), String> {
        let head =
            |name: &str| self.response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (status, session) = (self.response.status(), head("mcp-session-id"));
        let is_stream = head("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        if !status.is_success() {
            let said = self.whole(to).await?;
            let error = serde_json::from_slice::<Value>(&said).ok().and_then(|said| said.get("error").cloned());
            let message = error
                .as_ref()
                .and_then(|error| error["message"].as_str())
                .map_or_else(|| format!("the endpoint answered with status {}", status.as_u16()), str::to_owned);
            let code = error.as_ref().and_then(|error| error["code"].as_i64()).unwrap_or(OUR_FAULT);
            let data = error.as_ref().and_then(|error| error.get("data")).cloned();
            let fault = Fault { data, ..Fault::new(code, message) };
            let _ = out.send(message::refusal(Some(id), &fault)).await;
            return Ok(());
        }
        if !is_stream {
            let message = self.whole(to).await?;
            if message.is_empty() {
                return Err("the endpoint answered with nothing".to_owned());
            }
            if is_greeting {
                to.keep(session, &message);
            }
            let _ = out.send(one_line(message)).await;
            return Ok(());
        }
        let mut events = Events::new(to.limits.answer_bytes.max(to.limits.message_bytes) * 2);
        let mut is_answered = false;
        while let Some(portion) = self.portion(to).await? {
            events.feed(&portion);
            while let Some(message) = events.next().map_err(|_| "the endpoint's answer is too long".to_owned())? {
                is_answered |=
                    serde_json::from_slice::<Value>(&message).is_ok_and(|message| message.get("method").is_none());
                if is_greeting {
                    to.keep(session.clone(), &message);
                }
                let _ = out.send(one_line(message)).await;
            }
        }
        if is_answered { Ok(()) } else { Err("the endpoint broke off; what was asked may have been done".to_owned()) }
    }

    async fn whole(&mut self, to: &Destination) -> Result<Vec<u8>, String> {
        let mut all = Vec::new();
        while let Some(portion) = self.portion(to).await? {
            if all.len() + portion.len() > to.limits.answer_bytes.max(to.limits.message_bytes) * 2 {
                return Err("the endpoint's answer is too long".to_owned());
            }
            all.extend_from_slice(&portion);
        }
        Ok(all)
    }

    /// The next of it, as long as something comes now and then.
    async fn portion(&mut self, to: &Destination) -> Result<Option<Bytes>, String> {
        loop {
            let body = self.response.body_mut();
            let frame = Box::pin(std::future::poll_fn(move |context| Pin::new(&mut *body).poll_frame(context)));
            let patience = to.runtime.sleep(to.limits.quiet + to.limits.arrival);
            match select(Box::pin(driven(frame, &mut self.connection)), patience).await {
                Either::Left((None, _)) => return Ok(None),
                Either::Left((Some(Ok(frame)), _)) => match frame.into_data() {
                    Ok(data) => return Ok(Some(data)),
                    Err(_) => continue,
                },
                Either::Left((Some(Err(error)), _)) => {
                    return Err(format!("the endpoint broke off, what was asked may have been done: {error}"));
                }
                Either::Right(_) => {
                    return Err("the endpoint fell silent; what was asked may have been done".to_owned());
                }
            }
        }
    }
}

/// In JSON a line's end stands only between things.
fn one_line(mut message: Vec<u8>) -> Vec<u8> {
    for byte in &mut message {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    message
}
