//! The body of an answer: known at once, or a stream of events on which something is said now and then until there is an answer, or until
//! the conversation ends.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use windlass_domain::{BoxFuture, Runtime};

/// A comment, which every client passes over.
const STILL_HERE: &[u8] = b": still here\n\n";

/// As hyper takes it.
pub struct Body(Inner);

enum Inner {
    Whole(Bytes),
    Stream {
        /// The message that ends it, if one does.
        awaited: Option<BoxFuture<'static, Option<Vec<u8>>>>,
        pause: BoxFuture<'static, ()>,
        runtime: Arc<dyn Runtime>,
        quiet: Duration,
        is_begun: bool,
    },
}

impl Body {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Inner::Whole(bytes.into()))
    }

    /// Dropping it drops what is awaited.
    pub(crate) fn stream(
        awaited: BoxFuture<'static, Option<Vec<u8>>>,
        runtime: Arc<dyn Runtime>,
        quiet: Duration,
    ) -> Self {
        let pause = runtime.sleep(quiet);
        Self(Inner::Stream { awaited: Some(awaited), pause, runtime, quiet, is_begun: false })
    }
}

impl Body {
    /// As a listener takes it whose bodies may fail: this one does not.
    pub fn boxed<E: 'static>(self) -> Pin<Box<dyn HttpBody<Data = Bytes, Error = E> + Send>> {
        Box::pin(Unfailing { body: self, error: PhantomData })
    }
}

struct Unfailing<E> {
    body: Body,
    error: PhantomData<fn() -> E>,
}

impl<E> HttpBody for Unfailing<E> {
    type Data = Bytes;
    type Error = E;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, E>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        frame.map_err(|never| match never {})
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = |bytes: Bytes| Poll::Ready(Some(Ok(Frame::data(bytes))));
        match &mut self.0 {
            Inner::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Inner::Whole(bytes) => data(std::mem::take(bytes)),
            Inner::Stream { awaited, pause, runtime, quiet, is_begun } => {
                let Some(waiting) = awaited else { return Poll::Ready(None) };
                if let Poll::Ready(message) = waiting.as_mut().poll(context) {
                    *awaited = None;
                    return match message {
                        Some(message) => data(event(&message)),
                        None => Poll::Ready(None),
                    };
                }
                // At once, so that whoever waits for the first byte knows that the stream stands.
                if !std::mem::replace(is_begun, true) {
                    return data(Bytes::from_static(STILL_HERE));
                }
                if pause.as_mut().poll(context).is_ready() {
                    *pause = runtime.sleep(*quiet);
                    return data(Bytes::from_static(STILL_HERE));
                }
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Whole(bytes) => bytes.is_empty(),
            Inner::Stream { awaited, .. } => awaited.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Stream { .. } => SizeHint::default(),
        }
    }
}

/// A message is one line.
fn event(message: &[u8]) -> Bytes {
    [b"event: message\ndata: ".as_slice(), message, b"\n\n"].concat().into()
}
