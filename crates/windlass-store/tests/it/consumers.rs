//! Many consumers on one queue: tasks of one process, and processes of which some are killed with a message in hand. Each
//! message is done exactly once, and a tenant with many keeps nobody else waiting.

#![expect(
    clippy::disallowed_methods,
    reason = "real processes are what is tested, and they are told by the environment"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::queue::{MessageKind, QueueMessage, Sender};
use windlass_domain::{MessageId, OwnerId, Runtime, Seq, Taint, Tenant, TraceId, Wall};
use windlass_store::chain::{Verified, verify};
use windlass_store::owner::{NewOwner, Observer, Witness, register};
use windlass_store::queue::{Consumer, Desk, Leased, Queue, Silent, TakenOver, enqueue, retry};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, NewEvent, OwnerLocks, Store, StreamId, Topic};

use crate::executor::Executor;
use crate::scratch::scratch;

const NOW: Wall = Wall::from_millis(1_700_000_000_000);
const FOLDER: &str = "WINDLASS_STORE_TEST_QUEUE";
const NUMBER: &str = "WINDLASS_STORE_TEST_CONSUMER";
const SLEEPER: &str = "sleeper";

fn done() -> StreamId {
    StreamId::new("test", "done")
}

fn id(number: u64) -> MessageId {
    MessageId::new(NOW, u128::from(number) << 64)
}

fn request(tenant: &str, number: u64) -> QueueMessage {
    let from = (Sender::Proxy, MessageKind::PlanRequest);
    let whose = (Tenant::new(tenant), Taint::Auth);
    QueueMessage::new(id(number), TraceId::new(NOW, 1), from, whose, number.to_string(), NOW)
}

async fn put(store: &dyn Store, tenant: &str, numbers: std::ops::Range<u64>) {
    for first in numbers.clone().step_by(500) {
        let mut commit = Commit::unfenced(Tenant::new(tenant), NOW);
        for number in first..numbers.end.min(first + 500) {
            enqueue(&mut commit, Queue::Planner, &request(tenant, number)).expect("as it should be");
        }
        store.commit(commit).await.expect("a store that works");
    }
}

fn effect(leased: &Leased) -> Commit {
    let mut commit = Commit::unfenced(leased.message.scope_id.clone(), NOW);
    let data = serde_json::value::to_raw_value(&leased.message.content).expect("text is JSON");
    let encoded = windlass_domain::Encoded { kind: "test.done", version: 1, data, since: 1, older: &[] };
    commit.events.push(NewEvent { stream: done(), encoded, taint: Taint::Auth, at: NOW });
    commit
}

/// How often each message was done.
async fn counts(store: &dyn Store, tenant: &str) -> BTreeMap<String, usize> {
    let events = store.stream(&Tenant::new(tenant), &done(), Seq(0), usize::MAX).await.expect("readable");
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(event.data.trim_matches('"').to_owned()).or_default() += 1;
    }
    counts
}

async fn owner(store: &dyn Store, number: u64) -> OwnerId {
    let new = NewOwner {
        id: OwnerId::new(NOW, u128::from(number) << 64),
        host: "h".into(),
        boot_id: "b".into(),
        pid: 1,
        level: windlass_domain::JOURNAL_LEVEL,
    };
    register(store, new, NOW).await.expect("anybody may register").id
}

#[test]
fn sixty_four_consumers_do_ten_thousand_messages_exactly_once_each() {
    const MESSAGES: u64 = 10_000;
    let (folder, executor) = (scratch(), Executor::new());
    let store = Arc::new(SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store"));
    executor.run(put(&*store, "a", 0..MESSAGES / 2));
    executor.run(put(&*store, "b", MESSAGES / 2..MESSAGES));
    let runtime = executor.runtime();
    let racers: Vec<_> = (0..64)
        .map(|number| {
            let (store, runtime) = (Arc::clone(&store), Arc::clone(&runtime));
            executor.spawn(async move {
                let desk = Desk::new(&*store, &*runtime, &Silent);
                let mut consumer = Consumer::new(Queue::Planner, owner(&*store, number).await);
                let mut mine = 0_u64;
                while let Some(leased) = desk.lease(&mut consumer).await.expect("no trouble") {
                    desk.ack(&leased, effect(&leased)).await.expect("it is ours");
                    mine += 1;
                }
                mine
            })
        })
        .collect();
    let done: Vec<u64> = racers.into_iter().map(|racer| executor.run(racer).expect("a consumer ends")).collect();
    assert_eq!(done.iter().sum::<u64>(), MESSAGES);
    println!("the busiest did {:?}, the least busy {:?}", done.iter().max(), done.iter().min());
    for (tenant, numbers) in [("a", 0..MESSAGES / 2), ("b", MESSAGES / 2..MESSAGES)] {
        let expected: BTreeMap<String, usize> = numbers.map(|number| (number.to_string(), 1)).collect();
        assert_eq!(executor.run(counts(&*store, tenant)), expected);
        let chain = executor.run(verify(&*store, &Tenant::new(tenant), None, None)).expect("readable");
        assert!(matches!(chain, Verified::Intact { .. }), "{chain:?}");
    }
    let depth = executor.run(store.depth(Queue::Planner.name())).expect("readable");
    assert_eq!((depth.ready, depth.leased), (0, 0));
}

#[test]
fn a_tenant_with_a_hundred_thousand_messages_does_not_starve_one_with_three() {
    let executor = Executor::new();
    let store = SqliteStore::in_memory(executor.runtime()).expect("a store");
    executor.run(put(&store, "busy", 0..100_000));
    executor.run(put(&store, "modest", 100_000..100_003));
    executor.run(put(&store, "another", 100_003..100_006));
    let runtime = executor.runtime();
    let desk = Desk::new(&store, &*runtime, &Silent);
    let mut consumer = Consumer::new(Queue::Planner, executor.run(owner(&store, 1)));
    let mut served = Vec::new();
    for _ in 0..11 {
        let leased = executor.run(desk.lease(&mut consumer)).expect("no trouble").expect("there is one");
        executor.run(desk.ack(&leased, effect(&leased))).expect("it is ours");
        served.push(leased.message.scope_id.to_string());
    }
    let turns = ["another", "busy", "modest"].repeat(3);
    assert_eq!(served, [&turns[..], &["busy", "busy"]].concat());
}

#[test]
fn what_another_process_gives_back_or_retries_wakes_who_waits() {
    let (folder, executor) = (scratch(), Executor::new());
    let open = || SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    let (here, elsewhere, runtime) = (open(), open(), executor.runtime());
    let (desk, theirs) = (Desk::new(&here, &*runtime, &Silent), Desk::new(&elsewhere, &*runtime, &Silent));
    executor.run(async {
        let placed = QueueMessage { placement: Some("ship".to_owned()), ..request("a", 2) };
        for (number, message) in [(1, request("a", 1)), (2, placed)] {
            let mut commit = Commit::unfenced(Tenant::new("a"), NOW);
            enqueue(&mut commit, Queue::Planner, &message).expect("as it should be");
            elsewhere.commit(commit).await.expect("a store that works");
            let mut other = Consumer::new(Queue::Planner, owner(&elsewhere, 1).await).at("ship");
            let mut mine = Consumer::new(Queue::Planner, owner(&here, 2).await).at("ship");
            let leased = theirs.lease(&mut other).await.expect("no trouble").expect("there is one");
            // From here on nothing is new: it is ready again, that is all.
            let mut hints = here.notifier().subscribe(Topic::Queue { queue: "planner_queue".to_owned() });
            assert_eq!(desk.lease(&mut mine).await, Ok(None));
            theirs.dead_letter(&leased, "no").await.expect("it is ours");
            retry(&elsewhere, &Tenant::new("a"), id(number), NOW).await.expect("it is dead");
            let again = loop {
                match desk.lease(&mut mine).await.expect("no trouble") {
                    Some(again) => break again,
                    None => hints.changed(Duration::from_secs(3_600)).await,
                }
            };
            desk.ack(&again, effect(&again)).await.expect("it is ours");
        }
    });
}

/// The other side of the test below; without its folder it has nothing to do.
#[test]
fn as_a_consuming_process() {
    let (Ok(folder), Ok(number)) = (std::env::var(FOLDER), std::env::var(NUMBER)) else { return };
    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(&folder), executor.runtime()).expect("a shared directory");
    if number == SLEEPER {
        return executor.run(hold_and_sleep(&store, &*executor.runtime()));
    }
    let is_doomed = number.parse::<usize>().expect("a number") % 3 == 2;
    executor.run(consume(&store, &*executor.runtime(), Path::new(&folder), is_doomed));
}

async fn consume(store: &dyn Store, runtime: &dyn Runtime, folder: &Path, is_doomed: bool) {
    let locks = OwnerLocks::new(folder, "ship", "boot");
    let owner = OwnerId::new(runtime.wall(), runtime.random());
    let _lock = locks.hold(owner).expect("nobody has this id");
    register(store, locks.new_owner(owner, std::process::id()), runtime.wall()).await.expect("anybody may register");
    // So long that only the lock can say that somebody is gone.
    let mut witness = Witness::by_lock_or_heartbeat(locks, Observer::new(Duration::from_secs(86_400)));
    let (desk, mut consumer) = (Desk::new(store, runtime, &Silent), Consumer::new(Queue::Planner, owner));
    let (mut out, mut mine) = (std::io::stdout(), 0);
    loop {
        let leased = match desk.lease(&mut consumer).await.expect("no trouble") {
            Some(leased) => leased,
            None => match desk.take_over(&mut consumer, &mut witness).await.expect("no trouble") {
                TakenOver::Message(leased) => *leased,
                TakenOver::Nothing => {
                    let depth = store.depth(Queue::Planner.name()).await.expect("readable");
                    if (depth.ready, depth.leased) == (0, 0) {
                        return;
                    }
                    runtime.sleep(Duration::from_millis(5)).await;
                    continue;
                }
            },
        };
        mine += 1;
        if is_doomed && mine == 4 {
            out.write_all(b"holding one\n").expect("somebody listens");
            std::future::pending::<()>().await;
        }
        desk.ack(&leased, effect(&leased)).await.expect("it is ours");
    }
}

/// Takes a message, is stopped for as long as it pleases the test, and then tries to be done with it.
async fn hold_and_sleep(store: &dyn Store, runtime: &dyn Runtime) {
    let (desk, owner) = (Desk::new(store, runtime, &Silent), owner(store, 1).await);
    let leased =
        desk.lease(&mut Consumer::new(Queue::Planner, owner)).await.expect("no trouble").expect("there is one");
    let mut out = std::io::stdout();
    out.write_all(b"holding one\n").expect("somebody listens");
    // Where it is stopped; the line tells that it has been woken.
    std::io::stdin().read_line(&mut String::new()).expect("somebody speaks");
    let outcome = desk.ack(&leased, effect(&leased)).await.map(drop);
    out.write_all(format!("said {outcome:?}\n").as_bytes()).expect("somebody listens");
}

fn start(folder: &Path, number: impl std::fmt::Display) -> Child {
    let this_program = std::env::current_exe().expect("a program");
    Command::new(this_program)
        .args(["--exact", "consumers::as_a_consuming_process", "--nocapture", "--test-threads", "1"])
        .env(FOLDER, folder)
        .env(NUMBER, number.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// Whether it was killed with a message in hand.
fn attend(mut child: Child) -> bool {
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut killed = false;
    for line in lines.map_while(Result::ok) {
        if line.contains("holding one") {
            child.kill().expect("it lives");
            killed = true;
        }
    }
    let ended = child.wait().expect("it ends");
    assert!(killed || ended.success(), "{ended}");
    killed
}

#[test]
fn six_processes_of_which_some_are_killed_do_every_message_exactly_once() {
    const MESSAGES: u64 = 300;
    let (folder, executor) = (scratch(), Executor::new());
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    executor.run(put(&store, "a", 0..MESSAGES));
    let children: Vec<Child> = (0..6).map(|number| start(folder.path(), number)).collect();
    let attendants: Vec<_> = children.into_iter().map(|child| std::thread::spawn(move || attend(child))).collect();
    let killed = attendants.into_iter().map(|attendant| attendant.join().expect("it ends"));
    let killed = killed.filter(|killed| *killed).count();
    assert!(killed > 0, "somebody was killed with a message in hand");
    let counts = executor.run(counts(&store, "a"));
    let missing: BTreeSet<u64> = (0..MESSAGES).filter(|number| !counts.contains_key(&number.to_string())).collect();
    assert!(missing.is_empty(), "{missing:?} were not done");
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    let chain = executor.run(verify(&store, &Tenant::new("a"), None, None)).expect("readable");
    assert!(matches!(chain, Verified::Intact { .. }), "{chain:?}");
}

#[test]
fn a_process_that_was_stopped_and_is_woken_after_the_takeover_commits_nothing() {
    let (folder, executor) = (scratch(), Executor::new());
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    executor.run(put(&store, "a", 7..8));
    let mut sleeper = start(folder.path(), SLEEPER);
    let mut lines = BufReader::new(sleeper.stdout.take().expect("piped")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("holding one")));
    let signal = |signal| {
        let process = rustix::process::Pid::from_child(&sleeper);
        rustix::process::kill_process(process, signal).expect("it is there");
    };
    signal(rustix::process::Signal::STOP);
    let runtime = executor.runtime();
    executor.run(async {
        let desk = Desk::new(&store, &*runtime, &Silent);
        let mut consumer = Consumer::new(Queue::Planner, owner(&store, 2).await);
        let mut witness = Witness::by_heartbeat(Observer::new(Duration::from_millis(60)));
        let taken = loop {
            match desk.take_over(&mut consumer, &mut witness).await.expect("no trouble") {
                TakenOver::Message(taken) => break taken,
                TakenOver::Nothing => runtime.sleep(Duration::from_millis(5)).await,
            }
        };
        assert_eq!((taken.attempt, taken.delivery.number), (2, 2));
        desk.ack(&taken, effect(&taken)).await.expect("it is ours");
    });
    signal(rustix::process::Signal::CONT);
    sleeper.stdin.take().expect("piped").write_all(b"wake up\n").expect("it listens");
    let said = lines.find(|line| line.contains("said ")).expect("it says what came of it");
    assert!(said.contains("StaleDelivery"), "{said}");
    assert!(sleeper.wait().expect("it ends").success());
    assert_eq!(executor.run(counts(&store, "a")), BTreeMap::from([("7".to_owned(), 1)]));
}
