//! Several processes on one data directory. Each is this test program started again; they append to a stream of their own
//! and, each reading and then expecting what it read, to one that they share. Some are killed on the way. What anybody was
//! told is true, and nothing is there twice.

#![expect(
    clippy::disallowed_methods,
    reason = "real processes are what is tested, and they are told by the environment"
)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use windlass_domain::{Encoded, Seq, Taint, Tenant, Wall};
use windlass_store::chain::{Verified, verify};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Error, NewEvent, Store, StreamId};

use crate::executor::Executor;

const PROCESSES: usize = 16;
pub const COMMITS: u64 = 20;
const FOLDER: &str = "WINDLASS_STORE_TEST_FOLDER";
pub const NUMBER: &str = "WINDLASS_STORE_TEST_NUMBER";

pub fn shared() -> StreamId {
    StreamId::new("shared", "all")
}

fn append(number: &str, index: u64, head: Seq) -> Commit {
    let at = Wall::default();
    let mut commit = Commit::unfenced(Tenant::local(), at);
    commit.expect.push((shared(), head));
    let own = StreamId::new("own", number);
    commit.expect.push((own.clone(), Seq(index)));
    let data = serde_json::value::to_raw_value(&format!("{number}:{index}")).expect("text is JSON");
    let event = |stream| NewEvent {
        stream,
        encoded: Encoded { kind: "test.happened", version: 1, data: data.clone(), since: 1, older: &[] },
        taint: Taint::Auth,
        at,
    };
    commit.events.push(event(own));
    commit.events.push(event(shared()));
    commit
}

/// The other side of the test below; without its folder it has nothing to do.
#[test]
fn as_a_child_process() {
    let (Ok(folder), Ok(number)) = (std::env::var(FOLDER), std::env::var(NUMBER)) else { return };
    let executor = Executor::new();
    // Half of them do everything on their own thread.
    let is_even = number.parse::<usize>().expect("a number").is_multiple_of(2);
    let options = Options::new(folder);
    let options = if is_even { options.on_callers_thread() } else { options };
    let store = SqliteStore::open(options, executor.runtime()).expect("a shared directory");
    let mut out = std::io::stdout();
    for index in 0..COMMITS {
        executor.run(append_once(&store, &number, index));
        // One system call: a line is told wholly or not at all.
        out.write_all(format!("told {index}\n").as_bytes()).expect("somebody listens");
    }
}

pub async fn append_once(store: &dyn Store, number: &str, index: u64) {
    loop {
        let head = store.head(&Tenant::local(), &shared()).await.expect("readable");
        match store.commit(append(number, index, head)).await {
            Ok(_) => return,
            Err(Error::Conflict { stream, .. }) if stream == shared() => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn start(folder: &Path, number: usize) -> Child {
    let this_program = std::env::current_exe().expect("a program");
    Command::new(this_program)
        .args(["--exact", "processes::as_a_child_process", "--nocapture", "--test-threads", "1"])
        .env(FOLDER, folder)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// How many commits a process was told about. Every fourth is killed once it has told of a few.
fn attend(number: usize, mut child: Child) -> u64 {
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let doomed = number % 4 == 3;
    let mut told = 0;
    for line in lines.map_while(Result::ok) {
        told += u64::from(line.contains("told "));
        if doomed && told == 3 + number as u64 {
            child.kill().expect("it lives");
        }
    }
    let ended = child.wait().expect("it ends");
    assert!(doomed || ended.success(), "process {number}: {ended}");
    told
}

#[test]
fn sixteen_processes_on_one_directory_lose_and_double_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let children: Vec<(usize, Child)> = (0..PROCESSES).map(|number| (number, start(folder.path(), number))).collect();
    let attendants: Vec<_> =
        children.into_iter().map(|(number, child)| std::thread::spawn(move || attend(number, child))).collect();
    let told: Vec<u64> = attendants.into_iter().map(|attendant| attendant.join().expect("it ends")).collect();

    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    executor.run(store.verify()).expect("sound");
    let chain = executor.run(verify(&store, &Tenant::local(), None, None)).expect("readable");
    assert!(matches!(chain, Verified::Intact { events: 1.., .. }), "each follows what the others wrote: {chain:?}");
    let events = executor.run(store.stream(&Tenant::local(), &shared(), Seq(0), usize::MAX)).expect("readable");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for event in events {
        *counts.entry(event.data).or_default() += 1;
    }
    assert!(counts.values().all(|count| *count == 1), "something is there twice: {counts:?}");
    for (number, told) in told.into_iter().enumerate() {
        let own = StreamId::new("own", number);
        let head = executor.run(store.head(&Tenant::local(), &own)).expect("readable").0;
        assert!(head >= told, "process {number} was told of {told} and {head} are there");
        assert!(head <= told + 1, "process {number}: at most the one in flight was not told");
        assert!(number % 4 == 3 || head == COMMITS);
        let in_shared = (0..head).all(|index| counts.contains_key(&format!("\"{number}:{index}\"")));
        assert!(in_shared, "process {number}: its streams agree");
    }
}
