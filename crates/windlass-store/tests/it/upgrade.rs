//! A database that an earlier Windlass made is brought up to date when it is opened, and nothing in it is lost.

use rusqlite::{Connection, params};
use windlass_domain::{Seq, Tenant, Wall};
use windlass_store::chain::{Verified, verify};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Position, Store, StreamId};

use crate::executor::Executor;
use crate::scratch::scratch;

const FIRST: &str = include_str!("../../src/providers/sqlite/migrations/0001_foundation.sql");
const SECOND: &str = include_str!("../../src/providers/sqlite/migrations/0002_queues.sql");

/// As the first version left it: two tenants' events, a message that waits, and a lease that somebody held.
fn made_by_the_first(path: &std::path::Path) {
    let database = Connection::open(path).expect("a database");
    database.execute_batch(FIRST).expect("the first schema");
    database
        .execute_batch(
            "INSERT INTO streams VALUES (1, 'local', 'task/a'), (2, 'other', 'task/b');
             INSERT INTO events VALUES (1, 'local', 1, 1, 'task.created', 1, 1, 5, '{}'),
                 (2, 'other', 2, 1, 'task.created', 1, 2, 6, '{}'), (3, 'local', 1, 2, 'task.changed', 1, 1, 7, '{}');
             INSERT INTO owners VALUES (zeroblob(16), 'local', 1, 'host', 'boot', 7, 0, 0, 0);
             INSERT INTO leases VALUES ('local', 'task/a', 3, zeroblob(16), 9);
             INSERT INTO timers VALUES ('local', 'soon', 9, 'task/a', 'timer.fired', 1, 1, '{}');",
        )
        .expect("rows");
    let message =
        "INSERT INTO messages (key, id, tenant, mailbox, kind, version, taint, priority, not_before, enqueued_at, data)
                   VALUES (8, ?1, 'local', 'task/a', 'task.cancel', 1, 1, 100, 0, 8, '{}')";
    database.execute(message, params![[7_u8; 16]]).expect("a message");
    sign(&database, 1);
}

/// As the second left it: a message about a task.
fn made_by_the_second(path: &std::path::Path) {
    let database = Connection::open(path).expect("a database");
    database.execute_batch(FIRST).expect("the first schema");
    database.execute_batch(SECOND).expect("the second schema");
    database.execute_batch("DROP TABLE events_before").expect("nothing was in it");
    let message =
        "INSERT INTO messages (id, tenant, queue, subject, trace_id, kind, version, taint, priority, enqueued_at, data)
         VALUES (?1, 'local', 'executor_queue', 'task/a', ?1, 'queue.message', 1, 1, 0, 8, '{}')";
    database.execute(message, params![[7_u8; 16]]).expect("a message");
    sign(&database, 2);
}

fn sign(database: &Connection, version: u32) {
    database.pragma_update(None, "application_id", 0x5764_6c73).expect("its mark");
    database.pragma_update(None, "user_version", version).expect("its version");
}

#[test]
fn what_the_second_version_enqueued_is_found_by_what_it_is_about() {
    let (folder, executor) = (scratch(), Executor::new());
    made_by_the_second(&folder.path().join("windlass.db"));
    for _ in 0..2 {
        let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("it opens");
        let about = store.about(&Tenant::local(), "executor_queue", &StreamId::new("task", "a"));
        assert_eq!(executor.run(about).expect("readable").len(), 1);
        executor.run(store.verify()).expect("it is sound");
    }
}

#[test]
fn a_database_of_the_first_version_is_read_and_goes_on() {
    let (folder, executor) = (scratch(), Executor::new());
    made_by_the_first(&folder.path().join("windlass.db"));
    let (local, other) = (Tenant::local(), Tenant::new("other"));
    for _ in 0..2 {
        let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("it opens");
        let (head, message, lease, timers) = executor.run(async {
            let head = store.head(&local, &StreamId::new("task", "a")).await.expect("readable");
            let waiting = store.mailbox(&local, "task/a", Wall::from_millis(99), 9).await.expect("readable");
            let lease = store.lease(&local, &windlass_store::LeaseName::new("task", "a")).await.expect("readable");
            let timers = store.timers_due(None, Wall::from_millis(99), 9).await.expect("readable");
            (head, waiting.len(), lease.expect("a lease").epoch, timers.len())
        });
        assert_eq!((head, message, timers), (Seq(2), 1, 1));
        assert_eq!(format!("{lease:?}"), "Epoch(3)");
        for (tenant, events) in [(&local, 2), (&other, 1)] {
            let Verified::Intact { events: seen, .. } =
                executor.run(verify(&store, tenant, None, None)).expect("a walk")
            else {
                panic!("the chain of {tenant:?} is broken")
            };
            assert_eq!(seen, events);
        }
    }
}

#[test]
fn what_is_written_afterwards_goes_on_with_the_chain() {
    let (folder, executor) = (scratch(), Executor::new());
    made_by_the_first(&folder.path().join("windlass.db"));
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("it opens");
    let mut promised = crate::promise::Promise { worker: 1, index: 0 }.commit();
    promised = Commit { tenant: Tenant::local(), ..promised };
    let committed = executor.run(store.commit(promised)).expect("a commit");
    assert!(committed.position > Position(3));
    let walked = executor.run(verify(&store, &Tenant::local(), None, committed.chain)).expect("a walk");
    assert!(matches!(walked, Verified::Intact { head, .. } if head == committed.chain), "{walked:?}");
}
