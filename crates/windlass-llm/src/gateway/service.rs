//! From an agent's request to who answers it: the door, the address, the size, the budget, and only then upstream.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use windlass_domain::{BoxFuture, Runtime, Secret};

use crate::chat::Setup;
use crate::dialect::{self, Dialect};
use crate::error::Error;
use crate::gateway::account::Accounts;
use crate::gateway::pass::Passage;
use crate::gateway::refuse::{FOR_GOOD, refuse, respond};
use crate::gateway::rehearse::Stage;
use crate::gateway::terms::Terms;
use crate::gateway::translate::Translator;
use crate::gateway::{Body, Elsewhere, GatewayParts, Limits, Meter, Upstream, door};
use crate::models::Model;
use crate::rehearsal::read;
use crate::watchdog::Watchdog;
use crate::wire::{Anthropic, OpenAi, Responses};

/// Bodies are counted in pieces of this size.
const PIECE: usize = 1 << 10;

pub struct Service {
    key: Secret,
    answering: Mutex<Arc<Answering>>,
    /// What is made anew when another model is to answer.
    upstream: Upstream,
    setup: Setup,
    meter: Arc<dyn Meter>,
    elsewhere: Option<(String, Arc<dyn Elsewhere>)>,
    runtime: Arc<dyn Runtime>,
    limits: Limits,
    /// Room for bodies, in pieces.
    room: Arc<Semaphore>,
}

/// The model that answers, and the way to it.
struct Answering {
    accounts: Accounts,
    behind: Behind,
}

enum Behind {
    Rehearsal(Stage),
    Model { dialect: Dialect, passage: Passage, translator: Translator },
}

/// A request for an answer, read.
pub struct Asking<'r> {
    pub path: &'r str,
    pub headers: &'r HeaderMap,
    pub json: Bytes,
    /// The same, on the terms on which it is sent on.
    pub fields: Map<String, Value>,
}

impl Service {
    pub fn new(parts: GatewayParts) -> Result<Self, Error> {
        let GatewayParts { upstream, model: name, key, meter, setup, limits, elsewhere } = parts;
        if key.expose().is_empty() {
            return Err(Error::Misconfigured("a gateway without a key would let in everybody; give it one".to_owned()));
        }
        let runtime = Arc::clone(&setup.runtime);
        let answering = Mutex::new(Arc::new(Answering::new(&upstream, name, &setup, &limits, &meter)?));
        let room = Arc::new(Semaphore::new(limits.bodies.max(limits.body).div_ceil(PIECE)));
        Ok(Self { key, answering, upstream, setup, meter, elsewhere, runtime, limits, room })
    }

    /// Who answers now. A question that is under way is answered by whoever was asked.
    fn answering(&self) -> Result<Arc<Answering>, Error> {
        let mut answering = self.answering.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = self.meter.model().filter(|wanted| *wanted != answering.accounts.name);
        if let Some(name) = wanted {
            *answering = Arc::new(Answering::new(&self.upstream, name, &self.setup, &self.limits, &self.meter)?);
        }
        Ok(Arc::clone(&answering))
    }

    pub fn answer(self: Arc<Self>, request: Request<hyper::body::Incoming>) -> BoxFuture<'static, Response<Body>> {
        Box::pin(async move { self.admit(request).await })
    }

    async fn admit(&self, request: Request<hyper::body::Incoming>) -> Response<Body> {
        if let Err(turned) = door::admit(&self.key, request.uri(), request.headers()) {
            return refuse(turned.status(), turned.kind(), turned.message());
        }
        let path = request.uri().path().to_owned();
        if let Some((prefix, elsewhere)) = &self.elsewhere
            && path.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        {
            return elsewhere.answer(request).await;
        }
        let endpoint = path.strip_prefix("/v1").unwrap_or(&path);
        let dialect = match (request.method(), endpoint) {
            (&Method::GET, "/models") => return self.models(),
            (&Method::POST, "/chat/completions") => Dialect::Chat,
            (&Method::POST, "/responses") => Dialect::Responses,
            (&Method::POST, "/messages" | "/messages/count_tokens") => Dialect::Messages,
            _ => return refuse(StatusCode::NOT_FOUND, "not_found_error", "there is nothing at this address"),
        };
        if !is_json(request.headers()) {
            let problem = "a request is sent as application/json";
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_request_error", problem);
        }
        let (head, body) = request.into_parts();
        let (json, room) = match self.receive(&head.headers, body).await {
            Ok(received) => received,
            Err(refused) => return refused,
        };
        let is_count = endpoint.ends_with("/count_tokens");
        let response = if is_count {
            count(dialect, &json)
        } else {
            match serde_json::from_slice(&json) {
                Ok(fields) => {
                    let asking = Asking { path: &path, headers: &head.headers, json, fields };
                    Box::pin(self.ask(dialect, asking)).await
                }
                Err(_) => not_a_request(),
            }
        };
        drop(room);
        response
    }

    async fn ask(&self, dialect: Dialect, mut asking: Asking<'_>) -> Response<Body> {
        let json = asking.json.clone();
        let Ok(asked) = dialect::Request::read(dialect, &json) else { return not_a_request() };
        let terms = match Terms::of(dialect, &asking.fields) {
            Ok(terms) => terms,
            Err(problem) => return refuse(FOR_GOOD, "invalid_request_error", &problem.to_string()),
        };
        terms.apply(&mut asking.fields);
        let answering = match self.answering() {
            Ok(answering) => answering,
            Err(error) => return refuse(FOR_GOOD, "invalid_request_error", &error.to_string()),
        };
        let Answering { accounts, behind } = answering.as_ref();
        match behind {
            Behind::Rehearsal(stage) => stage.answer(accounts, &asking, &asked, &terms).await,
            Behind::Model { dialect: theirs, passage, .. } if *theirs == dialect => {
                passage.answer(accounts, asking, &asked, terms).await
            }
            Behind::Model { translator, .. } => translator.answer(accounts, &asking, &asked, &terms).await,
        }
    }

    /// The body, and the room that it takes until it has been sent on.
    async fn receive(
        &self,
        headers: &HeaderMap,
        body: hyper::body::Incoming,
    ) -> Result<(Bytes, OwnedSemaphorePermit), Response<Body>> {
        let Limits { body: longest, receiving, .. } = self.limits;
        let too_long = || {
            let problem = format!("a request may have {longest} bytes; send less");
            refuse(StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", &problem)
        };
        let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let length = announced.unwrap_or(longest);
        if length > longest {
            return Err(too_long());
        }
        let pieces = u32::try_from(length.div_ceil(PIECE)).unwrap_or(u32::MAX);
        let reading = async {
            let room = Arc::clone(&self.room).acquire_many_owned(pieces).await.ok()?;
            Some((read(body, longest).await?, room))
        };
        let deadline = self.runtime.now() + receiving;
        match Watchdog::new(Arc::clone(&self.runtime)).guard(deadline, reading).await {
            Ok(Some(received)) => Ok(received),
            Ok(None) => Err(too_long()),
            Err(_) => {
                let problem = format!("the request did not come in {} s", receiving.as_secs());
                Err(refuse(StatusCode::REQUEST_TIMEOUT, "timeout_error", &problem))
            }
        }
    }

    fn models(&self) -> Response<Body> {
        let answering = Arc::clone(&self.answering.lock().unwrap_or_else(PoisonError::into_inner));
        let name = &answering.accounts.name;
        let model = json!({
            "id": name, "object": "model", "type": "model", "created": 0, "owned_by": "windlass", "display_name": name,
        });
        let list = json!({"object": "list", "data": [model], "has_more": false});
        respond(StatusCode::OK, "application/json", list.to_string().into())
    }
}

impl Answering {
    fn new(
        upstream: &Upstream,
        name: String,
        setup: &Setup,
        limits: &Limits,
        meter: &Arc<dyn Meter>,
    ) -> Result<Self, Error> {
        let runtime = Arc::clone(&setup.runtime);
        let model = setup.models.find(&name);
        let behind = match upstream.clone() {
            Upstream::Rehearsal { script, track } => Behind::Rehearsal(Stage::new(script, track, Arc::clone(&runtime))),
            Upstream::Model { dialect, endpoint } => {
                let (deadlines, key) = (setup.deadlines, endpoint.key.clone());
                let (client, provider) = match dialect {
                    Dialect::Chat => OpenAi::new(endpoint, setup.clone())?.shared(),
                    Dialect::Responses => Responses::new(endpoint, setup.clone())?.shared(),
                    Dialect::Messages => Anthropic::new(endpoint, setup.clone())?.shared(),
                };
                let passage = Passage {
                    client,
                    key: key.clone(),
                    name: name.clone(),
                    limit: limit(dialect, &model),
                    deadlines,
                    runtime: Arc::clone(&runtime),
                    dialect,
                };
                let translator = Translator {
                    provider,
                    dialect,
                    name: name.clone(),
                    most_output: model.max_output,
                    key,
                    runtime: Arc::clone(&runtime),
                    ping: limits.ping,
                };
                Behind::Model { dialect, passage, translator }
            }
        };
        Ok(Self { accounts: Accounts { meter: Arc::clone(meter), runtime, name, model }, behind })
    }
}

/// What the model's server calls the limit on an answer.
fn limit(dialect: Dialect, model: &Model) -> &'static str {
    match dialect {
        Dialect::Chat if model.takes_max_completion_tokens => "max_completion_tokens",
        Dialect::Chat | Dialect::Messages => "max_tokens",
        Dialect::Responses => "max_output_tokens",
    }
}

/// Our own estimate, whoever answers: it is asked for often, and must neither cost anything nor be sent anywhere.
fn count(dialect: Dialect, json: &[u8]) -> Response<Body> {
    match dialect::Request::read(dialect, json) {
        Ok(asked) => {
            let count = json!({"input_tokens": asked.estimated_input()});
            respond(StatusCode::OK, "application/json", count.to_string().into())
        }
        Err(_) => not_a_request(),
    }
}

fn not_a_request() -> Response<Body> {
    refuse(FOR_GOOD, "invalid_request_error", "the request is not what this address takes")
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
