//! In which order the entries of a session are heeded, however many others wait, whoever they were given to, and whatever they name. What is
//! for tasks that there are not is refused, and the dead letters lie in the order in which that was done: no task need run for it.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::server::{Redis, Reply};
use super::streams::{command, home, serve, serve_with, wait_for_quiet, wait_until_heeded};
use crate::support::none_left;

const EVENTS: &str = "external-event-received";

const WAITER: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: bash, args: { command: "while [ ! -e never ]; do sleep 0.1; done" } } ]
      usage: { input: 900, output: 40 }
      repeat: forever
"#;

fn event(session: &str, number: usize) -> Value {
    json!({"session_id": session, "task_id": "nobody", "event_id": format!("{session}-{number}"), "payload": number})
}

fn put(redis: &Redis, session: &str, numbers: impl Iterator<Item = usize>) {
    numbers.for_each(|number| redis.put(EVENTS, &event(session, number)));
}

fn hold(redis: &Redis, session: &str) {
    let key = format!("session:lease:{session}");
    redis.ask(&["SET", &key, "another program", "PX", "6000000"]);
}

fn let_go(redis: &Redis, session: &str) {
    redis.ask(&["DEL", &format!("session:lease:{session}")]);
}

fn wait_until_pending(redis: &Redis, count: i64) {
    let is_it = |reply| matches!(reply, Reply::List(parts) if parts[0] == Reply::Number(count));
    redis.wait_for_reply(&["XPENDING", EVENTS, "windlass"], is_it);
}

/// The numbers of a session's events in the order in which they were heeded.
fn heeded(redis: &Redis, session: &str) -> Vec<usize> {
    let event = |dead: Value| serde_json::from_str::<Value>(dead["json"].as_str()?).ok();
    let of_it = redis.entries("windlass-dead-letter").into_iter().filter_map(event);
    let number = |event: Value| event["payload"].as_u64().and_then(|number| usize::try_from(number).ok());
    of_it.filter(|event| event["session_id"] == session).filter_map(number).collect()
}

#[test]
fn a_session_behind_hundreds_of_others_entries_is_heeded_in_its_order() {
    let (home, redis) = (home(WAITER), Redis::start());
    hold(&redis, "held");
    hold(&redis, "shop");
    let serving = serve(&home, &redis.url());
    put(&redis, "held", 0..300);
    put(&redis, "shop", 0..3);
    wait_until_pending(&redis, 303);
    let_go(&redis, "shop");
    put(&redis, "shop", 3..6);
    redis.wait_until(&["XLEN", "windlass-dead-letter"], &Reply::Number(6));
    assert_eq!(heeded(&redis, "shop"), (0..6).collect::<Vec<_>>());
    // Those that waited come as they were put, however often they were read again.
    let_go(&redis, "held");
    put(&redis, "held", 300..310);
    wait_until_heeded(&redis, EVENTS);
    assert_eq!(heeded(&redis, "held"), (0..310).collect::<Vec<_>>());
    serving.signal(Signal::INT);
    serving.end().expect(0);
    none_left(&home);
}

/// Another consumer was given the older ones, and nobody knows whether it lives: what is newer waits until they are taken over.
#[test]
fn what_a_vanished_consumer_had_comes_before_what_is_newer() {
    let (home, redis) = (home(WAITER), Redis::start());
    redis.ask(&["XGROUP", "CREATE", EVENTS, "windlass", "0", "MKSTREAM"]);
    put(&redis, "shop", 0..100);
    redis.ask(&["XREADGROUP", "GROUP", "windlass", "stranger", "COUNT", "100", "STREAMS", EVENTS, ">"]);
    put(&redis, "shop", 100..110);
    put(&redis, "beside", 0..1);
    let serving = serve_with(&home, &redis.url(), &[("COORDINATOR_SESSION_LEASE_TTL_MS", "3000")]);
    wait_until_heeded(&redis, EVENTS);
    assert_eq!(heeded(&redis, "shop"), (0..110).collect::<Vec<_>>());
    assert_eq!(heeded(&redis, "beside"), [0]);
    serving.signal(Signal::INT);
    serving.end().expect(0);
}

#[test]
fn two_servers_keep_the_order_of_a_session() {
    let (home, redis) = (home(WAITER), Redis::start());
    let (one, other) = (serve(&home, &redis.url()), serve(&home, &redis.url()));
    for number in 0..150 {
        for session in ["a", "b", "c"] {
            redis.put(EVENTS, &event(session, number));
        }
    }
    wait_until_heeded(&redis, EVENTS);
    for session in ["a", "b", "c"] {
        assert_eq!(heeded(&redis, session), (0..150).collect::<Vec<_>>(), "{session}");
    }
    for serving in [one, other] {
        serving.signal(Signal::INT);
        serving.end().expect(0);
    }
}

/// A control names its task alone: it waits for that task's command.
#[test]
fn an_entry_without_a_session_waits_for_what_is_of_its_task() {
    let (home, redis) = (home(WAITER), Redis::start());
    hold(&redis, "shop");
    let serving = serve(&home, &redis.url());
    redis.put("task-command", &command("shop", "choose"));
    redis.put("task-control-received", &json!({"task_id": "choose", "action": "cancel"}));
    redis.put("task-control-received", &json!({"task_id": "nobody", "action": "cancel"}));
    redis.wait_for("windlass-dead-letter", |entry| entry["json"].as_str().is_some_and(|json| json.contains("nobody")));
    let_go(&redis, "shop");
    redis.wait_for("task-result", |entry| entry["task_id"] == "choose" && entry["status"] == "CANCELLED");
    wait_for_quiet(&redis, "after it was cancelled");
    assert_eq!(redis.entries("windlass-dead-letter").len(), 2, "the command came first");
    serving.signal(Signal::INT);
    serving.end().expect(0);
    none_left(&home);
}

/// More than are read at once of a session that is held, and a server that is killed: the next one has their order again.
#[test]
fn the_order_outlasts_a_server_that_is_killed() {
    let (home, redis) = (home(WAITER), Redis::start());
    hold(&redis, "shop");
    let serving = serve(&home, &redis.url());
    put(&redis, "shop", 0..200);
    wait_until_pending(&redis, 200);
    serving.signal(Signal::KILL);
    assert!(serving.end_unread().was_killed());
    put(&redis, "shop", 200..210);
    let_go(&redis, "shop");
    let serving = serve(&home, &redis.url());
    wait_until_heeded(&redis, EVENTS);
    assert_eq!(heeded(&redis, "shop"), (0..210).collect::<Vec<_>>());
    // Who has gone is not a consumer for ever.
    let is_one = |reply| matches!(reply, Reply::List(consumers) if consumers.len() == 1);
    redis.wait_for_reply(&["XINFO", "CONSUMERS", EVENTS, "windlass"], is_one);
    serving.signal(Signal::INT);
    serving.end().expect(0);
}
