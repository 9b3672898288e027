//! What a terminal is connected to: a pseudo-terminal here, or a container's over its daemon.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::size::Size;

/// What comes from the program, what goes to it, and how it is told of another size.
pub struct Line {
    pub from: Box<dyn AsyncRead + Send + Unpin>,
    pub to: Box<dyn AsyncWrite + Send + Unpin>,
    pub resize: Box<dyn Fn(Size) -> io::Result<()> + Send + Sync>,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Line").finish_non_exhaustive()
    }
}
