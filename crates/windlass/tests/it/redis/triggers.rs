//! Seed 000 §3.6's triggers that are accepted, by streams of a real server: an event, a check that is due and controls reach the task that
//! is meant, once each; and a Redis that is gone for as long as tasks end on this side is told everything when it is back.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::server::{Redis, Reply};
use super::streams::{command, completed, home, results, serve, wait_for_quiet};
use crate::support::none_left;

/// Waits for a file, and says what it heard meanwhile.
const LISTENER: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: bash, args: { command: "while [ ! -e go ]; do sleep 0.1; done" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "Event received: the price fell[\\s\\S]*Look at the price again|Look at the price again[\\s\\S]*Event received: the price fell" }
      reply: I heard both.
      repeat: forever
      usage: { input: 90, output: 10 }
    - reply: I heard too little.
      repeat: forever
      usage: { input: 90, output: 10 }
"#;

/// Waits for a file of its own, and is done.
const WORKERS: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: bash, args: { command: "while [ ! -e go ]; do sleep 0.1; done; echo done >> ledger" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      repeat: forever
      usage: { input: 90, output: 10 }
"#;

/// Waits for something that never comes, however often it is begun.
const WAITER: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: bash, args: { command: "while [ ! -e never ]; do sleep 0.1; done" } } ]
      usage: { input: 900, output: 40 }
      repeat: forever
"#;

#[test]
fn an_event_and_a_check_that_is_due_are_heard_once() {
    let (home, redis) = (home(LISTENER), Redis::start());
    let serving = serve(&home, &redis.url());
    redis.put("task-command", &command("shop", "watch"));
    redis.wait_until(&["GET", "task:status:watch"], &Reply::Text("running".to_owned()));
    let event = json!({"trigger_id": "e-1", "session_id": "shop", "payload": "the price fell"});
    let due = json!({"trigger_id": "s-1", "task_id": "watch", "check_prompt": "Look at the price again"});
    // Delivered twice, heard once.
    for _ in 0..2 {
        redis.put("external-event-received", &event);
        redis.put("scheduled-trigger", &due);
    }
    wait_for_quiet(&redis, "after both");
    assert_eq!(redis.entries("windlass-dead-letter").len(), 1, "none of them was refused");
    for stream in ["external-event-received", "scheduled-trigger"] {
        let none = Reply::List(vec![Reply::Number(0), Reply::Nil, Reply::Nil, Reply::Nil]);
        redis.wait_until(&["XPENDING", stream, "windlass"], &none);
    }
    home.write("go", "");
    let result = completed(&redis, "watch");
    assert_eq!(result["final_message"], "I heard both.");
    let heard = home.windlass(&["log", "--json"]).run().expect(0).objects();
    let times = |words: &str| {
        let is_it = |record: &&Value| record["type"] == "injection.received" && record.to_string().contains(words);
        heard.iter().filter(is_it).count()
    };
    assert_eq!((times("the price fell"), times("Look at the price again")), (1, 1), "{heard:#?}");
    serving.signal(Signal::INT);
    serving.end().expect(0);
    none_left(&home);
}

#[test]
fn a_task_is_paused_gone_on_with_and_cancelled_by_the_stream_of_controls() {
    let (home, redis) = (home(WAITER), Redis::start());
    let serving = serve(&home, &redis.url());
    let text = |words: &str| Reply::Text(words.to_owned());
    redis.put("task-command", &command("shop", "steer"));
    redis.wait_until(&["GET", "task:status:steer"], &text("running"));
    let steer = |id: &str, action: &str| {
        redis.put(
            "task-control-received",
            &json!({"trigger_id": id, "task_id": "steer", "action": action, "user_id": "ann"}),
        );
    };
    steer("c-1", "pause");
    redis.wait_until(&["GET", "task:status:steer"], &text("paused"));
    steer("c-2", "resume");
    redis.wait_until(&["GET", "task:status:steer"], &text("running"));
    // What was heeded before is not heeded again.
    steer("c-1", "pause");
    wait_for_quiet(&redis, "after a pause that came again");
    redis.wait_until(&["GET", "task:status:steer"], &text("running"));
    steer("c-3", "cancel");
    redis.wait_for("task-result", |entry| entry["task_id"] == "steer" && entry["status"] == "CANCELLED");
    redis.wait_until(&["GET", "task:status:steer"], &text("cancelled"));
    // Each is in the audit once, with whoever asked for it as far as they said.
    let audited = home.windlass(&["audit", "show", "--json", "--type", "enqueue"]).run().expect(0).objects();
    let asked = audited.iter().filter(|event| event["details"]["channel"] == "redis");
    let asked: Vec<Value> = asked.map(|event| json!([event["decision"], event["details"]["by"]])).collect();
    assert_eq!(asked, [json!(["pause", "ann"]), json!(["resume", "ann"]), json!(["cancel", "ann"])]);
    serving.signal(Signal::INT);
    serving.end().expect(0);
    none_left(&home);
}

/// While it is gone tasks end here, and more is asked for on its side, as far as that has a memory.
#[test]
fn an_outage_in_which_tasks_end_loses_nothing() {
    for remembers in [true, false] {
        let home = home(WORKERS);
        let mut redis = if remembers { Redis::remembering() } else { Redis::start() };
        let serving = serve(&home, &redis.url());
        let tasks = ["one", "two", "three"];
        for task in tasks {
            redis.put("task-command", &command("shop", task));
            redis.wait_until(&["GET", &format!("task:status:{task}")], &Reply::Text("running".to_owned()));
        }
        redis.kill();
        home.write("go", "");
        let ended = || {
            let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
            tasks.iter().filter(|task| task["standing"] == "completed").count()
        };
        while ended() < tasks.len() {}
        redis.start_again();
        for task in tasks {
            completed(&redis, task);
        }
        // The same asked for again, as whoever got no answer does, and something new.
        for task in tasks.into_iter().chain(["four"]) {
            redis.put("task-command", &command("shop", task));
        }
        completed(&redis, "four");
        wait_for_quiet(&redis, "after the outage");
        for task in tasks.into_iter().chain(["four"]) {
            assert_eq!(results(&redis, task, "COMPLETED"), 1, "{task}, where it remembers: {remembers}");
            redis.wait_until(&["GET", &format!("task:status:{task}")], &Reply::Nil);
        }
        assert_eq!(home.read("ledger").lines().count(), 4, "each was done once");
        serving.signal(Signal::INT);
        serving.end().expect(0);
        none_left(&home);
    }
}
