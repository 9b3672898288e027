//! An answer that is written in the agent's language while the model gives it. Text comes in portions, calls once they are
//! whole. Between them the agent is told that there will be more.
//!
//! A provider that loses the connection asks again and begins its answer anew. As long as the agent has heard nothing it need
//! not know; after that there is no way to take words back, and it is told to ask again itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use windlass_domain::{BoxFuture, Delta, Runtime, Usage};

use crate::Response;
use crate::answer::{CallPiece, Piece};
use crate::chat::Metering;
use crate::dialect::Encoder;
use crate::error::Error;
use crate::gateway::account::Account;
use crate::gateway::body::{Flow, Torn, flowing};
use crate::gateway::redact::Redactor;
use crate::gateway::refuse::in_status;
use crate::gateway::translate::translator::billed;
use crate::gateway::{Body, Outcome};
use crate::tokens;
use crate::watchdog::Watchdog;

/// What the call has told and nobody has written yet.
#[derive(Debug, Clone, Default)]
pub struct Told(Arc<Mutex<Vec<Delta>>>);

impl Told {
    pub fn push(&self, delta: Delta) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(delta);
    }

    fn take(&self) -> Vec<Delta> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub struct Speaking {
    /// Gone when it has ended.
    call: Option<BoxFuture<'static, Result<Response, Error>>>,
    told: Told,
    encoder: Encoder,
    account: Option<Account>,
    /// About how many tokens the request is.
    prompt: u64,
    /// Bytes of text that the agent has heard, and about how many tokens they and the model's thoughts are.
    said: usize,
    said_tokens: u64,
    runtime: Arc<dyn Runtime>,
    watchdog: Watchdog,
    ping: Duration,
}

pub enum Step {
    Said(Vec<u8>),
    /// Nothing has been said in this step.
    Failed(Error),
}

/// What the model has said since it was last asked.
#[derive(Default)]
struct News {
    text: String,
    thoughts: String,
}

enum Event {
    Told(Vec<Delta>),
    Ended(Result<Response, Error>),
    Silence,
}

impl Speaking {
    pub fn new(
        call: BoxFuture<'static, Result<Response, Error>>,
        told: Told,
        mut encoder: Encoder,
        account: Account,
        prompt: u64,
        runtime: Arc<dyn Runtime>,
        ping: Duration,
    ) -> Self {
        // There are languages that begin with the bill; this is as near as anybody knows it by then.
        encoder.write(&Piece::Usage(Usage { input: prompt, ..Usage::default() }), &mut Vec::new());
        let watchdog = Watchdog::new(Arc::clone(&runtime));
        let (call, account) = (Some(call), Some(account));
        Self { call, told, encoder, account, prompt, said: 0, said_tokens: 0, runtime, watchdog, ping }
    }

    /// The rest as a body that begins with this.
    pub fn after(self, first: Vec<u8>, redactor: Redactor) -> Body {
        flowing(Rest { first: Some(first), speaking: self, redactor })
    }

    /// The next thing to be said, which is never nothing.
    pub async fn step(&mut self) -> Step {
        loop {
            let mut out = Vec::new();
            match self.event().await {
                Event::Silence => self.encoder.ping(&mut out),
                Event::Told(deltas) => match self.news(deltas) {
                    Ok(News { text, thoughts }) => {
                        self.thought(&thoughts);
                        self.say(&text, &mut out);
                    }
                    Err(broken) => return self.fail(broken).await,
                },
                Event::Ended(Err(error)) => return self.fail(error).await,
                Event::Ended(Ok(response)) => {
                    if let Err(broken) = self.news(self.told.take()) {
                        return self.fail(broken).await;
                    }
                    if let Some(account) = self.account.take() {
                        account.close(billed(&response), response.metering, Outcome::Answered).await;
                    }
                    pieces(&response, self.said).iter().for_each(|piece| self.encoder.write(piece, &mut out));
                }
            }
            if !out.is_empty() {
                return Step::Said(out);
            }
        }
    }

    async fn event(&mut self) -> Event {
        let Self { call, told, watchdog, runtime, ping, .. } = self;
        let happens = std::future::poll_fn(|context| {
            if let Some(Poll::Ready(ended)) = call.as_mut().map(|call| call.as_mut().poll(context)) {
                return Poll::Ready(Event::Ended(ended));
            }
            match told.take() {
                deltas if deltas.is_empty() => Poll::Pending,
                deltas => Poll::Ready(Event::Told(deltas)),
            }
        });
        let event = watchdog.guard(runtime.now() + *ping, happens).await.unwrap_or(Event::Silence);
        if let Event::Ended(_) = event {
            self.call = None;
        }
        event
    }

    /// The text of these, after the last new beginning.
    fn news(&self, deltas: Vec<Delta>) -> Result<News, Error> {
        let mut news = News::default();
        for delta in deltas {
            match delta {
                Delta::Text(more) => news.text.push_str(&more),
                Delta::Retrying { reason, .. } if self.said > 0 => return Err(self.broken(reason)),
                Delta::Retrying { .. } => news.text.clear(),
                // They were paid for, whoever begins anew.
                Delta::Reasoning(more) => news.thoughts.push_str(&more),
                Delta::ToolOutput { .. } => {}
            }
        }
        Ok(news)
    }

    /// What the agent does not hear is charged all the same.
    fn thought(&mut self, thoughts: &str) {
        self.said_tokens += tokens::estimate(thoughts);
        self.note();
    }

    fn broken(&self, reason: String) -> Error {
        let lost = Usage { input: self.prompt, output: self.said_tokens, ..Usage::default() };
        Error::Unavailable { reason, tries: 1, lost, lost_cost: None }
    }

    fn say(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        self.said += text.len();
        self.said_tokens += tokens::estimate(text);
        self.encoder.write(&Piece::Text(text.to_owned()), out);
        self.note();
    }

    const fn note(&mut self) {
        if let Some(account) = &mut self.account {
            let used = Usage { input: self.prompt, output: self.said_tokens, cached_input: 0, cache_write: 0 };
            account.note(used, Metering::Estimated);
        }
    }

    async fn fail(&mut self, error: Error) -> Step {
        self.call = None;
        if let Some(account) = self.account.take() {
            let outcome = Outcome::Failed { reason: error.to_string() };
            account.close(error.lost().0, Metering::Estimated, outcome).await;
        }
        Step::Failed(error)
    }
}

/// What is left to say of an answer of whose text so much was said.
pub fn pieces(response: &Response, said: usize) -> Vec<Piece> {
    let mut pieces = vec![Piece::Usage(response.usage)];
    let text = response.text.get(said..).unwrap_or_default();
    pieces.extend((!text.is_empty()).then(|| Piece::Text(text.to_owned())));
    for (slot, call) in (0..).zip(&response.calls) {
        let (id, tool) = (call.call_id.0.clone(), call.tool.clone());
        pieces.push(Piece::Call(CallPiece { slot, id, tool, arguments: String::new() }));
        let arguments = call.arguments.get().to_owned();
        pieces.push(Piece::Call(CallPiece { slot, arguments, ..CallPiece::default() }));
    }
    pieces.extend([Piece::Stop(response.stop.clone()), Piece::Done]);
    pieces
}

struct Rest {
    first: Option<Vec<u8>>,
    speaking: Speaking,
    redactor: Redactor,
}

impl Flow for Rest {
    async fn next(&mut self) -> Option<Result<Bytes, Torn>> {
        let said = match self.first.take() {
            Some(first) => first,
            None => {
                self.speaking.call.as_ref()?;
                self.speak().await
            }
        };
        // No event ends in the middle of the key.
        Some(Ok(self.redactor.last(said.into())))
    }
}

impl Rest {
    async fn speak(&mut self) -> Vec<u8> {
        match self.speaking.step().await {
            Step::Said(said) => said,
            Step::Failed(error) => {
                let (_, kind, message) = in_status(&error);
                let mut out = Vec::new();
                self.speaking.encoder.fail(kind, &message, &mut out);
                out
            }
        }
    }
}
