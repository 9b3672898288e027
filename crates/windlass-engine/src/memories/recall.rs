//! Looking something up: what the tenant remembers is ranked by its words and, where an embedder is configured, by its meaning,
//! which takes in the newest and whatever the words found. An embedder that fails costs its ranking and nothing else.

use windlass_domain::{CancelSignal, Embedder, Memory, MemoryId, Seq, Taint};
use windlass_store::search::fused;

use super::recollection::{Recollection, look, seq};
use crate::Error;
use crate::engine::Shared;
use crate::meaning::{likeness, unless_stopped, vectors};

/// Of each ranking, before they are joined.
pub(super) const MOST_RANKED: usize = 50;
/// What an embedder is asked about at once.
const MOST_EMBEDDED: usize = 512;

/// What was found, best first.
#[derive(Debug, Clone)]
pub struct Recalled {
    pub found: Vec<Memory>,
    /// How many there are.
    pub kept: usize,
    /// What did not go as it should.
    pub remark: Option<String>,
}

impl Recalled {
    /// Of all that was found; of nothing there is nothing to distrust.
    pub fn taint(&self) -> Taint {
        self.found.iter().map(|memory| memory.taint).fold(Taint::Owner, Taint::join)
    }
}

pub(crate) async fn recall(
    shared: &Shared,
    query: &str,
    limit: usize,
    cancel: &CancelSignal,
) -> Result<Recalled, Error> {
    let asked = query.to_owned();
    let by_words = look(shared, move |recollection| Ok(recollection.index.ranked(&asked, MOST_RANKED)?)).await?;
    let by_words: Vec<Seq> = by_words.into_iter().map(seq).collect();
    let (order, remark) = match shared.equipment.embedder() {
        None => (by_words, None),
        Some(embedder) => {
            let meaning = by_meaning(shared, embedder.as_ref(), query, by_words.clone());
            match unless_stopped(meaning, cancel).await {
                Ok(by_meaning) => (joined(&by_words, &by_meaning), None),
                Err(why) => (by_words, Some(format!("Found by words alone; the search by meaning failed: {why}."))),
            }
        }
    };
    // Looked up last of all, so that what was forgotten meanwhile is not told.
    look(shared, move |Recollection { memories, .. }| {
        let found = order.into_iter().filter_map(|seq| memories.get(seq).cloned()).take(limit).collect();
        Ok(Recalled { found, kept: memories.len(), remark })
    })
    .await
}

/// Nearest first.
async fn by_meaning(
    shared: &Shared,
    embedder: &dyn Embedder,
    query: &str,
    by_words: Vec<Seq>,
) -> Result<Vec<Seq>, String> {
    let told = |error: Error| error.to_string();
    let found = by_words.clone();
    let unknown = look(shared, move |recollection| Ok(recollection.unknown(&found))).await.map_err(told)?;
    let (ids, texts): (Vec<MemoryId>, Vec<String>) = unknown.into_iter().unzip();
    let texts = std::iter::once(query.to_owned()).chain(texts).collect();
    let mut vectors = vectors(shared, embedder, texts).await?.into_iter();
    let query = vectors.next().unwrap_or_default();
    let learned: Vec<(MemoryId, Vec<f32>)> = ids.into_iter().zip(vectors).collect();
    look(shared, move |recollection| {
        recollection.vectors.extend(learned);
        Ok(recollection.nearest(&query, &by_words))
    })
    .await
    .map_err(told)
}

fn joined(by_words: &[Seq], by_meaning: &[Seq]) -> Vec<Seq> {
    let numbers =
        |seqs: &[Seq]| -> Vec<usize> { seqs.iter().map(|seq| usize::try_from(seq.0).unwrap_or(usize::MAX)).collect() };
    let order = fused([&numbers(by_words), &numbers(by_meaning)]);
    order.into_iter().map(|number| Seq(number as u64)).collect()
}

impl Recollection {
    /// The newest, and what was found by words.
    fn candidates(&self, found: &[Seq]) -> impl Iterator<Item = (Seq, &Memory)> {
        let newest: Vec<(Seq, &Memory)> = self.memories.newest_first().take(MOST_EMBEDDED - found.len()).collect();
        let oldest = newest.last().map_or(Seq(0), |(seq, _)| *seq);
        let older = found.iter().filter(move |seq| **seq < oldest);
        let older: Vec<_> = older.filter_map(|seq| Some((*seq, self.memories.get(*seq)?))).collect();
        newest.into_iter().chain(older)
    }

    /// Those that no embedder has said anything of.
    fn unknown(&self, found: &[Seq]) -> Vec<(MemoryId, String)> {
        let unknown = self.candidates(found).filter(|(_, memory)| !self.vectors.contains_key(&memory.id));
        unknown.map(|(_, memory)| (memory.id, memory.text.clone())).collect()
    }

    fn nearest(&self, query: &[f32], found: &[Seq]) -> Vec<Seq> {
        let known = self.candidates(found).filter_map(|(seq, memory)| Some((seq, self.vectors.get(&memory.id)?)));
        let mut order: Vec<(Seq, f64)> = known.map(|(seq, vector)| (seq, likeness(query, vector))).collect();
        order.sort_by(|one, other| other.1.total_cmp(&one.1));
        order.into_iter().take(MOST_RANKED).map(|(seq, _)| seq).collect()
    }
}
