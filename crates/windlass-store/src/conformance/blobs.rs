//! Blobs: what was put in comes out, and never less tainted than it went in.

use windlass_domain::{Digest, Taint};

use crate::blob::{self, Blob, LARGE};
use crate::conformance::fixture::{AnyRuntime, AnyStore, NOW, commit, ok, tenant};

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
    }
    assert_eq!(store.blob(&tenant(), Digest::of(b"never put")).await, Ok(None));
}

pub(super) async fn a_staged_blob_is_not_there_before_its_commit(store: AnyStore, _: AnyRuntime) {
    for length in [10, LARGE + 10] {
        let staged = store.stage_blob(&tenant(), bytes(length), Taint::Auth).await.expect("staged");
        let digest = staged.digest();
        assert_eq!((staged.size(), staged.taint()), (length as u64, Taint::Auth));
        assert_eq!(store.blob(&tenant(), digest).await, Ok(None));
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
