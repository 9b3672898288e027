//! A server that is a program: a message is a line. What it prints besides is noise, and standard error is for people.

use windlass_domain::BoxFuture;

use crate::error::Error;
use crate::lines::{Lines, TooLong};
use crate::transport::{Pipe, Transport};

/// Of what the program complained, when it is said why it ended.
const COMPLAINT_LETTERS: usize = 1_000;

pub struct Stdio {
    pipe: Box<dyn Pipe>,
    lines: Lines,
}

impl Stdio {
    pub fn new(pipe: Box<dyn Pipe>, longest_message: usize) -> Self {
        Self { pipe, lines: Lines::new(longest_message) }
    }

    fn broken(&self, what: &str) -> Error {
        let complaints = self.pipe.complaints();
        let complaints = complaints.trim();
        if complaints.is_empty() {
            return Error::Broken(what.to_owned());
        }
        let skipped = complaints.chars().count().saturating_sub(COMPLAINT_LETTERS);
        let end: String = complaints.chars().skip(skipped).collect();
        Error::Broken(format!("{what}; it last complained: {end}"))
    }
}

impl Transport for Stdio {
    fn ask<'a>(&'a mut self, question: &'a [u8]) -> BoxFuture<'a, Result<(), Error>> {
        self.tell(question)
    }

    fn tell<'a>(&'a mut self, notice: &'a [u8]) -> BoxFuture<'a, Result<(), Error>> {
        let line = [notice, b"\n"].concat();
        Box::pin(async move { self.pipe.write(&line).await.map_err(|error| self.broken(&error)) })
    }

    fn receive(&mut self) -> BoxFuture<'_, Result<Vec<u8>, Error>> {
        Box::pin(async move {
            loop {
                let line = self.lines.next().map_err(|TooLong| Error::Protocol("a message is too long".to_owned()))?;
                if let Some(line) = line {
                    return Ok(line);
                }
                let said = self.pipe.read().await.map_err(|error| self.broken(&error))?;
                if said.is_empty() {
                    return Err(self.broken("the program has ended"));
                }
                self.lines.feed(&said);
            }
        })
    }
}
