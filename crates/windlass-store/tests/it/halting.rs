//! A sync that is not confirmed ends the process, unless it was told to do something else: this test program is started again
//! on a disk that fails, and watched.

#![expect(clippy::disallowed_methods, reason = "a real process is what must end, and it is told by the environment")]

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use windlass_store::Store as _;
use windlass_store::sqlite::{Options, SqliteStore};

use crate::disk::{Disk, Fault, Plan};
use crate::executor::Executor;
use crate::promise::{Promise, kept};
use crate::scratch::scratch;

const FOLDER: &str = "WINDLASS_STORE_TEST_FAILING_FOLDER";
const SIGABRT: i32 = 6;

/// The other side of the test below; without its folder it has nothing to do.
#[test]
fn as_a_process_whose_disk_fails() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let (disk, executor) = (Disk::new(), Executor::new());
    let options = Options::new(folder).vfs(disk.vfs());
    let store = SqliteStore::open(options, executor.runtime()).expect("a store");
    executor.run(store.commit(Promise { worker: 0, index: 0 }.commit())).expect("a disk that works");
    disk.fail(Plan { fault: Fault::Unsynced, first: 1, last: 1 });
    let answer = executor.run(store.commit(Promise { worker: 0, index: 1 }.commit()));
    println!("the process went on, with {answer:?}");
}

#[test]
fn a_sync_that_is_not_confirmed_ends_the_process_and_says_why() {
    let folder = scratch();
    let output = Command::new(std::env::current_exe().expect("a program"))
        .args(["--exact", "halting::as_a_process_whose_disk_fails", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .expect("a process");
    let (told, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.signal(), Some(SIGABRT), "{told}{said}");
    assert!(!told.contains("the process went on"), "{told}");
    assert!(said.contains("windlass: the disk did not confirm a write"), "{said}");
    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    assert!(executor.run(kept(&store, 1)).contains(&Promise { worker: 0, index: 0 }));
}
