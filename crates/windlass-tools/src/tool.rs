//! What a tool is: it shows itself to a model, says what a call would do without doing it, and does it for a permit. What
//! it hands back is not yet cut to size; the toolset does that for all of them.

use futures_util::future::{Either, select};
use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_domain::{BoxFuture, CallStatus, CancelSignal, HostRequest, Permit, Prepared, Stop, ToolCall, ToolSpec};

use crate::context::Context;

pub trait Tool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// Whether it may be given to who must not change anything.
    fn nature(&self) -> Nature {
        Nature::Acts
    }

    /// Whether there is anything here for it to work with; without, the agent does not see it.
    fn is_here(&self, _context: &Context) -> bool {
        true
    }

    /// How long `prepare` takes.
    fn preparing(&self) -> Preparing {
        Preparing::TakesTime
    }

    /// What the call would do, or why it cannot be done, for the model. Changes nothing. `arguments` fit the schema.
    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String>;

    /// Does it. The arguments are those that were prepared.
    fn run<'a>(&'a self, permit: Permit, context: &'a Context, running: Running<'a>) -> BoxFuture<'a, Output>;
}

/// What a tool can do at most, whatever it is called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// It changes nothing, here or elsewhere.
    Looks,
    Acts,
}

/// How long it takes to say what a call would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preparing {
    /// Only the arguments are looked at.
    AtOnce,
    /// It may wait for a disk, or have much to work out.
    TakesTime,
}

pub(crate) fn spec(name: &str, description: &str, parameters: Value) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: description.to_owned(), parameters }
}

/// How the world outside takes part in a call.
pub struct Running<'a> {
    /// Raised when the call should end early; it then still says how it ended.
    pub cancel: CancelSignal,
    /// Sees output as it comes.
    pub watch: &'a mut (dyn FnMut(&str) + Send),
}

impl Running<'_> {
    /// What the work comes to, unless the call is to end before: then it is let go, for nothing depends on it.
    pub(crate) async fn unless_stopped<T>(self, work: impl Future<Output = T>) -> Result<T, Output> {
        match select(std::pin::pin!(work), self.cancel.wait()).await {
            Either::Left((done, _)) => Ok(done),
            Either::Right((stop, _)) => {
                let status = match stop {
                    Stop::Pause | Stop::LeaseLost => CallStatus::Interrupted,
                    Stop::Cancel => CallStatus::Cancelled,
                };
                Err(Output { status, ..Output::ok("Stopped before it was done.") })
            }
        }
    }
}

/// What a tool has to say, before it is cut to size.
#[derive(Debug)]
pub struct Output {
    pub status: CallStatus,
    pub text: String,
    /// What it shows besides.
    pub pictures: Vec<Picture>,
    /// What only the host can do; the text then holds if the host agrees.
    pub request: Option<HostRequest>,
}

/// A picture that belongs to a result: a PNG, JPEG, GIF or WebP as it is in a file of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl Output {
    pub fn ok(text: impl Into<String>) -> Self {
        Self { status: CallStatus::Ok, text: text.into(), pictures: Vec::new(), request: None }
    }

    /// `reason` is a sentence without an ending; the model is told that it is an error, because not every wire can say
    /// so in another way.
    pub fn error(reason: impl AsRef<str>) -> Self {
        Self { status: CallStatus::Error, text: refusal(reason), pictures: Vec::new(), request: None }
    }

    pub(crate) fn from_result(result: Result<String, String>) -> Self {
        match result {
            Ok(text) => Self::ok(text),
            Err(reason) => Self::error(reason),
        }
    }
}

pub(crate) fn refusal(reason: impl AsRef<str>) -> String {
    format!("Error: {}", reason.as_ref())
}

/// The arguments of a call that `prepare` has seen.
pub(crate) fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, String> {
    let value: Value = serde_json::from_str(call.arguments.get()).map_err(|error| error.to_string())?;
    typed(&value)
}

/// The schema has been checked; what is left to go wrong is a number beyond what we count with.
pub(crate) fn typed<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments).map_err(|error| format!("invalid arguments: {error}"))
}
