//! The model as one process sees it: a rehearsal, with the fuse before, in the middle of, and after every answer.

use std::sync::Arc;

use windlass_domain::{BoxFuture, CallId, Delta, Digest, Message, Usage, Usd};
use windlass_llm::{Ask, Chat, Error, Opening, Provider, Rehearsal, Response};

use crate::fuse::{Point, Side};
use crate::process::Process;

pub struct ProcessModel {
    pub process: Process,
    pub inner: Rehearsal,
}

impl Provider for ProcessModel {
    fn open(&self, opening: Opening<'_>) -> Box<dyn Chat> {
        Box::new(ProcessChat { process: self.process.clone(), inner: self.inner.open(opening) })
    }
}

struct ProcessChat {
    process: Process,
    inner: Box<dyn Chat>,
}

impl Chat for ProcessChat {
    fn show(&mut self, image: Digest, bytes: Arc<[u8]>) {
        self.inner.show(image, bytes);
    }

    fn push(&mut self, message: &Message) {
        self.inner.push(message);
    }

    fn reserve(&mut self, id: &CallId) {
        self.inner.reserve(id);
    }

    fn metered(&mut self, usage: &Usage) {
        self.inner.metered(usage);
    }

    fn tokens(&self) -> u64 {
        self.inner.tokens()
    }

    fn tokens_near(&self, threshold: u64) -> u64 {
        self.inner.tokens_near(threshold)
    }

    fn room(&self) -> Result<(), Error> {
        self.inner.room()
    }

    fn cost_to_read(&self) -> Option<Usd> {
        self.inner.cost_to_read()
    }

    fn call<'a>(
        &'a mut self,
        ask: Ask,
        watch: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Response, Error>> {
        Box::pin(async move {
            self.process.pass(Point::Model(Side::Before)).await;
            let process = self.process.clone();
            let mut watched = |delta| {
                process.touch(Point::Delta);
                watch(delta);
            };
            let answered = self.inner.call(ask, &mut watched).await;
            self.process.pass(Point::Model(Side::After)).await;
            answered
        })
    }
}
