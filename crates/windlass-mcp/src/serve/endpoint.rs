//! A server over streamable HTTP, as one function from requests to answers, so that it can share a listener. A posted request is answered
//! by one message, or by a stream where the client takes only that or the call takes long; a posted notice by nothing. Who holds
//! a session may listen on a stream of its own, on which we have nothing to say, and end it.
//!
//! In sessions a call runs on when its connection breaks, as the protocol wants; a request without one is taken back by going
//! away. An endpoint dies with its execution: from then on nobody is let in.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body as HttpBody;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use windlass_domain::{BoxFuture, Canceller, Secret, Stop};

use crate::serve::body::Body;
use crate::serve::calls::Running;
use crate::serve::guard::{self, Accepted, only};
use crate::serve::message::{
    self, Bad, Fault, HEADERS_DIFFER, Id, Message, NO_MESSAGE, NO_SUCH_METHOD, NO_SUCH_VERSION, NOT_SERVED, OUR_FAULT,
};
use crate::serve::methods::{self, CANCELLED, GREETING, Headers};
use crate::serve::server::{Answer, Server};
use crate::serve::sessions::{NotListened, Sessions};
use crate::serve::version::{Era, GREETED, PER_REQUEST};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const OVER: &str = "the execution has ended, and its endpoint with it";

pub struct Endpoint {
    server: Server,
    token: Secret,
    sessions: Arc<Sessions>,
    over: Canceller,
}

impl Endpoint {
    /// Whoever shows the token is let in, until the endpoint is closed or dropped.
    pub fn new(server: Server, token: Secret) -> Self {
        Self { server, token, sessions: Arc::default(), over: Canceller::default() }
    }

    /// Calls that run end, streams too, and nobody is let in any more.
    pub fn close(&self) {
        self.over.stop(Stop::Cancel);
        self.sessions.end_all();
    }

    /// Whatever the path: that was looked at before.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: HttpBody<Data = Bytes> + Send,
    {
        let (head, body) = request.into_parts();
        let headers = &head.headers;
        if let Err(refusal) = guard::admitted(&head.uri, headers, &self.token) {
            let mut response = refused(refusal.status, NOT_SERVED, refusal.message);
            if refusal.status == StatusCode::UNAUTHORIZED {
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            return response;
        }
        if self.sessions.is_over() {
            return refused(StatusCode::GONE, NOT_SERVED, OVER);
        }
        match head.method {
            Method::POST => self.posted(headers, body).await,
            Method::GET => self.listened(headers),
            Method::DELETE => self.ended(headers),
            _ => {
                let mut response = refused(
                    StatusCode::METHOD_NOT_ALLOWED,
                    NO_MESSAGE,
                    "messages are posted; GET listens, DELETE ends",
                );
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
                response
            }
        }
    }

    async fn posted<B>(&self, headers: &HeaderMap, body: B) -> Response<Body>
    where
        B: HttpBody<Data = Bytes> + Send,
    {
        if !guard::is_json(headers) {
            return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, NO_MESSAGE, "a message is posted as application/json");
        }
        let accepted = guard::accepted(headers);
        if !accepted.json && !accepted.stream {
            let message = "answers are application/json or text/event-stream: accept one of them";
            return refused(StatusCode::NOT_ACCEPTABLE, NO_MESSAGE, message);
        }
        let arrival = self.server.runtime.sleep(self.server.limits.arrival);
        let bytes = match select(Box::pin(read(body, self.server.limits.message_bytes)), arrival).await {
            Either::Left((Ok(bytes), _)) => bytes,
            Either::Left((Err(Unread::TooLong), _)) => {
                return refused(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    NO_MESSAGE,
                    "the message is too long: send less at a time",
                );
            }
            Either::Left((Err(Unread::Broken), _)) => {
                return refused(StatusCode::BAD_REQUEST, NO_MESSAGE, "the message broke off");
            }
            Either::Right(_) => {
                return refused(StatusCode::REQUEST_TIMEOUT, NO_MESSAGE, "the message did not arrive in time");
            }
        };
        match message::read(&bytes) {
            Ok(Message::Request { id, method, params }) => self.asked(headers, accepted, id, &method, params).await,
            Ok(Message::Notice { method, params }) => self.noticed(headers, &method, &params),
            Ok(Message::Reply) => self.noticed(headers, "", &Map::new()),
            Err(Bad { id, fault }) => json(StatusCode::BAD_REQUEST, message::refusal(id.as_ref(), &fault)),
        }
    }

    async fn asked(
        &self,
        headers: &HeaderMap,
        accepted: Accepted,
        id: Id,
        method: &str,
        params: Map<String, Value>,
    ) -> Response<Body> {
        if method == GREETING {
            return self.greeted(&id, &params);
        }
        let era = methods::era(&params);
        let running = match era {
            Era::PerRequest => {
                let told = Headers {
                    version: only(headers, &VERSION),
                    method: only(headers, &METHOD),
                    name: only(headers, &NAME),
                };
                if let Some(fault) = methods::unfit(method, &params, Some(told)) {
                    return json(StatusCode::BAD_REQUEST, message::refusal(Some(&id), &fault));
                }
                None
            }
            Era::Greeted => match self.session(headers).map(|name| self.sessions.used(name)) {
                Ok(Some(calls)) => match calls.begin(&id) {
                    Some(running) => Some(running),
                    None => {
                        let fault =
                            Fault::new(NO_MESSAGE, "a call with this id runs already: give each an id of its own");
                        return json(StatusCode::BAD_REQUEST, message::refusal(Some(&id), &fault));
                    }
                },
                Ok(None) => return unknown_session(Some(&id)),
                Err(response) => return *response,
            },
        };
        match self.server.answer(era, method, params) {
            Answer::Now(result) => {
                let status = match (&result, era) {
                    (Err(fault), Era::PerRequest) => status(fault.code),
                    _ => StatusCode::OK,
                };
                self.said(accepted, status, message::answer(&id, result))
            }
            Answer::Later(call) => self.waited_for(accepted, id, running, call).await,
        }
    }

    fn greeted(&self, id: &Id, params: &Map<String, Value>) -> Response<Body> {
        let hello = match methods::greeted(params, self.server.about()) {
            Ok((_, hello)) => hello,
            Err(fault) => return json(StatusCode::BAD_REQUEST, message::refusal(Some(id), &fault)),
        };
        let name = format!("{:032x}", self.server.runtime.random());
        self.sessions.begin(name.clone(), self.server.limits.sessions);
        let mut response = json(StatusCode::OK, message::answer(id, Ok(hello)));
        let name = HeaderValue::from_str(&name).expect("digits are a header value");
        response.headers_mut().insert(SESSION, name);
        response
    }

    fn noticed(&self, headers: &HeaderMap, method: &str, params: &Map<String, Value>) -> Response<Body> {
        // The newest revision has no sessions and no notices of clients, yet some send them.
        if only(headers, &VERSION) == Some(PER_REQUEST) {
            return empty(StatusCode::ACCEPTED);
        }
        match self.session(headers).map(|name| self.sessions.used(name)) {
            Ok(Some(calls)) => {
                if let Some(id) = params.get("requestId").and_then(Id::read).filter(|_| method == CANCELLED) {
                    calls.take_back(&id);
                }
                empty(StatusCode::ACCEPTED)
            }
            Ok(None) => unknown_session(None),
            Err(response) => *response,
        }
    }

    fn listened(&self, headers: &HeaderMap) -> Response<Body> {
        if !guard::accepted(headers).stream {
            return refused(StatusCode::NOT_ACCEPTABLE, NO_MESSAGE, "who listens accepts text/event-stream");
        }
        let name = match self.session(headers) {
            Ok(name) => name.to_owned(),
            Err(response) => return *response,
        };
        match self.sessions.listened(&name) {
            Err(NotListened::Unknown) => unknown_session(None),
            Err(NotListened::Taken) => refused(
                StatusCode::CONFLICT,
                NO_MESSAGE,
                "somebody listens to this session already: one stream is enough",
            ),
            Ok(over) => {
                let listening = Listening { sessions: Arc::clone(&self.sessions), name };
                events(self.stream(Box::pin(async move {
                    over.wait().await;
                    drop(listening);
                    None
                })))
            }
        }
    }

    fn ended(&self, headers: &HeaderMap) -> Response<Body> {
        match self.session(headers) {
            Ok(name) if self.sessions.end(name) => empty(StatusCode::NO_CONTENT),
            Ok(_) => unknown_session(None),
            Err(response) => *response,
        }
    }

    /// The session that a request names, in a version that has sessions.
    fn session<'a>(&self, headers: &'a HeaderMap) -> Result<&'a str, Box<Response<Body>>> {
        let is_known = only(headers, &VERSION).is_none_or(|version| GREETED.contains(&version));
        if !is_known || (headers.contains_key(&VERSION) && only(headers, &VERSION).is_none()) {
            let message = "this version of the protocol is not spoken here: greet, and use what is agreed on";
            return Err(Box::new(refused(StatusCode::BAD_REQUEST, NO_MESSAGE, message)));
        }
        only(headers, &SESSION).ok_or_else(|| {
            let message = "greet first (initialize), and then say Mcp-Session-Id";
            Box::new(refused(StatusCode::BAD_REQUEST, NO_MESSAGE, message))
        })
    }

    fn said(&self, accepted: Accepted, status: StatusCode, answer: Vec<u8>) -> Response<Body> {
        if accepted.json || status != StatusCode::OK {
            return json(status, answer);
        }
        events(self.stream(Box::pin(std::future::ready(Some(answer)))))
    }

    fn stream(&self, awaited: BoxFuture<'static, Option<Vec<u8>>>) -> Body {
        Body::stream(awaited, Arc::clone(&self.server.runtime), self.server.limits.quiet)
    }

    /// One that is over soon is answered in one piece.
    async fn waited_for(
        &self,
        accepted: Accepted,
        id: Id,
        running: Option<Running>,
        call: BoxFuture<'static, Value>,
    ) -> Response<Body> {
        let answer = self.started(id, running, call);
        let patience = match accepted {
            Accepted { stream: false, .. } => Box::pin(std::future::pending()),
            Accepted { json: true, .. } => self.server.runtime.sleep(self.server.limits.quiet),
            Accepted { json: false, .. } => Box::pin(std::future::ready(())),
        };
        match select(answer, patience).await {
            Either::Left((Some(answer), _)) => self.said(accepted, StatusCode::OK, answer),
            // What was taken back has no answer.
            Either::Left((None, _)) if accepted.stream => events(self.stream(Box::pin(std::future::ready(None)))),
            Either::Left((None, _)) => empty(StatusCode::ACCEPTED),
            Either::Right(((), answer)) => events(self.stream(answer)),
        }
    }

    /// Starts a call as a task of its own: hyper drops what answers a connection that breaks. A call in a session goes on then; one
    /// without is taken back by the future that is dropped. Nothing: it was taken back.
    fn started(
        &self,
        id: Id,
        running: Option<Running>,
        call: BoxFuture<'static, Value>,
    ) -> BoxFuture<'static, Option<Vec<u8>>> {
        let gone = Canceller::default();
        let taken_back = running.as_ref().map_or_else(|| gone.signal(), |running| running.taken_back.clone());
        let guard = running.is_none().then_some(TakenBackWhenDropped(gone));
        let over = self.over.signal();
        let (sender, receiver) = oneshot::channel();
        self.server.runtime.spawn(Box::pin(async move {
            // Where everything ends, the session ends too: the former is said.
            let result = match select(call, select(over.wait(), taken_back.wait())).await {
                Either::Left((result, _)) => Some(Ok(result)),
                Either::Right((Either::Left(_), _)) => Some(Err(Fault::new(NOT_SERVED, OVER))),
                Either::Right((Either::Right(_), _)) => None,
            };
            drop(running);
            // Nobody may be there any more.
            let _ = sender.send(result);
        }));
        Box::pin(async move {
            let broken = |_| Some(Err(Fault::new(OUR_FAULT, "the call ended without an answer")));
            let result = receiver.await.unwrap_or_else(broken);
            drop(guard);
            result.map(|result| message::answer(&id, result))
        })
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.close();
    }
}

struct TakenBackWhenDropped(Canceller);

impl Drop for TakenBackWhenDropped {
    fn drop(&mut self) {
        self.0.stop(Stop::Cancel);
    }
}

/// A place at a session's stream, given back when it is dropped.
struct Listening {
    sessions: Arc<Sessions>,
    name: String,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.sessions.no_longer_listened(&self.name);
    }
}

enum Unread {
    TooLong,
    Broken,
}

async fn read<B: HttpBody<Data = Bytes>>(body: B, most: usize) -> Result<Vec<u8>, Unread> {
    let mut body = std::pin::pin!(body);
    let mut bytes = Vec::new();
    if body.size_hint().lower() > most as u64 {
        return Err(Unread::TooLong);
    }
    while let Some(frame) = std::future::poll_fn(|context| Pin::as_mut(&mut body).poll_frame(context)).await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
        if bytes.len() + data.len() > most {
            return Err(Unread::TooLong);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

fn status(code: i64) -> StatusCode {
    match code {
        NO_SUCH_METHOD => StatusCode::NOT_FOUND,
        HEADERS_DIFFER | NO_SUCH_VERSION | NO_MESSAGE | message::BAD_PARAMS => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn unknown_session(id: Option<&Id>) -> Response<Body> {
    let fault = Fault::new(NOT_SERVED, "there is no such session, or no longer: greet anew (initialize)");
    json(StatusCode::NOT_FOUND, message::refusal(id, &fault))
}

fn refused(status: StatusCode, code: i64, message: &str) -> Response<Body> {
    json(status, message::refusal(None, &Fault::new(code, message)))
}

fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    respond(status, Some(JSON), Body::whole(body))
}

fn events(body: Body) -> Response<Body> {
    respond(StatusCode::OK, Some(EVENTS), body)
}

fn empty(status: StatusCode) -> Response<Body> {
    respond(status, None, Body::whole(Vec::new()))
}

fn respond(status: StatusCode, content_type: Option<&'static str>, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(content_type) = content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    response
}
