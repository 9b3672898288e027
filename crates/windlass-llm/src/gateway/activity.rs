//! What a connection is doing and for how long, so that one on which nothing happens can be taken down: an agent that does not
//! send the rest of its request, does not come back, or does not read its answer. An answer that is being waited for is none
//! of these.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use windlass_domain::{Instant, Runtime};

use crate::gateway::{Body, Limits, Torn};

pub struct Activity {
    runtime: Arc<dyn Runtime>,
    limits: Limits,
    doing: Mutex<Doing>,
}

#[derive(Debug, Clone, Copy)]
enum Doing {
    /// No request is under way, or not all of its head has come.
    Nothing { since: Instant },
    /// The answer is being made; whoever makes it has deadlines of their own.
    Answering,
    /// A portion was handed to the socket, which has not asked for the next.
    Delivering { since: Instant },
}

impl Activity {
    pub fn new(runtime: Arc<dyn Runtime>, limits: Limits) -> Arc<Self> {
        let doing = Mutex::new(Doing::Nothing { since: runtime.now() });
        Arc::new(Self { runtime, limits, doing })
    }

    pub fn answering(&self) {
        self.set(Doing::Answering);
    }

    fn set(&self, doing: Doing) {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = doing;
    }

    /// When to look again, or `None` when this has gone on for too long.
    pub fn next_look(&self) -> Option<Instant> {
        let now = self.runtime.now();
        // What it does may change at any time, and nobody is told.
        let soon = now + self.limits.idle.min(self.limits.stalled);
        let due = match *self.doing.lock().unwrap_or_else(PoisonError::into_inner) {
            Doing::Nothing { since } => since + self.limits.idle,
            Doing::Delivering { since } => since + self.limits.stalled,
            Doing::Answering => soon,
        };
        (due > now).then_some(due.min(soon))
    }

    /// The body, with what becomes of it noted here.
    pub fn watch(self: &Arc<Self>, body: Body) -> Body {
        Box::pin(Watched { body, activity: Arc::clone(self) })
    }
}

struct Watched {
    body: Body,
    activity: Arc<Activity>,
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = Torn;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let polled = self.body.as_mut().poll_frame(context);
        match &polled {
            Poll::Pending => self.activity.answering(),
            Poll::Ready(_) => self.activity.set(Doing::Delivering { since: self.activity.runtime.now() }),
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.activity.set(Doing::Nothing { since: self.activity.runtime.now() });
    }
}
