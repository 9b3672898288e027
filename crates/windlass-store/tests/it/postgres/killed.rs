//! The server is killed, all of its processes at once and in the middle of work, and started again: what was acknowledged is
//! there, nothing is there twice, and those who committed meanwhile only waited.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::mpsc;
use windlass_store::Store as _;

use crate::postgres::house::House;
use crate::promise::{Promise, kept};

const WORKERS: u64 = 4;
const COMMITS: u64 = 150;
const KILLS: usize = 5;

#[test]
fn what_was_acknowledged_outlives_a_server_that_is_killed_under_load() {
    let mut house = House::new();
    let url = house.url();
    let store = house.open(&url);
    let (tell, mut told) = mpsc::unbounded_channel();
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let (store, tell) = (Arc::clone(&store), tell.clone());
            house.executor.spawn(async move {
                for index in 0..COMMITS {
                    let promise = Promise { worker, index };
                    store.commit(promise.commit()).await.unwrap_or_else(|error| panic!("{promise:?}: {error}"));
                    tell.send(promise).expect("somebody listens");
                }
            })
        })
        .collect();
    drop(tell);
    let mut acknowledged = BTreeSet::new();
    let between = (WORKERS * COMMITS) as usize / (KILLS + 1);
    for kill in 1..=KILLS {
        while acknowledged.len() < kill * between {
            acknowledged.insert(house.executor.run(told.recv()).expect("they go on"));
        }
        house.server.kill();
        house.server.run();
    }
    workers.into_iter().for_each(|worker| house.executor.run(worker).expect("a worker ends"));
    while let Some(promise) = house.executor.run(told.recv()) {
        acknowledged.insert(promise);
    }
    assert_eq!(acknowledged.len() as u64, WORKERS * COMMITS);
    let found = house.executor.run(kept(&*house.open(&url), WORKERS));
    assert_eq!(found, acknowledged);
}

#[test]
fn sessions_that_an_administrator_ends_are_begun_anew() {
    let house = House::new();
    let url = house.url();
    let store = house.open(&url);
    let end_all = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'test_0'";
    for index in 0..5 {
        let promise = Promise { worker: 0, index };
        house.executor.run(store.commit(promise.commit())).unwrap_or_else(|error| panic!("{promise:?}: {error}"));
        assert!(!house.executor.run(kept(&*store, 1)).is_empty());
        let ended: u32 = house.server.sql("test_0", end_all).parse().expect("a number");
        assert!(ended >= 2, "one that writes and one that reads");
    }
}
