//! A provider that speaks one wire over HTTP, and how one answer is read: as a stream where the server streams, whole where
//! it does not, and as a refusal where it refuses.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Response};
use windlass_domain::{Message, Runtime, Secret};

use crate::answer::Piece;
use crate::chat::{Ask, Chat, Opening, Provider, Setup};
use crate::conversation::{Backend, Conversation, More, PieceStream};
use crate::error::{Error, Failure, Unusable};
use crate::gallery::Picture;
use crate::http::{BaseUrl, Client, Incoming, Rope};
use crate::retry::parse_retry_after;
use crate::text::presentable;
use crate::wire::{Asker, Decoder, Fault, Reader, Trouble, Wire};

const LONGEST_ERROR_BODY: usize = 64 << 10;

/// Where a model server is and what it wants to see.
#[derive(Clone)]
pub struct Endpoint {
    /// With or without `/v1`.
    pub base_url: String,
    /// Local servers want none.
    pub key: Option<Secret>,
}

pub struct Remote<W> {
    server: Arc<Server>,
    setup: Setup,
    wire: PhantomData<fn() -> W>,
}

impl<W: Wire> Remote<W> {
    pub fn new(endpoint: Endpoint, setup: Setup) -> Result<Self, Error> {
        let url = BaseUrl::parse(&endpoint.base_url, W::ENDPOINT)?;
        let key = endpoint.key.filter(|key| !key.expose().trim().is_empty());
        let headers = W::headers(key.as_ref()).map_err(|_| {
            Error::Misconfigured(format!("{} holds characters that no key has; set it again", W::KEY_VARIABLE))
        })?;
        let client = Client::new(&url, headers, setup.deadlines, setup.runtime.clone())?;
        let server =
            Server { client, runtime: setup.runtime.clone(), key, key_variable: W::KEY_VARIABLE, url: url.display() };
        Ok(Self { server: Arc::new(server), setup, wire: PhantomData })
    }

    /// The provider, and its connections for whoever speaks this wire already.
    pub(crate) fn shared(self) -> (Arc<Client>, Arc<dyn Provider>) {
        (Arc::clone(&self.server.client), Arc::new(self))
    }
}

impl<W: Wire> Provider for Remote<W> {
    fn open(&self, opening: Opening<'_>) -> Box<dyn Chat> {
        let model = self.setup.models.find(opening.model);
        let mut wire = W::default();
        let rope = Rope::beginning(|out| wire.begin(&opening, &model, out));
        let backend = Line { wire, rope, server: self.server.clone(), model: opening.model.into() };
        Box::new(Conversation::new(backend, self.setup.clone(), &opening))
    }
}

/// One conversation on one wire.
struct Line<W> {
    wire: W,
    rope: Rope,
    server: Arc<Server>,
    model: Arc<str>,
}

impl<W: Wire> Backend for Line<W> {
    type Stream = Reading<W::Decoder>;

    fn push(&mut self, message: &Message, pictures: &[Picture]) {
        self.rope.append(|out| self.wire.push(message, pictures, out));
    }

    async fn request(&self, _: Ask, _: u32) -> Result<Reading<W::Decoder>, Failure> {
        let body = self.rope.pieces(self.wire.tail());
        let response = self.server.client.post(&body).await?;
        if !response.status().is_success() {
            return Err(self.server.refusal(&self.model, response).await);
        }
        Ok(Reading::new(self.server.clone(), self.model.clone(), response))
    }
}

/// The server's side of every conversation with it.
struct Server {
    client: Arc<Client>,
    runtime: Arc<dyn Runtime>,
    key: Option<Secret>,
    key_variable: &'static str,
    url: String,
}

impl Server {
    /// What it has to say about a request that it did not take.
    async fn refusal(&self, model: &str, response: Response<Incoming>) -> Failure {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers(), &*self.runtime);
        let mut body = response.into_body();
        let mut text = Vec::new();
        while text.len() < LONGEST_ERROR_BODY {
            // An error whose text is cut off is still that error.
            let Ok(Some(portion)) = body.next().await else { break };
            text.extend_from_slice(&portion[..portion.len().min(LONGEST_ERROR_BODY - text.len())]);
        }
        self.fail(model, Fault::from_body(status, &text, retry_after))
    }

    fn fail(&self, model: &str, mut fault: Fault) -> Failure {
        fault.message = presentable(&fault.message, self.key.as_ref());
        fault.into_failure(Asker { model, url: &self.url, key_variable: self.key_variable })
    }

    fn trouble(&self, model: &str, trouble: Trouble) -> Failure {
        match trouble {
            Trouble::Fault(fault) => self.fail(model, fault),
            Trouble::NotAnAnswer(instead) => {
                Error::NotAModelServer { url: self.url.clone(), detail: instead.to_owned() }.into()
            }
            Trouble::TooLong { limit } => Unusable::TooLong { limit }.into(),
            Trouble::Garbled(problem) => {
                let problem = presentable(&problem, self.key.as_ref());
                Failure::transient(format!("the answer is garbled ({problem})"))
            }
        }
    }
}

/// `retry-after-ms` is finer and comes from OpenAI's own servers.
fn retry_after(headers: &HeaderMap, runtime: &dyn Runtime) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    let millis = header("retry-after-ms").and_then(|text| text.trim().parse::<u64>().ok());
    match millis {
        Some(millis) => Some(Duration::from_millis(millis)),
        None => parse_retry_after(header("retry-after")?, runtime.wall()),
    }
}

/// One answer, being read.
struct Reading<D> {
    /// Gone when all has been read.
    body: Option<Incoming>,
    reader: Reader<D>,
    request_id: Option<String>,
    server: Arc<Server>,
    model: Arc<str>,
}

impl<D: Decoder> Reading<D> {
    fn new(server: Arc<Server>, model: Arc<str>, response: Response<Incoming>) -> Self {
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let request_id = header("x-request-id").or_else(|| header("request-id"));
        Self { body: Some(response.into_body()), reader: Reader::default(), request_id, server, model }
    }
}

impl<D: Decoder> PieceStream for Reading<D> {
    async fn next(&mut self, pieces: &mut Vec<Piece>) -> Result<More, Failure> {
        pieces.extend(self.request_id.take().map(Piece::RequestId));
        let Some(body) = &mut self.body else { return Ok(More::No) };
        let (read, more) = match body.next().await? {
            Some(portion) => (self.reader.take(&portion, pieces), More::Yes),
            None => (self.reader.end(pieces), More::No),
        };
        read.map_err(|trouble| self.server.trouble(&self.model, trouble))?;
        if pieces.contains(&Piece::Done)
            && let Some(body) = self.body.take()
        {
            body.release();
        }
        Ok(more)
    }
}
