//! Tenants: two of them may use the same names for everything and never meet.

use windlass_domain::{Seq, Taint, Tenant};

use crate::blob;
use crate::commit::{Commit, Marker, Nonce, Snapshot, TimerChange};
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, event, lease, message, ok, registered, stream, taking, text, timer,
};
use crate::lease::Claim;
use crate::stream::Position;

/// Names that would be trouble as file names, and one that begins like another.
const NAMES: [&str; 4] = ["a", "../a", "a/b", "a\0"];

fn everything(tenant: &Tenant) -> Commit {
    let mut commit = Commit::unfenced(tenant.clone(), NOW);
    commit.expect.push((stream("s"), Seq(0)));
    commit.nonces.push(Nonce("n".into()));
    commit.processed.push(Marker { scope: "s".into(), key: "k".into() });
    commit.events.push(event(&stream("s"), tenant.as_str()));
    commit.messages.push(message(1, "box"));
    commit.timers.push(TimerChange::Set(timer("t", 1)));
    commit.snapshots.push(Snapshot {
        stream: stream("s"),
        seq: Seq(1),
        version: 1,
        data: tenant.as_str().as_bytes().to_vec(),
    });
    commit
}

pub(super) async fn a_tenant_sees_its_own_rows_only(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    let large = vec![1_u8; blob::LARGE];
    let mut digest = None;
    for name in NAMES {
        let tenant = Tenant::new(name);
        assert_eq!(store.head(&tenant, &stream("s")).await, Ok(Seq(0)));
        assert_eq!(store.events(&tenant, Position(0), 9).await, Ok(Vec::new()));
        assert_eq!(store.streams(&tenant, "test", None, 9).await, Ok(Vec::new()));
        assert_eq!(store.snapshot(&tenant, &stream("s")).await, Ok(None));
        assert_eq!(store.mailbox(&tenant, "box", NOW, 9).await, Ok(Vec::new()));
        assert_eq!(store.timers_due(Some(&tenant), NOW, 9).await, Ok(Vec::new()));
        assert_eq!(store.lease(&tenant, &lease("l")).await, Ok(None));
        if let Some(digest) = digest {
            assert_eq!(store.blob(&tenant, digest).await, Ok(None));
            assert_eq!(store.blob_size(&tenant, digest).await, Ok(None));
        }
        // Each tenant's first is a first, whatever the others have done.
        ok(&store, everything(&tenant)).await;
        let mut take = taking(&lease("l"), owner, Claim::Unheld);
        take.tenant = tenant.clone();
        ok(&store, take).await;
        digest = Some(blob::put(&*store, &tenant, large.clone(), Taint::Auth, NOW).await.expect("put"));
    }
    for name in NAMES {
        let tenant = Tenant::new(name);
        let events = store.events(&tenant, Position(0), 9).await.expect("readable");
        assert_eq!(events.iter().map(|event| text(&event.data)).collect::<Vec<_>>(), [name]);
        let snapshot = store.snapshot(&tenant, &stream("s")).await.expect("readable").expect("kept");
        assert_eq!(snapshot.data, name.as_bytes());
    }
}

pub(super) async fn guards_of_different_tenants_do_not_meet(store: AnyStore, _: AnyRuntime) {
    let (a, b) = (Tenant::new("a"), Tenant::new("b"));
    ok(&store, everything(&a)).await;
    ok(&store, everything(&b)).await;
    let acking = |tenant: &Tenant| {
        let mut commit = Commit::unfenced(tenant.clone(), NOW);
        commit.acks.push(message(1, "box").message_id);
        commit
    };
    ok(&store, acking(&a)).await;
    assert_eq!(store.mailbox(&b, "box", NOW, 9).await.map(|messages| messages.len()), Ok(1));
    ok(&store, acking(&b)).await;
}
