//! What carries messages, and what whoever owns processes and connections has to bring for it.

use windlass_domain::BoxFuture;

use crate::error::Error;

/// Messages to a server and from it. A future that is dropped while sending may have sent a part: nothing is to be sent after.
pub trait Transport: Send {
    fn send<'a>(&'a mut self, message: &'a [u8]) -> BoxFuture<'a, Result<(), Error>>;

    /// The next message. A dropped future loses nothing.
    fn receive(&mut self) -> BoxFuture<'_, Result<Vec<u8>, Error>>;
}

/// A program that is talked to. Dropping it ends the program.
pub trait Pipe: Send + Sync {
    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), String>>;

    /// What it has said, as soon as there is something; empty at its end.
    fn read(&self) -> BoxFuture<'_, Result<Vec<u8>, String>>;

    /// The end of what it said on standard error.
    fn complaints(&self) -> String;
}

/// An address that messages are posted to.
pub trait Post: Send + Sync {
    /// The whole answer.
    fn post<'a>(
        &'a self,
        headers: Vec<(&'static str, String)>,
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<Posted, String>>;
}

#[derive(Debug, Clone, Default)]
pub struct Posted {
    pub status: u16,
    pub content_type: String,
    /// `Mcp-Session-Id`.
    pub session: Option<String>,
    pub body: Vec<u8>,
}
