//! Bodies of requests and answers: read up to a limit; sent whole, or in part and then torn off.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};

/// `None` when it is longer than that or breaks off.
pub async fn read(mut body: hyper::body::Incoming, longest: usize) -> Option<Bytes> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        if all.len() + first.len() + data.len() > longest {
            return None;
        }
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        all.extend_from_slice(&std::mem::take(&mut first));
        all.extend_from_slice(&data);
    }
    Some(if all.is_empty() { first } else { all.freeze() })
}

pub struct Reply {
    bytes: Bytes,
    ending: Ending,
}

enum Ending {
    Proper,
    /// What was sent is given a moment to leave before the connection goes down.
    TornSoon,
    TornNow,
}

#[derive(Debug, thiserror::Error)]
#[error("torn off on purpose")]
pub struct TornOff;

impl Reply {
    pub const fn whole(bytes: Bytes) -> Self {
        Self { bytes, ending: Ending::Proper }
    }

    pub const fn torn(bytes: Bytes) -> Self {
        Self { bytes, ending: Ending::TornSoon }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = TornOff;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, TornOff>>> {
        if !self.bytes.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.bytes)))));
        }
        match self.ending {
            Ending::Proper => Poll::Ready(None),
            Ending::TornNow => Poll::Ready(Some(Err(TornOff))),
            Ending::TornSoon => {
                self.ending = Ending::TornNow;
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.ending, Ending::Proper) && self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        match self.ending {
            Ending::Proper => SizeHint::with_exact(self.bytes.len() as u64),
            Ending::TornSoon | Ending::TornNow => SizeHint::default(),
        }
    }
}
