//! The connections that read: a few, opened when first needed, lent to one read at a time. Reads see what was committed
//! before they began and hold up neither the writer nor each other.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};
use windlass_domain::Runtime;

use crate::error::Error;
use crate::providers::sqlite::connection::{Purpose, open};
use crate::providers::sqlite::failure::describe;
use crate::providers::sqlite::options::Options;

#[derive(Clone)]
pub(super) struct Readers {
    runtime: Arc<dyn Runtime>,
    room: Arc<Semaphore>,
    shelf: Arc<Shelf>,
}

struct Shelf {
    options: Options,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(options: Options, runtime: Arc<dyn Runtime>) -> Self {
        let room = Arc::new(Semaphore::new(options.limits.readers));
        Self { runtime, room, shelf: Arc::new(Shelf { options, idle: Mutex::default() }) }
    }

    pub(super) async fn read<T: Send + 'static>(
        self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let closed = || Error::Io { path: self.shelf.options.database(), detail: "the runtime is stopping".to_owned() };
        let _room = self.room.acquire().await.map_err(|_| closed())?;
        let (reply, answer) = oneshot::channel();
        let shelf = Arc::clone(&self.shelf);
        let work = move || {
            // A reader that has gone away does not want to know.
            let _ = reply.send(shelf.lend(query));
        };
        self.runtime.block(Box::new(work)).await;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }
}

impl Shelf {
    fn lend<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        let idle = self.lock().pop();
        let connection = idle.map_or_else(|| open(&self.options, Purpose::Read), Ok)?;
        let answer = query(&connection).map_err(|error| describe(&self.options.database(), &error));
        self.lock().push(connection);
        answer
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
