//! What a person does with what is remembered: read it, search it, and have parts of it forgotten. What is forgotten is found
//! no more from that commit on, by anybody. The record of it stays where it is: a tenant's events are one chain.

use serde_json::{Map, json};
use windlass_domain::{Canceller, Memory, MemoryEvent, MemoryForgotten, MemoryId, MemorySource, Taint, TraceId};
use windlass_store::queue::{Actor, AuditType, RuntimeAuditEvent};
use windlass_store::{Commit, Error as StoreError, Marker, NewEvent};

use super::recall::{Recalled, recall};
use super::recollection::look;
use super::remember::memory_stream;
use crate::Error;
use crate::engine::Engine;

impl Engine {
    /// Newest first.
    pub async fn memories(&self) -> Result<Vec<Memory>, Error> {
        let all = look(&self.shared, |recollection| {
            Ok(recollection.memories.newest_first().map(|(_, memory)| memory.clone()).collect())
        });
        all.await
    }

    /// As an agent would find it.
    pub async fn search_memory(&self, query: &str, limit: usize) -> Result<Recalled, Error> {
        recall(&self.shared, query, limit, &Canceller::default().signal()).await
    }

    /// `user` wants it to be found no more.
    pub async fn forget(&self, id: MemoryId, user: &str) -> Result<Memory, Error> {
        let shared = &self.shared;
        let found = look(shared, move |recollection| {
            let place = recollection.memories.place(id);
            Ok(place.and_then(|place| recollection.memories.get(place)).cloned())
        });
        let memory = found.await?.ok_or(Error::NoSuchMemory(id))?;
        let now = shared.wall();
        let encoded = MemoryEvent::Forgotten(MemoryForgotten { id, user: user.to_owned() }).encode();
        let stream = memory_stream(&shared.tenant);
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        // Of two who forget the same one is told that it was there.
        commit.processed.push(Marker { scope: "memory.forgotten".to_owned(), key: id.to_string() });
        commit.events.push(NewEvent { stream, encoded, taint: Taint::Auth, at: now });
        commit.events.push(self.forgetting(&memory, user).on("memory", Taint::Auth));
        match shared.commit(commit).await {
            Err(StoreError::Duplicate { .. }) => Err(Error::NoSuchMemory(id)),
            committed => Ok(committed.map(|_| memory)?),
        }
    }

    /// For the audit: without the text, which nobody is to read again.
    fn forgetting(&self, memory: &Memory, user: &str) -> RuntimeAuditEvent {
        let shared = &self.shared;
        let now = shared.wall();
        let MemorySource::Task(task) = memory.source;
        RuntimeAuditEvent {
            event_type: AuditType::Approval,
            trace_id: TraceId::new(now, shared.runtime.random()),
            message_id: None,
            scope_id: shared.tenant.clone(),
            actor: Actor::User,
            decision: Some("forgotten".to_owned()),
            reason: Some(format!("{user} wants it to be found no more")),
            details: Map::from_iter([("memory_id".to_owned(), json!(memory.id)), ("task_id".to_owned(), json!(task))]),
            created_at: now,
        }
    }
}
