//! The executor that tests run on: Tokio with its real clock, since the store's own threads do not know a paused one.

#![expect(clippy::disallowed_methods, reason = "tests build their own executor")]

use std::sync::Arc;

use windlass_domain::Runtime;
use windlass_runtime::TokioRuntime;

pub struct Executor {
    tokio: tokio::runtime::Runtime,
}

impl Executor {
    pub fn new() -> Self {
        let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        Self { tokio: tokio.expect("an executor") }
    }

    pub fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(TokioRuntime::new(self.tokio.handle().clone()))
    }

    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.tokio.block_on(future)
    }
}

impl Executor {
    pub fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.tokio.spawn(future)
    }
}
