//! An owner's life: it registers, its heart beats, it retires. A process that is killed skips the last part.

use windlass_domain::{Tenant, Wall};

use crate::commit::Commit;
use crate::error::Error;
use crate::owner::{NewOwner, Owner, OwnerChange};
use crate::store::Store;

/// Hold the id's file lock before.
pub async fn register(store: &dyn Store, tenant: &Tenant, new: NewOwner, at: Wall) -> Result<Owner, Error> {
    let id = new.id;
    let committed = change(store, tenant, OwnerChange::Register(new), at).await?;
    let epoch = committed.owners.into_iter().find(|(owner, _)| *owner == id);
    Ok(Owner { id, epoch: epoch.expect("a registration that was committed has its epoch").1 })
}

/// `Error::Gone`: this incarnation was replaced or retired, and holds nothing any more.
pub async fn beat(store: &dyn Store, tenant: &Tenant, owner: Owner, at: Wall) -> Result<(), Error> {
    change(store, tenant, OwnerChange::Beat(owner), at).await.map(drop)
}

pub async fn retire(store: &dyn Store, tenant: &Tenant, owner: Owner, at: Wall) -> Result<(), Error> {
    change(store, tenant, OwnerChange::Retire(owner), at).await.map(drop)
}

async fn change(
    store: &dyn Store,
    tenant: &Tenant,
    change: OwnerChange,
    at: Wall,
) -> Result<crate::commit::Committed, Error> {
    let mut commit = Commit::unfenced(tenant.clone(), at);
    commit.owners.push(change);
    store.commit(commit).await
}
