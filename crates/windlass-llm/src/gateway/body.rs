//! The bodies of answers: whole, or a `Flow` of portions that is made while it is sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use windlass_domain::BoxFuture;

/// Any body.
pub type Body = Pin<Box<dyn http_body::Body<Data = Bytes, Error = Torn> + Send>>;

/// What takes the connection down, so that nobody takes half an answer for a whole one.
#[derive(Debug, thiserror::Error)]
#[error("the answer broke off")]
pub struct Torn;

pub fn whole(bytes: impl Into<Bytes>) -> Body {
    Box::pin(Whole(bytes.into()))
}

/// A body whose errors are its own.
pub fn boxed(body: impl http_body::Body<Data = Bytes> + Send + Unpin + 'static) -> Body {
    Box::pin(Boxed(body))
}

struct Boxed<B>(B);

impl<B: http_body::Body<Data = Bytes> + Unpin> http_body::Body for Boxed<B> {
    type Data = Bytes;
    type Error = Torn;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.0).poll_frame(context).map(|frame| frame.map(|frame| frame.map_err(|_| Torn)))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

struct Whole(Bytes);

impl http_body::Body for Whole {
    type Data = Bytes;
    type Error = Torn;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let bytes = std::mem::take(&mut self.0);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

/// An answer that is made portion by portion. It is dropped where the agent goes away in the middle.
pub trait Flow: Send + 'static {
    /// `None` at the proper end; after that, and after an error, it is not asked again.
    fn next(&mut self) -> impl Future<Output = Option<Result<Bytes, Torn>>> + Send;
}

pub fn flowing(flow: impl Flow + Unpin) -> Body {
    Box::pin(Flowing::Waiting(flow))
}

enum Flowing<F> {
    Waiting(F),
    Working(BoxFuture<'static, (F, Option<Result<Bytes, Torn>>)>),
    Over,
}

impl<F: Flow + Unpin> http_body::Body for Flowing<F> {
    type Data = Bytes;
    type Error = Torn;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        loop {
            match std::mem::replace(this, Self::Over) {
                Self::Over => return Poll::Ready(None),
                Self::Waiting(mut flow) => {
                    *this = Self::Working(Box::pin(async move {
                        let next = flow.next().await;
                        (flow, next)
                    }));
                }
                Self::Working(mut working) => match working.as_mut().poll(context) {
                    Poll::Pending => {
                        *this = Self::Working(working);
                        return Poll::Pending;
                    }
                    Poll::Ready((flow, Some(Ok(portion)))) => {
                        *this = Self::Waiting(flow);
                        return Poll::Ready(Some(Ok(Frame::data(portion))));
                    }
                    Poll::Ready((_, Some(Err(torn)))) => return Poll::Ready(Some(Err(torn))),
                    Poll::Ready((_, None)) => return Poll::Ready(None),
                },
            }
        }
    }
}
