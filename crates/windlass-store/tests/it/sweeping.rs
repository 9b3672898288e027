//! Large blobs are files: those that no row names go when they are old, and never one that somebody is about to commit.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use windlass_domain::{Digest, Taint, Tenant, Wall};
use windlass_store::blob::{LARGE, STAGED_FOR, put};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Forgotten, Position, Store, Swept};

use crate::executor::Executor;
use crate::scratch::scratch;

const PUT: Wall = Wall::from_millis(1_700_000_000_000);

fn bytes(number: u8) -> Vec<u8> {
    vec![number; LARGE]
}

fn file(data: &Path, digest: Digest) -> PathBuf {
    let tenant = Digest::of(Tenant::local().as_str().as_bytes());
    data.join("blobs").join(tenant.to_string()).join(digest.to_string())
}

/// As if it had been staged when `PUT` was.
fn make_old(path: &Path) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(PUT.as_millis());
    File::open(path).and_then(|file| file.set_modified(time)).expect("a file of ours");
}

#[test]
fn what_no_row_names_goes_when_it_is_old() {
    let (folder, executor) = (scratch(), Executor::new());
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    let local = Tenant::local();
    executor.run(async {
        let named = put(&store, &local, bytes(1), Taint::Auth, PUT).await.expect("put");
        let forgotten = put(&store, &local, bytes(2), Taint::Auth, PUT).await.expect("put");
        let staged = store.stage_blob(&local, bytes(3), Taint::Auth).await.expect("staged");
        let left = store.stage_blob(&local, bytes(4), Taint::Auth).await.expect("staged");
        let files = [named, forgotten, staged.digest(), left.digest()].map(|digest| file(folder.path(), digest));
        std::fs::write(files[0].with_file_name("half.new"), "half").expect("a leftover");
        files.iter().chain([&files[0].with_file_name("half.new")]).for_each(|path| make_old(path));
        let now = PUT + STAGED_FOR + Duration::from_secs(1);
        let mut commit = Commit::unfenced(local.clone(), now);
        commit.forgotten = Some(Forgotten { digests: vec![forgotten], as_of: Position(0) });
        store.commit(commit).await.expect("forgotten");
        // Somebody stages the same again, and has not committed yet.
        let again = store.stage_blob(&local, bytes(3), Taint::Auth).await.expect("staged");
        let swept = store.sweep(now).await.expect("swept");
        assert_eq!(swept, Swept { files: 3, bytes: 2 * LARGE as u64 + 4 });
        assert_eq!(files.map(|path| path.exists()), [true, false, true, false]);
        let mut commit = Commit::unfenced(local.clone(), now);
        commit.blobs.push(again);
        store.commit(commit).await.expect("what was staged can be committed");
        assert_eq!(store.blob(&local, staged.digest()).await.expect("readable").expect("it is there").bytes, bytes(3));
        assert_eq!(store.sweep(now).await, Ok(Swept::default()), "there is nothing more");
    });
}
