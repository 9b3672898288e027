//! What was folded from a journal once and may be asked for again: whoever asks next reads only what was written since. Never the only
//! place where something is known, and bounded in bytes: what nobody has asked for the longest goes first, and what is too large by
//! itself is folded anew each time.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::lock::{Mutex as AsyncMutex, OwnedMutexGuard};

/// What an entry weighs beside what is in it.
const ENTRY: usize = 256;

pub(crate) struct Kept<K, V> {
    /// In bytes.
    most: usize,
    /// About what a value takes in memory.
    weight: fn(&V) -> usize,
    shelf: Mutex<Shelf<K, V>>,
}

struct Shelf<K, V> {
    entries: BTreeMap<K, Entry<V>>,
    bytes: usize,
    /// How often something was asked for.
    asked: u64,
}

struct Entry<V> {
    value: Arc<AsyncMutex<V>>,
    bytes: usize,
    last_asked: u64,
}

/// A value in the hands of one who brings it up to date. However that ends, it is weighed.
pub(crate) struct Held<'a, K: Ord + Clone, V: Default> {
    kept: &'a Kept<K, V>,
    key: K,
    value: OwnedMutexGuard<V>,
}

impl<K: Ord + Clone, V: Default> Kept<K, V> {
    pub const fn new(most: usize, weight: fn(&V) -> usize) -> Self {
        Self { most, weight, shelf: Mutex::new(Shelf { entries: BTreeMap::new(), bytes: 0, asked: 0 }) }
    }

    /// As it was left; as new where nothing is known. Two who ask at once do not read twice: the second one waits.
    pub async fn hold(&self, key: K) -> Held<'_, K, V> {
        let value = self.value(&key).lock_owned().await;
        Held { kept: self, key, value }
    }

    fn value(&self, key: &K) -> Arc<AsyncMutex<V>> {
        let mut shelf = self.lock();
        shelf.asked += 1;
        let asked = shelf.asked;
        if let Some(entry) = shelf.entries.get_mut(key) {
            entry.last_asked = asked;
            return Arc::clone(&entry.value);
        }
        let value = Arc::new(AsyncMutex::new(V::default()));
        let entry = Entry { value: Arc::clone(&value), bytes: ENTRY, last_asked: asked };
        shelf.entries.insert(key.clone(), entry);
        shelf.bytes += ENTRY;
        shelf.shrink(self.most);
        value
    }

    /// What goes to make room for it is gone when nobody uses it any more.
    fn weighs(&self, key: &K, bytes: usize) {
        let mut shelf = self.lock();
        let Some(entry) = shelf.entries.get_mut(key) else { return };
        let before = std::mem::replace(&mut entry.bytes, ENTRY + bytes);
        shelf.bytes = shelf.bytes - before + ENTRY + bytes;
        if ENTRY + bytes > self.most {
            shelf.remove(key);
        }
        shelf.shrink(self.most);
    }

    fn lock(&self) -> MutexGuard<'_, Shelf<K, V>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord + Clone, V: Default> Deref for Held<'_, K, V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.value
    }
}

impl<K: Ord + Clone, V: Default> DerefMut for Held<'_, K, V> {
    fn deref_mut(&mut self) -> &mut V {
        &mut self.value
    }
}

impl<K: Ord + Clone, V: Default> Drop for Held<'_, K, V> {
    fn drop(&mut self) {
        self.kept.weighs(&self.key, (self.kept.weight)(&self.value));
    }
}

impl<K: Ord + Clone, V> Shelf<K, V> {
    fn shrink(&mut self, most: usize) {
        while self.bytes > most {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.last_asked).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { return };
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &K) {
        self.bytes -= self.entries.remove(key).map_or(0, |entry| entry.bytes);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn holding(most: usize) -> Kept<u8, String> {
        Kept::new(most, String::len)
    }

    fn held(kept: &Kept<u8, String>, key: u8) -> Held<'_, u8, String> {
        kept.hold(key).now_or_never().expect("nobody else has it")
    }

    fn put(kept: &Kept<u8, String>, key: u8, text: &str) {
        text.clone_into(&mut held(kept, key));
    }

    fn has(kept: &Kept<u8, String>, key: u8) -> bool {
        kept.lock().entries.contains_key(&key)
    }

    #[test]
    fn it_never_holds_more_than_it_may_and_what_was_asked_for_last_stays() {
        let kept = holding(3 * ENTRY + 30);
        (0..3).for_each(|key| put(&kept, key, "0123456789"));
        assert_eq!(kept.lock().bytes, 3 * ENTRY + 30);
        assert_eq!(*held(&kept, 0), "0123456789");
        put(&kept, 3, "0123456789");
        assert_eq!([0, 1, 2, 3].map(|key| has(&kept, key)), [true, false, true, true]);
        put(&kept, 2, "01234567890");
        assert_eq!([0, 2, 3].map(|key| has(&kept, key)), [false, true, true], "what has grown counts");
        assert!(kept.lock().bytes <= kept.most);
    }

    #[test]
    fn what_is_too_large_by_itself_pushes_nothing_out() {
        let kept = holding(3 * ENTRY + 30);
        put(&kept, 1, "0123456789");
        put(&kept, 2, &"0123456789".repeat(1_000));
        assert_eq!((has(&kept, 1), has(&kept, 2)), (true, false));
        assert_eq!(kept.lock().bytes, ENTRY + 10);
    }
}
