//! Several processes on one database. Each is this test program started again; they append to a stream of their own and, each
//! reading and then expecting what it read, to one that they share. Some are killed on the way. What anybody was told is true,
//! nothing is there twice, and no reader that follows meanwhile ever skips a position.

#![expect(
    clippy::disallowed_methods,
    reason = "real processes are what is tested, and they are told by the environment"
)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use windlass_domain::{Seq, Tenant};
use windlass_store::chain::{Verified, verify};
use windlass_store::{Position, Store, StreamId};

use crate::executor::Executor;
use crate::postgres::house::{House, options};
use crate::processes::{COMMITS, NUMBER, append_once, shared};

const PROCESSES: usize = 6;
const URL: &str = "WINDLASS_STORE_TEST_URL";

/// The other side of the test below; without its address it has nothing to do.
#[test]
fn as_a_child_process() {
    let (Ok(url), Ok(number)) = (std::env::var(URL), std::env::var(NUMBER)) else { return };
    let executor = Executor::new();
    let opened = windlass_store::postgres::PostgresStore::open(options(&url), executor.runtime());
    let store = executor.run(opened).expect("a shared database");
    let mut out = std::io::stdout();
    for index in 0..COMMITS {
        executor.run(append_once(&store, &number, index));
        out.write_all(format!("told {index}\n").as_bytes()).expect("somebody listens");
    }
}

fn start(url: &str, number: usize) -> Child {
    Command::new(std::env::current_exe().expect("a program"))
        .args(["--exact", "postgres::processes::as_a_child_process", "--nocapture", "--test-threads", "1"])
        .env(URL, url)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// How many commits a process was told about. Every third is killed once it has told of a few.
fn attend(number: usize, mut child: Child) -> u64 {
    let doomed = number % 3 == 2;
    let mut told = 0;
    for line in BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok) {
        told += u64::from(line.contains("told "));
        if doomed && told == 3 + number as u64 {
            child.kill().expect("it lives");
        }
    }
    let ended = child.wait().expect("it ends");
    assert!(doomed || ended.success(), "process {number}: {ended}");
    told
}

/// Reads on from what it has seen, until the others are done; how many there were.
async fn follow(store: &dyn Store, done: &AtomicBool) -> u64 {
    let mut seen = Position(0);
    loop {
        let was_done = done.load(Ordering::SeqCst);
        let page = store.events(&Tenant::local(), seen, 50).await.expect("readable");
        for event in &page {
            assert_eq!(event.position.0, seen.0 + 1, "a position was skipped");
            seen = event.position;
        }
        if page.is_empty() && was_done {
            return seen.0;
        }
    }
}

#[test]
fn processes_on_one_database_lose_and_double_nothing_and_readers_skip_nothing() {
    let house = House::new();
    let url = house.url();
    let store = house.open(&url);
    let done = AtomicBool::new(false);
    let (told, followed) = std::thread::scope(|scope| {
        let follower = scope.spawn(|| house.executor.run(follow(&*store, &done)));
        let attendants: Vec<_> = (0..PROCESSES)
            .map(|number| (number, start(&url, number)))
            .map(|(number, child)| scope.spawn(move || attend(number, child)))
            .collect();
        let told: Vec<u64> = attendants.into_iter().map(|attendant| attendant.join().expect("it ends")).collect();
        done.store(true, Ordering::SeqCst);
        (told, follower.join().expect("it ends"))
    });
    let chain = house.executor.run(verify(&*store, &Tenant::local(), None, None)).expect("readable");
    assert!(matches!(chain, Verified::Intact { events, .. } if events == followed), "{followed}: {chain:?}");
    let events = house.executor.run(store.stream(&Tenant::local(), &shared(), Seq(0), usize::MAX)).expect("readable");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for event in events {
        *counts.entry(event.data).or_default() += 1;
    }
    assert!(counts.values().all(|count| *count == 1), "something is there twice: {counts:?}");
    for (number, told) in told.into_iter().enumerate() {
        let head = house.executor.run(store.head(&Tenant::local(), &StreamId::new("own", number))).expect("readable").0;
        assert!(head >= told && head <= told + 1, "process {number} was told of {told} and {head} are there");
        assert!(number % 3 == 2 || head == COMMITS);
        let in_shared = (0..head).all(|index| counts.contains_key(&format!("\"{number}:{index}\"")));
        assert!(in_shared, "process {number}: its streams agree");
    }
}
