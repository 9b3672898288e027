//! A turnstile for each session that something reaches: whoever has to do with a session passes its own, so that within a process
//! nobody writes to it in vain, and nobody waits for what is done about another one, which may take as long as a folder is large.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::lock::{Mutex as AsyncMutex, OwnedMutexGuard};
use windlass_domain::SessionId;

/// Those that somebody is in or waits for.
#[derive(Default)]
pub(crate) struct Turnstiles(Mutex<BTreeMap<SessionId, Weak<AsyncMutex<()>>>>);

/// Until it is dropped, nobody else passes.
pub(crate) type Passed = OwnedMutexGuard<()>;

impl Turnstiles {
    pub async fn pass(&self, session: SessionId) -> Passed {
        self.of(session).lock_owned().await
    }

    fn of(&self, session: SessionId) -> Arc<AsyncMutex<()>> {
        let mut turnstiles = self.lock();
        if let Some(known) = turnstiles.get(&session).and_then(Weak::upgrade) {
            return known;
        }
        turnstiles.retain(|_, turnstile| turnstile.strong_count() > 0);
        let new = Arc::default();
        turnstiles.insert(session, Arc::downgrade(&new));
        new
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Weak<AsyncMutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use windlass_domain::Wall;

    use super::*;

    fn session(number: u128) -> SessionId {
        SessionId::new(Wall::default(), number)
    }

    #[test]
    fn whoever_has_to_do_with_one_session_waits_for_nobody_at_another() {
        let turnstiles = Turnstiles::default();
        let held: Vec<Passed> = (0..1_000)
            .map(|number| turnstiles.pass(session(number << 48)).now_or_never().expect("nobody is in its way"))
            .collect();
        let mut second = Box::pin(turnstiles.pass(session(0)));
        assert!(second.as_mut().now_or_never().is_none(), "the control: one at a time");
        drop(held);
        assert!(second.now_or_never().is_some());
    }

    #[test]
    fn what_nobody_is_at_is_forgotten() {
        let turnstiles = Turnstiles::default();
        for number in 0..1_000 {
            drop(turnstiles.pass(session(number << 48)).now_or_never());
        }
        assert!(turnstiles.lock().len() <= 1);
    }
}
