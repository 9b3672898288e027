//! What tenants remember, in the memory of this process, ready to be searched. The stream is the truth and this follows it: a
//! search reads what was written since the last one and nothing else, and the first one of a process reads it all. It is lost
//! with the process, so that no crash can part it from what it is made of.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_domain::{Memories, Memory, MemoryEvent, MemoryId, Seq, Tenant};
use windlass_store::StoredEvent;
use windlass_store::search::{Document, Index};

use super::remember::memory_stream;
use crate::Error;
use crate::engine::Shared;

const PAGE: usize = 1_000;
/// The newest; what is older is found no more.
pub(super) const MOST_REMEMBERED: usize = 20_000;
/// Those who looked last: a worker may serve more tenants than it has room for.
const MOST_TENANTS: usize = 32;

/// Of every tenant that looked something up in this process, the one that did so last at the end.
#[derive(Default)]
pub(crate) struct Recollections(Mutex<Vec<(Tenant, Slot)>>);

/// Made when it is first looked into.
type Slot = Arc<Mutex<Option<Recollection>>>;

pub(super) struct Recollection {
    pub memories: Memories,
    pub index: Index,
    /// What an embedder said of them, so that it is asked once.
    pub vectors: BTreeMap<MemoryId, Vec<f32>>,
    head: Seq,
}

impl Recollections {
    fn of(&self, tenant: &Tenant) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = slots.iter().position(|(known, _)| known == tenant).map(|place| slots.remove(place).1);
        let slot = known.unwrap_or_default();
        slots.push((tenant.clone(), Arc::clone(&slot)));
        let too_many = slots.len().saturating_sub(MOST_TENANTS);
        slots.drain(..too_many);
        slot
    }
}

/// Looks at what the tenant remembers, as of now.
pub(super) async fn look<T: Send + 'static>(
    shared: &Shared,
    look: impl FnOnce(&mut Recollection) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let slot = shared.recollections.of(&shared.tenant);
    let mut head = enter(shared, &slot, |recollection| Ok(recollection.head)).await?;
    loop {
        let page = shared.store.stream(&shared.tenant, &memory_stream(&shared.tenant), head, PAGE).await?;
        let is_last = page.len() < PAGE;
        head = enter(shared, &slot, move |recollection| recollection.apply(&page)).await?;
        if is_last {
            return enter(shared, &slot, look).await;
        }
    }
}

/// What went wrong in the middle leaves nothing behind: it is made anew.
async fn enter<T: Send + 'static>(
    shared: &Shared,
    slot: &Slot,
    work: impl FnOnce(&mut Recollection) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let slot = Arc::clone(slot);
    let worked = move || {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let mut recollection = slot.take().map_or_else(Recollection::new, Ok)?;
        let worked = work(&mut recollection)?;
        *slot = Some(recollection);
        Ok(worked)
    };
    shared.blocking(worked).await
}

impl Recollection {
    fn new() -> Result<Self, Error> {
        Ok(Self { memories: Memories::default(), index: Index::new()?, vectors: BTreeMap::new(), head: Seq(0) })
    }

    /// What is known already is passed over: several may have read on.
    fn apply(&mut self, rows: &[StoredEvent]) -> Result<Seq, Error> {
        let mut documents = Vec::new();
        for row in rows.iter().filter(|row| row.seq > self.head) {
            let event = MemoryEvent::decode(&row.kind, row.version, &row.data)?;
            match &event {
                MemoryEvent::Recorded(memory) => documents.push((number(row.seq), document(memory))),
                MemoryEvent::Forgotten(forgotten) => {
                    let place = self.memories.place(forgotten.id);
                    documents.retain(|(at, _)| place.map(number) != Some(*at));
                    place.map_or(Ok(()), |place| self.index.remove(number(place)))?;
                    self.vectors.remove(&forgotten.id);
                }
            }
            self.memories.apply(row.seq, &event);
        }
        self.index.add(documents.iter().map(|(number, document)| (*number, document)))?;
        self.head = rows.last().map_or(self.head, |row| row.seq.max(self.head));
        self.let_go()?;
        Ok(self.head)
    }

    fn let_go(&mut self) -> Result<(), Error> {
        while self.memories.len() > MOST_REMEMBERED
            && let Some(oldest) = self.memories.oldest()
        {
            if let Some(memory) = self.memories.get(oldest) {
                self.vectors.remove(&memory.id);
            }
            self.memories.remove(oldest);
            self.index.remove(number(oldest))?;
        }
        Ok(())
    }
}

fn document(memory: &Memory) -> Document {
    let (title, text) = memory.parts();
    Document { title: title.to_owned(), text: text.to_owned() }
}

fn number(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

pub(super) fn seq(number: i64) -> Seq {
    Seq(u64::try_from(number).unwrap_or_default())
}
