//! What others may do to a Redis that they share with Windlass: keys of another type, entries that are none, streams that are cut or deleted,
//! and a Redis that forgets. Each is in the way of what it is about and of nothing else, and is said once.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::server::{Redis, Reply};
use super::streams::{command, completed, home, results, serve, wait_until_heeded};
use crate::support::{Running, none_left, peak_kb};

/// Waits for a file, and says what it heard meanwhile.
const LISTENER: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: bash, args: { command: "while [ ! -e go ]; do sleep 0.1; done" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "the price fell" }
      reply: I heard.
      repeat: forever
      usage: { input: 90, output: 10 }
    - reply: I heard nothing.
      repeat: forever
      usage: { input: 90, output: 10 }
"#;

/// Waits for a file, as often as it is interrupted.
const PATIENT: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: bash, args: { command: "while [ ! -e go ]; do sleep 0.1; done; echo first" } } ]
      usage: { input: 900, output: 40 }
    - calls: [ { tool: bash, args: { command: "while [ ! -e go ]; do sleep 0.1; done; echo second" } } ]
      usage: { input: 900, output: 40 }
    - calls: [ { tool: bash, args: { command: "while [ ! -e go ]; do sleep 0.1; done; echo third" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
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

/// With forty entries of 5 MiB in memory it would be more.
const MOST_KB: u64 = 160 << 10;

fn text(words: &str) -> Reply {
    Reply::Text(words.to_owned())
}

fn fell() -> String {
    json!({"injection_type": "external_event", "content": "the price fell"}).to_string()
}

fn end(serving: Running) -> Vec<String> {
    serving.signal(Signal::INT);
    let ended = serving.end().expect(0);
    ended.stdout.lines().filter(|line| line.starts_with("trouble")).map(str::to_owned).collect()
}

fn said(troubles: &[String], words: &str) -> usize {
    troubles.iter().filter(|trouble| trouble.contains(words)).count()
}

fn refused(redis: &Redis, why: &str) -> Value {
    redis.wait_for("windlass-dead-letter", |entry| entry["reason"].as_str().is_some_and(|reason| reason.contains(why)))
}

#[test]
fn a_task_s_key_of_another_type_is_in_the_way_of_that_task_alone() {
    let (home, redis) = (home(LISTENER), Redis::start());
    let serving = serve(&home, &redis.url());
    redis.put("task-command", &command("shop", "bad"));
    redis.put("task-command", &command("shop", "good"));
    for task in ["bad", "good"] {
        redis.wait_until(&["GET", &format!("task:status:{task}")], &text("running"));
    }
    redis.ask(&["SET", "injection:bad", "no list"]);
    redis.ask(&["DEL", "task:status:bad"]);
    redis.ask(&["RPUSH", "task:status:bad", "no text"]);
    redis.ask(&["RPUSH", "injection:good", &fell()]);
    redis.wait_until(&["EXISTS", "injection:good", "injection:good:taking"], &Reply::Number(0));
    redis.ask(&["SET", "task:status:good", "paused"]);
    redis.wait_for("task-result", |entry| entry["task_id"] == "good" && entry["status"] == "PAUSED");
    redis.ask(&["DEL", "injection:bad"]);
    redis.ask(&["RPUSH", "injection:bad", &fell()]);
    redis.wait_until(&["EXISTS", "injection:bad", "injection:bad:taking"], &Reply::Number(0));
    redis.ask(&["SET", "task:status:good", "running"]);
    home.write("go", "");
    for task in ["bad", "good"] {
        assert_eq!(completed(&redis, task)["final_message"], "I heard.");
    }
    let troubles = end(serving);
    assert_eq!(said(&troubles, "DEL injection:bad)"), 1, "{troubles:#?}");
    assert_eq!(said(&troubles, "`task:status:bad` is a list and no text"), 1, "{troubles:#?}");
    none_left(&home);
}

#[test]
fn a_lease_of_another_type_is_in_the_way_of_that_session_alone() {
    let (home, redis) = (home(BRIEF), Redis::start());
    redis.ask(&["HSET", "session:lease:bad", "field", "value"]);
    let mut serving = serve(&home, &redis.url());
    redis.put("task-command", &command("bad", "later"));
    serving.wait_for(|line| line.contains("`session:lease:bad` is a hash and no text") && line.contains("DEL"));
    redis.put("task-command", &command("good", "now"));
    completed(&redis, "now");
    assert_eq!(results(&redis, "later", "COMPLETED"), 0);
    redis.ask(&["DEL", "session:lease:bad"]);
    completed(&redis, "later");
    let troubles = end(serving);
    assert_eq!(said(&troubles, "session:lease:bad"), 1, "{troubles:#?}");
    none_left(&home);
}

#[test]
fn a_stream_that_is_none_is_in_the_way_of_nothing_else() {
    let (home, redis) = (home(BRIEF), Redis::start());
    for stream in ["task-control-received", "task-result", "windlass-dead-letter"] {
        redis.ask(&["SET", stream, "no stream"]);
    }
    let mut serving = serve(&home, &redis.url());
    serving.wait_for(|line| line.contains("`task-control-received` is a string and no stream"));
    redis.put("task-command", &command("shop", "one"));
    redis.ask(&["XADD", "user-message-received", "*", "json", "no json"]);
    serving.wait_for(|line| line.contains("`task-result` is a string and no stream"));
    // What is told elsewhere is told, and what is asked for is done.
    redis.put("task-command", &command("shop", "two"));
    wait_until_heeded(&redis, "task-command");
    let ended = || {
        let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
        tasks.iter().filter(|task| task["standing"] == "completed").count()
    };
    while ended() < 2 {}
    for task in ["one", "two"] {
        redis.wait_until(&["GET", &format!("task:status:{task}")], &Reply::Nil);
    }
    for stream in ["task-control-received", "task-result", "windlass-dead-letter"] {
        redis.ask(&["DEL", stream]);
    }
    for task in ["one", "two"] {
        completed(&redis, task);
    }
    refused(&redis, "it is no JSON");
    redis.put("task-control-received", &json!({"task_id": "nobody", "action": "cancel"}));
    refused(&redis, "there is no task");
    for task in ["one", "two"] {
        assert_eq!(results(&redis, task, "COMPLETED"), 1, "{task}");
    }
    let troubles = end(serving);
    for stream in ["task-result", "windlass-dead-letter"] {
        assert!(said(&troubles, &format!("`{stream}` is a string")) <= 1, "{troubles:#?}");
    }
    none_left(&home);
}

#[test]
fn what_is_no_entry_of_ours_lies_with_the_dead_letters() {
    let (home, redis) = (home(LISTENER), Redis::start());
    let serving = serve(&home, &redis.url());
    redis.ask_bytes(&[b"XADD", b"task-command", b"*", b"json", b"{\"goal\": \"\xff\xfe\"}"]);
    refused(&redis, "it is no UTF-8");
    redis.ask(&["XADD", "task-command", "*", "json", "{}", "json", "{}"]);
    refused(&redis, "it has two fields `json`");
    let enormous = format!("{{\"goal\": \"{}\"}}", "x".repeat(5 << 20));
    redis.ask(&["XADD", "task-command", "*", "json", &enormous]);
    let dead = refused(&redis, "are the most that are read");
    assert!(
        dead["json"].as_str().is_some_and(|json| json.len() <= 64 << 10),
        "no more of it is kept than shows what it was"
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    redis.ask(&["XADD", "task-command", "*", "json", &deep]);
    refused(&redis, "recursion limit");
    redis.put("task-command", &command("shop", "choose"));
    redis.wait_until(&["GET", "task:status:choose"], &text("running"));
    redis.ask_bytes(&[b"RPUSH", b"injection:choose", b"\xff\xfe", enormous.as_bytes(), fell().as_bytes()]);
    redis.wait_until(&["EXISTS", "injection:choose", "injection:choose:taking"], &Reply::Number(0));
    let of_list = redis.entries("windlass-dead-letter").into_iter().filter(|entry| entry["list"] == "injection:choose");
    let reasons: Vec<Value> = of_list.map(|entry| entry["reason"].clone()).collect();
    assert_eq!(reasons.len(), 2, "{reasons:#?}");
    home.write("go", "");
    assert_eq!(completed(&redis, "choose")["final_message"], "I heard.");
    assert!(end(serving).is_empty());
    none_left(&home);
}

/// One while its server lives, and one of a server that was killed.
#[test]
fn what_is_cut_off_a_stream_while_it_waits_is_said_to_be_gone() {
    let (home, redis) = (home(BRIEF), Redis::start());
    redis.ask(&["SET", "session:lease:shop", "another program", "PX", "6000000"]);
    let mut serving = serve(&home, &redis.url());
    for task in ["one", "two"] {
        redis.put("task-command", &command("shop", task));
        let is_it = |reply| matches!(reply, Reply::List(parts) if parts[0] == Reply::Number(1));
        redis.wait_for_reply(&["XPENDING", "task-command", "windlass"], is_it);
        redis.ask(&["XTRIM", "task-command", "MAXLEN", "0"]);
        if task == "two" {
            serving.signal(Signal::KILL);
            assert!(serving.end_unread().was_killed());
            serving = serve(&home, &redis.url());
        }
        redis.ask(&["DEL", "session:lease:shop"]);
        let before = if task == "one" { 1 } else { 2 };
        let are_said = |reply| reply == Reply::Number(before);
        redis.wait_for_reply(&["XLEN", "windlass-dead-letter"], are_said);
        redis.wait_for_reply(
            &["XPENDING", "task-command", "windlass"],
            |reply| matches!(reply, Reply::List(parts) if parts[0] == Reply::Number(0)),
        );
        redis.ask(&["SET", "session:lease:shop", "another program", "PX", "6000000"]);
    }
    for dead in redis.entries("windlass-dead-letter") {
        assert_eq!(dead["reason"], "it was taken out of its stream before it was heeded");
    }
    redis.ask(&["DEL", "session:lease:shop"]);
    redis.put("task-command", &command("shop", "three"));
    completed(&redis, "three");
    end(serving);
    none_left(&home);
}

/// It goes on answering, and knows nothing any more.
#[test]
fn a_redis_that_is_emptied_is_told_again() {
    let (home, redis) = (home(LISTENER), Redis::start());
    let serving = serve(&home, &redis.url());
    redis.put("task-command", &command("shop", "choose"));
    redis.wait_until(&["GET", "task:status:choose"], &text("running"));
    redis.ask(&["FLUSHALL"]);
    redis.wait_until(&["GET", "task:status:choose"], &text("running"));
    redis.ask(&["RPUSH", "injection:choose", &fell()]);
    redis.wait_until(&["EXISTS", "injection:choose", "injection:choose:taking"], &Reply::Number(0));
    redis.ask(&["DEL", "task-command"]);
    home.write("go", "");
    assert_eq!(completed(&redis, "choose")["final_message"], "I heard.");
    redis.put("task-command", &command("shop", "again"));
    completed(&redis, "again");
    assert_eq!(results(&redis, "choose", "COMPLETED"), 1);
    end(serving);
    none_left(&home);
}

/// Regression: what was wished after the second time was taken for the same wish as after the first. That flags are told again from the store
/// would hide it: that is kept from happening here.
#[test]
fn the_same_wish_is_another_one_each_time_redis_was_emptied() {
    let (home, redis) = (home(PATIENT), Redis::start());
    let serving = serve(&home, &redis.url());
    redis.put("task-command", &command("shop", "choose"));
    redis.wait_until(&["GET", "task:status:choose"], &text("running"));
    let Reply::List(known) = redis.ask(&["KEYS", "windlass:outbox:*"]) else { panic!("a list") };
    let [Reply::Text(positions)] = known.as_slice() else { panic!("{known:?}") };
    let empty = "redis.call('FLUSHALL') redis.call('HSET', KEYS[1], 'task:status', '999999999')";
    let mut paused: Vec<Value> = Vec::new();
    for _ in 0..2 {
        redis.ask(&["EVAL", empty, "1", positions]);
        redis.wait_until(&["GET", "task:status:choose"], &text("running"));
        redis.ask(&["SET", "task:status:choose", "paused"]);
        let is_new = |entry: &Value| paused.iter().all(|known| known["event_id"] != entry["event_id"]);
        let result = redis.wait_for("task-result", |entry| entry["status"] == "PAUSED" && is_new(entry));
        paused.push(result);
        redis.put("task-control-received", &json!({"task_id": "choose", "action": "resume"}));
        while home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["standing"] != "running" {}
    }
    home.write("go", "");
    completed(&redis, "choose");
    end(serving);
}

/// Regression: 64 of each stream were read at once, and those that are too long to be heeded weighed nothing.
#[test]
fn of_enormous_entries_few_are_in_memory() {
    let (home, redis) = (home(BRIEF), Redis::start());
    let enormous = vec![b'x'; 5 << 20];
    for _ in 0..40 {
        redis.ask_bytes(&[b"XADD", b"external-event-received", b"*", b"json", &enormous]);
    }
    let serving = serve(&home, &redis.url());
    redis.wait_until(&["XLEN", "windlass-dead-letter"], &Reply::Number(40));
    let peak = peak_kb(serving.pid()).expect("it runs");
    assert!(peak < MOST_KB, "{peak} kB");
    end(serving);
}

/// What it had acknowledged and lost is said again; and nothing is written in the store for each thing that is said.
#[test]
fn a_redis_that_comes_back_as_it_was_hears_what_it_lost() {
    let (home, mut redis) = (home(BRIEF), Redis::start());
    let mut serving = serve(&home, &redis.url());
    redis.put("task-command", &command("shop", "one"));
    completed(&redis, "one");
    redis.wait_until(&["GET", "task:status:one"], &Reply::Nil);
    assert_eq!(redis.ask(&["SAVE"]), text("OK"));
    redis.put("task-command", &command("shop", "two"));
    completed(&redis, "two");
    redis.kill();
    serving.wait_for(|line| line.starts_with("trouble") && line.contains("Redis"));
    redis.start_again();
    completed(&redis, "two");
    redis.put("task-command", &command("shop", "three"));
    completed(&redis, "three");
    for task in ["one", "two", "three"] {
        assert_eq!(results(&redis, task, "COMPLETED"), 1, "{task}");
    }
    // Another outage is another thing to say.
    redis.kill();
    serving.wait_for(|line| line.starts_with("trouble") && line.contains("Redis"));
    end(serving);
    let database = rusqlite::Connection::open(home.data().join("windlass.db")).expect("the database opens");
    let ask = "SELECT count(*) FROM events WHERE kind = 'outbox.moved'";
    let moved: i64 = database.query_row(ask, [], |row| row.get(0)).expect("a number");
    assert_eq!(moved, 0);
    none_left(&home);
}
