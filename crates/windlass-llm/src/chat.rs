//! The port that a loop talks to: `Provider` opens a `Chat` for one execution, `push` tells it a message, `call` asks for
//! the next answer. Whoever drops the future of a `call` aborts the request.

use std::sync::Arc;

use serde_json::Value;
use windlass_domain::{
    BoxFuture, CallId, Delta, Digest, Message, Reasoning, Role, Runtime, StopReason, ToolCall, ToolSpec, Usage, Usd,
};

use crate::error::Error;
use crate::models::Models;
use crate::retry::{Deadlines, Retries};

pub trait Provider: Send + Sync {
    fn open(&self, opening: Opening<'_>) -> Box<dyn Chat>;
}

/// What stays the same for a whole conversation; it becomes the beginning of every request, byte for byte.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    pub model: &'a str,
    /// The provider's own when absent; some models refuse any.
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u32>,
    pub system: &'a str,
    /// In any order: they are sent sorted by name.
    pub tools: &'a [ToolSpec],
    /// The form that every answer has, as a JSON schema. A wire that knows how holds the model to it; on the others it is only hoped for.
    pub answer_schema: Option<&'a Value>,
    /// Who speaks. It picks a rehearsal's track and is never sent.
    pub agent: &'a str,
    pub role: Role,
}

pub trait Chat: Send {
    /// Gives what an image shows, before the message that refers to it is pushed. A model that is not given one, or cannot
    /// see, is told what there would be to see.
    fn show(&mut self, image: Digest, bytes: Arc<[u8]>);

    /// Renders `message` into the wire's form, once; later calls send those bytes again.
    fn push(&mut self, message: &Message);

    /// Keeps answers from using an id again that this execution has used before the conversation was cut short.
    fn reserve(&mut self, id: &CallId);

    /// Tells a conversation that is being rebuilt what the provider metered for everything pushed so far, its answer
    /// included. A live one learns it from its own calls.
    fn metered(&mut self, usage: &Usage);

    /// About how many tokens the conversation holds: what the provider last metered, plus an estimate for what came after.
    fn tokens(&self) -> u64;

    /// The same, with the estimated part counted when it alone decides on which side of `threshold` the sum lies.
    fn tokens_near(&self, threshold: u64) -> u64;

    /// `Error::ContextOverflow` when the conversation is longer than the model takes, so that nobody sends in vain what
    /// cannot be read. It is counted where an estimate is too close to call. Of a model that no table describes nothing is
    /// known, and the provider has the last word.
    fn room(&self) -> Result<(), Error>;

    /// About what reading the conversation costs, where the price is known.
    fn cost_to_read(&self) -> Option<Usd>;

    /// Asks for the next answer. `watch` hears it as it comes; after a `Retrying` it hears it again from the beginning.
    fn call<'a>(
        &'a mut self,
        ask: Ask,
        watch: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Response, Error>>;
}

/// What changes from call to call besides the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// How many answers this execution has had, in this conversation or before it was cut short. Ids for calls that come
    /// without one are made from it, and a rehearsal finds its place by it.
    pub answered: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    pub text: String,
    /// Each id is unique in the execution.
    pub calls: Vec<ToolCall>,
    /// What the provider wants to hear again in the message that repeats this answer.
    pub reasoning: Vec<Reasoning>,
    pub stop: StopReason,
    pub usage: Usage,
    pub metering: Metering,
    /// What tries that failed on the way have used, as far as is known or can be estimated.
    pub lost: Usage,
    /// For `usage` and `lost` together; nothing is known about the price of the model when it is absent.
    pub cost: Option<Usd>,
    pub retries: u32,
    /// The provider's name for the request, for its support.
    pub request_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metering {
    Provider,
    /// The provider said nothing, so that this is our guess.
    Estimated,
}

/// What every provider needs besides its own settings.
#[derive(Clone)]
pub struct Setup {
    pub runtime: Arc<dyn Runtime>,
    pub models: Arc<Models>,
    pub retries: Retries,
    pub deadlines: Deadlines,
}

impl Setup {
    pub fn new(runtime: Arc<dyn Runtime>) -> Self {
        Self {
            runtime,
            models: Arc::new(Models::built_in()),
            retries: Retries::default(),
            deadlines: Deadlines::default(),
        }
    }
}
