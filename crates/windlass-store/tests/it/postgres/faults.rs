//! The connection is cut at the first statement, then at the second, and so on until a run ends without it being cut; each time
//! before the server has the statement, and after. Callers notice nothing but the time it takes: every commit is made, and
//! made once. Where the server does not come back they are told, and told apart what surely was not made from what may have been.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use windlass_store::postgres::PostgresStore;
use windlass_store::{Error, Store as _};

use crate::postgres::house::{House, options};
use crate::postgres::proxy::{At, Cut, Plan, Proxy};
use crate::promise::{Promise, kept};

const WORKERS: u64 = 2;
const COMMITS: u64 = 2;

/// What was promised and acknowledged; an error where not even opening succeeded.
fn run(house: &House, url: &str) -> Result<BTreeSet<Promise>, Error> {
    let store = house.executor.run(PostgresStore::open(options(url), house.executor.runtime()))?;
    let store = Arc::new(store);
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let store = Arc::clone(&store);
            house.executor.spawn(async move {
                let promises = (0..COMMITS).map(|index| Promise { worker, index });
                for promise in promises.clone() {
                    store.commit(promise.commit()).await.unwrap_or_else(|error| panic!("{promise:?}: {error}"));
                }
                promises.collect::<Vec<_>>()
            })
        })
        .collect();
    Ok(workers.into_iter().flat_map(|worker| house.executor.run(worker).expect("a worker ends")).collect())
}

fn cut_everywhere(cut: Cut) {
    let house = House::new();
    let direct = house.url();
    let proxy = Proxy::before(house.server.socket_folder());
    let through = proxy.url("test_0");
    let mut was_cut_while_open = 0;
    for at in 1.. {
        house.server.sql("test_0", "DROP SCHEMA IF EXISTS windlass CASCADE");
        proxy.plan(Plan { cut, at: At::Number(at), for_good: false });
        let acknowledged = run(&house, &through);
        let has_struck = proxy.has_struck();
        let store = house.open(&direct);
        let found = house.executor.run(kept(&*store, WORKERS));
        match acknowledged {
            Ok(acknowledged) => assert_eq!(found, acknowledged, "{cut:?} at {at}"),
            Err(error) => {
                assert!(matches!(error, Error::Unreachable { .. }), "{cut:?} at {at}: {error}");
                assert!(found.is_empty());
                continue;
            }
        }
        was_cut_while_open += u64::from(has_struck);
        if !has_struck {
            println!("{cut:?}: {} statements, the connection cut at each; {was_cut_while_open} while open", at - 1);
            assert!(was_cut_while_open > 20, "the cuts met something");
            return;
        }
    }
}

#[test]
fn any_statement_is_never_heard() {
    cut_everywhere(Cut::Before);
}

#[test]
fn any_statement_is_heard_and_its_answer_is_not() {
    cut_everywhere(Cut::After);
}

#[test]
fn whoever_loses_the_server_for_good_is_told_whether_it_can_know() {
    let house = House::new();
    let direct = house.url();
    let proxy = Proxy::before(house.server.socket_folder());
    let cases = [
        (Cut::Before, "BEGIN", false, false),
        (Cut::After, "BEGIN", false, false),
        (Cut::Before, "COMMIT", true, false),
        (Cut::After, "COMMIT", true, true),
    ];
    for (cut, word, is_unknown, is_there) in cases {
        house.server.sql("test_0", "DROP SCHEMA IF EXISTS windlass CASCADE");
        proxy.pass();
        let impatient = options(&proxy.url("test_0")).patience(Duration::from_millis(200));
        let store = house.executor.run(PostgresStore::open(impatient, house.executor.runtime())).expect("a store");
        proxy.plan(Plan { cut, at: At::Word(word), for_good: true });
        let promise = Promise { worker: 0, index: 0 };
        let told = house.executor.run(store.commit(promise.commit())).expect_err("nobody answers");
        match is_unknown {
            true => assert!(matches!(told, Error::Unconfirmed { .. }), "{cut:?} {word}: {told}"),
            false => assert!(matches!(told, Error::Unreachable { .. }), "{cut:?} {word}: {told}"),
        }
        assert_eq!(told.refusal(), None, "it is no refusal");
        // Whoever looks finds out; the server may still be about to end what nobody heard of.
        let looking = house.open(&direct);
        house.executor.run(looking.commit(Promise { worker: 1, index: 0 }.commit())).expect("a commit after it");
        let found = house.executor.run(kept(&*looking, WORKERS));
        assert_eq!(found.contains(&promise), is_there, "{cut:?} {word}");
    }
}
