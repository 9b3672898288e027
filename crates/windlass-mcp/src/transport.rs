//! What carries messages, and what whoever owns processes and connections has to bring for it.

use windlass_domain::BoxFuture;

use crate::error::Error;

/// Messages to a server and from it. A future that is dropped while sending may have sent a part: nothing is to be sent after.
pub trait Transport: Send {
    /// Sends a question. What an earlier one still has to be told is no longer wanted.
    fn ask<'a>(&'a mut self, question: &'a [u8]) -> BoxFuture<'a, Result<(), Error>>;

    /// Sends what has no answer.
    fn tell<'a>(&'a mut self, notice: &'a [u8]) -> BoxFuture<'a, Result<(), Error>>;

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
    /// The answer, as soon as it begins. Dropping the future, or the answer, ends the connection.
    fn post(&self, headers: Vec<(&'static str, String)>, body: Vec<u8>) -> BoxFuture<'static, Result<Posted, String>>;
}

pub struct Posted {
    pub status: u16,
    pub content_type: String,
    /// `Mcp-Session-Id`.
    pub session: Option<String>,
    pub body: Box<dyn Body>,
}

/// What an address answers, as it comes.
pub trait Body: Send {
    /// Some of it, as soon as there is something; empty at its end. A dropped future loses nothing.
    fn read(&mut self) -> BoxFuture<'_, Result<Vec<u8>, String>>;
}
