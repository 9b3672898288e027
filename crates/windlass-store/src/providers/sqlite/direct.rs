//! Commits and reads on the caller's own poll: in memory always, on disk in a process that does one thing at a time. What
//! would keep the caller waiting for others, a database that another process holds or a call of this process that waits
//! for one, is done on a thread for what blocks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use rusqlite::Connection;
use windlass_domain::Runtime;

use crate::commit::{Commit, Committed};
use crate::error::Error;
use crate::notifier::{Notifier, topics_of};
use crate::providers::sqlite::blocking::blocking;
use crate::providers::sqlite::checkpoint::Checkpointer;
use crate::providers::sqlite::ledger::Ledger;

pub(super) struct Direct {
    seat: Arc<Mutex<Seat>>,
    runtime: Arc<dyn Runtime>,
}

struct Seat {
    ledger: Ledger,
    /// In memory there is no log. Taken only by `drop`.
    checkpointer: Option<Checkpointer>,
    notifier: Notifier,
}

impl Direct {
    pub(super) fn new(
        ledger: Ledger,
        checkpointer: Option<Checkpointer>,
        notifier: Notifier,
        runtime: Arc<dyn Runtime>,
    ) -> Self {
        Self { seat: Arc::new(Mutex::new(Seat { ledger, checkpointer, notifier })), runtime }
    }

    pub(super) async fn commit(&self, commit: Commit) -> Result<Committed, Error> {
        let at_once = self.free_seat().map(|seat| seat.ledger.impatiently(|_| seat.commit(&commit)));
        match at_once {
            None | Some(Err(Error::Busy { .. })) => self.wait(move |seat| seat.commit(&commit)).await,
            Some(outcome) => outcome,
        }
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let read = |seat: &Seat| query(&seat.ledger.connection).map_err(|error| seat.ledger.trouble(&error));
        if let Some(seat) = self.free_seat() {
            return read(&seat);
        }
        self.wait(read).await
    }

    fn free_seat(&self) -> Option<MutexGuard<'_, Seat>> {
        match self.seat.try_lock() {
            Ok(seat) => Some(seat),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    async fn wait<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Seat) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let seat = Arc::clone(&self.seat);
        blocking(&*self.runtime, move || work(&seat.lock().unwrap_or_else(PoisonError::into_inner))).await
    }
}

impl Seat {
    fn commit(&self, commit: &Commit) -> Result<Committed, Error> {
        self.checkpointer.iter().for_each(|checkpointer| checkpointer.finish_if_near(&self.ledger));
        let outcome = self.ledger.commit(commit);
        if let Ok(committed) = &outcome
            && !self.notifier.is_idle()
        {
            self.notifier.publish(&topics_of(commit, committed));
        }
        self.checkpointer.iter().for_each(|checkpointer| checkpointer.consider(&self.ledger));
        outcome
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(checkpointer) = self.checkpointer.take() {
            checkpointer.leave(&self.ledger);
        }
    }
}
