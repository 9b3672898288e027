//! Taking and giving back a lease, over `commit`. Renewing is not a verb here: an owner's one heartbeat keeps all of its
//! leases.

use windlass_domain::{Instant, OwnerId, Tenant, Wall};

use crate::commit::Commit;
use crate::error::Error;
use crate::lease::{Claim, Fence, LeaseChange, LeaseName, LeaseRow};
use crate::owner::{Judgement, OwnerRow, Witness};
use crate::store::Store;

/// How an attempt to take a lease ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taking {
    /// Every commit under the lease carries this.
    Taken(Fence),
    /// Its holder is not known to be gone. Ask again: a silent holder needs several looks before it counts as gone.
    Held(OwnerRow),
}

/// How often a race for a lease is run again. Each lost round means that another process won it, so a second look as a
/// rule finds it held.
const ROUNDS: usize = 8;

/// Takes a lease that is free, or whose holder is gone in the eyes of `witness`. `now` is the witness's clock, `at` the
/// people's.
pub async fn take(
    store: &dyn Store,
    witness: &mut Witness,
    tenant: &Tenant,
    lease: &LeaseName,
    owner: OwnerId,
    now: Instant,
    at: Wall,
) -> Result<Taking, Error> {
    let mut refusal = None;
    for _ in 0..ROUNDS {
        let claim = match store.lease(tenant, lease).await? {
            None | Some(LeaseRow { holder: None, .. }) => Claim::Unheld,
            Some(LeaseRow { epoch, holder: Some(holder), .. }) => match witness.look(&holder, now)? {
                Judgement::Alive => return Ok(Taking::Held(holder)),
                Judgement::Gone(holder) => Claim::Abandoned { epoch, holder },
            },
        };
        match claim_it(store, tenant, lease, owner, claim, at).await {
            Err(lost_the_race @ Error::LeaseHeld { .. }) => refusal = Some(lost_the_race),
            taken => return taken.map(Taking::Taken),
        }
    }
    Err(refusal.expect("every round that does not return was lost"))
}

async fn claim_it(
    store: &dyn Store,
    tenant: &Tenant,
    lease: &LeaseName,
    owner: OwnerId,
    claim: Claim,
    at: Wall,
) -> Result<Fence, Error> {
    let mut commit = Commit::unfenced(tenant.clone(), at);
    commit.leases.push(LeaseChange::Take { lease: lease.clone(), owner, claim });
    let committed = store.commit(commit).await?;
    let epoch = committed.leases.into_iter().find(|(name, _)| name == lease);
    Ok(Fence { lease: lease.clone(), owner, epoch: epoch.expect("a lease that was taken has its epoch").1 })
}

/// `Error::Fenced`: it was another's already.
pub async fn release(store: &dyn Store, tenant: &Tenant, fence: Fence, at: Wall) -> Result<(), Error> {
    let mut commit = Commit::unfenced(tenant.clone(), at);
    commit.leases.push(LeaseChange::Release(fence));
    store.commit(commit).await.map(drop)
}
