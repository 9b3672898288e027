//! Sealing: the tenant's chain is told where it is sealed, and its head then is signed and kept outside the database. Since
//! the record of the seal is part of what is signed, the database misses a head that was taken away as heads miss rows. A
//! process that is killed between the two leaves a seal without a head; whoever seals next keeps it. Heads are kept by each
//! machine for itself, so a seal says whose it is: of the others' nothing can be missed here.

use std::sync::Arc;

use windlass_domain::{Encoded, Taint, Tenant, Wall};
use windlass_store::queue::audit_stream;
use windlass_store::{ChainHead, Commit, NewEvent, Position, StoredEvent};

use crate::Error;
use crate::engine::Engine;

/// The record that the chain was sealed here.
const SEALED: &str = "audit.sealed";

pub trait Heads: Send + Sync {
    /// Signs a head and keeps it for good before it returns; one that was kept last is not kept twice. It may block.
    fn keep(&self, tenant: &Tenant, head: &ChainHead, at: Wall) -> Result<(), String>;
}

impl Engine {
    /// Signs where the tenant's chain stands, unless nothing was written since.
    pub async fn seal(&self) -> Result<(), Error> {
        let shared = &self.shared;
        let Some(heads) = &shared.heads else { return Ok(()) };
        let Some(stands) = shared.store.chain_head(&shared.tenant).await? else { return Ok(()) };
        let before = Position(stands.position.0.saturating_sub(1));
        let last = shared.store.events(&shared.tenant, before, 1).await?;
        let head = match last.first() {
            Some(last) if last.position == stands.position && is_seal(last) => stands,
            _ => self.commit_seal(stands).await?,
        };
        let (heads, tenant, at) = (Arc::clone(heads), shared.tenant.clone(), shared.wall());
        shared.blocking(move || heads.keep(&tenant, &head, at)).await.map_err(Error::Seal)
    }

    async fn commit_seal(&self, before: ChainHead) -> Result<ChainHead, Error> {
        let shared = &self.shared;
        let at = shared.wall();
        let seal = serde_json::json!({"place": shared.process.place()});
        let data = serde_json::value::to_raw_value(&seal).expect("an object is JSON");
        let encoded = Encoded { kind: SEALED, version: 1, data, since: 1, older: &[] };
        let mut commit = Commit::unfenced(shared.tenant.clone(), at);
        commit.events.push(NewEvent { stream: audit_stream("heads"), encoded, taint: Taint::Auth, at });
        Ok(shared.store.commit(commit).await?.chain.unwrap_or(before))
    }
}

pub(super) fn is_seal(event: &StoredEvent) -> bool {
    event.kind == SEALED
}

/// Whether its head should be here: it was made on this machine, or before there were several, when nothing was said of it.
pub(super) fn is_seal_of(event: &StoredEvent, place: &str) -> bool {
    let seal: serde_json::Value = serde_json::from_str(&event.data).unwrap_or_default();
    is_seal(event) && seal["place"].as_str().is_none_or(|by| by == place)
}
