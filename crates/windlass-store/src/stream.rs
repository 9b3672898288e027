//! Names: of a stream of events, and of a place in the store's own order. A stream is one entity's history (`task/<id>`,
//! `execution/<id>`), and what stands before the slash is its kind, so that all of a kind can be listed. Ids are UUIDv7
//! as a rule: then a kind's streams sort by the time they were made.

use std::fmt;
use std::sync::Arc;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(Arc<str>);

impl StreamId {
    pub fn new(kind: &str, id: impl fmt::Display) -> Self {
        debug_assert!(!kind.contains('/'), "the first slash ends the kind");
        Self(format!("{kind}/{id}").into())
    }

    /// What a provider stored under `as_str`.
    pub(crate) fn from_stored(name: &str) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn kind(&self) -> &str {
        self.0.split_once('/').map_or("", |(kind, _)| kind)
    }

    pub fn id(&self) -> &str {
        self.0.split_once('/').map_or(&*self.0, |(_, id)| id)
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of an event in commit order, over all streams and tenants, from 1. A commit's events have adjacent
/// positions, and no later commit ever has a lower one: a watcher that has seen a position has seen everything before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_knows_its_kind_and_its_id_even_when_the_id_has_slashes() {
        let stream = StreamId::new("goal", "nightly/build");
        assert_eq!((stream.kind(), stream.id(), stream.as_str()), ("goal", "nightly/build", "goal/nightly/build"));
    }
}
