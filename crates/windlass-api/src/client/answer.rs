//! The answer to a request as it comes in: its head, and its body portion by portion. The connection is waited for beside it, as long as
//! there is something to read.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as _;
use hyper::body::Incoming;

use super::connect::{Connected, WholeBody, Wire};

pub(super) struct Answer {
    pub(super) head: Response<()>,
    body: Incoming,
    /// None once it has ended; what it has handed over is still read.
    wire: Option<Wire>,
}

impl Answer {
    /// Sends a request and waits for the head of what is answered.
    pub(super) async fn to(connected: Connected, request: Request<WholeBody>) -> Result<Self, hyper::Error> {
        let Connected { mut sender, wire } = connected;
        let mut wire = Some(wire);
        let mut asked = Box::pin(async move { sender.send_request(request).await });
        let response = std::future::poll_fn(|context| {
            go_on(&mut wire, context);
            asked.as_mut().poll(context)
        })
        .await?;
        let (parts, body) = response.into_parts();
        Ok(Self { head: Response::from_parts(parts, ()), body, wire })
    }

    /// The next portion; none at the proper end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, hyper::Error> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, hyper::Error>> {
        loop {
            go_on(&mut self.wire, context);
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Ok(Some(data)));
                    }
                }
            }
        }
    }
}

/// How it ended is heard through what was asked.
fn go_on(wire: &mut Option<Wire>, context: &mut Context<'_>) {
    if let Some(going) = wire
        && going.as_mut().poll(context).is_ready()
    {
        *wire = None;
    }
}
