//! The shape of every asynchronous answer across a port: boxed, so that the ports can be trait objects.

use std::pin::Pin;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
