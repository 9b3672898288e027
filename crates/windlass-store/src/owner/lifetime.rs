//! An owner's life: it registers, its heart beats, it retires. A process that is killed skips the last part.

use windlass_domain::{Tenant, Wall};

use crate::commit::{Commit, Committed};
use crate::error::Error;
use crate::owner::{NewOwner, Owner, OwnerChange};
use crate::store::Store;

/// Hold the id's file lock before.
pub async fn register(store: &dyn Store, new: NewOwner, at: Wall) -> Result<Owner, Error> {
    let id = new.id;
    let committed = change(store, OwnerChange::Register(new), at).await?;
    let epoch = committed.owners.into_iter().find(|(owner, _)| *owner == id);
    Ok(Owner { id, epoch: epoch.expect("a registration that was committed has its epoch").1 })
}

/// `Error::Gone`: this incarnation was replaced or retired, and holds nothing any more.
pub async fn beat(store: &dyn Store, owner: Owner, at: Wall) -> Result<(), Error> {
    change(store, OwnerChange::Beat(owner), at).await.map(drop)
}

pub async fn retire(store: &dyn Store, owner: Owner, at: Wall) -> Result<(), Error> {
    change(store, OwnerChange::Retire(owner), at).await.map(drop)
}

async fn change(store: &dyn Store, change: OwnerChange, at: Wall) -> Result<Committed, Error> {
    // A commit names a tenant; no row of this one has any.
    let mut commit = Commit::unfenced(Tenant::new("process"), at);
    commit.owners.push(change);
    store.commit(commit).await
}
