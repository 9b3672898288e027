//! A conversation with one server, from the greeting on: one question at a time, and while its answer is awaited the server's
//! own questions are answered (no, mostly), and what belongs to nothing is let go. Every wait has an end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use serde_json::{Value, json};
use windlass_domain::{CancelSignal, Runtime, Stop};

use crate::content::Answer;
use crate::definition::Listing;
use crate::error::Error;
use crate::limits::Limits;
use crate::message::{self, Incoming};
use crate::transport::Transport;

/// What we ask for; older ones are understood, as far as tools go.
pub const VERSION: &str = "2025-06-18";
const UNDERSTOOD: [&str; 4] = ["2024-11-05", "2025-03-26", VERSION, "2025-11-25"];
/// Saying that an answer is no longer wanted must not take long either.
const FAREWELL: Duration = Duration::from_secs(1);

pub struct Session {
    transport: Box<dyn Transport>,
    runtime: Arc<dyn Runtime>,
    limits: Limits,
    next_id: u64,
    /// A message was begun and may be there in part.
    is_torn: bool,
}

impl Session {
    pub async fn open(
        transport: Box<dyn Transport>,
        runtime: Arc<dyn Runtime>,
        limits: Limits,
        cancel: &CancelSignal,
    ) -> Result<Self, Error> {
        let mut session = Self { transport, runtime, limits, next_id: 1, is_torn: false };
        let client = json!({"name": "windlass", "version": env!("CARGO_PKG_VERSION")});
        let greeting = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client});
        let hello = session.ask("initialize", &greeting, limits.question, cancel).await?;
        let version = hello["protocolVersion"].as_str().unwrap_or_default();
        if !UNDERSTOOD.contains(&version) {
            let version: String = version.chars().take(40).collect();
            return Err(Error::Protocol(format!("it speaks version `{version}`, which is not understood here")));
        }
        session.tell("notifications/initialized", &json!({}), limits.question).await?;
        Ok(session)
    }

    /// Nothing may be sent any more.
    pub const fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Everything the server has, page by page.
    pub async fn list(&mut self, server: &str, cancel: &CancelSignal) -> Result<Listing, Error> {
        let mut tools = Vec::new();
        let mut bytes = 0;
        let mut cursors = BTreeSet::new();
        let mut params = json!({});
        loop {
            let mut page = self.ask("tools/list", &params, self.limits.question, cancel).await?;
            let Value::Array(more) = page["tools"].take() else {
                return Err(Error::Protocol("its list of tools is no list".to_owned()));
            };
            bytes += more.iter().map(|tool| tool.to_string().len()).sum::<usize>();
            tools.extend(more);
            if tools.len() > self.limits.tools || bytes > self.limits.definition_bytes {
                let Limits { tools, definition_bytes, .. } = self.limits;
                return Err(Error::Protocol(format!(
                    "it has more than {tools} tools or {definition_bytes} bytes of them"
                )));
            }
            match page["nextCursor"].as_str() {
                None => return Ok(Listing::of(server, tools)),
                // Every page is another, or the list has no end; empty ones count too.
                Some(cursor) if cursors.len() < self.limits.tools && cursors.insert(cursor.to_owned()) => {
                    params = json!({"cursor": cursor});
                }
                Some(_) => return Err(Error::Protocol("its list of tools has no end".to_owned())),
            }
        }
    }

    pub async fn call(&mut self, tool: &str, arguments: &Value, cancel: &CancelSignal) -> Result<Answer, Error> {
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.ask("tools/call", &params, self.limits.call, cancel).await?;
        Ok(Answer::read(&result))
    }

    async fn ask(
        &mut self,
        method: &str,
        params: &Value,
        within: Duration,
        cancel: &CancelSignal,
    ) -> Result<Value, Error> {
        let id = self.next_id;
        self.next_id += 1;
        let ends = select(self.runtime.sleep(within), cancel.wait());
        let asked = Box::pin(self.exchange(id, method, params));
        let given_up = match select(asked, ends).await {
            Either::Left((answered, _)) => return answered,
            Either::Right((Either::Left(_), _)) => Error::Late { seconds: within.as_secs() },
            Either::Right((Either::Right((stop, _)), _)) => Error::Stopped(stop),
        };
        // Who has lost the lease says nothing to anybody.
        if !self.is_torn && given_up != Error::Stopped(Stop::LeaseLost) {
            let unwanted = json!({"requestId": id, "reason": given_up.to_string()});
            // Whether it hears us or not, we do not wait.
            let _ = self.tell("notifications/cancelled", &unwanted, FAREWELL).await;
        }
        Err(given_up)
    }

    async fn tell(&mut self, method: &str, params: &Value, within: Duration) -> Result<(), Error> {
        let notice = message::notice(method, params);
        let late = self.runtime.sleep(within);
        match select(Box::pin(self.say(&notice)), late).await {
            Either::Left((sent, _)) => sent,
            Either::Right(_) => Err(Error::Late { seconds: within.as_secs() }),
        }
    }

    async fn exchange(&mut self, id: u64, method: &str, params: &Value) -> Result<Value, Error> {
        self.is_torn = true;
        self.transport.ask(&message::request(id, method, params)).await?;
        self.is_torn = false;
        let (mut bytes, mut noise) = (0, 0);
        loop {
            let said = self.transport.receive().await?;
            bytes += said.len();
            match message::read(&said) {
                Incoming::Answer { id: of, result } if of == id => {
                    return result.map_err(|fault| Error::Refused { code: fault.code, message: fault.message });
                }
                Incoming::Request { id, method } => self.say(&message::reply(&id, &method)).await?,
                // An answer that nobody awaits any more, or never did; progress; changes, which the next list shows.
                Incoming::Answer { .. } | Incoming::Notice => {}
                Incoming::Noise => noise += 1,
            }
            if bytes > self.limits.talk_bytes || noise > self.limits.noise {
                return Err(Error::Protocol("it says too much that is no answer".to_owned()));
            }
        }
    }

    async fn say(&mut self, notice: &[u8]) -> Result<(), Error> {
        self.is_torn = true;
        self.transport.tell(notice).await?;
        self.is_torn = false;
        Ok(())
    }
}
