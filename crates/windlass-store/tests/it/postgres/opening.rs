//! Opening: what a database must be, and what is said of one that is not.

use windlass_postgres_server::Server;
use windlass_store::postgres::PostgresStore;
use windlass_store::{Error, Store as _};

use crate::executor::Executor;
use crate::postgres::house::{House, options};
use crate::promise::{Promise, kept};

fn refused(house: &House, url: &str) -> Error {
    let opened = house.executor.run(PostgresStore::open(options(url), house.executor.runtime()));
    opened.err().expect("it is refused")
}

#[test]
fn many_who_open_an_empty_database_at_once_find_one_schema() {
    let house = House::new();
    let url = house.url();
    let openings: Vec<_> = (0..8)
        .map(|_| {
            let (options, runtime) = (options(&url), house.executor.runtime());
            house.executor.spawn(async move { PostgresStore::open(options, runtime).await.map(drop) })
        })
        .collect();
    for opening in openings {
        assert_eq!(house.executor.run(opening).expect("it ends"), Ok(()));
    }
    assert_eq!(house.server.sql("test_0", "SELECT number FROM windlass.schema_version"), "2");
}

#[test]
fn a_database_of_a_newer_windlass_is_refused_and_left_alone() {
    let house = House::new();
    let url = house.url();
    drop(house.open(&url));
    house.server.sql("test_0", "UPDATE windlass.schema_version SET number = 99");
    assert_eq!(refused(&house, &url), Error::NewerSchema { found: 99, known: 2 });
    assert_eq!(house.server.sql("test_0", "SELECT number FROM windlass.schema_version"), "99");
}

#[test]
fn what_cannot_be_used_is_refused_with_what_to_do() {
    let house = House::new();
    house.server.sql("postgres", "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    let said = refused(&house, &house.server.url("latin")).to_string();
    assert!(said.contains("createdb --encoding UTF8"), "{said}");
    let said = refused(&house, &house.server.url("nowhere")).to_string();
    assert!(said.contains("\"nowhere\" does not exist"), "{said}");
    let said = refused(&house, "postgres://me:tellnobody@localhost:1/windlass").to_string();
    assert!(said.contains("cannot be reached") && !said.contains("tellnobody"), "{said}");
}

#[test]
fn a_server_that_does_not_sync_is_refused() {
    let executor = Executor::new();
    let server = Server::start_with(&["fsync=off"]);
    let opened = executor.run(PostgresStore::open(options(&server.url("postgres")), executor.runtime()));
    let said = opened.err().expect("it is refused").to_string();
    assert!(said.contains("set fsync = on"), "{said}");
}

#[test]
fn a_server_that_acknowledges_early_is_told_not_to() {
    let executor = Executor::new();
    let mut server = Server::start_with(&["synchronous_commit=off", "wal_writer_delay=10s"]);
    let url = server.url("postgres");
    let promise = Promise { worker: 0, index: 0 };
    let open = |url: &str| executor.run(PostgresStore::open(options(url), executor.runtime())).expect("a store");
    let store = open(&url);
    server.sql("postgres", "CREATE TABLE others (number integer)");
    server.sql("postgres", "CHECKPOINT");
    executor.run(store.commit(promise.commit())).expect("a commit");
    // The control: what others are told is done is not.
    server.sql("postgres", "INSERT INTO others VALUES (1)");
    server.kill();
    server.run();
    assert_eq!(server.sql("postgres", "SELECT count(*) FROM others"), "0");
    assert!(executor.run(kept(&open(&url), 1)).contains(&promise));
}
