//! File work where it holds up nobody: a closure through `Runtime::block`, and its value back.

use std::sync::{Arc, Mutex, PoisonError};

use windlass_domain::Runtime;

pub(crate) async fn blocking<T: Send + 'static>(runtime: &dyn Runtime, work: impl FnOnce() -> T + Send + 'static) -> T {
    let slot = Arc::new(Mutex::new(None));
    let filled = Arc::clone(&slot);
    let done = runtime.block(Box::new(move || {
        let value = work();
        *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }));
    done.await;
    let value = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    value.expect("`Runtime::block` runs its work before it is done")
}
