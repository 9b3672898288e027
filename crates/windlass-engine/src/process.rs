//! This process as an owner of leases: it registers when it first needs one, and its one heartbeat keeps them all.

use std::sync::{Arc, Weak};

use futures_util::lock::Mutex as AsyncMutex;
use windlass_domain::{OwnerId, Stop};
use windlass_store::owner::{NewOwner, Observer, Witness, beat, register, retire};
use windlass_store::{Error as StoreError, Owner, OwnerLock, OwnerLocks, OwnerRow};

use crate::engine::{House, TIME_TO_LIVE};

/// Where this process runs.
#[derive(Debug, Clone)]
pub struct Machine {
    pub host: String,
    pub boot_id: String,
    pub pid: u32,
    /// File locks in the data directory; without them only heartbeats tell the living from the dead.
    pub locks: Option<OwnerLocks>,
}

pub(crate) struct Process {
    machine: Machine,
    place: String,
    /// Whether it does for a machine that is lost what that would do, with nothing in hand.
    stands_in: bool,
    registered: AsyncMutex<Option<Registered>>,
    pub witness: AsyncMutex<Witness>,
}

struct Registered {
    owner: Owner,
    lock: Option<OwnerLock>,
}

impl Process {
    pub fn new(machine: Machine) -> Self {
        let observer = Observer::new(TIME_TO_LIVE);
        let witness = match &machine.locks {
            Some(locks) => Witness::by_lock_or_heartbeat(locks.clone(), observer),
            None => Witness::by_heartbeat(observer),
        };
        let place = place(&machine.host);
        Self { machine, place, stands_in: false, registered: AsyncMutex::new(None), witness: AsyncMutex::new(witness) }
    }

    /// For another machine than the one that it runs on.
    pub fn standing_in(machine: Machine) -> Self {
        Self { stands_in: true, ..Self::new(machine) }
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine that is lost, where it stands in for one.
    pub fn stands_in_for(&self) -> Option<&str> {
        self.stands_in.then_some(self.place.as_str())
    }

    /// This machine, as queues name places.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Another machine, where that is what it names.
    pub fn elsewhere<'a>(&self, placement: Option<&'a str>) -> Option<&'a str> {
        placement.filter(|place| *place != self.place)
    }

    /// Whether its lock tells at once if it lives: it runs on this machine, and there are locks. Any other has to be watched.
    pub fn is_neighbour(&self, other: &OwnerRow) -> bool {
        self.machine.locks.is_some() && other.host == self.machine.host
    }

    /// Whether it ran on this machine and its process is gone, though its lock may still be held by what it started.
    pub fn is_dead_neighbour(&self, other: &OwnerRow) -> bool {
        self.is_neighbour(other) && !std::path::Path::new("/proc").join(other.pid.to_string()).exists()
    }

    /// A duplicate of this owner's lock for a sandbox's init, once registered.
    pub async fn lock_for_sandbox(&self) -> Result<Option<std::os::fd::OwnedFd>, StoreError> {
        let registered = self.registered.lock().await;
        registered.as_ref().and_then(|registered| registered.lock.as_ref()).map(OwnerLock::try_clone).transpose()
    }
}

/// A host may be called anything; a place is a few plain characters.
fn place(host: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "-._".contains(letter) { letter } else { '-' };
    let name: String = host.chars().take(128).map(plain).collect();
    if name.is_empty() { "here".to_owned() } else { name }
}

/// This process as an owner, registered if it was not.
pub(crate) async fn owner(house: &Arc<House>) -> Result<OwnerId, StoreError> {
    let mut registered = house.process.registered.lock().await;
    if let Some(known) = registered.as_ref() {
        return Ok(known.owner.id);
    }
    let machine = &house.process.machine;
    let id = OwnerId::new(house.wall(), house.runtime.random());
    let lock = machine.locks.as_ref().map(|locks| locks.hold(id)).transpose()?;
    let new = NewOwner {
        id,
        host: machine.host.clone(),
        boot_id: machine.boot_id.clone(),
        pid: machine.pid,
        level: windlass_domain::JOURNAL_LEVEL,
    };
    let owner = register(house.store.as_ref(), new, house.wall()).await?;
    *registered = Some(Registered { owner, lock });
    house.runtime.spawn(Box::pin(keep_beating(Arc::downgrade(house), owner)));
    Ok(id)
}

/// Three beats in a time to live: one may be late.
async fn keep_beating(house: Weak<House>, owner: Owner) {
    loop {
        let Some(runtime) = house.upgrade().map(|house| Arc::clone(&house.runtime)) else { return };
        runtime.sleep(TIME_TO_LIVE / 3).await;
        let Some(house) = house.upgrade() else { return };
        // Gone: this incarnation was replaced, and holds nothing any more. A beat that failed otherwise is a beat that is
        // late; leases are checked at every commit anyway.
        let beaten = beat(house.store.as_ref(), owner, house.wall()).await;
        if matches!(beaten, Err(StoreError::Gone { .. })) {
            let registered = house.process.registered.lock().await;
            if registered.as_ref().is_some_and(|known| known.owner == owner) {
                house.stop_all(Stop::LeaseLost);
            }
            return;
        }
    }
}

/// A clean end: what this process held is free at once.
pub(crate) async fn retire_process(house: &Arc<House>) -> Result<(), StoreError> {
    let mut registered = house.process.registered.lock().await;
    let Some(known) = registered.as_ref() else { return Ok(()) };
    // Until that is written its heart beats: nobody may take for retired what others see alive.
    retire(house.store.as_ref(), known.owner, house.wall()).await?;
    registered.take().and_then(|known| known.lock).map_or(Ok(()), OwnerLock::remove)
}
