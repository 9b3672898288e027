//! The beginnings of requests. Conversations of the same agent begin with the same system prompt and tools, some sixteen
//! kilobytes; those that are open at the same time share one copy. Nothing is kept for conversations to come.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;

static IN_USE: Mutex<Vec<Weak<[u8]>>> = Mutex::new(Vec::new());

/// `head`, or the same bytes where another conversation has them already.
pub fn shared(head: &[u8]) -> Bytes {
    let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    in_use.retain(|held| held.strong_count() > 0);
    let found = in_use.iter().filter_map(Weak::upgrade).find(|held| **held == *head);
    let held = found.unwrap_or_else(|| {
        let held: Arc<[u8]> = head.into();
        in_use.push(Arc::downgrade(&held));
        held
    });
    Bytes::from_owner(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_kept_once_and_only_while_it_is_used() {
        let (one, same, other) = (shared(b"head one"), shared(b"head one"), shared(b"head two"));
        assert_eq!(one.as_ptr(), same.as_ptr());
        assert_ne!(one.as_ptr(), other.as_ptr());
        assert_eq!((&*same, &*other), (&b"head one"[..], &b"head two"[..]));
        let held = |head: &[u8]| {
            let in_use = IN_USE.lock().expect("no test panics here");
            in_use.iter().filter_map(Weak::upgrade).any(|held| *held == *head)
        };
        drop(one);
        assert!(held(b"head one"));
        drop(same);
        assert!(!held(b"head one"));
        assert!(held(b"head two"));
    }
}
