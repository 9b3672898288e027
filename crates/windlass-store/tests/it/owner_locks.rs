//! File locks as proof of death: held as long as the owner or anything that inherited the descriptor lives.

use std::path::Path;
use std::time::Duration;

use windlass_domain::{Instant, OwnerId, Tenant, Wall};
use windlass_store::lease::{Taking, take};
use windlass_store::owner::{LockState, Observer, Owner, Witness, register};
use windlass_store::sqlite::SqliteStore;
use windlass_store::{Epoch, Error, LeaseName, OwnerLocks, OwnerRow};

use crate::executor::Executor;

fn locks(folder: &Path) -> OwnerLocks {
    OwnerLocks::new(folder, "ship", "boot-1")
}

fn id(number: u128) -> OwnerId {
    OwnerId::new(Wall::from_millis(1), number << 64)
}

fn row(number: u128) -> OwnerRow {
    OwnerRow {
        id: id(number),
        epoch: Epoch(1),
        host: "ship".into(),
        boot_id: "boot-1".into(),
        pid: 1,
        beat: 0,
        beat_at: Wall::default(),
        retired: false,
        level: 1,
    }
}

#[test]
fn a_lock_is_held_until_the_last_descriptor_is_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let locks = locks(folder.path());
    let state = || locks.state(&row(1)).expect("no trouble");
    assert_eq!(state(), LockState::Unknown);
    let lock = locks.hold(id(1)).expect("nobody holds it");
    assert_eq!(state(), LockState::Held);
    let inherited = lock.try_clone().expect("a descriptor");
    drop(lock);
    assert_eq!(state(), LockState::Held, "the sandbox still lives");
    drop(inherited);
    assert_eq!(state(), LockState::Free);
    // Asking takes nothing away.
    assert_eq!(state(), LockState::Free);
}

#[test]
fn a_lock_is_held_by_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let locks = locks(folder.path());
    let lock = locks.hold(id(1)).expect("nobody holds it");
    assert!(matches!(locks.hold(id(1)), Err(Error::Busy { .. })));
    let other = locks.hold(id(2)).expect("another owner's");
    drop(lock);
    let again = locks.hold(id(1)).expect("it is free again");
    assert_eq!(locks.state(&row(1)), Ok(LockState::Held));
    again.remove().expect("removed");
    assert_eq!(locks.state(&row(1)), Ok(LockState::Unknown));
    drop(other);
    let left: Vec<_> = std::fs::read_dir(folder.path().join("owners")).expect("a folder").collect();
    assert_eq!(left.len(), 1, "no half-made files: {left:?}");
}

#[test]
fn a_lock_proves_nothing_to_another_host() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(locks(folder.path()).hold(id(1)).expect("nobody holds it"));
    for boot_id in ["boot-1", "boot-2"] {
        let elsewhere = OwnerLocks::new(folder.path(), "boat", boot_id);
        assert_eq!(elsewhere.state(&row(1)), Ok(LockState::Unknown));
    }
}

/// Whatever became of the file.
#[test]
fn nothing_of_what_ran_before_the_machine_was_started_anew_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let after_reboot = OwnerLocks::new(folder.path(), "ship", "boot-2");
    assert_eq!(after_reboot.state(&row(1)), Ok(LockState::Free));
    drop(locks(folder.path()).hold(id(1)).expect("nobody holds it"));
    assert_eq!(after_reboot.state(&row(1)), Ok(LockState::Free));
}

#[test]
fn whoever_asks_from_the_same_machine_gets_a_proof() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = || OwnerLocks::here(folder.path()).expect("a machine that knows its name");
    let owner = here().new_owner(id(1), 7);
    assert!(!owner.host.is_empty() && owner.boot_id.len() == 36);
    let row = OwnerRow { host: owner.host, boot_id: owner.boot_id, ..row(1) };
    let lock = here().hold(id(1)).expect("nobody holds it");
    assert_eq!(here().state(&row), Ok(LockState::Held));
    drop(lock);
    assert_eq!(here().state(&row), Ok(LockState::Free));
}

struct Scene {
    executor: Executor,
    store: SqliteStore,
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let executor = Executor::new();
        let store = SqliteStore::in_memory(executor.runtime()).expect("a store");
        Self { executor, store, folder: tempfile::tempdir().expect("a folder") }
    }

    fn register(&self, number: u128) -> Owner {
        let new = locks(self.folder.path()).new_owner(id(number), 1);
        self.executor.run(register(&self.store, new, Wall::default())).expect("registered")
    }

    fn take(&self, owner: Owner, witness: &mut Witness, second: u64) -> Taking {
        let now = Instant::since_start(Duration::from_secs(second));
        let (tenant, lease) = (Tenant::local(), LeaseName::new("test", 1));
        let taking = take(&self.store, witness, &tenant, &lease, owner.id, now, Wall::default());
        self.executor.run(taking).expect("no trouble")
    }

    fn witness(&self) -> Witness {
        Witness::by_lock_or_heartbeat(locks(self.folder.path()), Observer::new(Duration::from_secs(9)))
    }
}

#[test]
fn the_lease_of_a_process_that_died_is_taken_at_once() {
    let scene = Scene::new();
    let lock = locks(scene.folder.path()).hold(id(1)).expect("nobody holds it");
    let (dead, heir) = (scene.register(1), scene.register(2));
    let mut witness = scene.witness();
    assert!(matches!(scene.take(dead, &mut witness, 0), Taking::Taken(_)));
    assert!(matches!(scene.take(heir, &mut witness, 0), Taking::Held(_)));
    drop(lock);
    let Taking::Taken(fence) = scene.take(heir, &mut witness, 0) else { panic!("its lock is free") };
    assert_eq!((fence.owner, fence.epoch), (heir.id, Epoch(2)));
}

#[test]
fn a_process_that_hangs_keeps_its_lease_while_its_lock_is_held() {
    let scene = Scene::new();
    let lock = locks(scene.folder.path()).hold(id(1)).expect("nobody holds it");
    let (hung, heir) = (scene.register(1), scene.register(2));
    let mut witness = scene.witness();
    assert!(matches!(scene.take(hung, &mut witness, 0), Taking::Taken(_)));
    for second in 0..100 {
        assert!(matches!(scene.take(heir, &mut witness, second), Taking::Held(_)), "second {second}");
    }
    drop(lock);
    assert!(matches!(scene.take(heir, &mut witness, 100), Taking::Taken(_)));
}

#[test]
fn without_a_lock_file_the_heartbeat_decides() {
    let scene = Scene::new();
    let (silent, heir) = (scene.register(1), scene.register(2));
    let mut witness = scene.witness();
    assert!(matches!(scene.take(silent, &mut witness, 0), Taking::Taken(_)));
    for second in [0, 3, 6] {
        assert!(matches!(scene.take(heir, &mut witness, second), Taking::Held(_)), "second {second}");
    }
    assert!(matches!(scene.take(heir, &mut witness, 9), Taking::Taken(_)));
}
