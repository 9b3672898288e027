//! The power goes out: while several workers commit and the log is moved into the database file, everything that reaches
//! the disk is recorded; then the disk is rebuilt as it may have been at two thousand points of that record, and opened.
//! Nothing acknowledged is missing, nothing is there in part, and the database is sound. The control does the same without
//! syncing commits, and must lose something: otherwise this test could not notice a loss.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_store::Store as _;
use windlass_store::sqlite::{Options, SqliteStore, Synchronous};

use crate::dice::Dice;
use crate::disk::{Disk, Image, Op, image_after_power_cut, read_image, write_image};
use crate::executor::Executor;
use crate::promise::{Promise, kept};
use crate::scratch::scratch;

const WORKERS: u64 = 4;
const COMMITS: u64 = 40;
const POINTS: usize = 2_000;

struct Recording {
    before: Image,
    log: Vec<Op>,
}

fn record(work: fn(Options) -> Options) -> Recording {
    let (folder, disk, executor) = (tempfile::tempdir().expect("a folder"), Disk::new(), Executor::new());
    // So small that the log starts again many times.
    let options = work(Options::new(folder.path()).vfs(disk.vfs()).log_frames(40));
    drop(SqliteStore::open(options.clone(), executor.runtime()).expect("a new database"));
    let before = read_image(folder.path());
    disk.record();
    let store = Arc::new(SqliteStore::open(options, executor.runtime()).expect("the same database"));
    let workers = (0..WORKERS).map(|worker| {
        let store = Arc::clone(&store);
        executor.spawn(async move {
            for index in 0..COMMITS {
                let promise = Promise { worker, index };
                store.commit(promise.commit()).await.expect("a disk that works");
                disk.acknowledged(promise.number());
            }
        })
    });
    let workers: Vec<_> = workers.collect();
    workers.into_iter().for_each(|worker| executor.run(worker).expect("a worker ends"));
    // Closing is part of the record: it moves the log and deletes it.
    drop(store);
    Recording { before, log: disk.take_log() }
}

/// Lengths of the record at which to cut: right before and after every sync, and anywhere.
fn points(log: &[Op], count: usize, dice: &mut Dice) -> Vec<usize> {
    let syncs = log.iter().enumerate().filter(|(_, op)| matches!(op, Op::Sync { .. }));
    let mut points: Vec<usize> = syncs.flat_map(|(index, _)| [index, index + 1]).collect();
    points.resize_with(points.len().max(count), || dice.below(log.len() as u64 + 1) as usize);
    points
}

#[derive(Debug, Default)]
struct Tally {
    acknowledged: usize,
    missing: usize,
    cuts_with_loss: usize,
}

fn cut_at(recording: &Recording, count: usize, seed: u64) -> Tally {
    let (mut dice, executor, mut tally) = (Dice::seeded(seed), Executor::new(), Tally::default());
    let points = points(&recording.log, count, &mut dice);
    for point in &points {
        let log = &recording.log[..*point];
        let image = image_after_power_cut(&recording.before, log, &mut dice);
        let folder = scratch();
        write_image(folder.path(), &image);
        let store = SqliteStore::open(Options::new(folder.path()), executor.runtime());
        let store = store.unwrap_or_else(|error| panic!("cut at {point}: {error}"));
        executor.run(store.verify()).unwrap_or_else(|error| panic!("cut at {point}: {error}"));
        let kept = executor.run(kept(&store, WORKERS));
        let acknowledged = acknowledged(log);
        let missing = acknowledged.difference(&kept).count();
        tally.acknowledged += acknowledged.len();
        tally.missing += missing;
        tally.cuts_with_loss += usize::from(missing > 0);
    }
    println!("{} cuts in a record of {} operations: {tally:?}", points.len(), recording.log.len());
    tally
}

fn acknowledged(log: &[Op]) -> BTreeSet<Promise> {
    let numbers = log.iter().filter_map(|op| match op {
        Op::Acknowledged(number) => Some(*number),
        _ => None,
    });
    numbers.map(Promise::of_number).collect()
}

/// Otherwise the record has no moment in which the log is moved or begins again, and proves little.
fn assert_log_was_reused(log: &[Op]) {
    let restarts = log.iter().filter(|op| matches!(op, Op::Write { file, offset: 0, .. } if file.ends_with("-wal")));
    assert!(restarts.count() >= 5, "the log began again");
    let copies = log.iter().filter(|op| matches!(op, Op::Write { file, .. } if file.ends_with(".db")));
    assert!(copies.count() >= 100, "pages were moved into the database file");
}

#[test]
fn a_power_cut_loses_nothing_acknowledged() {
    let recording = record(|options| options);
    assert_log_was_reused(&recording.log);
    let tally = cut_at(&recording, POINTS, 1);
    assert!(tally.acknowledged > 0);
    assert_eq!((tally.missing, tally.cuts_with_loss), (0, 0));
}

#[test]
fn a_power_cut_loses_nothing_that_the_callers_thread_has_committed() {
    let recording = record(Options::on_callers_thread);
    assert_log_was_reused(&recording.log);
    let tally = cut_at(&recording, POINTS / 4, 2);
    assert!(tally.acknowledged > 0);
    assert_eq!((tally.missing, tally.cuts_with_loss), (0, 0));
}

#[test]
fn control_without_syncing_commits_a_power_cut_loses_some() {
    let recording = record(|options| options.synchronous(Synchronous::Normal));
    let tally = cut_at(&recording, POINTS / 10, 1);
    assert!(tally.cuts_with_loss > 20, "the test notices what is lost: {tally:?}");
}
