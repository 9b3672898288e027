//! An hour without each other, by what piles up in it and not by the time: far more than is kept of a stream is said while Redis is away, and
//! far more comes in while no server is there. All of it is there to be read afterwards, and what is old goes.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::server::{Redis, Reply};
use super::streams::{command, completed, configure, home, wait_until_heeded};
use crate::support::{Home, Running, ask, none_left};

const TALKER: &str = r#"
version: 1
tracks:
  proxy:
    - reply: '{"route": "small_talk", "response": "Hello yourself."}'
      repeat: forever
  executor:
    - reply: Done.
      repeat: forever
      usage: { input: 90, output: 10 }
"#;

/// Of each stream; and Redis takes entries away ten at a time.
const KEPT: usize = 10;
const SAID: usize = 40;
const ORDERED: usize = 25;
const REFUSED: usize = 1_500;

fn few(home: &Home) {
    configure(home, &format!("maxlen = {KEPT}\n"));
}

fn remembering() -> Redis {
    Redis::start_with(&["--appendonly", "yes", "--appendfsync", "always", "--stream-node-max-entries", "10"])
}

/// And where it listens for HTTP.
fn serve(home: &Home, redis: &Redis) -> (Running, String) {
    let script = home.script();
    let script = script.to_str().expect("a plain path");
    let words = ["serve", "--listen", "127.0.0.1:0", "--drain", "5", "--rehearsal", script];
    let mut serving = home.windlass(&words).env("REDIS_URL", &redis.url()).start();
    let line = serving.wait_for(|line| line.starts_with("serving at http://"));
    (serving, line["serving at http://".len()..].to_owned())
}

fn end(serving: Running) {
    serving.signal(Signal::INT);
    serving.end().expect(0);
}

fn length(redis: &Redis, stream: &str) -> usize {
    match redis.ask(&["XLEN", stream]) {
        Reply::Number(length) => usize::try_from(length).expect("a length"),
        other => panic!("{other:?}"),
    }
}

/// Regression: what is more than is kept of a stream was taken away while it was told.
#[test]
fn what_is_said_while_redis_is_away_is_all_there_when_it_is_back() {
    let home = home(TALKER);
    few(&home);
    let mut redis = remembering();
    let (serving, address) = serve(&home, &redis);
    redis.put("user-message-received", &json!({"session_id": "talk", "user_id": "ada", "message": "hello"}));
    redis.wait_for("user-message-command", |entry| entry["type"] == "answer");
    redis.kill();
    let token = std::fs::read_to_string(home.data().join("token")).expect("a token");
    let bearer = format!("Bearer {}", token.trim());
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let sessions = ask(&address, "GET", "/v1/sessions", &headers, "").expect(200).json();
    let session = sessions["sessions"][0]["session_id"].as_str().expect("an id").to_owned();
    for _ in 0..SAID {
        let message = json!({"message": "hello"}).to_string();
        ask(&address, "POST", &format!("/v1/sessions/{session}/messages"), &headers, &message).expect(202);
    }
    redis.start_again();
    let all = |reply| reply == Reply::Number(i64::try_from(SAID + 1).expect("a few"));
    redis.wait_for_reply(&["XLEN", "user-message-command"], all);
    let said = redis.entries("user-message-command");
    assert!(said.iter().all(|entry| entry["session_id"] == "talk" && entry["message"] == "Hello yourself."));
    end(serving);
    none_left(&home);
}

#[test]
fn what_comes_in_while_no_server_is_there_is_all_heeded_and_answered() {
    let (home, redis) = (home(TALKER), remembering());
    few(&home);
    for number in 0..REFUSED {
        redis.put("task-control-received", &json!({"task_id": format!("nobody-{number}"), "action": "cancel"}));
    }
    for number in 0..ORDERED {
        redis.put("task-command", &command(&format!("session-{number}"), &format!("task-{number}")));
    }
    let (serving, _) = serve(&home, &redis);
    for stream in ["task-control-received", "task-command"] {
        wait_until_heeded(&redis, stream);
    }
    for number in 0..ORDERED {
        completed(&redis, &format!("task-{number}"));
    }
    let dead = redis.entries("windlass-dead-letter");
    assert_eq!(dead.len(), REFUSED);
    for number in [0, REFUSED - 1] {
        let it = format!("nobody-{number}\"");
        assert!(dead.iter().any(|entry| entry["json"].as_str().is_some_and(|json| json.contains(&it))), "{it}");
    }
    end(serving);
    none_left(&home);
}

/// The control: what has lain there for long makes room, and `maxlen` is what remains.
#[test]
fn what_is_old_goes_where_there_is_more_than_is_kept() {
    let (home, redis) = (home(TALKER), remembering());
    few(&home);
    for number in 1..=100 {
        redis.ask(&["XADD", "task-result", &format!("{number}-1"), "json", r#"{"task_id": "of long ago"}"#]);
    }
    let (serving, _) = serve(&home, &redis);
    redis.put("task-command", &command("talk", "new"));
    completed(&redis, "new");
    assert!(length(&redis, "task-result") <= 2 * KEPT, "{}", length(&redis, "task-result"));
    let is_old = |entry: &Value| entry["task_id"] == "of long ago";
    assert!(redis.entries("task-result").iter().any(is_old), "as many remain as are kept");
    end(serving);
    none_left(&home);
}
