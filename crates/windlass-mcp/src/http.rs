//! A server at an address (streamable HTTP): a message is posted, and what comes back is one message or a stream of events,
//! of which each is heard as it comes. Streams that a server keeps open without having been asked are not listened to, and one
//! that breaks off is not taken up again: what it still had to say counts as lost.

use windlass_domain::BoxFuture;

use crate::error::Error;
use crate::lines::TooLong;
use crate::session::VERSION;
use crate::sse::Events;
use crate::transport::{Body, Post, Posted, Transport};

/// Of an answer that says why not.
const REASON_BYTES: usize = 300;

pub struct Http {
    post: Box<dyn Post>,
    session: Option<String>,
    coming: Coming,
    longest_message: usize,
}

/// To the question that was posted last.
enum Coming {
    Nothing,
    Awaited(BoxFuture<'static, Result<Posted, String>>),
    One { body: Box<dyn Body>, so_far: Vec<u8> },
    Stream { body: Box<dyn Body>, events: Events },
}

impl Http {
    pub fn new(post: Box<dyn Post>, longest_message: usize) -> Self {
        Self { post, session: None, coming: Coming::Nothing, longest_message }
    }

    fn post(&self, message: &[u8]) -> BoxFuture<'static, Result<Posted, String>> {
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", VERSION.to_owned()),
        ];
        headers.extend(self.session.clone().map(|session| ("mcp-session-id", session)));
        self.post.post(headers, message.to_vec())
    }

    fn begin(&mut self, posted: Posted) {
        let Posted { content_type, session, body, .. } = posted;
        self.session = session.or(self.session.take());
        self.coming = if content_type.starts_with("text/event-stream") {
            Coming::Stream { body, events: Events::new(self.longest_message) }
        } else {
            Coming::One { body, so_far: Vec::new() }
        };
    }

    /// The next message of what is coming back, if there is one.
    async fn hear(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            match &mut self.coming {
                Coming::Nothing => return Ok(None),
                Coming::Awaited(posting) => {
                    let posted = accepted(posting.await.map_err(Error::Broken)?).await?;
                    self.begin(posted);
                }
                Coming::One { body, so_far } => {
                    let more = body.read().await.map_err(Error::Broken)?;
                    if more.is_empty() {
                        let whole = std::mem::take(so_far);
                        self.coming = Coming::Nothing;
                        return Ok(Some(whole).filter(|whole| !whole.is_empty()));
                    }
                    if so_far.len() + more.len() > self.longest_message {
                        return Err(too_long(TooLong));
                    }
                    so_far.extend_from_slice(&more);
                }
                Coming::Stream { body, events } => {
                    if let Some(message) = events.next().map_err(too_long)? {
                        return Ok(Some(message));
                    }
                    match body.read().await.map_err(Error::Broken)? {
                        more if more.is_empty() => self.coming = Coming::Nothing,
                        more => events.feed(&more),
                    }
                }
            }
        }
    }
}

fn too_long(_: TooLong) -> Error {
    Error::Protocol("a message is too long".to_owned())
}

/// A status that says yes, or the error with what was said instead.
async fn accepted(mut posted: Posted) -> Result<Posted, Error> {
    if (200..300).contains(&posted.status) {
        return Ok(posted);
    }
    let mut said = Vec::new();
    while said.len() < REASON_BYTES {
        match posted.body.read().await {
            Ok(more) if !more.is_empty() => said.extend(more),
            _ => break,
        }
    }
    said.truncate(REASON_BYTES);
    let reason = String::from_utf8_lossy(&said);
    Err(Error::Broken(format!("it answered with status {}: {}", posted.status, reason.trim())))
}

impl Transport for Http {
    /// Sent when its answer is awaited: a server may answer with nothing, not even a head, before it has done what it was asked.
    fn ask<'a>(&'a mut self, question: &'a [u8]) -> BoxFuture<'a, Result<(), Error>> {
        self.coming = Coming::Awaited(self.post(question));
        Box::pin(std::future::ready(Ok(())))
    }

    fn tell<'a>(&'a mut self, notice: &'a [u8]) -> BoxFuture<'a, Result<(), Error>> {
        let posting = self.post(notice);
        Box::pin(async move { accepted(posting.await.map_err(Error::Broken)?).await.map(drop) })
    }

    fn receive(&mut self) -> BoxFuture<'_, Result<Vec<u8>, Error>> {
        Box::pin(async move {
            let heard = self.hear().await?;
            heard.ok_or_else(|| Error::Protocol("the answer to what was posted did not come back with it".to_owned()))
        })
    }
}
