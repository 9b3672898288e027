//! The connections that read: a few, opened when first needed, lent to one read at a time. A read whose connection is lost is
//! done again on another, for a while.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use windlass_domain::Runtime;

use crate::error::Error;
use crate::providers::postgres::failure::Failure;
use crate::providers::postgres::in_order::Pending;
use crate::providers::postgres::options::Options;
use crate::providers::postgres::patience::Patience;
use crate::providers::postgres::session::Session;

pub(super) struct Readers {
    options: Options,
    runtime: Arc<dyn Runtime>,
    room: Semaphore,
    idle: Mutex<Vec<Session>>,
}

impl Readers {
    pub(super) fn new(options: Options, runtime: Arc<dyn Runtime>) -> Self {
        let room = Semaphore::new(options.limits.readers);
        Self { options, runtime, room, idle: Mutex::default() }
    }

    /// `query` may be asked several times.
    pub(super) async fn read<T>(
        &self,
        query: impl for<'s> Fn(&'s Session) -> Pending<'s, Result<T, Failure>> + Send + Sync,
    ) -> Result<T, Error> {
        let place = self.options.address.place();
        let closed = |_| Error::Unreachable { place: place.to_owned(), detail: "the store is closed".to_owned() };
        let _room = self.room.acquire().await.map_err(closed)?;
        let mut patience = Patience::new(&self.runtime, self.options.limits.patience);
        loop {
            match self.lend(&query).await {
                Ok(answer) => return Ok(answer),
                Err(failure) if failure.is_lost() && patience.has_more().await => {}
                Err(failure) => return Err(failure.describe(place)),
            }
        }
    }

    async fn lend<T>(
        &self,
        query: &(impl for<'s> Fn(&'s Session) -> Pending<'s, Result<T, Failure>> + Send + Sync),
    ) -> Result<T, Failure> {
        let idle = self.lock().pop();
        let session = match idle.filter(|session| !session.is_closed()) {
            Some(session) => session,
            None => Session::open(&self.options, &self.runtime).await?,
        };
        let answer = query(&session).await;
        // One that was in trouble, or whose reader went away in the middle, is not lent again.
        if answer.is_ok() {
            self.lock().push(session);
        }
        answer
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
