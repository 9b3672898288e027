//! A whole store moves from SQLite to PostgreSQL: every row is what it was, the chains hold, and work goes on where it stood.
//! What cannot be moved is left as it is.

use std::path::Path;
use std::sync::Arc;

use windlass_domain::{Encoded, MessageId, OwnerId, Seq, Taint, Tenant, Wall};
use windlass_store::chain::{Verified, verify};
use windlass_store::lease::{Claim, LeaseChange};
use windlass_store::moving::sqlite_to_postgres;
use windlass_store::owner::{OwnerLocks, register};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{
    Commit, Error, LeaseName, Marker, NewTimer, Nonce, OwnerLock, Position, Snapshot, Standing, Store, StreamId,
    TimerChange, TimerName, blob,
};

use crate::postgres::house::{House, options};
use crate::promise::Promise;
use crate::scratch::scratch;

const NOW: Wall = Wall::from_millis(1_700_000_000_000);
const WORKERS: u64 = 3;

fn tenants() -> [Tenant; 2] {
    [Tenant::local(), Tenant::new("other\0 one\t\\")]
}

fn lease_name() -> LeaseName {
    LeaseName::new("task", "held")
}

fn locks(folder: &Path) -> OwnerLocks {
    OwnerLocks::new(folder, "ship", "boot")
}

/// Some of everything, for two tenants; the owner of what is held, with its lock.
async fn fill(store: &dyn Store, folder: &Path) -> OwnerLock {
    let owner = OwnerId::new(NOW, 7 << 64);
    let lock = locks(folder).hold(owner).expect("a lock");
    register(store, locks(folder).new_owner(owner, 77), NOW).await.expect("registered");
    for tenant in tenants() {
        for worker in 0..WORKERS {
            for index in 0..4 {
                // Each has an owner of its own that holds its message.
                let promise = Promise { worker, index };
                store.commit(Commit { tenant: tenant.clone(), ..promise.commit() }).await.expect("a commit");
            }
        }
        let mut commit = Commit::unfenced(tenant.clone(), NOW);
        commit.nonces.push(Nonce("used \\ once".into()));
        commit.processed.push(Marker { scope: "scope".into(), key: "key\0".into() });
        commit.leases.push(LeaseChange::Take { lease: lease_name(), owner, claim: Claim::Unheld });
        let data = serde_json::value::to_raw_value("tab\t, line\n, \\ and \u{1F6A2}").expect("text is JSON");
        commit.timers.push(TimerChange::Set(NewTimer {
            name: TimerName("soon".into()),
            due: NOW,
            queue: "alarms".into(),
            encoded: Encoded { kind: "test.rang", version: 2, data, since: 1, older: &[] },
            taint: Taint::External,
        }));
        let stream = StreamId::new("worker", 0);
        commit.snapshots.push(Snapshot { stream, seq: Seq(2), version: 3, data: vec![0, 9, 10, 13, 92, 255] });
        store.commit(commit).await.expect("a commit");
        for size in [10, 3 << 20] {
            blob::put(store, &tenant, vec![7; size], Taint::Auth, NOW).await.expect("a blob");
        }
    }
    lock
}

/// All that can be read of a tenant, as one text, and what differs by who holds what left out.
async fn everything(store: &dyn Store, tenant: &Tenant) -> String {
    let mut all = Vec::new();
    let links = store.links(tenant, Position(0), 10_000).await.expect("readable");
    all.extend(links.iter().map(|link| format!("{link:?}")));
    all.push(format!("{:?}", store.chain_head(tenant).await));
    all.push(format!("{:?}", store.streams(tenant, "worker", None, 99).await));
    all.push(format!("{:?}", store.mailbox(tenant, "box", NOW, 999).await));
    all.push(format!("{:?}", store.timers_due(Some(tenant), NOW, 9).await));
    all.push(format!("{:?}", store.snapshot(tenant, &StreamId::new("worker", 0)).await));
    let marker = Marker { scope: "scope".into(), key: "key\0".into() };
    all.push(format!("{:?}", store.is_marked(tenant, &marker).await));
    for size in [10, 3 << 20] {
        let kept = store.blob(tenant, windlass_domain::Digest::of(&vec![7; size])).await.expect("readable");
        all.push(format!("{:?}", kept.map(|blob| (blob.bytes.len(), blob.bytes.first().copied(), blob.taint))));
    }
    all.push(format!("{:?}", store.lease(tenant, &lease_name()).await.expect("readable").map(|row| row.epoch)));
    all.join("\n")
}

#[test]
fn a_store_is_moved_with_everything_and_goes_on() {
    let (house, folder) = (House::new(), scratch());
    let url = house.url();
    let open = || SqliteStore::open(Options::new(folder.path()), house.executor.runtime()).expect("a store");
    let store = open();
    let lock = house.executor.run(fill(&store, folder.path()));
    let before: Vec<String> = tenants().iter().map(|tenant| house.executor.run(everything(&store, tenant))).collect();
    drop(store);
    let move_it = || {
        let locks = locks(folder.path());
        house.executor.run(sqlite_to_postgres(folder.path(), &locks, options(&url), house.executor.runtime()))
    };

    let refused = move_it().expect_err("somebody works there").to_string();
    assert!(refused.contains("process 77 still works on it"), "{refused}");
    drop(lock);
    let moved = move_it().expect("it moves");
    assert_eq!((moved.events, moved.messages, moved.blobs), (72, 30, 4));

    let store = house.open(&url);
    for (tenant, before) in tenants().iter().zip(&before) {
        assert_eq!(&house.executor.run(everything(&*store, tenant)), before);
        let chain = house.executor.run(verify(&*store, tenant, None, None)).expect("readable");
        assert!(matches!(chain, Verified::Intact { events: 36, .. }), "{chain:?}");
        let lease = house.executor.run(store.lease(tenant, &lease_name())).expect("readable").expect("its epoch stays");
        assert_eq!(lease.holder, None);
        // What was in somebody's hands waits for somebody; how often it was delivered is not forgotten.
        let held = MessageId::new(NOW, u128::from(Promise { worker: 0, index: 3 }.number() + 1_000_000) << 64);
        let message = house.executor.run(store.message(tenant, held)).expect("readable").expect("it was not acked");
        assert_eq!((message.standing, message.deliveries), (Standing::Ready, 1));
        let again = Commit { tenant: tenant.clone(), nonces: vec![Nonce("used \\ once".into())], ..commit(tenant) };
        let told = house.executor.run(store.commit(again));
        assert!(matches!(told, Err(Error::NonceUsed { .. })), "{told:?}");
    }
    let last = house.executor.run(store.commit(commit(&Tenant::local()))).expect("a commit").position;
    let more = Promise { worker: 9, index: 0 }.commit();
    let committed = house.executor.run(store.commit(more)).expect("it goes on");
    assert_eq!(committed.position, Position(last.0 + 3));

    assert!(!folder.path().join("windlass.db").exists() && folder.path().join("windlass.db.moved").exists());
    let refused = move_it().expect_err("there is nothing left to move").to_string();
    assert!(refused.contains("there is no such database"), "{refused}");
}

fn commit(tenant: &Tenant) -> Commit {
    Commit::unfenced(tenant.clone(), NOW)
}

#[test]
fn a_target_that_holds_anything_is_refused_and_both_stay_as_they_are() {
    let (house, folder) = (House::new(), scratch());
    let url = house.url();
    let store = SqliteStore::open(Options::new(folder.path()), house.executor.runtime()).expect("a store");
    house.executor.run(store.commit(Promise { worker: 0, index: 0 }.commit())).expect("a commit");
    drop(store);
    let target = house.open(&url);
    let mut used = commit(&Tenant::new("else"));
    used.nonces.push(Nonce("only this".into()));
    house.executor.run(target.commit(used)).expect("a commit");
    let locks = locks(folder.path());
    let moving = sqlite_to_postgres(folder.path(), &locks, options(&url), house.executor.runtime());
    let refused = house.executor.run(moving).expect_err("it is not empty").to_string();
    assert!(refused.contains("not empty"), "{refused}");
    assert_eq!(house.server.sql("test_0", "SELECT count(*) FROM windlass.events"), "0");
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(Options::new(folder.path()), house.executor.runtime()).expect("it is still there"));
    assert_eq!(house.executor.run(store.head(&Tenant::local(), &StreamId::new("worker", 0))), Ok(Seq(2)));
}
