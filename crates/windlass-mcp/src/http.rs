//! A server at an address (streamable HTTP): a message is posted, and what comes back is one message or a stream of events that
//! ends. Streams that a server keeps open for later are not listened to.

use std::collections::VecDeque;

use windlass_domain::BoxFuture;

use crate::error::Error;
use crate::session::VERSION;
use crate::sse;
use crate::transport::{Post, Posted, Transport};

/// Of an answer that says why not.
const REASON_LETTERS: usize = 300;

pub struct Http {
    post: Box<dyn Post>,
    session: Option<String>,
    waiting: VecDeque<Vec<u8>>,
}

impl Http {
    pub fn new(post: Box<dyn Post>) -> Self {
        Self { post, session: None, waiting: VecDeque::new() }
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", VERSION.to_owned()),
        ];
        headers.extend(self.session.clone().map(|session| ("mcp-session-id", session)));
        headers
    }

    fn take(&mut self, posted: Posted) -> Result<(), Error> {
        let Posted { status, content_type, session, body } = posted;
        if !(200..300).contains(&status) {
            let reason: String = String::from_utf8_lossy(&body).chars().take(REASON_LETTERS).collect();
            return Err(Error::Broken(format!("it answered with status {status}: {}", reason.trim())));
        }
        self.session = session.or(self.session.take());
        if content_type.starts_with("text/event-stream") {
            self.waiting.extend(sse::messages(&String::from_utf8_lossy(&body)));
        } else if !body.is_empty() {
            self.waiting.push_back(body);
        }
        Ok(())
    }
}

impl Transport for Http {
    fn send<'a>(&'a mut self, message: &'a [u8]) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let posted = self.post.post(self.headers(), message).await.map_err(Error::Broken)?;
            self.take(posted)
        })
    }

    fn receive(&mut self) -> BoxFuture<'_, Result<Vec<u8>, Error>> {
        let next = self.waiting.pop_front();
        Box::pin(std::future::ready(
            next.ok_or_else(|| Error::Protocol("the answer to what was posted did not come back with it".to_owned())),
        ))
    }
}
