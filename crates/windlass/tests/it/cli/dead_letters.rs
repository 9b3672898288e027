//! `windlass dead-letters`: listed, read, put back and dropped, each once, and each in the audit.

use std::sync::Arc;

use windlass_domain::queue::{MessageKind, QueueMessage, Sender};
use windlass_domain::{MessageId, OwnerId, Runtime, Taint, Tenant, TraceId};
use windlass_runtime::{Threads, TokioRuntime, executor};
use windlass_store::owner::{NewOwner, register, retire};
use windlass_store::queue::{Consumer, Desk, Queue, Silent, enqueue};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Standing, Store as _};

use super::assert_shown;
use crate::support::Home;

const REASON: &str = "it cannot be read\n\u{1b}[2Kforged";

fn with_a_dead_letter(content: &str) -> (Home, String) {
    let home = Home::new();
    let id = dead_letter(&home, &Tenant::local(), content);
    (home, id)
}

/// A message of a tenant's that was tried once and is dead.
pub fn dead_letter(home: &Home, tenant: &Tenant, content: &str) -> String {
    home.windlass(&["status"]).run().expect(0);
    let executor = executor(Threads::One).expect("an executor");
    let id = executor.block_on(async {
        let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
        let store = SqliteStore::open(Options::new(home.data()), Arc::clone(&runtime)).expect("a store");
        let now = runtime.wall();
        let (id, trace) = (MessageId::new(now, runtime.random()), TraceId::new(now, runtime.random()));
        let (from, whose) = ((Sender::Proxy, MessageKind::PlanRequest), (tenant.clone(), Taint::External));
        let message = QueueMessage::new(id, trace, from, whose, content, now);
        let mut commit = Commit::unfenced(tenant.clone(), now);
        enqueue(&mut commit, Queue::Planner, &message).expect("as it should be");
        store.commit(commit).await.expect("a store that works");
        let new = NewOwner {
            id: OwnerId::new(now, 1),
            host: "h".into(),
            boot_id: "b".into(),
            pid: 1,
            level: windlass_domain::JOURNAL_LEVEL,
        };
        let owner = register(&store, new, now).await.expect("anybody may register");
        let desk = Desk::new(&store, runtime.as_ref(), &Silent);
        let leased =
            desk.lease(&mut Consumer::new(Queue::Planner, owner.id)).await.expect("readable").expect("one waits");
        desk.dead_letter(&leased, REASON).await.expect("it dies");
        retire(&store, owner, now).await.expect("retired");
        id
    });
    id.to_string()
}

fn standing(home: &Home, id: &str) -> Option<Standing> {
    let executor = executor(Threads::One).expect("an executor");
    executor.block_on(async {
        let store = SqliteStore::open(Options::new(home.data()), Arc::new(TokioRuntime::current())).expect("a store");
        let message = store.message(&Tenant::local(), id.parse().expect("an id")).await.expect("readable");
        message.map(|message| message.standing)
    })
}

/// The decisions that are in the audit.
fn decisions(home: &Home) -> Vec<String> {
    let events = home.windlass(&["audit", "show", "--json"]).run().expect(0).objects();
    events.iter().filter_map(|event| event["decision"].as_str()).map(str::to_owned).collect()
}

#[test]
fn without_any_it_says_so() {
    let home = Home::new();
    for words in [&["dead-letters"][..], &["dead-letters", "list"]] {
        assert_eq!(home.windlass(words).run().expect(0).stdout, "No dead letters.\n");
    }
    assert_eq!(home.windlass(&["dead-letters", "--json"]).run().expect(0).result()["dead_letters"], 0);
}

#[test]
fn one_is_listed_and_read_and_what_it_quotes_forges_nothing() {
    let (home, id) = with_a_dead_letter("Plan \u{202e}this");
    assert_shown!(home, home.windlass(&["dead-letters"]).run(), @"
    exit code 0
    --- stdout
    [SHORT]  planner_queue  queue.message  1 deliveries  it cannot be read<U+000A><U+001B>[2Kforged
    ");
    let shown = home.windlass(&["dead-letters", "show", &id[28..]]).run().expect(0).stdout;
    assert!(shown.contains("<U+000A><U+001B>[2Kforged") && shown.contains("Plan <U+202E>this"), "{shown}");
    assert!(shown.contains(&id) && shown.contains("external"), "{shown}");
    let json = home.windlass(&["dead-letters", "show", &id, "--json"]).run().expect(0).result();
    assert_eq!((&json["reason"], &json["data"]["content"]), (&REASON.into(), &"Plan \u{202e}this".into()));
}

#[test]
fn one_that_is_retried_is_in_its_queue_again() {
    let (home, id) = with_a_dead_letter("Plan this");
    home.windlass(&["dead-letters", "retry", &id[28..]]).run().expect(0);
    assert_eq!(standing(&home, &id), Some(Standing::Ready));
    assert_eq!(decisions(&home), ["retry"]);
    for action in ["retry", "drop", "show"] {
        let ended = home.windlass(&["dead-letters", action, &id]).run().expect(2);
        assert!(ended.stderr.starts_with(&format!("error: there is no dead letter `{id}` here")), "{}", ended.stderr);
    }
    assert_eq!(decisions(&home), ["retry"], "what was refused did nothing");
    home.windlass(&["audit", "verify"]).run().expect(0);
}

#[test]
fn one_that_is_dropped_is_gone() {
    let (home, id) = with_a_dead_letter("Plan this");
    let json = home.windlass(&["dead-letters", "drop", &id, "--json"]).run().expect(0).result();
    assert_eq!((&json["decision"], &json["queue"]), (&"dropped".into(), &"planner_queue".into()));
    assert_eq!(standing(&home, &id), None);
    assert_eq!(decisions(&home), ["drop"]);
    home.windlass(&["dead-letters", "drop", &id]).run().expect(2);
}

#[test]
fn an_id_that_nobody_has_is_wrong_use() {
    let (home, _) = with_a_dead_letter("Plan this");
    for named in ["nope", "", "0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11"] {
        let ended = home.windlass(&["dead-letters", "show", named]).run().expect(2);
        assert!(ended.stderr.contains("`windlass dead-letters` lists them"), "{}", ended.stderr);
    }
}
