//! SQLite's own loop: the first call to the disk fails, then the second, and so on until a run ends without one. After each
//! run the disk works again and the database is opened: what was acknowledged is there, what was refused is not, what is
//! uncertain is wholly there or wholly absent, and after a sync that failed nothing was accepted any more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_domain::{Seq, Tenant};
use windlass_store::sqlite::{Halt, Options, SqliteStore};
use windlass_store::{Error, Store as _, StreamId};

use crate::disk::{Disk, Fault, Plan};
use crate::executor::Executor;
use crate::promise::{Promise, kept};
use crate::scratch::scratch;

const WORKERS: u64 = 3;
const ATTEMPTS: usize = 5;

/// What became of the attempts to keep a promise.
#[derive(Debug, Default)]
struct Outcomes {
    acknowledged: BTreeSet<Promise>,
    /// At least one attempt ended without anybody knowing.
    uncertain: BTreeSet<Promise>,
    /// Every attempt was refused.
    refused: BTreeSet<Promise>,
    errors: BTreeMap<String, usize>,
    struck_while_open: u64,
}

#[derive(Debug, Clone, Copy)]
enum Lasting {
    Once,
    /// From then on.
    ForGood,
}

/// By the store's own threads, and by the caller's.
fn fail_everything_once(fault: Fault, lasting: Lasting) {
    fail_everything_once_with(fault, lasting, |options| options);
    fail_everything_once_with(fault, lasting, Options::on_callers_thread);
}

fn fail_everything_once_with(fault: Fault, lasting: Lasting, work: fn(Options) -> Options) {
    let (disk, executor) = (Disk::new(), Executor::new());
    let mut errors: BTreeMap<String, usize> = BTreeMap::new();
    for first in 1.. {
        let folder = scratch();
        let options = Options::new(folder.path());
        let halts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&halts);
        let halt = Halt::new(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let watched = work(options.clone()).vfs(disk.vfs()).log_frames(8).on_halt(halt);
        let last = match lasting {
            Lasting::Once => first,
            Lasting::ForGood => u64::MAX,
        };
        disk.fail(Plan { fault, first, last });
        let outcomes = run(watched, &executor, disk);
        let struck = disk.heal();
        let halts = halts.load(Ordering::SeqCst);
        assert!(halts <= 1, "it is said once");
        if fault == Fault::Unsynced && outcomes.struck_while_open > 0 {
            assert_eq!(halts, 1, "{lasting:?} at {first}: a sync failed and the process may go on");
        }
        check(options, &executor, &outcomes, &format!("{fault:?} {lasting:?} at {first}: {outcomes:?}"));
        for (error, count) in outcomes.errors {
            *errors.entry(error).or_default() += count;
        }
        if struck == 0 {
            println!("{fault:?} {lasting:?}: {} calls, each failed; what callers were told: {errors:#?}", first - 1);
            assert!(first > 10, "the fault met something");
            assert_eq!(outcomes.acknowledged.len(), WORKERS as usize * ATTEMPTS, "the last run was clean");
            return;
        }
    }
}

fn run(options: Options, executor: &Executor, disk: Disk) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let store = match SqliteStore::open(options, executor.runtime()) {
        Ok(store) => Arc::new(store),
        Err(error) => {
            outcomes.note(&error);
            return outcomes;
        }
    };
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let store = Arc::clone(&store);
            executor.spawn(async move { keep_promises(&store, worker).await })
        })
        .collect();
    for worker in workers {
        outcomes.join(executor.run(worker).expect("a worker ends"));
    }
    outcomes.struck_while_open = disk.struck();
    outcomes
}

async fn keep_promises(store: &SqliteStore, worker: u64) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let (mut index, mut halted) = (0, false);
    for _ in 0..ATTEMPTS {
        let promise = Promise { worker, index };
        match store.commit(promise.commit()).await {
            Ok(_) => {
                assert!(!halted, "accepted after the disk could not be believed any more");
                outcomes.acknowledged.insert(promise);
                index += 1;
            }
            Err(error) => {
                outcomes.note(&error);
                if let Error::Halted { .. } = error {
                    halted = true;
                    outcomes.uncertain.insert(promise);
                } else {
                    outcomes.refused.insert(promise);
                }
            }
        }
        // A read that fails is a read that fails.
        let read = store.stream(&Tenant::local(), &StreamId::new("worker", worker), Seq(0), 9).await;
        if let Err(error) = read {
            outcomes.note(&error);
        }
    }
    outcomes
}

impl Outcomes {
    fn note(&mut self, error: &Error) {
        let kind = format!("{error:?}").split([' ', '{']).next().unwrap_or_default().to_owned();
        *self.errors.entry(kind).or_default() += 1;
    }

    fn join(&mut self, other: Self) {
        self.acknowledged.extend(other.acknowledged);
        self.uncertain.extend(other.uncertain);
        self.refused.extend(other.refused);
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
    }
}

fn check(options: Options, executor: &Executor, outcomes: &Outcomes, context: &str) {
    let store = SqliteStore::open(options, executor.runtime()).unwrap_or_else(|error| panic!("{context}: {error}"));
    executor.run(store.verify()).unwrap_or_else(|error| panic!("{context}: {error}"));
    let kept = executor.run(kept(&store, WORKERS));
    let missing: Vec<_> = outcomes.acknowledged.difference(&kept).collect();
    assert!(missing.is_empty(), "{context}: {missing:?} were acknowledged");
    let may_be_there: BTreeSet<Promise> = outcomes.acknowledged.union(&outcomes.uncertain).copied().collect();
    let unasked: Vec<_> = kept.difference(&may_be_there).collect();
    assert!(unasked.is_empty(), "{context}: {unasked:?} were refused");
}

#[test]
fn any_call_fails_once() {
    fail_everything_once(Fault::Broken, Lasting::Once);
}

#[test]
fn any_call_and_all_after_it_fail() {
    fail_everything_once(Fault::Broken, Lasting::ForGood);
}

#[test]
fn any_write_finds_the_disk_full_once() {
    fail_everything_once(Fault::Full, Lasting::Once);
}

#[test]
fn any_write_and_all_after_it_find_the_disk_full() {
    fail_everything_once(Fault::Full, Lasting::ForGood);
}

#[test]
fn any_write_and_all_after_it_find_the_disk_read_only() {
    fail_everything_once(Fault::ReadOnly, Lasting::ForGood);
}

#[test]
fn any_write_is_torn_once() {
    fail_everything_once(Fault::Torn, Lasting::Once);
}

#[test]
fn any_sync_is_not_confirmed_once() {
    fail_everything_once(Fault::Unsynced, Lasting::Once);
}

#[test]
fn any_sync_and_all_after_it_are_not_confirmed() {
    fail_everything_once(Fault::Unsynced, Lasting::ForGood);
}
