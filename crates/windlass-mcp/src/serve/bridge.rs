//! From lines to an endpoint of this machine, for programs that only take MCP servers that speak on standard input and output: what
//! comes in as a line is posted, and what comes back is a line.

use std::sync::Arc;

use futures_util::future::select;
use futures_util::stream::{FuturesUnordered, StreamExt};
use http::Method;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::mpsc;
use windlass_domain::{BoxFuture, Runtime, Secret};

use crate::lines::{Lines, TooLong};
use crate::serve::calls::Calls;
use crate::serve::destination::{Alone, Destination, Unusable};
use crate::serve::limits::Limits;
use crate::serve::lines::say;
use crate::serve::message::{self, Bad, Fault, Id, Message, NO_MESSAGE, OUR_FAULT};
use crate::serve::methods::{self, CANCELLED, GREETING};
use crate::serve::version::Era;

const PORTION: usize = 64 << 10;
/// Lines that wait to be written.
const WAITING: usize = 64;

pub struct Bridge {
    to: Arc<Destination>,
}

impl Bridge {
    pub fn new(url: &str, token: Secret, runtime: Arc<dyn Runtime>, limits: Limits) -> Result<Self, Unusable> {
        Ok(Self { to: Arc::new(Destination::new(url, token, runtime, limits)?) })
    }

    /// Until nothing more comes in and what was asked is answered, or had the time for it.
    pub async fn forward<R, W>(&self, mut reader: R, mut writer: W) -> std::io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let limits = self.to.limits;
        let (out, mut answers) = mpsc::channel(WAITING);
        let mut posts = FuturesUnordered::<BoxFuture<'static, ()>>::new();
        let calls = Calls::default();
        let mut lines = Lines::new(limits.message_bytes);
        let mut portion = vec![0; PORTION];
        let mut farewell: Option<BoxFuture<'static, ()>> = None;
        loop {
            let is_open = farewell.is_none();
            tokio::select! {
                biased;
                Some(answer) = answers.recv() => say(&mut writer, Some(answer)).await?,
                Some(()) = posts.next(), if !posts.is_empty() => {}
                read = reader.read(&mut portion), if is_open && posts.len() < limits.calls => match read? {
                    0 => farewell = Some(self.to.runtime.sleep(limits.farewell)),
                    read => {
                        lines.feed(&portion[..read]);
                        while let Some(line) = lines.next().map_err(too_long)? {
                            posts.extend(heard(&self.to, line, &calls, out.clone()));
                        }
                    }
                },
                () = async { if let Some(farewell) = &mut farewell { farewell.await } }, if !is_open => break,
            }
            if farewell.is_some() && posts.is_empty() && answers.is_empty() {
                break;
            }
        }
        drop(posts);
        self.to.goodbye().await;
        Ok(())
    }
}

fn too_long(_: TooLong) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, "a line is longer than a message may be")
}

/// What is to be done about a line.
fn heard(
    to: &Arc<Destination>,
    line: Vec<u8>,
    calls: &Calls,
    out: mpsc::Sender<Vec<u8>>,
) -> Option<BoxFuture<'static, ()>> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    match message::read(&line) {
        Ok(Message::Request { id, method, params }) => {
            let Some(running) = calls.begin(&id) else {
                let fault = Fault::new(NO_MESSAGE, "a call with this id runs already: give each an id of its own");
                return Some(said(out, message::refusal(Some(&id), &fault)));
            };
            let to = Arc::clone(to);
            let taken_back = running.taken_back.clone();
            let asked = async move {
                asked(&to, &id, &method, &params, line, &out).await;
                drop(running);
            };
            Some(Box::pin(async move {
                // Dropping it closes the connection.
                select(Box::pin(asked), taken_back.wait()).await;
            }))
        }
        Ok(Message::Notice { method, params }) => {
            if let Some(id) = params.get("requestId").and_then(Id::read).filter(|_| method == CANCELLED) {
                calls.take_back(&id);
                // Without a session, the connection that is closed says it all.
                to.agreed()?;
            }
            let to = Arc::clone(to);
            Some(Box::pin(async move {
                // It has no answer, and whether it arrived shows when the next question is asked.
                let _ = to.sent(Method::POST, None, line).await;
            }))
        }
        // Nobody asked.
        Ok(Message::Reply) => None,
        Err(Bad { id, fault }) => Some(said(out, message::refusal(id.as_ref(), &fault))),
    }
}

async fn asked(
    to: &Destination,
    id: &Id,
    method: &str,
    params: &Map<String, Value>,
    line: Vec<u8>,
    out: &mpsc::Sender<Vec<u8>>,
) {
    let is_greeting = method == GREETING;
    if is_greeting {
        to.forget();
    }
    let alone = (methods::era(params) == Era::PerRequest).then(|| Alone {
        version: methods::version_of(params).map(str::to_owned),
        method: method.to_owned(),
        name: params.get("name").and_then(Value::as_str).map(str::to_owned),
    });
    let answered = match to.sent(Method::POST, alone, line).await {
        Ok(exchange) => exchange.passed_on(to, id, is_greeting, out).await,
        Err(problem) => Err(problem),
    };
    if let Err(problem) = answered {
        let fault = Fault::new(OUR_FAULT, problem);
        // Who no longer reads needs no answer.
        let _ = out.send(message::refusal(Some(id), &fault)).await;
    }
}

fn said(out: mpsc::Sender<Vec<u8>>, line: Vec<u8>) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let _ = out.send(line).await;
    })
}
