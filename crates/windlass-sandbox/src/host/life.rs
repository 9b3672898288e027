//! Whether a sandbox still lives, as far as its owner has not ended it, for all who hold a part of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{
    cgroup::Groups,
    janitor::{Remains, bury},
};
use crate::Error;

pub(crate) struct Life(Mutex<Option<Remains>>);

impl Life {
    pub(crate) fn new(remains: Remains) -> Self {
        Self(Mutex::new(Some(remains)))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.remains().is_none()
    }

    /// The error for a supervisor that is not there any more.
    pub(crate) fn gone(&self, detail: &str) -> Error {
        match self.is_over() {
            true => Error::Closed,
            false => Error::Died { detail: detail.to_owned() },
        }
    }

    pub(crate) fn oom_kills(&self) -> u64 {
        self.remains().as_ref().and_then(|remains| remains.groups.as_ref()).map_or(0, Groups::oom_kills)
    }

    /// `None` if somebody has ended it before. The receiver resolves when nothing is left.
    pub(crate) fn end(&self) -> Option<tokio::sync::oneshot::Receiver<()>> {
        let remains = self.remains().take();
        remains.map(bury)
    }

    fn remains(&self) -> MutexGuard<'_, Option<Remains>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
