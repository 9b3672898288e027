//! The seam: what a caller sees of a sandbox, whichever provider made it. A scripted sandbox in a test implements
//! the same traits.

use std::{future::Future, net::TcpListener, pin::Pin};

use crate::{Command, Error, Exit, Policy, Status, Stream};

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

/// How often a sandbox can be asked to listen.
pub const MOST_LISTENERS: usize = 16;

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

    /// Starts a command to talk to, which runs beside others, under the same policy, until it ends by itself, is killed, or
    /// the sandbox is closed. When it ends, so does all that it has started. `stdin` and `output_cap` of the command mean
    /// nothing here, its timeout does: [`Command::NO_TIMEOUT`] for none. One that wants a terminal gets one.
    fn start(&self, command: Command) -> BoxFuture<'_, Result<Box<dyn Running>, Error>>;

    /// A listening socket on the sandbox's own loopback (127.0.0.1, a free port), for the owner to accept on what commands
    /// connect to. Nothing else becomes reachable by it, and nobody else reaches it; where nothing is confined the loopback
    /// is the machine's, and everybody there does. It is a blocking one, as the standard library makes them.
    ///
    /// With the sandbox all connections end, since those who made them do; accepting then waits for nobody, until the
    /// socket is dropped. It can be asked for 16 times.
    fn listen(&self) -> BoxFuture<'_, Result<TcpListener, Error>>;

    /// Kills what still runs and returns when the whole tree is gone. Commands after this fail with [`Error::Closed`].
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A command that is talked to. Share it to read, write and wait at the same time. Dropping it kills the command.
///
/// What it says is taken only while somebody reads (or, for standard error, does anything at all here): its pipes hold
/// some 64 KiB each, a terminal less, and then it waits. Who waits for its end without reading may wait for ever.
pub trait Running: Send + Sync {
    /// Returns when the command has taken all of it, but for what its pipe holds. What a dropped future has written
    /// by then is written. To a terminal it is typed: a key may mean something to it, and while it collects a line it
    /// loses what is beyond 4 KiB.
    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), Error>>;

    /// The command's reads end after what was written before. Writing fails from then on. At a terminal its end-of-file
    /// character is typed instead, which ends one read at the beginning of a line; more can be written.
    fn close_stdin(&self) -> BoxFuture<'_, ()>;

    /// What the command has said on standard output, or on its terminal, as soon as there is something; empty at the end. A
    /// dropped future loses nothing.
    fn read(&self) -> BoxFuture<'_, Result<Vec<u8>, Error>>;

    /// The last few KiB of standard error. Nothing where that goes elsewhere.
    fn complaints(&self) -> Vec<u8>;

    /// Gives its terminal another size, of which the program in the foreground hears by `SIGWINCH`.
    fn resize(&self, rows: u16, cols: u16) -> Result<(), Error>;

    /// Asks the command to end, and has it killed after its grace.
    fn stop(&self);

    /// At once, with all that it has started.
    fn kill(&self);

    /// How it ended: [`Status::Cancelled`] where it was stopped or killed from here. Nothing of it runs any more.
    fn wait(&self) -> BoxFuture<'_, Result<Status, Error>>;
}

/// A [`Cancel`] that never cancels.
pub fn never() -> Cancel {
    Box::pin(std::future::pending())
}

/// An [`Output`] for callers who do not watch: `&mut discard`.
pub fn discard(_: Stream, _: &[u8]) {}
