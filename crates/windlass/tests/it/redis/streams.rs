//! Whole conversations over Redis streams (seed 000 §19), with Redis or the program killed in between.

use std::os::unix::fs::DirBuilderExt as _;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::server::{Redis, Reply};
use crate::support::{Home, Running, none_left};

/// Asks which database, and writes down what it heard.
const ASKER: &str = r#"
version: 1
tracks:
  proxy:
    - when: { request: 'The user says\s+hello' }
      reply: '{"route": "small_talk", "response": "Hello yourself."}'
      repeat: forever
    - when: { request: 'The user says\s+SQLite' }
      reply: '{"route": "inject_into_active", "task_id": "2f6e3a9c-5d0b-4c1e-9a7f-1b2c3d4e5f60", "response": "I pass it on."}'
      repeat: forever
  executor:
    - calls:
        - tool: ask_user
          args: { question: "Which database?", options: [PostgreSQL, SQLite], context: "Both would do." }
      usage: { input: 900, output: 40 }
    - when: { request: "User responded to your question: SQLite" }
      calls: [ { tool: bash, args: { command: "echo sqlite >> answer.txt" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      repeat: forever
      usage: { input: 900, output: 10 }
"#;

/// Waits for a file, and says what it heard meanwhile.
const LISTENER: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: bash, args: { command: "while [ ! -e go ]; do sleep 0.1; done" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "Event received: the price fell" }
      reply: I heard.
      repeat: forever
      usage: { input: 90, output: 10 }
    - reply: I heard nothing.
      repeat: forever
      usage: { input: 90, output: 10 }
"#;

pub fn home(script: &str) -> Home {
    let home = Home::playing(script);
    configure(&home, "");
    home
}

pub fn configure(home: &Home, more: &str) {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(home.data());
    made.expect("a folder that is nobody else's");
    let (workspace, script) = (home.workspace(), home.script());
    let text =
        format!("[redis]\nworkspace = \"{}\"\nrehearsal = \"{}\"\n{more}", workspace.display(), script.display());
    std::fs::write(home.data().join("windlass.toml"), text).expect("a file is written");
}

pub fn serve(home: &Home, url: &str) -> Running {
    serve_with(home, url, &[])
}

pub fn serve_with(home: &Home, url: &str, variables: &[(&str, &str)]) -> Running {
    let serving = home.windlass(&["serve", "--listen", "127.0.0.1:0", "--drain", "5"]).env("REDIS_URL", url);
    let serving = variables.iter().fold(serving, |serving, (name, value)| serving.env(name, value));
    let mut serving = serving.start();
    serving.wait_for(|line| line.starts_with("serving at"));
    serving
}

fn kill(serving: Running) {
    serving.signal(Signal::KILL);
    assert!(serving.end_unread().was_killed());
}

pub fn command(session: &str, task: &str) -> Value {
    json!({"command_id": format!("command-{task}"), "session_id": session, "task_id": task, "goal": "Find out which database is wanted"})
}

fn answer(asked: &Value) -> Value {
    json!({"session_id": asked["session_id"], "request_id": asked["request_id"], "response": "SQLite"})
}

pub fn results(redis: &Redis, task: &str, status: &str) -> usize {
    let is_it = |entry: &&Value| entry["task_id"] == task && entry["status"] == status;
    redis.entries("task-result").iter().filter(is_it).count()
}

fn asked(redis: &Redis, task: &str) -> Value {
    redis.wait_for("hitl-request-command", |entry| entry["task_id"] == task)
}

pub fn completed(redis: &Redis, task: &str) -> Value {
    redis.wait_for("task-result", |entry| entry["task_id"] == task && entry["status"] == "COMPLETED")
}

/// Something that nobody can read lies with the dead letters, and nobody has anything that is not done with.
pub fn wait_for_quiet(redis: &Redis, mark: &str) {
    redis.ask(&["XADD", "task-control-received", "*", "json", mark]);
    redis.wait_for("windlass-dead-letter", |entry| entry["json"] == mark);
    for stream in INLETS {
        wait_until_heeded(redis, stream);
    }
}

/// All that came by a stream was read, and is done with.
pub fn wait_until_heeded(redis: &Redis, stream: &str) {
    let is_done = |groups: Reply| {
        let Reply::List(groups) = groups else { return false };
        let Some(Reply::List(group)) = groups.first() else { return false };
        let said = |name: &str| {
            group.chunks(2).find(|pair| pair[0] == Reply::Text(name.to_owned())).map(|pair| pair[1].clone())
        };
        said("pending") == Some(Reply::Number(0)) && said("lag") == Some(Reply::Number(0))
    };
    redis.wait_for_reply(&["XINFO", "GROUPS", stream], is_done);
}

const INLETS: [&str; 6] = [
    "task-command",
    "user-message-received",
    "hitl-response-received",
    "external-event-received",
    "task-control-received",
    "scheduled-trigger",
];

#[test]
fn a_client_in_another_language_drives_a_whole_conversation() {
    let (home, redis) = (home(ASKER), Redis::start());
    let serving = serve(&home, &redis.url());
    let python = std::env::var("WINDLASS_REDIS_PYTHON").expect("`make test-redis` says where Python is");
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/redis/conversation.py");
    let talked = Command::new(python).arg(client).arg(redis.socket()).output().expect("Python starts");
    let said = String::from_utf8_lossy(&talked.stderr).into_owned();
    assert!(talked.status.success(), "{said}");
    assert_eq!(home.read("answer.txt"), "sqlite\n".repeat(2));
    serving.signal(Signal::INT);
    serving.end().expect(0);
    none_left(&home);
}

#[test]
fn killed_between_every_pair_of_steps_nothing_is_lost_and_nothing_doubled() {
    let (home, redis) = (home(ASKER), Redis::start());
    redis.put("task-command", &command("shop", "choose"));
    // It is killed as soon as it has spoken: what it has not acknowledged by then comes again.
    let serving = serve(&home, &redis.url());
    let question = asked(&redis, "choose");
    kill(serving);
    // Delivered twice, and the same said by another entry.
    redis.put("task-command", &command("shop", "choose"));
    redis.put("hitl-response-received", &answer(&question));
    let serving = serve(&home, &redis.url());
    let result = completed(&redis, "choose");
    kill(serving);
    assert_eq!(result["final_message"], "Done.");
    let serving = serve(&home, &redis.url());
    redis.put("task-command", &command("shop", "choose"));
    wait_for_quiet(&redis, "after the last kill");
    // A second task of the same session goes the same way: nothing of the first stands in its way.
    redis.put("task-command", &command("shop", "again"));
    let second = asked(&redis, "again");
    kill(serving);
    let serving = serve(&home, &redis.url());
    redis.put("hitl-response-received", &answer(&second));
    completed(&redis, "again");
    for task in ["choose", "again"] {
        let questions = redis.entries("hitl-request-command");
        assert_eq!(questions.iter().filter(|entry| entry["task_id"] == task).count(), 1, "{questions:#?}");
        assert_eq!(results(&redis, task, "COMPLETED"), 1, "{task}");
        // It may have been answered before it had gone to sleep on its question.
        assert!(results(&redis, task, "BLOCKED_USER") <= 1, "{task}");
    }
    assert_eq!(home.read("answer.txt"), "sqlite\nsqlite\n", "each was done once");
    let pending = redis.ask(&["XPENDING", "task-command", "windlass"]);
    assert!(matches!(&pending, Reply::List(parts) if parts[0] == Reply::Number(0)), "{pending:?}");
    serving.signal(Signal::INT);
    serving.end().expect(0);
    none_left(&home);
}

/// What was said while it was away is in its own records or in ours.
#[test]
fn redis_may_vanish_and_come_back_with_everything_or_with_nothing() {
    for remembers in [true, false] {
        let home = home(ASKER);
        let mut redis = if remembers { Redis::remembering() } else { Redis::start() };
        let serving = serve(&home, &redis.url());
        redis.put("task-command", &command("shop", "choose"));
        let question = asked(&redis, "choose");
        redis.wait_for("task-result", |entry| entry["status"] == "BLOCKED_USER");
        redis.kill();
        // Meanwhile it is answered elsewhere, and done.
        if remembers {
            let task = home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"].clone();
            let task = task.as_str().expect("an id");
            home.windlass(&["send", task, "SQLite"]).run().expect(0);
        }
        redis.start_again();
        if !remembers {
            redis.wait_until(&["GET", "task:status:choose"], &Reply::Text("running".to_owned()));
            redis.put("hitl-response-received", &answer(&question));
        }
        completed(&redis, "choose");
        redis.wait_until(&["GET", "task:status:choose"], &Reply::Nil);
        assert_eq!(results(&redis, "choose", "COMPLETED"), 1);
        assert_eq!(home.read("answer.txt"), "sqlite\n");
        serving.signal(Signal::INT);
        serving.end().expect(0);
        none_left(&home);
    }
}

#[test]
fn what_cannot_be_heeded_lies_with_the_dead_letters_and_says_why() {
    let (home, redis) = (home(ASKER), Redis::start());
    let serving = serve(&home, &redis.url());
    redis.ask(&["XADD", "task-command", "*", "other", "field"]);
    let check = |stream: &str, json: &str, why: &str| {
        redis.ask(&["XADD", stream, "*", "json", json]);
        let dead = redis.wait_for("windlass-dead-letter", |entry| entry["json"] == json);
        let reason = dead["reason"].as_str().expect("a reason");
        assert!(reason.contains(why), "{json}: {reason}");
    };
    check("task-command", "no json", "it is no JSON");
    check("task-command", "[1]", "no JSON object");
    check("task-command", r#"{"command_id":"a","session_id":"b","task_id":"c"}"#, "missing field `goal`");
    check("task-command", r#"{"command_id":"a b","session_id":"b","task_id":"c","goal":"g"}"#, "letters, digits");
    check("user-message-received", r#"{"session_id":"b"}"#, "`message` is missing");
    check("hitl-response-received", r#"{"request_id":"who?","response":"yes"}"#, "nobody has asked who?");
    check("task-control-received", r#"{"task_id":"unknown","action":"cancel"}"#, "there is no task");
    check("task-control-received", r#"{"task_id":"unknown","action":"melt"}"#, "say pause, resume or cancel");
    check("external-event-received", r#"{"session_id":"b","payload":{"a":1}}"#, "no task under way");
    redis.wait_for("windlass-dead-letter", |entry| entry["reason"] == "it has no field `json`");
    let refused = redis.wait_for("user-message-command", |entry| entry["type"] == "refused");
    assert_eq!(refused["session_id"], "b", "whoever waits for an answer hears it");
    serving.signal(Signal::INT);
    serving.end().expect(0);
}

#[test]
fn what_a_user_says_is_answered() {
    let (home, redis) = (home(ASKER), Redis::start());
    let serving = serve(&home, &redis.url());
    redis.put(
        "user-message-received",
        &json!({"session_id": "shop", "user_id": "ada", "message": "hello", "message_id": "m-1"}),
    );
    redis.put(
        "user-message-received",
        &json!({"session_id": "shop", "user_id": "ada", "message": "hello", "message_id": "m-1"}),
    );
    let said = redis.wait_for("user-message-command", |entry| entry["type"] == "answer");
    assert_eq!((&said["session_id"], &said["message"]), (&json!("shop"), &json!("Hello yourself.")));
    wait_for_quiet(&redis, "after hello");
    assert_eq!(redis.entries("user-message-command").len(), 1, "said twice, heard once");
    serving.signal(Signal::INT);
    serving.end().expect(0);
}

/// Regression: a key that could not be read held up all that came in, whether anything was signed with it or not.
#[test]
fn a_key_that_cannot_be_read_is_in_the_way_of_what_is_signed_alone() {
    let (home, redis) = (home(ASKER), Redis::start());
    let mut serving = serve(&home, &redis.url());
    let path = home.data().join("keys").join("owner");
    let key = std::fs::read(&path).expect("it was made");
    std::fs::write(&path, "no key").expect("a file is written");
    redis.put("task-command", &command("shop", "choose"));
    serving.wait_for(|line| line.starts_with("trouble") && line.contains("nobody can sign for it"));
    redis.put("user-message-received", &json!({"session_id": "beside", "user_id": "ada", "message": "hello"}));
    redis.wait_for("user-message-command", |entry| entry["message"] == "Hello yourself.");
    assert!(redis.entries("hitl-request-command").is_empty());
    std::fs::write(&path, key).expect("a file is written");
    asked(&redis, "choose");
    serving.signal(Signal::INT);
    serving.end().expect(0);
}

#[test]
fn a_task_s_keys_are_wishes_of_other_programs() {
    let (home, redis) = (home(LISTENER), Redis::start());
    let serving = serve(&home, &redis.url());
    let text = |words: &str| Reply::Text(words.to_owned());
    redis.put("task-command", &command("shop", "choose"));
    redis.wait_until(&["GET", "task:status:choose"], &text("running"));
    redis.ask(&["SET", "task:status:choose", "paused"]);
    redis.wait_for("task-result", |entry| entry["status"] == "PAUSED");
    let event = json!({"injection_type": "external_event", "content": "Event received: the price fell"});
    redis.ask(&["RPUSH", "injection:choose", &event.to_string()]);
    redis.wait_until(&["LLEN", "injection:choose"], &Reply::Number(0));
    redis.ask(&["SET", "task:status:choose", "running"]);
    home.write("go", "");
    let result = completed(&redis, "choose");
    assert_eq!(result["final_message"], "I heard.");
    // One that is cancelled says so for a while.
    std::fs::remove_file(home.workspace().join("go")).expect("it is there");
    redis.put("task-command", &command("shop", "again"));
    redis.wait_until(&["GET", "task:status:again"], &text("running"));
    redis.ask(&["SET", "task:status:again", "cancelled"]);
    redis.wait_for("task-result", |entry| entry["task_id"] == "again" && entry["status"] == "CANCELLED");
    assert_eq!(redis.ask(&["GET", "task:status:again"]), text("cancelled"));
    serving.signal(Signal::INT);
    serving.end().expect(0);
    none_left(&home);
}

/// Regression: the flag was set to `running` over it, and the wish was gone.
#[test]
fn a_wish_that_comes_before_the_flag_is_set_is_heeded() {
    let (home, redis) = (home(LISTENER), Redis::start());
    let serving = serve(&home, &redis.url());
    redis.ask(&["SET", "task:status:choose", "cancelled"]);
    redis.put("task-command", &command("shop", "choose"));
    redis.wait_for("task-result", |entry| entry["task_id"] == "choose" && entry["status"] == "CANCELLED");
    serving.signal(Signal::INT);
    serving.end().expect(0);
    none_left(&home);
}

/// Seed 000 §15.1: the response comes as the injection with which a task goes on, or as one that is pushed. Regression: it answered nothing,
/// and the task stayed BLOCKED_USER.
#[test]
fn a_response_as_an_injection_answers_the_question() {
    let (home, redis) = (home(ASKER), Redis::start());
    let serving = serve(&home, &redis.url());
    let response = json!({"injection_type": "hitl_response", "content": "User responded to your question: SQLite"});
    redis.put("task-command", &command("shop", "choose"));
    asked(&redis, "choose");
    let mut again = command("shop", "choose");
    again["command_id"] = json!("go-on");
    again["resume_context"] = json!({"previous_messages": [], "injection": response});
    redis.put("task-command", &again);
    completed(&redis, "choose");
    redis.put("task-command", &command("shop", "again"));
    asked(&redis, "again");
    redis.ask(&["RPUSH", "injection:again", &response.to_string()]);
    completed(&redis, "again");
    assert_eq!(home.read("answer.txt"), "sqlite\n".repeat(2));
    serving.signal(Signal::INT);
    serving.end().expect(0);
    none_left(&home);
}

/// Two share the group; what the one had that was killed, the other one does.
#[test]
fn two_servers_share_the_work() {
    let (home, redis) = (home(ASKER), Redis::start());
    let (one, other) = (serve(&home, &redis.url()), serve(&home, &redis.url()));
    let tasks: Vec<String> = (0..6).map(|number| format!("t{number}")).collect();
    for task in &tasks {
        redis.put("task-command", &command(&format!("s-{task}"), task));
    }
    asked(&redis, "t0");
    kill(one);
    for task in &tasks {
        let question = asked(&redis, task);
        redis.put("hitl-response-received", &answer(&question));
    }
    for task in &tasks {
        completed(&redis, task);
        assert_eq!((results(&redis, task, "COMPLETED"), results(&redis, task, "FAILED")), (1, 0), "{task}");
    }
    assert_eq!(home.read("answer.txt"), "sqlite\n".repeat(6));
    other.signal(Signal::INT);
    other.end().expect(0);
    none_left(&home);
}

#[test]
fn a_session_that_another_program_holds_waits_for_it() {
    let (home, redis) = (home(ASKER), Redis::start());
    redis.ask(&["SET", "session:lease:shop", "another program", "PX", "600000"]);
    let serving = serve(&home, &redis.url());
    redis.put("task-command", &command("shop", "choose"));
    redis.put("task-command", &command("free", "beside"));
    asked(&redis, "beside");
    assert!(redis.entries("hitl-request-command").iter().all(|entry| entry["task_id"] != "choose"));
    redis.ask(&["DEL", "session:lease:shop"]);
    asked(&redis, "choose");
    redis.wait_until(&["EXISTS", "session:lease:shop"], &Reply::Number(0));
    serving.signal(Signal::INT);
    serving.end().expect(0);
}

#[test]
fn a_password_is_used_and_never_shown() {
    let (home, redis) = (home(ASKER), Redis::start_with(&["--requirepass", "correct horse battery"]));
    let url = |password: &str| format!("redis+unix://{}?pass={password}", redis.socket().display());
    let mut serving = serve(&home, &url("tr0ub4dor-and-3"));
    let trouble = serving.wait_for(|line| line.starts_with("trouble"));
    assert!(trouble.contains("Redis") && !trouble.contains("tr0ub4dor"), "{trouble}");
    serving.signal(Signal::INT);
    let ended = serving.end().expect(0);
    assert!(!format!("{}{}", ended.stdout, ended.stderr).contains("tr0ub4dor"));
}

#[test]
fn without_a_folder_nobody_comes_in_and_without_an_address_there_is_no_door() {
    let home = Home::playing(ASKER);
    let words = ["serve", "--listen", "127.0.0.1:0"];
    let refused = home.windlass(&words).env("REDIS_URL", "redis://127.0.0.1:1").run().expect(2);
    assert!(refused.stderr.contains("[redis] workspace"), "{}", refused.stderr);
    configure(&home, "");
    let refused = home.windlass(&words).env("REDIS_URL", "sesame://open").run().expect(2);
    assert!(refused.stderr.contains("REDIS_URL cannot be understood"), "{}", refused.stderr);
}
