//! The places for connections: so many, and whoever finds none is turned away. A place is free again when it is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

#[derive(Debug, Clone)]
pub struct Places {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    most: usize,
    taken: AtomicUsize,
    left: Notify,
}

#[derive(Debug)]
pub struct Place(Arc<Shared>);

impl Places {
    pub fn new(most: usize) -> Self {
        Self { shared: Arc::new(Shared { most, taken: AtomicUsize::new(0), left: Notify::new() }) }
    }

    pub fn take(&self) -> Option<Place> {
        let place = Place(Arc::clone(&self.shared));
        // Taken first and given back by dropping it: two who ask at once cannot both have the last.
        (self.shared.taken.fetch_add(1, Ordering::SeqCst) < self.shared.most).then_some(place)
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

impl Drop for Place {
    fn drop(&mut self) {
        if self.0.taken.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.left.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_and_one_that_is_left_is_free_again() {
        let places = Places::new(2);
        let (first, second) = (places.take(), places.take());
        assert!(first.is_some() && second.is_some() && places.take().is_none());
        drop(first);
        assert!(places.take().is_some(), "and nobody who was turned away holds one");
    }
}
