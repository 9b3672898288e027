//! A task's lease: the right to drive it, held by one process at a time.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::TaskId;
use windlass_store::lease::{Taking, release, take};
use windlass_store::{Fence, LeaseName};

use crate::Error;
use crate::engine::{Shared, TIME_TO_LIVE};
use crate::process::owner;
use crate::tripwire::TripwirePoint;

/// A holder on another machine counts as gone only after silence that was watched for the whole time to live.
const LOOKS: u32 = 5;
/// A holder of this machine that was killed a moment ago: its sandboxes, which hold its lock too, are still dying.
const LOOKS_AT_THE_DYING: u32 = 450;
const DYING: Duration = Duration::from_millis(20);

/// Takes the lease, or says who has it.
pub(crate) async fn take_task(shared: &Arc<Shared>, task: TaskId) -> Result<Fence, Error> {
    let owner = owner(&shared.house).await?;
    let lease = LeaseName::new("task", task);
    let mut looks = 0;
    loop {
        looks += 1;
        let taking = {
            let mut witness = shared.process.witness.lock().await;
            let (now, at) = (shared.runtime.now(), shared.wall());
            take(shared.store.as_ref(), &mut witness, &shared.tenant, &lease, owner, now, at).await?
        };
        match taking {
            Taking::Taken(fence) => {
                shared.pass(TripwirePoint::LeaseTaken).await;
                return Ok(fence);
            }
            Taking::Held(holder) if looks < LOOKS && !shared.process.is_neighbour(&holder) => {
                shared.runtime.sleep(TIME_TO_LIVE / 3).await;
            }
            Taking::Held(holder) if looks < LOOKS_AT_THE_DYING && shared.process.is_dead_neighbour(&holder) => {
                shared.runtime.sleep(DYING).await;
            }
            Taking::Held(holder) => {
                return Err(Error::HeldElsewhere { task, host: holder.host, pid: holder.pid });
            }
        }
    }
}

/// Gives it back. One that is another's already is no trouble here: whoever lost it has been told by a refused commit.
pub(crate) async fn give_back(shared: &Arc<Shared>, fence: Fence) -> Result<(), Error> {
    match release(shared.store.as_ref(), &shared.tenant, fence, shared.wall()).await {
        Ok(()) | Err(windlass_store::Error::Fenced { .. }) => Ok(()),
        Err(error) => {
            shared.keep(error.clone().into());
            Err(error.into())
        }
    }
}
