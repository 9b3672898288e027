//! What is pushed for a task without a flag (seed 000 §19.3): one that is over, that is another door's, or that nobody has ordered yet. It is
//! heard, or lies with the dead letters, or waits; it is never left lying where nobody looks.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::server::{Redis, Reply};
use super::streams::{command, completed, home, serve};
use crate::support::{Home, Running, none_left};

/// Says that it has begun, waits for a file, and says what it heard meanwhile.
const LISTENER: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: bash, args: { command: "touch begun; while [ ! -e go ]; do sleep 0.1; done" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "the price fell" }
      reply: I heard.
      repeat: forever
      usage: { input: 90, output: 10 }
    - reply: I heard nothing.
      repeat: forever
      usage: { input: 90, output: 10 }
"#;

const BRIEF: &str = r#"
version: 1
tracks:
  executor:
    - reply: Done.
      repeat: forever
      usage: { input: 90, output: 10 }
"#;

fn push(redis: &Redis, task: &str) {
    let fell = json!({"injection_type": "external_event", "content": "the price fell"});
    redis.ask(&["RPUSH", &format!("injection:{task}"), &fell.to_string()]);
}

fn end(serving: Running) {
    serving.signal(Signal::INT);
    serving.end().expect(0);
}

fn unheard(redis: &Redis, task: &str) -> Vec<Value> {
    let of_it = |entry: &Value| entry["list"] == format!("injection:{task}");
    redis.entries("windlass-dead-letter").into_iter().filter(of_it).collect()
}

fn wait_until_unheard(redis: &Redis, task: &str, count: i64) {
    redis.wait_for_reply(&["XLEN", "windlass-dead-letter"], |reply| reply == Reply::Number(count));
    assert_eq!(unheard(redis, task).len() as i64, count);
    redis.wait_until(&["EXISTS", &format!("injection:{task}"), &format!("injection:{task}:taking")], &Reply::Number(0));
}

/// Regression: a list was looked at for as long as its task had a flag, and what came after the last look was neither heard nor told of.
#[test]
fn what_is_pushed_for_a_task_that_is_over_lies_with_the_dead_letters() {
    let (home, redis) = (home(BRIEF), Redis::start());
    let serving = serve(&home, &redis.url());
    redis.put("task-command", &command("shop", "choose"));
    completed(&redis, "choose");
    redis.wait_until(&["GET", "task:status:choose"], &Reply::Nil);
    push(&redis, "choose");
    wait_until_unheard(&redis, "choose", 1);
    end(serving);
    // And while nobody listens.
    push(&redis, "choose");
    let serving = serve(&home, &redis.url());
    wait_until_unheard(&redis, "choose", 2);
    let reasons: Vec<Value> = unheard(&redis, "choose").into_iter().map(|dead| dead["reason"].clone()).collect();
    assert!(reasons.iter().all(|reason| reason.as_str().is_some_and(|why| why.contains("ended"))), "{reasons:?}");
    end(serving);
    none_left(&home);
}

/// Regression: only tasks that were ordered over Redis were heard of.
#[test]
fn what_is_pushed_for_a_task_of_another_door_is_heard() {
    let (home, redis) = (home(LISTENER), Redis::start());
    let serving = serve(&home, &redis.url());
    let task = begun_here(&home);
    push(&redis, &task);
    redis.wait_until(&["EXISTS", &format!("injection:{task}"), &format!("injection:{task}:taking")], &Reply::Number(0));
    home.write("go", "");
    let said = home.windlass(&["log", &task, "--follow"]).run();
    assert!(said.stdout.contains("I heard."), "{}", said.stdout);
    end(serving);
    none_left(&home);
}

fn begun_here(home: &Home) -> String {
    home.run(&["--detach"]).run().expect(0);
    while !home.workspace().join("begun").exists() {}
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    tasks[0]["task_id"].as_str().expect("an id").to_owned()
}

#[test]
fn what_is_pushed_before_its_task_is_ordered_waits_for_it() {
    let (home, redis) = (home(LISTENER), Redis::start());
    push(&redis, "later");
    let serving = serve(&home, &redis.url());
    // Whoever listens has gone past it by then.
    redis.put("task-command", &command("shop", "another"));
    redis.wait_until(&["GET", "task:status:another"], &Reply::Text("running".to_owned()));
    assert_eq!(redis.ask(&["LLEN", "injection:later"]), Reply::Number(1));
    redis.put("task-command", &command("shop", "later"));
    redis.wait_until(&["EXISTS", "injection:later", "injection:later:taking"], &Reply::Number(0));
    home.write("go", "");
    assert_eq!(completed(&redis, "later")["final_message"], "I heard.");
    end(serving);
    none_left(&home);
}
