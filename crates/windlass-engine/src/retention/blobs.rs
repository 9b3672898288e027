//! Blobs that only journals of expired tasks name. All of a tenant's events are read for it, once for all tasks that expired.

use std::collections::BTreeSet;

use windlass_domain::Digest;
use windlass_store::Position;

use crate::Error;
use crate::engine::Engine;

const PAGE: usize = 500;
/// As digests are written.
const DIGITS: usize = 64;

impl Engine {
    /// Those that nobody else names, and up to where that was looked at.
    pub(super) async fn only_named_by(&self, streams: &BTreeSet<String>) -> Result<(Vec<Digest>, Position), Error> {
        let shared = &self.shared;
        let (mut theirs, mut others) = (BTreeSet::new(), BTreeSet::new());
        let mut after = Position(0);
        loop {
            let page = shared.store.events(&shared.tenant, after, PAGE).await?;
            for row in &page {
                let named = if streams.contains(row.stream.as_str()) { &mut theirs } else { &mut others };
                named.extend(digests(&row.data).map(str::to_owned));
            }
            match page.last() {
                Some(last) => after = last.position,
                None => break,
            }
        }
        let only = theirs.difference(&others).filter_map(|digest| digest.parse().ok()).collect();
        Ok((only, after))
    }
}

/// Whatever is written as one, wherever it stands.
fn digests(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_hexdigit());
    words.filter(|word| word.len() == DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_found_wherever_they_stand() {
        let (one, other) = (Digest::of(b"one").to_string(), Digest::of(b"other").to_string());
        let text = format!(r#"{{"blob":"{one}","text":"see sha256:{other}. and abc, and {one}0"}}"#);
        assert_eq!(digests(&text).collect::<Vec<_>>(), [&one, &other]);
    }
}
