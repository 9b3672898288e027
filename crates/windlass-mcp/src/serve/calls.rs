//! The calls of one client that run, by the id it gave them, so that it can take one back; and all of them at once when it goes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_domain::{CancelSignal, Canceller, Stop};

use crate::serve::message::Id;

#[derive(Debug, Clone, Default)]
pub(crate) struct Calls {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    running: BTreeMap<String, Canceller>,
    is_over: bool,
}

/// One of them. It is forgotten when this is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    calls: Calls,
    key: String,
    pub taken_back: CancelSignal,
}

impl Calls {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing where a call of this id runs already, or the client has gone.
    pub fn begin(&self, id: &Id) -> Option<Running> {
        let key = id.key();
        let mut inner = self.inner();
        if inner.is_over || inner.running.contains_key(&key) {
            return None;
        }
        let canceller = Canceller::default();
        let taken_back = canceller.signal();
        inner.running.insert(key.clone(), canceller);
        Some(Running { calls: self.clone(), key, taken_back })
    }

    /// One that nobody knows has ended, or never was.
    pub fn take_back(&self, id: &Id) {
        if let Some(canceller) = self.inner().running.get(&id.key()) {
            canceller.stop(Stop::Cancel);
        }
    }

    pub fn end(&self) {
        let mut inner = self.inner();
        inner.is_over = true;
        inner.running.values().for_each(|canceller| canceller.stop(Stop::Cancel));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.calls.inner().running.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(value: serde_json::Value) -> Id {
        Id::read(&value).expect("an id")
    }

    #[test]
    fn a_call_is_taken_back_by_its_id_and_by_no_other() {
        let calls = Calls::default();
        let (one, other) = (calls.begin(&id(json!(1))).unwrap(), calls.begin(&id(json!("1"))).unwrap());
        assert!(calls.begin(&id(json!(1))).is_none());
        calls.take_back(&id(json!(2)));
        assert_eq!((one.taken_back.raised(), other.taken_back.raised()), (None, None));
        calls.take_back(&id(json!(1)));
        assert_eq!((one.taken_back.raised(), other.taken_back.raised()), (Some(Stop::Cancel), None));
        drop(one);
        assert!(calls.begin(&id(json!(1))).is_some());
    }

    #[test]
    fn when_the_client_goes_all_end_and_none_begins() {
        let calls = Calls::default();
        let running = calls.begin(&id(json!(1))).unwrap();
        calls.end();
        assert_eq!(running.taken_back.raised(), Some(Stop::Cancel));
        assert!(calls.begin(&id(json!(2))).is_none());
    }
}
