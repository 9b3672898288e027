//! The places for connections: so many. Whoever finds none takes that of whoever has asked for nothing for the longest, so that
//! nobody keeps others out by saying nothing; where all are being answered, whoever comes is turned away. A place is free again
//! when it is dropped.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::ask::Share;

#[derive(Debug, Clone)]
pub struct Places {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    most: usize,
    taken: AtomicUsize,
    left: Notify,
    idle: Mutex<Idle>,
}

#[derive(Debug, Default)]
struct Idle {
    last: u64,
    /// By when they began to ask for nothing, with what tells them to go.
    since: BTreeMap<u64, Arc<Notify>>,
}

#[derive(Debug)]
pub struct Place {
    shared: Arc<Shared>,
    /// Among the idle; 0 while something is answered.
    since: AtomicU64,
    go: Arc<Notify>,
}

/// For as long as it is held, something is answered at this place.
#[derive(Debug)]
pub struct Busy {
    place: Arc<Place>,
    /// Whoever asked has it as long.
    share: Mutex<Option<Share>>,
}

/// Of a response: it is for anybody, and whoever takes their time to read it keeps a place no better than whoever asks for nothing.
#[derive(Debug, Clone, Copy)]
pub struct ForAnybody;

impl Places {
    pub fn new(most: usize) -> Self {
        let shared = Shared { most, taken: AtomicUsize::new(0), left: Notify::new(), idle: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    pub fn take(&self) -> Option<Place> {
        let place = Place { shared: Arc::clone(&self.shared), since: AtomicU64::new(0), go: Arc::default() };
        // Taken first and given back by dropping it: two who ask at once cannot both have the last.
        let is_free = self.shared.taken.fetch_add(1, Ordering::SeqCst) < self.shared.most;
        let is_had = is_free || self.shared.send_one_away();
        is_had.then(|| {
            place.rest();
            place
        })
    }

    /// Returns once nobody has one.
    pub async fn empty(&self) {
        loop {
            let left = self.shared.left.notified();
            if self.shared.taken.load(Ordering::SeqCst) == 0 {
                return;
            }
            left.await;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there was one.
    fn send_one_away(&self) -> bool {
        let longest = self.lock().since.pop_first();
        longest.map(|(_, go)| go.notify_one()).is_some()
    }
}

impl Place {
    /// Returns when it is another's. One that is asked for something at that moment stays until it has answered.
    pub async fn is_wanted(&self) {
        loop {
            self.go.notified().await;
            if self.since.load(Ordering::SeqCst) != 0 {
                return;
            }
        }
    }

    fn rest(&self) {
        let mut idle = self.shared.lock();
        idle.last += 1;
        let now = idle.last;
        idle.since.insert(now, Arc::clone(&self.go));
        self.since.store(now, Ordering::SeqCst);
    }

    fn work(&self) {
        let mut idle = self.shared.lock();
        idle.since.remove(&self.since.swap(0, Ordering::SeqCst));
    }
}

impl Busy {
    pub fn at(place: Arc<Place>) -> Self {
        place.work();
        Self { place, share: Mutex::default() }
    }

    pub fn with(&self, share: Share) {
        *self.share.lock().unwrap_or_else(PoisonError::into_inner) = Some(share);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.place.rest();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.work();
        if self.shared.taken.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.shared.left.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn there_are_so_many_and_one_that_is_left_is_free_again() {
        let places = Places::new(2);
        let busy = || places.take().map(|place| Busy::at(Arc::new(place)));
        let (first, second) = (busy(), busy());
        assert!(first.is_some() && second.is_some() && places.take().is_none());
        drop(first);
        assert!(places.take().is_some(), "and nobody who was turned away holds one");
    }

    #[test]
    fn whoever_asks_for_nothing_makes_room_the_longest_first() {
        let places = Places::new(3);
        let taken: Vec<Arc<Place>> = (0..3).map(|_| Arc::new(places.take().expect("a place"))).collect();
        let is_wanted = |place: usize| taken[place].is_wanted().now_or_never().is_some();
        // The first is asked for something, and the second was a moment ago.
        let busy = Busy::at(Arc::clone(&taken[0]));
        drop(Busy::at(Arc::clone(&taken[1])));
        let newcomer = places.take().expect("the third's");
        assert_eq!([0, 1, 2].map(is_wanted), [false, false, true]);
        let _other = places.take().expect("the second's");
        assert_eq!([0, 1].map(is_wanted), [false, true]);
        drop(newcomer);
        drop(busy);
    }

    /// It was told to go, and was asked for something before it heard.
    #[test]
    fn whoever_is_asked_at_the_last_moment_answers() {
        let places = Places::new(1);
        let place = Arc::new(places.take().expect("a place"));
        let _newcomer = places.take().expect("its place");
        let busy = Busy::at(Arc::clone(&place));
        assert!(place.is_wanted().now_or_never().is_none());
        drop(busy);
    }
}
