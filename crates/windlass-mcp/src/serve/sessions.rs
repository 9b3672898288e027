//! The conversations that clients hold over HTTP, by the names we gave them. There are only so many: where one more begins, the one
//! that was used least lately ends, and its client, told that it does not exist, greets anew. A name is no key: whoever asks has
//! shown the token before.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_domain::{CancelSignal, Canceller, Stop};

use crate::serve::calls::Calls;

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    sessions: BTreeMap<String, Session>,
    /// Counts uses.
    clock: u64,
    is_over: bool,
}

#[derive(Debug)]
struct Session {
    used: u64,
    calls: Calls,
    over: Canceller,
    is_listened_to: bool,
}

impl Session {
    fn end(&self) {
        self.calls.end();
        self.over.stop(Stop::Cancel);
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotListened {
    Unknown,
    /// Somebody does already.
    Taken,
}

impl Sessions {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin(&self, name: String, most: usize) {
        let mut inner = self.inner();
        if inner.is_over {
            return;
        }
        while inner.sessions.len() >= most.max(1) {
            let Some(oldest) = inner.sessions.iter().min_by_key(|(_, it)| it.used).map(|(name, _)| name.clone()) else {
                break;
            };
            if let Some(session) = inner.sessions.remove(&oldest) {
                session.end();
            }
        }
        inner.clock += 1;
        let session =
            Session { used: inner.clock, calls: Calls::default(), over: Canceller::default(), is_listened_to: false };
        inner.sessions.insert(name, session);
    }

    /// The calls of a session that there is.
    pub fn used(&self, name: &str) -> Option<Calls> {
        let mut inner = self.inner();
        inner.clock += 1;
        let now = inner.clock;
        let session = inner.sessions.get_mut(name)?;
        session.used = now;
        Some(session.calls.clone())
    }

    /// Until the signal is raised, or `no_longer_listened` said.
    pub fn listened(&self, name: &str) -> Result<CancelSignal, NotListened> {
        let mut inner = self.inner();
        let session = inner.sessions.get_mut(name).ok_or(NotListened::Unknown)?;
        if std::mem::replace(&mut session.is_listened_to, true) {
            return Err(NotListened::Taken);
        }
        Ok(session.over.signal())
    }

    pub fn no_longer_listened(&self, name: &str) {
        if let Some(session) = self.inner().sessions.get_mut(name) {
            session.is_listened_to = false;
        }
    }

    /// Whether there was one.
    pub fn end(&self, name: &str) -> bool {
        let ended = self.inner().sessions.remove(name);
        ended.inspect(Session::end).is_some()
    }

    pub fn end_all(&self) {
        let mut inner = self.inner();
        inner.is_over = true;
        std::mem::take(&mut inner.sessions).values().for_each(Session::end);
    }

    pub fn is_over(&self) -> bool {
        self.inner().is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_used_least_lately_makes_room() {
        let sessions = Sessions::default();
        for name in ["a", "b"] {
            sessions.begin(name.to_owned(), 2);
        }
        let ended = sessions.listened("b").unwrap();
        assert!(sessions.used("a").is_some());
        sessions.begin("c".to_owned(), 2);
        assert!(sessions.used("a").is_some() && sessions.used("b").is_none() && sessions.used("c").is_some());
        assert!(ended.raised().is_some());
    }

    #[test]
    fn a_session_is_listened_to_by_one() {
        let sessions = Sessions::default();
        assert_eq!(sessions.listened("a").err(), Some(NotListened::Unknown));
        sessions.begin("a".to_owned(), 2);
        let over = sessions.listened("a").unwrap();
        assert_eq!(sessions.listened("a").err(), Some(NotListened::Taken));
        sessions.no_longer_listened("a");
        assert!(sessions.listened("a").is_ok());
        assert!(sessions.end("a") && !sessions.end("a"));
        assert!(over.raised().is_some());
    }

    #[test]
    fn after_the_end_nothing_begins() {
        let sessions = Sessions::default();
        sessions.begin("a".to_owned(), 2);
        sessions.end_all();
        sessions.begin("b".to_owned(), 2);
        assert!(sessions.used("a").is_none() && sessions.used("b").is_none() && sessions.is_over());
    }
}
