//! What a terminal is connected to. Whoever started the program has the line: here nothing is opened, and no program started.

use std::future::Future;
use std::io;
use std::pin::Pin;

use crate::size::Size;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What comes from the program, what goes to it, and how it is told of another size.
pub trait Line: Send + Sync {
    /// What the program has printed, as soon as there is something; nothing once it has hung up. A dropped future loses
    /// nothing.
    fn read(&self) -> BoxFuture<'_, io::Result<Vec<u8>>>;

    /// Waits while the program does not read.
    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, io::Result<()>>;

    fn resize(&self, size: Size) -> io::Result<()>;
}
