//! The seam: what a caller sees of a sandbox, whichever provider made it. A scripted sandbox in a test implements
//! the same two traits.

use std::{future::Future, pin::Pin};

use crate::{Command, Error, Exit, Policy, Stream};

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Resolves when the command should stop. [`never`] for a command that only its timeout ends.
pub type Cancel = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Sees each piece of output as it arrives, up to the command's cap. [`discard`] for callers who only want the exit.
pub type Output<'a> = &'a mut (dyn FnMut(Stream, &[u8]) + Send);

/// Opens sandboxes.
pub trait Provider: Send + Sync {
    /// Returns once the sandbox has proved that it denies what it must; nothing has run in it yet.
    fn open(&self, policy: Policy) -> BoxFuture<'_, Result<Box<dyn Sandbox>, Error>>;
}

/// One policy, enforced on every command run through it. Commands may run side by side.
///
/// Dropping a sandbox kills what runs in it, without waiting for the end of it.
pub trait Sandbox: Send + Sync {
    /// Runs one command to its end. When this returns, nothing that the command started is running.
    ///
    /// A background process does not outlive its command: a caller who wants a server running while other
    /// commands talk to it runs the server as a command of its own. Dropping the future kills the command at
    /// once; resolving `cancel` asks it to end and kills it after the command's grace.
    fn run<'a>(&'a self, command: Command, output: Output<'a>, cancel: Cancel) -> BoxFuture<'a, Result<Exit, Error>>;

    /// Kills what still runs and returns when the whole tree is gone. Commands after this fail with [`Error::Closed`].
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A [`Cancel`] that never cancels.
pub fn never() -> Cancel {
    Box::pin(std::future::pending())
}

/// An [`Output`] for callers who do not watch: `&mut discard`.
pub fn discard(_: Stream, _: &[u8]) {}
