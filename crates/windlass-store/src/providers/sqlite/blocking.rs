//! Work that blocks, where it holds up nobody else: a closure through `Runtime::block`, and what it answers.

use std::path::PathBuf;

use windlass_domain::Runtime;

use crate::error::Error;

pub(super) async fn blocking<T: Send + 'static>(
    runtime: &dyn Runtime,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (reply, answer) = tokio::sync::oneshot::channel();
    let work = move || {
        // Whoever asked may have gone away.
        let _ = reply.send(work());
    };
    runtime.block(Box::new(work)).await;
    let stopping = || Error::Io { path: PathBuf::from("blobs"), detail: "the runtime is stopping".to_owned() };
    answer.await.unwrap_or_else(|_| Err(stopping()))
}
