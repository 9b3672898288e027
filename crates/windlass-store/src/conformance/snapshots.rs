//! Snapshots: the newest is kept, and none is ahead of what it is a fold of.

use windlass_domain::Seq;

use crate::commit::{Commit, Snapshot};
use crate::conformance::fixture::{AnyRuntime, AnyStore, append, commit, ok, refused, stream, tenant};
use crate::error::Error;

fn snapshot(seq: u64, data: &str) -> Snapshot {
    Snapshot { stream: stream("a"), seq: Seq(seq), version: 2, data: data.as_bytes().to_vec() }
}

fn keeping(snapshot: Snapshot) -> Commit {
    let mut commit = commit();
    commit.snapshots.push(snapshot);
    commit
}

pub(super) async fn the_newest_snapshot_is_kept(store: AnyStore, _: AnyRuntime) {
    let a = stream("a");
    // In the same commit as the events it covers.
    let mut first = append(&a, 0, &["1", "2", "3"]);
    first.snapshots.push(snapshot(2, "two"));
    ok(&store, first).await;
    assert_eq!(store.snapshot(&tenant(), &a).await, Ok(Some(snapshot(2, "two"))));
    ok(&store, keeping(snapshot(3, "three"))).await;
    ok(&store, keeping(snapshot(1, "one, late"))).await;
    assert_eq!(store.snapshot(&tenant(), &a).await, Ok(Some(snapshot(3, "three"))));
    ok(&store, keeping(snapshot(3, "three, again"))).await;
    assert_eq!(store.snapshot(&tenant(), &a).await, Ok(Some(snapshot(3, "three, again"))));
}

pub(super) async fn a_snapshot_is_not_ahead_of_its_stream(store: AnyStore, _: AnyRuntime) {
    let a = stream("a");
    assert!(matches!(refused(&store, keeping(snapshot(1, "of nothing"))).await, Error::Conflict { .. }));
    ok(&store, append(&a, 0, &["1"])).await;
    assert!(matches!(refused(&store, keeping(snapshot(2, "ahead"))).await, Error::Conflict { .. }));
    assert_eq!(store.snapshot(&tenant(), &a).await, Ok(None));
}
