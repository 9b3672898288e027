//! One request and its answer. What only looks, and what is sent with a key, is sent again where a connection breaks: the server
//! hears a key once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderName, HeaderValue, Method, Request};
use rustls::ClientConfig;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::Answer;
use super::connect::{Dialled, WholeBody, connect, open, tls_for};
use super::events::Events;
use super::surroundings::within;
use super::{Address, Error, Surroundings};
use crate::{PROBLEM_JSON, Problem};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// A server that is asked to stop a task waits for those who work on it.
const ANSWER: Duration = Duration::from_secs(60);
/// A page of records is never larger.
const MOST_BYTES: usize = 64 << 20;
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(250);

/// Shown to nobody.
#[derive(Clone)]
pub struct Token(HeaderValue);

impl Token {
    pub fn new(text: &str) -> Result<Self, Error> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", text.trim())).map_err(|_| Error::BadToken)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// What a request may do.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Asks {
    Looks,
    /// Heard once under this key.
    Does(String),
}

#[derive(Clone)]
pub struct Client {
    address: Address,
    token: Option<Token>,
    tls: Option<Arc<ClientConfig>>,
    around: Arc<dyn Surroundings>,
    patience: Duration,
}

impl Client {
    pub fn new(address: Address, token: Option<Token>, around: Arc<dyn Surroundings>) -> Result<Self, Error> {
        if token.is_some() {
            address.may_be_told_a_token()?;
        }
        let tls = tls_for(&address)?;
        Ok(Self { address, token, tls, around, patience: ANSWER })
    }

    /// For what takes so much longer than others.
    #[must_use]
    pub fn waiting(&self, longer: Duration) -> Self {
        Self { patience: ANSWER + longer, ..self.clone() }
    }

    pub const fn address(&self) -> &Address {
        &self.address
    }

    pub async fn get<A: DeserializeOwned>(&self, path: &str) -> Result<A, Error> {
        self.read(&self.patiently(&Method::GET, path, None, &Asks::Looks).await?)
    }

    /// What is no JSON, as it is.
    pub async fn bytes(&self, path: &str) -> Result<Vec<u8>, Error> {
        self.patiently(&Method::GET, path, None, &Asks::Looks).await
    }

    /// A connection of its own, with the head of a request by which it may become something else than HTTP.
    pub async fn dial(&self, path: &str) -> Result<(Request<()>, Dialled), Error> {
        let (head, _) = self.request(&Method::GET, path, None, &Asks::Looks)?.into_parts();
        let mut request = Request::from_parts(head, ());
        let scheme = if self.tls.is_some() { "wss" } else { "ws" };
        let whole = format!("{scheme}://{}{path}", self.address.authority());
        *request.uri_mut() = whole.parse().map_err(|_| Error::BadAddress(whole))?;
        Ok((request, open(&self.address, self.tls.as_ref(), self.around.as_ref()).await?))
    }

    /// Asks for something that changes nothing, in more words than an address has.
    pub async fn look<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<A, Error> {
        self.read(&self.patiently(&Method::POST, path, Some(written(body)), &Asks::Looks).await?)
    }

    /// Has something done, once.
    pub async fn post<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<A, Error> {
        let key = Asks::Does(self.around.fresh_key());
        self.read(&self.patiently(&Method::POST, path, Some(written(body)), &key).await?)
    }

    /// What happens after this position, for as long as somebody reads.
    pub async fn events(&self, path: &str, after: u64) -> Result<Events, Error> {
        let stream = HeaderValue::from_static("text/event-stream");
        let mut request = self.request(&Method::GET, path, None, &Asks::Looks)?;
        request.headers_mut().insert(ACCEPT, stream.clone());
        request.headers_mut().insert("last-event-id", after.into());
        let answer = self.answered(request).await?;
        let kind = answer.head.headers().get(CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(stream.as_bytes()));
        match answer.head.status().is_success() && is_stream {
            true => Ok(Events::new(answer, self.address.to_string(), Arc::clone(&self.around))),
            false => {
                let (status, is_problem) = (answer.head.status().as_u16(), self.is_problem(&answer));
                let body = self.whole(answer).await?;
                Err(self.refused(status, is_problem, &body))
            }
        }
    }

    /// Sent again, where that is harmless, as long as the connection was what failed, or it came too soon after others. A server that is not there at all is told at
    /// once: whoever has reached it before knows better how long to wait.
    async fn patiently(&self, method: &Method, path: &str, body: Option<Bytes>, asks: &Asks) -> Result<Vec<u8>, Error> {
        let mut pause = PAUSE;
        for _ in 1..TRIES {
            match self.once(method, path, body.clone(), asks).await {
                Err(error) if error.is_worth_another_try() => self.around.pause(pause).await,
                answered => return answered,
            }
            pause *= 2;
        }
        self.once(method, path, body, asks).await
    }

    async fn once(&self, method: &Method, path: &str, body: Option<Bytes>, asks: &Asks) -> Result<Vec<u8>, Error> {
        let answer = self.answered(self.request(method, path, body, asks)?).await?;
        let (status, is_problem) = (answer.head.status(), self.is_problem(&answer));
        let body = self.whole(answer).await?;
        match status.is_success() {
            true => Ok(body),
            false => Err(self.refused(status.as_u16(), is_problem, &body)),
        }
    }

    async fn answered(&self, request: Request<WholeBody>) -> Result<Answer, Error> {
        let connected = connect(&self.address, self.tls.as_ref(), self.around.as_ref()).await?;
        let answered = within(self.around.as_ref(), self.patience, Answer::to(connected, request)).await;
        answered.ok_or_else(|| self.slow())?.map_err(|error| self.broken(&error))
    }

    fn request(
        &self,
        method: &Method,
        path: &str,
        body: Option<Bytes>,
        asks: &Asks,
    ) -> Result<Request<WholeBody>, Error> {
        let bad = || Error::BadAddress(format!("{}{path}", self.address));
        let builder = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.address.authority())
            .header(ACCEPT, HeaderValue::from_static("application/json"))
            .header(USER_AGENT, HeaderValue::from_static(concat!("windlass/", env!("CARGO_PKG_VERSION"))));
        let mut request = builder.body(WholeBody(body)).map_err(|_| bad())?;
        let has_body = request.body().0.is_some();
        let headers = request.headers_mut();
        if has_body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(Token(token)) = &self.token {
            headers.insert(AUTHORIZATION, token.clone());
        }
        if let Asks::Does(key) = asks {
            headers.insert(IDEMPOTENCY_KEY, HeaderValue::from_str(key).map_err(|_| bad())?);
        }
        Ok(request)
    }

    async fn whole(&self, mut answer: Answer) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        loop {
            let portion =
                within(self.around.as_ref(), self.patience, answer.next()).await.ok_or_else(|| self.slow())?;
            let Some(portion) = portion.map_err(|error| self.broken(&error))? else { return Ok(body) };
            if body.len() + portion.len() > MOST_BYTES {
                return Err(Error::TooLarge { server: self.address.to_string(), most: MOST_BYTES });
            }
            body.extend_from_slice(&portion);
        }
    }

    fn read<A: DeserializeOwned>(&self, body: &[u8]) -> Result<A, Error> {
        serde_json::from_slice(body).map_err(|error| self.not_windlass(format!("its answer cannot be read: {error}")))
    }

    fn is_problem(&self, answer: &Answer) -> bool {
        let kind = answer.head.headers().get(CONTENT_TYPE);
        kind.is_some_and(|kind| kind.as_bytes().starts_with(PROBLEM_JSON.as_bytes()))
    }

    fn refused(&self, status: u16, is_problem: bool, body: &[u8]) -> Error {
        match serde_json::from_slice::<Problem>(body) {
            Ok(problem) if is_problem => Error::Refused(Box::new(problem)),
            _ => self.not_windlass(format!("it answers {status}")),
        }
    }

    fn not_windlass(&self, why: String) -> Error {
        Error::NotWindlass { server: self.address.to_string(), why }
    }

    /// What is no HTTP is no server of ours; anything else is the network's.
    fn broken(&self, error: &hyper::Error) -> Error {
        match error.is_parse() {
            true => self.not_windlass("it does not speak HTTP".to_owned()),
            false => Error::Broken { server: self.address.to_string(), why: error.to_string() },
        }
    }

    fn slow(&self) -> Error {
        Error::Slow { server: self.address.to_string(), seconds: self.patience.as_secs() }
    }
}

fn written(body: &impl Serialize) -> Bytes {
    serde_json::to_vec(body).expect("plain data is always JSON, and memory takes it").into()
}
