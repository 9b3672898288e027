//! Standard input and output as streams of bytes, for what is spoken over them. Input is read where blocking holds up nobody;
//! output goes through the thread that owns it.

use std::io::Read as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use windlass_domain::Runtime;

use crate::show::{WhenFull, output};

const PORTION: usize = 64 << 10;

/// What comes in, from now on. One that nobody reads any more waits for the end of the program.
pub fn input(runtime: &Arc<dyn Runtime>) -> impl AsyncRead + Unpin + use<> {
    let (reader, mut writer) = tokio::io::duplex(PORTION);
    let blocking = Arc::clone(runtime);
    runtime.spawn(Box::pin(async move {
        loop {
            let read = blocking.blocking(|| {
                let mut portion = vec![0; PORTION];
                let read = std::io::stdin().read(&mut portion).unwrap_or_default();
                portion.truncate(read);
                portion
            });
            let portion = read.await;
            // An error is an end like any other.
            if portion.is_empty() || writer.write_all(&portion).await.is_err() {
                return;
            }
        }
    }));
    reader
}

/// Where whole lines go.
pub struct Lines;

impl AsyncWrite for Lines {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        output().send(bytes.to_vec(), WhenFull::Keep);
        Poll::Ready(match output().is_closed() {
            true => Err(std::io::ErrorKind::BrokenPipe.into()),
            false => Ok(bytes.len()),
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
