//! What is true of SQLite in particular: the log stays short, a stuck process is named, other processes' commits wake, a
//! queue smaller than what is asked of it holds nobody for ever, in memory nothing waits, and the schema guards itself.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use windlass_domain::{Seq, Taint, Tenant, Wall};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Error, Store, StreamId, Topic, blob};

use crate::executor::Executor;
use crate::promise::{Promise, kept};
use crate::scratch::scratch;

fn commit_many(executor: &Executor, store: &Arc<SqliteStore>, workers: std::ops::Range<u64>, commits: u64) {
    let tasks: Vec<_> = workers
        .map(|worker| {
            let store = Arc::clone(store);
            executor.spawn(async move {
                for index in 0..commits {
                    store.commit(Promise { worker, index }.commit()).await.expect("a store that works");
                }
            })
        })
        .collect();
    tasks.into_iter().for_each(|task| executor.run(task).expect("a worker ends"));
}

/// Eight writers without a pause: the log never comes to rest by itself.
#[test]
fn the_log_stays_short_under_steady_load() {
    let (folder, executor) = (scratch(), Executor::new());
    let log = folder.path().join("windlass.db-wal");
    let options = Options::new(folder.path()).log_frames(100);
    let store = Arc::new(SqliteStore::open(options, executor.runtime()).expect("a store"));
    commit_many(&executor, &store, 0..8, 120);
    let (log, database) = (log.metadata().expect("a log").len(), folder.path().join("windlass.db"));
    let database = database.metadata().expect("a database").len();
    println!("log {log}, database {database}");
    // Each commit writes several pages; without moving them the log would hold them all.
    assert!(database > 5_000_000, "the pages went into the database: {database}");
    assert!(log < 8_000_000, "the log stays short: {log}");
    assert_eq!(executor.run(kept(&*store, 8)).len(), 8 * 120);
}

/// A reader that stays keeps the log from starting again. Commits go on, and once it has gone the log does start again.
#[test]
fn a_long_reader_stops_nobody() {
    let (folder, executor) = (scratch(), Executor::new());
    let store = SqliteStore::open(Options::new(folder.path()).log_frames(20), executor.runtime()).expect("a store");
    let store = Arc::new(store);
    commit_many(&executor, &store, 0..1, 1);
    let reader = rusqlite::Connection::open(folder.path().join("windlass.db")).expect("it opens");
    reader.execute_batch("BEGIN; SELECT count(*) FROM events;").expect("a snapshot");
    let seen = || reader.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0)).expect("readable");
    let at_first = seen();
    commit_many(&executor, &store, 1..5, 60);
    assert_eq!(seen(), at_first, "a snapshot does not move");
    let log = folder.path().join("windlass.db-wal");
    let grown = log.metadata().expect("a log").len();
    drop(reader);
    commit_many(&executor, &store, 5..9, 60);
    let reused = log.metadata().expect("a log").len();
    assert!(reused <= grown + grown / 2, "the log started again: {grown}, then {reused}");
    assert_eq!(executor.run(kept(&*store, 9)).len(), 1 + 8 * 60);
}

#[test]
fn a_process_that_keeps_the_database_locked_is_named() {
    let (folder, executor) = (scratch(), Executor::new());
    let options = Options::new(folder.path()).busy_timeout(Duration::from_millis(20));
    let store = SqliteStore::open(options, executor.runtime()).expect("a store");
    let other = rusqlite::Connection::open(folder.path().join("windlass.db")).expect("it opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let promise = Promise { worker: 0, index: 0 };
    let refusal = executor.run(store.commit(promise.commit()));
    assert!(matches!(refusal, Err(Error::Busy { .. })), "{refusal:?}");
    assert_eq!(executor.run(kept(&store, 1)).len(), 0, "reading goes on");
    drop(other);
    executor.run(store.commit(promise.commit())).expect("the lock is free");
}

#[test]
fn another_process_s_commit_wakes_who_waits() {
    let (folder, executor) = (scratch(), Executor::new());
    let open = || SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    let (here, elsewhere) = (open(), open());
    let tenant = Tenant::local();
    let topic = || Topic::Mailbox { tenant: tenant.clone(), mailbox: "box".to_owned() };
    executor.run(async {
        let mut subscription = here.notifier().subscribe(topic());
        for index in 0..3 {
            let before =
                here.mailbox(&tenant, "box", Wall::from_millis(u64::MAX >> 1), 99).await.expect("readable").len();
            elsewhere.commit(Promise { worker: 0, index }.commit()).await.expect("a store that works");
            let mut found = before;
            while found == before {
                subscription.changed(Duration::from_secs(3_600)).await;
                found =
                    here.mailbox(&tenant, "box", Wall::from_millis(u64::MAX >> 1), 99).await.expect("readable").len();
            }
            assert_eq!(found, before + 1);
        }
    });
}

#[test]
fn a_queue_smaller_than_what_is_asked_of_it_holds_nobody_for_ever() {
    let (folder, executor) = (scratch(), Executor::new());
    let options = Options::new(folder.path()).queue_bytes(5_000);
    let store = Arc::new(SqliteStore::open(options, executor.runtime()).expect("a store"));
    // Every fourth is larger than the whole queue.
    commit_many(&executor, &store, 0..16, 8);
    assert_eq!(executor.run(kept(&*store, 16)).len(), 16 * 8);
}

#[test]
fn in_memory_everything_is_done_on_the_first_poll() {
    let executor = Executor::new();
    let store = SqliteStore::in_memory(executor.runtime()).expect("a store");
    let mut context = Context::from_waker(Waker::noop());
    let mut commit = pin!(store.commit(Promise { worker: 0, index: 0 }.commit()));
    assert!(matches!(commit.as_mut().poll(&mut context), Poll::Ready(Ok(_))));
    let mut read = pin!(store.stream(&Tenant::local(), &StreamId::new("worker", 0), Seq(0), 9));
    assert!(matches!(read.as_mut().poll(&mut context), Poll::Ready(Ok(events)) if events.len() == 2));
}

#[test]
fn on_the_callers_thread_everything_is_done_on_the_first_poll() {
    let (folder, executor) = (scratch(), Executor::new());
    let options = Options::new(folder.path()).on_callers_thread();
    let store = SqliteStore::open(options, executor.runtime()).expect("a store");
    let mut context = Context::from_waker(Waker::noop());
    let mut commit = pin!(store.commit(Promise { worker: 0, index: 0 }.commit()));
    assert!(matches!(commit.as_mut().poll(&mut context), Poll::Ready(Ok(_))));
    let mut read = pin!(store.stream(&Tenant::local(), &StreamId::new("worker", 0), Seq(0), 9));
    assert!(matches!(read.as_mut().poll(&mut context), Poll::Ready(Ok(events)) if events.len() == 2));
}

#[test]
fn on_the_callers_thread_another_process_is_not_waited_for() {
    let (folder, executor) = (scratch(), Executor::new());
    let options = Options::new(folder.path()).on_callers_thread();
    let store = SqliteStore::open(options, executor.runtime()).expect("a store");
    let other = rusqlite::Connection::open(folder.path().join("windlass.db")).expect("it opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let promise = Promise { worker: 0, index: 0 };
    let mut commit = pin!(store.commit(promise.commit()));
    let mut context = Context::from_waker(Waker::noop());
    assert!(commit.as_mut().poll(&mut context).is_pending(), "the caller can do other things");
    drop(other);
    executor.run(commit).expect("the lock is free");
    assert_eq!(executor.run(kept(&store, 1)).len(), 1);
}

/// Closing the last connection would empty the log by itself; here another process has one.
#[test]
fn a_clean_end_leaves_an_empty_log() {
    for work in [|options| options, Options::on_callers_thread] {
        let (folder, executor) = (scratch(), Executor::new());
        let store = SqliteStore::open(work(Options::new(folder.path())), executor.runtime()).expect("a store");
        let other = rusqlite::Connection::open(folder.path().join("windlass.db")).expect("it opens");
        let store = Arc::new(store);
        commit_many(&executor, &store, 0..1, 3);
        let seen = || other.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0)).expect("readable");
        let (log, events) = (folder.path().join("windlass.db-wal"), seen());
        assert!(log.metadata().expect("a log").len() > 0);
        drop(store);
        assert_eq!(log.metadata().expect("a log").len(), 0);
        assert_eq!(seen(), events);
    }
}

#[test]
fn a_reader_keeps_the_log_and_is_not_waited_for_at_the_end() {
    for work in [|options| options, Options::on_callers_thread] {
        let (folder, executor) = (scratch(), Executor::new());
        // Whoever is waited for is waited for until the test is given up.
        let options = work(Options::new(folder.path()).busy_timeout(Duration::from_secs(86_400)));
        let store = Arc::new(SqliteStore::open(options, executor.runtime()).expect("a store"));
        commit_many(&executor, &store, 0..1, 3);
        let reader = rusqlite::Connection::open(folder.path().join("windlass.db")).expect("it opens");
        reader.execute_batch("BEGIN; SELECT count(*) FROM events;").expect("a snapshot");
        commit_many(&executor, &store, 1..2, 3);
        drop(store);
        assert!(folder.path().join("windlass.db-wal").metadata().expect("a log").len() > 0);
        drop(reader);
        let again = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
        assert_eq!(executor.run(kept(&again, 2)).len(), 6);
    }
}

#[test]
fn a_large_blob_s_file_that_is_gone_or_changed_is_damage() {
    let (folder, executor) = (scratch(), Executor::new());
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    let tenant = Tenant::local();
    let digest = blob::put(&store, &tenant, vec![7; blob::LARGE], Taint::Auth, Wall::default());
    let digest = executor.run(digest).expect("put");
    let tenants = std::fs::read_dir(folder.path().join("blobs")).expect("a folder").next().expect("one");
    let path = tenants.expect("a tenant's").path().join(digest.to_string());
    std::fs::write(&path, vec![8; blob::LARGE]).expect("writable");
    assert!(matches!(executor.run(store.blob(&tenant, digest)), Err(Error::Corrupt { .. })));
    std::fs::remove_file(&path).expect("removed");
    assert!(matches!(executor.run(store.blob(&tenant, digest)), Err(Error::Corrupt { .. })));
    // What was damaged is mended by putting it again.
    let again = blob::put(&store, &tenant, vec![7; blob::LARGE], Taint::Auth, Wall::default());
    executor.run(again).expect("put");
    assert!(executor.run(store.blob(&tenant, digest)).expect("readable").is_some());
}

#[test]
fn the_schema_itself_refuses_what_must_never_happen() {
    let (folder, executor) = (scratch(), Executor::new());
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    executor.run(store.commit(Promise { worker: 0, index: 0 }.commit())).expect("a store that works");
    drop(store);
    let raw = rusqlite::Connection::open(folder.path().join("windlass.db")).expect("it opens");
    raw.execute_batch(
        "INSERT INTO owners VALUES (zeroblob(16), 1, 'h', 'b', 1, 0, 0, 0, 1);
         INSERT INTO leases VALUES ('t', 'l', 5, zeroblob(16), 0);
         INSERT INTO blobs VALUES (1, 't', zeroblob(32), 1, 1, x'00', 0);",
    )
    .expect("rows as they should be");
    for (never, sql) in [
        ("an event is changed", "UPDATE events SET data = '1'"),
        ("an event is deleted", "DELETE FROM events"),
        ("deliveries fall", "UPDATE messages SET deliveries = -1"),
        ("a message says something else", "UPDATE messages SET data = '1'"),
        ("a trace is lost", "UPDATE messages SET trace_id = zeroblob(16)"),
        ("a message is both delayed and dead", "UPDATE messages SET not_before = 1, dead_reason = '', dead_at = 1"),
        ("a lease without a time", "UPDATE messages SET leased_by = zeroblob(16)"),
        ("a message of nobody known", "UPDATE messages SET leased_by = randomblob(16), leased_at = 1"),
        ("more is forgiven than happened", "UPDATE messages SET forgiven = 1"),
        ("half a digest", "INSERT INTO events VALUES (99, 't', 1, 99, 'k', 1, 0, 0, x'00', '1')"),
        (
            "two records of one number",
            "INSERT INTO events SELECT 99, tenant, stream, seq, kind, version, taint, at, chain, data FROM events LIMIT 1",
        ),
        ("an event of no stream", "INSERT INTO events VALUES (99, 't', 99, 1, 'k', 1, 0, 0, NULL, '1')"),
        ("a taint that is none", "INSERT INTO events VALUES (99, 't', 1, 99, 'k', 1, 3, 0, NULL, '1')"),
        ("a stream without a kind", "INSERT INTO streams VALUES (99, 't', '/x')"),
        ("an epoch falls", "UPDATE leases SET epoch = 4"),
        ("a lease of nobody known", "INSERT INTO leases VALUES ('t', 'm', 1, x'11111111111111111111111111111111', 0)"),
        ("an id that is none", "INSERT INTO owners VALUES (x'00', 1, 'h', 'b', 1, 0, 0, 0, 1)"),
        ("what the journal holds is forgotten", "UPDATE journal SET level = 0"),
        ("taint falls", "UPDATE blobs SET taint = 0"),
        ("a blob of another size", "INSERT INTO blobs VALUES (2, 't', randomblob(32), 9, 1, x'00', 0)"),
        ("a nonce twice", "INSERT INTO nonces SELECT * FROM nonces"),
    ] {
        let outcome = raw.execute_batch(sql);
        let refused = matches!(
            outcome.as_ref().map_err(rusqlite::Error::sqlite_error_code),
            Err(Some(rusqlite::ErrorCode::ConstraintViolation))
        );
        assert!(refused, "{never}: {outcome:?}");
    }
}
