//! What is served, and to a message the answer: at once, or when a call has come to its end. How messages travel is the business of
//! whoever calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use windlass_domain::{BoxFuture, Runtime};

use crate::serve::limits::Limits;
use crate::serve::message::{Fault, NOT_SERVED};
use crate::serve::methods::{self, Asked};
use crate::serve::tool::Tool;
use crate::serve::version::Era;

/// Whoever owns what the tools are about.
pub trait Served: Send + Sync {
    fn about(&self) -> About;

    fn tools(&self) -> Vec<Tool>;

    /// Only for a tool of the list, with arguments that fit it. Nobody waits any more for a future that is dropped; what it has
    /// begun to record may stand.
    fn call(&self, tool: &str, arguments: Map<String, Value>) -> BoxFuture<'static, CallResult>;
}

/// What a client is told at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    pub name: &'static str,
    /// For a model: what all of this is for.
    pub instructions: &'static str,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    pub text: String,
    /// The same for programs.
    pub structured: Option<Value>,
    /// The text says what went wrong, and what to do about it.
    pub is_error: bool,
}

impl CallResult {
    pub fn said(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None, is_error: false }
    }

    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None, is_error: true }
    }

    /// A JSON object, for programs as it is and for models as text.
    pub fn object(object: Map<String, Value>) -> Self {
        let structured = Value::Object(object);
        Self { text: structured.to_string(), structured: Some(structured), is_error: false }
    }

    pub(crate) fn written(self, most: usize) -> Value {
        let bytes = self.text.len() + self.structured.as_ref().map_or(0, |structured| structured.to_string().len());
        if bytes > most {
            return Self::failed(format!(
                "the answer has {bytes} bytes, and more than {most} are not sent: ask for less"
            ))
            .written(usize::MAX);
        }
        let mut result = json!({"content": [{"type": "text", "text": self.text}], "isError": self.is_error});
        if let Some(structured) = self.structured {
            result["structuredContent"] = structured;
        }
        result
    }
}

/// One thing that is served, to any number of clients.
#[derive(Clone)]
pub struct Server {
    served: Arc<dyn Served>,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) limits: Limits,
    /// Calls that run.
    running: Arc<AtomicUsize>,
}

/// What becomes of a request.
pub(crate) enum Answer {
    Now(Result<Value, Fault>),
    Later(BoxFuture<'static, Value>),
}

impl Server {
    pub fn new(served: Arc<dyn Served>, runtime: Arc<dyn Runtime>, limits: Limits) -> Self {
        Self { served, runtime, limits, running: Arc::default() }
    }

    pub(crate) fn about(&self) -> About {
        self.served.about()
    }

    pub(crate) fn answer(&self, era: Era, method: &str, params: Map<String, Value>) -> Answer {
        let (name, arguments) = match methods::asked(era, method, params, || self.about(), || self.served.tools()) {
            Asked::Answered(answer) => return Answer::Now(answer),
            Asked::Call { name, arguments } => (name, arguments),
        };
        let Some(place) = Place::take(&self.running, self.limits.calls) else {
            let message = format!("{} calls run already: wait until one has ended", self.limits.calls);
            return Answer::Now(Err(Fault::new(NOT_SERVED, message)));
        };
        let call = self.served.call(&name, arguments);
        let most = self.limits.answer_bytes;
        Answer::Later(Box::pin(async move {
            let result = call.await.written(most);
            drop(place);
            methods::finished(era, result)
        }))
    }
}

/// One of the calls that may run at once, given back when it is dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(running: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let one_more = |running: usize| (running < most).then_some(running + 1);
        running.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(Self(Arc::clone(running)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back() {
        let running = Arc::default();
        let first = Place::take(&running, 2);
        let second = Place::take(&running, 2);
        assert!(first.is_some() && second.is_some() && Place::take(&running, 2).is_none());
        drop(first);
        assert!(Place::take(&running, 2).is_some());
    }

    #[test]
    fn an_answer_too_long_is_an_error_that_says_so() {
        let long = CallResult::said("x".repeat(11)).written(10);
        assert_eq!(long["isError"], true);
        assert_eq!(CallResult::said("x".repeat(10)).written(10)["isError"], false);
        let twice = CallResult::object(Map::from_iter([("a".to_owned(), json!(1))]));
        assert_eq!(twice.clone().written(14)["structuredContent"], json!({"a": 1}));
        assert_eq!(twice.written(13)["isError"], true);
    }
}
