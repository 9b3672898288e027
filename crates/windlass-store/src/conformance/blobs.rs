//! Blobs: what was put in comes out, and never less tainted than it went in.

use std::time::Duration;

use windlass_domain::{Digest, Taint, Tenant, Wall};

use crate::blob::{self, Blob, LARGE, STAGED_FOR};
use crate::commit::{Commit, Forgotten};
use crate::conformance::fixture::{AnyRuntime, AnyStore, NOW, append, commit, ok, stream, tenant};
use crate::stream::Position;

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index * 31 % 251) as u8).collect()
}

pub(super) async fn a_blob_is_read_back_whatever_its_size(store: AnyStore, _: AnyRuntime) {
    for length in [0, 1, LARGE - 1, LARGE, LARGE + 1, 5 << 20] {
        let content = bytes(length);
        let digest = blob::put(&*store, &tenant(), content.clone(), Taint::Auth, NOW).await.expect("put");
        assert_eq!(digest, Digest::of(&content));
        let again = blob::put(&*store, &tenant(), content.clone(), Taint::Auth, NOW).await;
        assert_eq!(again, Ok(digest));
        let found = store.blob(&tenant(), digest).await.expect("readable");
        assert_eq!(found, Some(Blob { bytes: content, taint: Taint::Auth }), "{length} bytes");
        assert_eq!(store.blob_size(&tenant(), digest).await, Ok(Some(length as u64)));
    }
    assert_eq!(store.blob(&tenant(), Digest::of(b"never put")).await, Ok(None));
    assert_eq!(store.blob_size(&tenant(), Digest::of(b"never put")).await, Ok(None));
}

pub(super) async fn a_staged_blob_is_not_there_before_its_commit(store: AnyStore, _: AnyRuntime) {
    for length in [10, LARGE + 10] {
        let staged = store.stage_blob(&tenant(), bytes(length), Taint::Auth).await.expect("staged");
        let digest = staged.digest();
        assert_eq!((staged.size(), staged.taint()), (length as u64, Taint::Auth));
        assert_eq!(store.blob(&tenant(), digest).await, Ok(None));
        assert_eq!(store.blob_size(&tenant(), digest).await, Ok(None));
        let mut commit = commit();
        commit.blobs.push(staged);
        ok(&store, commit).await;
        let found = store.blob(&tenant(), digest).await.expect("readable");
        assert_eq!(found.map(|blob| blob.bytes.len()), Some(length));
    }
}

pub(super) async fn the_taint_of_a_blob_only_rises(store: AnyStore, _: AnyRuntime) {
    for content in [bytes(10), bytes(LARGE + 10)] {
        let steps = [
            (Taint::Auth, Taint::Auth),
            (Taint::Owner, Taint::Auth),
            (Taint::External, Taint::External),
            (Taint::Owner, Taint::External),
        ];
        for (put, expected) in steps {
            let digest = blob::put(&*store, &tenant(), content.clone(), put, NOW).await.expect("put");
            let found = store.blob(&tenant(), digest).await.expect("readable").expect("it was put");
            assert_eq!(found.taint, expected);
        }
    }
}

/// When what was put at `NOW` may go.
fn later() -> Wall {
    NOW + STAGED_FOR + Duration::from_secs(1)
}

fn forgetting(digests: Vec<Digest>, as_of: Position, at: Wall) -> Commit {
    Commit { at, forgotten: Some(Forgotten { digests, as_of }), ..commit() }
}

pub(super) async fn what_nothing_refers_to_is_forgotten_and_what_is_named_meanwhile_stays(
    store: AnyStore,
    _: AnyRuntime,
) {
    let (unwanted, wanted) = (bytes(20), bytes(2 * LARGE));
    let mut digests = Vec::new();
    for content in [&unwanted, &wanted] {
        digests.push(blob::put(&*store, &tenant(), content.clone(), Taint::Auth, NOW).await.expect("put"));
    }
    let as_of = store.commit(append(&stream("a"), 0, &["something"])).await.expect("written").position;
    // Whoever decided has not seen this.
    store.commit(append(&stream("a"), 1, &[&format!("see {}", digests[1])])).await.expect("written");
    store.commit(forgetting(digests.clone(), as_of, later())).await.expect("forgotten");
    assert_eq!(store.blob(&tenant(), digests[0]).await, Ok(None));
    let kept = store.blob(&tenant(), digests[1]).await.expect("readable").expect("an event names it");
    assert_eq!(kept.bytes, wanted);
}

pub(super) async fn what_somebody_put_of_late_stays(store: AnyStore, _: AnyRuntime) {
    let digest = blob::put(&*store, &tenant(), bytes(20), Taint::Auth, NOW).await.expect("put");
    blob::put(&*store, &tenant(), bytes(20), Taint::Auth, later()).await.expect("put again");
    store.commit(forgetting(vec![digest], Position(0), later())).await.expect("looked at");
    assert!(store.blob(&tenant(), digest).await.expect("readable").is_some(), "it may be about to be named");
}

pub(super) async fn what_is_forgotten_can_be_put_again(store: AnyStore, _: AnyRuntime) {
    for length in [20, 2 * LARGE] {
        let digest = blob::put(&*store, &tenant(), bytes(length), Taint::Auth, NOW).await.expect("put");
        store.commit(forgetting(vec![digest], Position(0), later())).await.expect("forgotten");
        assert_eq!(store.blob(&tenant(), digest).await, Ok(None));
        blob::put(&*store, &tenant(), bytes(length), Taint::Auth, NOW).await.expect("put again");
        let found = store.blob(&tenant(), digest).await.expect("readable").expect("it is there");
        assert_eq!(found.bytes, bytes(length));
    }
}

pub(super) async fn everybody_who_has_a_stream_is_a_tenant(store: AnyStore, _: AnyRuntime) {
    assert_eq!(store.tenants().await, Ok(Vec::new()));
    let other = Tenant::new("another");
    store.commit(append(&stream("a"), 0, &["x"])).await.expect("written");
    store.commit(Commit { tenant: other.clone(), ..append(&stream("a"), 0, &["x"]) }).await.expect("written");
    assert_eq!(store.tenants().await, Ok(vec![other, tenant()]));
}
