//! Blobs that only journals of expired tasks name. All of a tenant's events are read for it, once for all tasks that expired; in memory are
//! the digests of those tasks alone.

use std::collections::BTreeSet;

use windlass_domain::Digest;
use windlass_store::Position;

use crate::Error;
use crate::engine::Engine;

const PAGE: usize = 500;
/// As digests are written.
const DIGITS: usize = 64;

impl Engine {
    /// Of those that these streams name, those that no other does, and up to where that was looked at.
    pub(super) async fn only_named_by(
        &self,
        streams: &BTreeSet<&str>,
        mut named: BTreeSet<Digest>,
    ) -> Result<(BTreeSet<Digest>, Position), Error> {
        let shared = &self.shared;
        let mut after = Position(0);
        while !named.is_empty() {
            let page = shared.store.events(&shared.tenant, after, PAGE).await?;
            for row in page.iter().filter(|row| !streams.contains(row.stream.as_str())) {
                for digest in digests(&row.data) {
                    named.remove(&digest);
                }
            }
            match page.last() {
                Some(last) => after = last.position,
                None => break,
            }
        }
        Ok((named, after))
    }
}

/// Whatever is written as one, wherever it stands.
pub(super) fn digests(text: &str) -> impl Iterator<Item = Digest> {
    let words = text.split(|letter: char| !letter.is_ascii_hexdigit());
    words.filter(|word| word.len() == DIGITS).filter_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_found_wherever_they_stand() {
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        let text = format!(r#"{{"blob":"{one}","text":"see sha256:{other}. and abc, and {one}0"}}"#);
        assert_eq!(digests(&text).collect::<Vec<_>>(), [one, other]);
    }
}
