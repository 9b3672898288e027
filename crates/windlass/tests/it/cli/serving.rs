//! `windlass serve`, asked over real sockets: tasks, cards, events, and who may ask for them.

use std::io::{Read as _, Write as _};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::cards::{is_there, waits_to_ask};
use super::configuring::configured;
use super::scripts::HELLO;
use crate::support::{Answer, Home, Listening, Program, Running, ask, ask_raw, connect, none_left};

pub const JSON: (&str, &str) = ("Content-Type", "application/json");

/// A server of this home's, and a token to ask with.
pub struct Served {
    pub running: Running,
    pub address: String,
    pub token: String,
}

pub fn serve(home: &Home, more: &[&str]) -> Served {
    serve_at(home, "127.0.0.1:0", more)
}

pub fn serve_at(home: &Home, listen: &str, more: &[&str]) -> Served {
    let script = home.script();
    let words = ["serve", "--listen", listen, "--rehearsal", script.to_str().expect("a plain path")];
    begun(home, home.windlass(&[&words, more].concat()))
}

/// As soon as it listens.
pub fn begun(home: &Home, program: Program) -> Served {
    let mut running = program.start();
    let line = running.wait_for(|line| line.starts_with("serving at "));
    let address = line["serving at http://".len()..].to_owned();
    let token = std::fs::read_to_string(home.data().join("token")).expect("a token").trim().to_owned();
    Served { running, address, token }
}

impl Served {
    pub fn ask_as(&self, token: &str, method: &str, path: &str, more: &[(&str, &str)], body: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        let mut headers = vec![("Authorization", bearer.as_str())];
        if method == "POST" {
            headers.push(JSON);
        }
        ask(&self.address, method, path, &[&headers, more].concat(), body)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask_as(&self.token, "GET", path, &[], "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask_as(&self.token, "POST", path, &[], &body.to_string())
    }

    pub fn listen(&self, path: &str, last: Option<u64>) -> Listening {
        let bearer = format!("Bearer {}", self.token);
        let last = last.map(|last| last.to_string());
        let mut headers = vec![("Authorization", bearer.as_str())];
        if let Some(last) = &last {
            headers.push(("Last-Event-ID", last));
        }
        Listening::to(&self.address, path, &headers)
    }

    /// Looked at whenever something has happened, until it is as wanted.
    pub fn at_last<T>(&self, token: &str, path: &str, wanted: impl Fn(&Value) -> Option<T>) -> T {
        let mut events = Listening::to(&self.address, "/v1/events", &[("Authorization", &format!("Bearer {token}"))]);
        loop {
            let seen = self.ask_as(token, "GET", path, &[], "").expect(200).json();
            if let Some(found) = wanted(&seen) {
                return found;
            }
            assert!(events.next().is_some(), "{path} stays {seen}");
        }
    }

    /// Waits, by listening, until the task has ended.
    pub fn end_of(&self, task: &str) {
        let mut events = self.listen(&format!("/v1/tasks/{task}/events?after=0"), None);
        while let Some((_, event)) = events.next() {
            if event["kind"] == "task.finished" && event["stream"] == format!("task/{task}") {
                return;
            }
        }
        panic!("task {task} did not end");
    }

    pub fn end(self) {
        self.running.signal(Signal::TERM);
        self.running.end().expect(0);
    }
}

pub fn token(home: &Home, name: &str, more: &[&str]) -> String {
    let words = ["token", "add", name, "--json"];
    let made = home.windlass(&[&words, more].concat()).run().expect(0).result();
    made["token"].as_str().expect("a token").to_owned()
}

#[test]
fn a_task_is_asked_for_watched_and_done() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &[]);
    let wanted = json!({"goal": "Say hello", "base_case": ["file: hello.txt"]});
    let task = served.post("/v1/tasks", &wanted).expect(202).json()["task_id"].as_str().expect("an id").to_owned();
    served.end_of(&task);
    let told = served.get(&format!("/v1/tasks/{task}")).expect(200);
    assert_eq!(told.json()["standing"], "verified", "{told:?}");
    assert_eq!(home.read("hello.txt"), "hi\n");

    // What one has already is not sent again.
    let tag = told.header("etag").expect("a tag").to_owned();
    let path = format!("/v1/tasks/{task}");
    let again = served.ask_as(&served.token, "GET", &path, &[("If-None-Match", &tag)], "").expect(304);
    assert_eq!(again.body, "");

    // A page at a time is all of it.
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = served.get(&format!("/v1/tasks/{task}/records?limit=3{cursor}")).expect(200).json();
        seen.extend(page["records"].as_array().expect("records").iter().map(|record| record["position"].clone()));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let whole = served.get(&format!("/v1/tasks/{task}/records?limit=500")).expect(200).json();
    let whole: Vec<Value> =
        whole["records"].as_array().expect("records").iter().map(|one| one["position"].clone()).collect();
    assert_eq!(seen, whole);
    assert!(seen.len() > 3);
    served.end();
    none_left(&home);
}

#[test]
fn the_same_request_under_the_same_key_is_heard_once_even_by_another_server() {
    let home = Home::playing(HELLO);
    let mut served = serve(&home, &["--no-work"]);
    let ask = |served: &Served, goal: &str| {
        let body = json!({"goal": goal}).to_string();
        served.ask_as(&served.token, "POST", "/v1/tasks", &[("Idempotency-Key", "one")], &body)
    };
    let first = ask(&served, "Say hello").expect(202).json();
    assert_eq!(ask(&served, "Say hello").expect(202).json(), first);
    ask(&served, "Say something else").expect(422);
    served.end();
    served = serve(&home, &["--no-work"]);
    assert_eq!(ask(&served, "Say hello").expect(202).json(), first);
    // A key is its token's.
    let other = token(&home, "other", &["--scope", "read,write"]);
    let body = json!({"goal": "Say hello"}).to_string();
    let theirs = served.ask_as(&other, "POST", "/v1/tasks", &[("Idempotency-Key", "one")], &body).expect(202).json();
    assert_ne!(theirs, first);
    assert_eq!(served.get("/v1/tasks").expect(200).json()["tasks"].as_array().map(Vec::len), Some(2));
    served.end();
}

#[test]
fn a_card_is_answered_by_whoever_may_and_once() {
    let home = waits_to_ask();
    let served = serve(&home, &[]);
    let writer = token(&home, "writer", &["--scope", "read,write"]);
    let task = served.post("/v1/tasks", &json!({"goal": "Tidy up"})).expect(202).json()["task_id"].clone();
    let task = task.as_str().expect("an id");
    let mut events = served.listen("/v1/events?after=0", None);
    while events.next().expect("it asks").1["kind"] != "approval.requested"
        || served.get("/v1/approvals").json()["approvals"].as_array().expect("cards").is_empty()
    {}
    let card = served.get("/v1/approvals").json()["approvals"][0]["card"]["card_id"].clone();
    let path = format!("/v1/approvals/{}/approve", card.as_str().expect("an id"));
    let yes = json!({"confirmed": true}).to_string();
    served.ask_as(&writer, "POST", &path, &[], &yes).expect(403);
    assert!(is_there(&home, "old.txt"));
    served.post(&path, &json!({})).expect(409);
    served.post(&path, &json!({"confirmed": true})).expect(200);
    served.post(&path, &json!({"confirmed": true})).expect(409);
    served.end_of(task);
    assert!(!is_there(&home, "old.txt"));
    served.end();
}

/// Regression: without Redis it was nobody, so that a newer server beside it did not wait for it, and it began where it could read nothing.
#[test]
fn a_server_that_works_on_nothing_is_among_those_at_work() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let database = || rusqlite::Connection::open(home.data().join("windlass.db")).expect("the database opens");
    let at_work = || {
        let ask = "SELECT count(*), min(level) FROM owners WHERE retired = 0";
        database().query_row(ask, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("two numbers")
    };
    let level = i64::from(windlass_domain::JOURNAL_LEVEL);
    assert_eq!(at_work(), (1, Some(level)));
    served.end();
    assert_eq!(at_work(), (0, None), "it has taken its leave");
    database().execute("UPDATE journal SET level = ?1", [level + 1]).expect("a newer one has written");
    let refused = home.windlass(&["serve", "--listen", "127.0.0.1:0", "--no-work"]).run();
    assert!(refused.code() != 0 && refused.stderr.contains("use a newer windlass"), "{}", refused.stderr);
}

/// They would hear nothing until as much has happened again, as after an older copy was put back.
#[test]
fn whoever_is_ahead_of_the_journal_is_told_so() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    served.post("/v1/tasks", &json!({"goal": "Say hello"})).expect(202);
    for (path, headers) in [("/v1/events?after=99999999", &[][..]), ("/v1/events", &[("Last-Event-ID", "99999999")])] {
        let refused = served.ask_as(&served.token, "GET", path, headers, "").expect(400).json();
        assert_eq!(refused["code"], "ahead", "{refused}");
    }
    served.end();
}

/// What a token without `approve` asks for begins when somebody who has it says yes.
#[test]
fn who_may_not_approve_asks() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &[]);
    let writer = token(&home, "writer", &["--scope", "read,write"]);
    // What it would be asked about is looked at as what others ask for is.
    for unfit in [json!({"goal": "Say hello", "pattern": "nosuch"}), json!({"goal": "Say hello", "agent": "nosuch"})] {
        served.ask_as(&writer, "POST", "/v1/tasks", &[], &unfit.to_string()).expect(422);
    }
    // The checks of a goal are run without anybody being asked.
    served.ask_as(&writer, "POST", "/v1/schedules", &[], &json!({"document": "---"}).to_string()).expect(403);
    let body = json!({"goal": "Say hello"}).to_string();
    let asked = served.ask_as(&writer, "POST", "/v1/tasks", &[], &body).expect(202).json();
    let task = asked["task_id"].as_str().expect("an id");
    let mut events = served.listen(&format!("/v1/tasks/{task}/events?after=0"), None);
    while events.next().expect("it asks").1["kind"] != "plan.asked" {}
    assert!(!is_there(&home, "hello.txt"));
    let card = served.get("/v1/approvals").expect(200).json()["approvals"][0]["card"]["card_id"].clone();
    let path = format!("/v1/approvals/{}/approve", card.as_str().expect("an id"));
    served.post(&path, &json!({})).expect(200);
    served.end_of(task);
    assert!(is_there(&home, "hello.txt"));
    served.end();
}

#[test]
fn a_token_that_is_taken_back_is_good_for_nothing_at_once() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let reader = token(&home, "reader", &[]);
    served.ask_as(&reader, "GET", "/v1/tasks", &[], "").expect(200);
    assert!(!home.windlass(&["token", "list"]).run().expect(0).stdout.contains(&reader));
    home.windlass(&["token", "revoke", "reader"]).run().expect(0);
    served.ask_as(&reader, "GET", "/v1/tasks", &[], "").expect(401);
    home.windlass(&["token", "revoke", "reader"]).run().expect(2);
    served.end();
}

#[test]
fn a_task_works_in_a_listed_folder_and_nowhere_else() {
    let home = Home::playing(HELLO);
    std::fs::create_dir(home.path().join("secret")).expect("a folder");
    home.write("inside/a.txt", "a\n");
    std::os::unix::fs::symlink(home.path().join("secret"), home.workspace().join("link")).expect("a link");
    let served = serve(&home, &["--no-work"]);
    let try_in = |folder: &str| served.post("/v1/tasks", &json!({"goal": "Say hello", "workspace": folder}));
    try_in("inside").expect(202);
    try_in(home.workspace().join("inside").to_str().expect("a plain path")).expect(202);
    let data = home.data();
    let outside = ["..", "link", "/etc", "../secret", data.to_str().expect("a plain path"), "no-such-folder"];
    for folder in outside {
        try_in(folder).expect(422);
    }
    served.end();
}

/// Kills the server in the middle of the story and starts another: what both listeners heard together is all there was, once.
#[test]
fn no_event_is_lost_or_doubled_when_the_server_dies() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &[]);
    let address = served.address.clone();
    served.post("/v1/tasks", &json!({"goal": "Say hello"})).expect(202);
    let mut heard = Vec::new();
    let mut events = served.listen("/v1/events?after=0", None);
    while heard.len() < 5 {
        heard.push(events.next().expect("it begins").0);
    }
    served.running.signal(Signal::KILL);
    assert!(served.running.end().was_killed());
    // What the dead one had already sent is heard as well.
    while let Some((position, _)) = events.next() {
        heard.push(position);
    }
    let served = serve_at(&home, &address, &[]);
    let second = served.post("/v1/tasks", &json!({"goal": "Say hello again"})).expect(202).json();
    let second = format!("task/{}", second["task_id"].as_str().expect("an id"));
    let mut events = served.listen("/v1/events", heard.last().copied());
    loop {
        let (position, event) = events.next().expect("it goes on");
        heard.push(position);
        if event["kind"] == "task.finished" && event["stream"] == second.as_str() {
            break;
        }
    }
    let mut whole = Vec::new();
    let mut events = served.listen("/v1/events?after=0&until_now=true", None);
    while let Some((position, _)) = events.next() {
        whole.push(position);
    }
    let end = whole.iter().position(|position| Some(position) == heard.last()).expect("the last one is there");
    assert_eq!(heard, whole[..=end]);
    served.end();
}

#[test]
fn a_drain_ends_streams_and_answers_nobody_new() {
    let home = Home::playing(HELLO);
    let mut served = serve(&home, &["--no-work"]);
    let mut events = served.listen("/v1/events", None);
    served.running.signal(Signal::TERM);
    served.running.wait_for(|line| line.contains("takes nothing new"));
    assert!(events.next().is_none(), "the stream has ended");
    served.running.end().expect(0);
    assert!(std::net::TcpStream::connect(&served.address).is_err());
}

/// More history than any socket holds. Regression: who had not read all of it yet was sent the rest before the server ended.
#[test]
fn a_drain_ends_also_the_stream_of_whoever_is_far_behind() {
    const RECORDS: usize = 400;
    let home = Home::playing(HELLO);
    configured(&home, "[server]\nrequests_per_second = 10000\n");
    let mut served = serve(&home, &["--no-work", "--drain", "600"]);
    let wanted = json!({"goal": "x".repeat(60_000)});
    for _ in 0..RECORDS {
        served.post("/v1/tasks", &wanted).expect(202);
    }
    let mut slow = connect(&served.address);
    let request = format!(
        "GET /v1/events?after=0 HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        served.address, served.token
    );
    slow.write_all(request.as_bytes()).expect("it hears");
    let mut first = [0; 1_000];
    slow.read_exact(&mut first).expect("it answers");
    served.running.signal(Signal::TERM);
    served.running.wait_for(|line| line.contains("takes nothing new"));
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).expect("it ends as it should");
    let heard = String::from_utf8_lossy(&rest).matches("\"kind\":\"task.created\"").count();
    assert!((1..RECORDS).contains(&heard), "{heard}");
    served.running.end().expect(0);
}

#[test]
fn what_is_too_large_or_makes_no_sense_is_refused() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let huge = json!({"document": "x".repeat(2 << 20)});
    served.post("/v1/schedules", &huge).expect(413);
    served.ask_as(&served.token, "POST", "/v1/tasks", &[], "{\"goal\":").expect(400);
    served.post("/v1/tasks", &json!({"gaol": "x"})).expect(422);
    let bearer = format!("Bearer {}", served.token);
    let form = [("Authorization", bearer.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
    ask(&served.address, "POST", "/v1/tasks", &form, "goal=x").expect(415);
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    let answer = ask_raw(&served.address, long.as_bytes());
    assert!(answer.is_none_or(|answer| answer.status == 431));
    // Whoever says nothing more is still answered.
    let bearer = [("Authorization", bearer.as_str())];
    let mut events = Listening::to(&served.address, "/v1/events?after=0&until_now=true", &bearer);
    events.half_close();
    while events.next().is_some() {}
    ask(&served.address, "GET", "/v1/health", &[], "").expect(200);
    served.end();
}

/// What is being said comes as it is said, without a position; who did not ask for it hears records alone.
#[test]
fn what_is_being_said_is_heard_by_those_who_want_it() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &[]);
    let mut live = served.listen("/v1/events?live=true", None);
    let mut records = served.listen("/v1/events", None);
    let task = served.post("/v1/tasks", &json!({"goal": "Say hello"})).expect(202).json()["task_id"].clone();
    let mut said = String::new();
    loop {
        let (position, event) = live.next_of_all().expect("it goes on");
        match position {
            None => {
                assert_eq!((&event["task_id"], &event["lossy"]), (&task, &json!(true)), "{event}");
                said.push_str(event["text"].as_str().filter(|_| event["kind"] == "text").unwrap_or_default());
            }
            Some(_) if event["kind"] == "task.finished" => break,
            Some(_) => {}
        }
    }
    assert!(said.contains("I will write the file."), "{said}");
    loop {
        let (position, event) = records.next_of_all().expect("it goes on");
        assert!(position.is_some(), "{event}");
        if event["kind"] == "task.finished" {
            break;
        }
    }
    // Of another tenant's nothing is heard, and of another task's neither.
    let other = served.post("/v1/tasks", &json!({"goal": "Say hello again"})).expect(202).json()["task_id"].clone();
    let path = format!("/v1/tasks/{}/events?live=true", task.as_str().expect("an id"));
    let mut finished = served.listen(&path, None);
    served.end_of(other.as_str().expect("an id"));
    served.running.signal(Signal::TERM);
    assert_eq!(finished.next_of_all(), None);
    served.running.end().expect(0);
}

#[test]
fn a_task_has_a_deadline_and_a_monitor_as_the_request_says() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let ask = |more: &Value| {
        let mut wanted = json!({"goal": "Say hello"});
        wanted.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        served.post("/v1/tasks", &wanted)
    };
    ask(&json!({"deadline": "soon"})).expect(422);
    ask(&json!({"deadline": "2001-01-01T00:00:00Z"})).expect(422);
    ask(&json!({"deadline_action": "fail"})).expect(422);
    let action = json!({"deadline": "2h", "deadline_action": "pause_and_notify"});
    let task = ask(&action).expect(202).json()["task_id"].as_str().expect("an id").to_owned();
    let due = home.windlass(&["schedules", "list", "--json"]).run().expect(0).objects();
    let deadline = due.iter().find(|due| due["task_id"] == task.as_str()).expect("it is due");
    assert_eq!((&deadline["type"], &deadline["deadline_action"]), (&json!("deadline"), &json!("pause_and_notify")));

    let path = format!("/v1/tasks/{task}/monitor");
    let delete = || served.ask_as(&served.token, "DELETE", &path, &[], "");
    let mut wanted = json!({"interval_seconds": 5, "check_prompt": "Look", "timeout_at": "2999-01-01T00:00:00Z", "timeout_action": "fail"});
    served.post(&path, &wanted).expect(422);
    delete().expect(404);
    let hour = deadline["deadline"].clone();
    (wanted["interval_seconds"], wanted["timeout_at"]) = (json!(60), hour.clone());
    served.post(&path, &wanted).expect(202);
    let listed = served.get("/v1/monitors").expect(200).json()["monitors"].clone();
    assert_eq!((&listed[0]["task_id"], &listed[0]["timeout_at"]), (&json!(task), &hour), "{listed}");
    assert_eq!((&listed[0]["check_prompt"], &listed[0]["interval_seconds"]), (&json!("Look"), &json!(60)));
    delete().expect(200);
    assert_eq!(served.get("/v1/monitors").expect(200).json()["monitors"], json!([]));
    served.end();
}

/// Told by whoever has the key, in time, and once.
#[test]
fn an_event_from_outside_is_signed_and_heard_once() {
    let home = Home::playing(HELLO);
    std::fs::create_dir_all(home.data()).expect("a folder");
    std::fs::set_permissions(home.data(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("its mode");
    std::fs::write(home.data().join("windlass.toml"), "[server.webhooks.ci]\nkey_env = \"CI_KEY\"\n").expect("a file");
    let script = home.script();
    let words =
        ["serve", "--listen", "127.0.0.1:0", "--no-work", "--rehearsal", script.to_str().expect("a plain path")];
    let mut running = home.windlass(&words).env("CI_KEY", "not-a-very-secret-key").start();
    let line = running.wait_for(|line| line.starts_with("serving at "));
    let address = line["serving at http://".len()..].to_owned();
    let token = std::fs::read_to_string(home.data().join("token")).expect("a token").trim().to_owned();
    let served = Served { running, address, token };
    let task = served.post("/v1/tasks", &json!({"goal": "Say hello"})).expect(202).json()["task_id"].clone();
    let path = format!("/v1/events/ci?task={}", task.as_str().expect("an id"));
    served.post(&path, &json!({"build": "red"})).expect(401);
    let old = [("X-Windlass-Timestamp", "1700000000"), ("X-Windlass-Signature", "sha256=00")];
    let answer = served.ask_as(&served.token, "POST", &path, &old, "{}").expect(401);
    assert_eq!(answer.json()["code"], "too_old");
    served.post("/v1/events/unknown?task=x", &json!({})).expect(404);
    // A task's id begins with the millisecond in which it was made.
    let digits: String = task.as_str().expect("an id").chars().filter(|digit| *digit != '-').take(12).collect();
    let seconds = (u64::from_str_radix(&digits, 16).expect("a number") / 1_000).to_string();
    let tell = |key: &str, body: &str| {
        let signature = windlass_server::auth::hmac_sha256(key.as_bytes(), format!("{seconds}.{body}").as_bytes());
        let signature: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        let signature = format!("sha256={signature}");
        let signed = [("X-Windlass-Timestamp", seconds.as_str()), ("X-Windlass-Signature", signature.as_str())];
        served.ask_as(&served.token, "POST", &path, &signed, body)
    };
    tell("another-key", "{\"build\": \"red\"}").expect(401);
    let heard = tell("not-a-very-secret-key", "{\"build\": \"red\"}").expect(202).json();
    assert_eq!(heard["tasks"], json!([task]));
    assert_eq!(tell("not-a-very-secret-key", "{\"build\": \"red\"}").expect(409).json()["code"], "told_before");
    served.end();
}

/// What is asked for is looked up as it stands, and who asks is judged before that.
#[test]
fn an_address_is_what_it_says_and_nothing_else() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let reader = token(&home, "reader", &[]);
    let paths = [
        "//v1/tasks",
        "/v1//tasks",
        "/v1/tasks/",
        "/v1/%74asks",
        "/v1/./tasks",
        "/v1/../v1/tasks",
        "/V1/tasks",
        "/v1/tasks%00",
        "/v1/%2e%2e/v1/audit",
        "/v1%2faudit",
    ];
    for path in paths {
        served.ask_as(&reader, "GET", path, &[], "").expect(404);
        ask(&served.address, "GET", path, &[], "").expect(401);
    }
    for path in ["//v1/health", "/v1/health/", "/v1/%68ealth", "/v1/health;a", "//openapi.json", "/v1/health/../audit"]
    {
        ask(&served.address, "GET", path, &[], "").expect(401);
    }
    for method in ["POST", "PUT", "OPTIONS", "TRACE", "CONNECT"] {
        ask(&served.address, method, "/v1/health", &[], "").expect(401);
    }
    let (bearer, own) = (format!("Authorization: Bearer {}", served.token), &served.address);
    let raw = |line: &str, heads: &[&str]| {
        let head = format!("{line}\r\nConnection: close\r\n{bearer}\r\n{}\r\n\r\n", heads.join("\r\n"));
        ask_raw(own, head.as_bytes()).expect("an answer")
    };
    let host = format!("Host: {own}");
    let absolute = |name: &str| format!("GET http://{name}/v1/tasks HTTP/1.1");
    raw(&absolute(own), &[&host]).expect(200);
    for foreign in [
        raw(&absolute("evil.example"), &[&host]),
        raw(&absolute(&format!("{own}@evil.example")), &[&host]),
        raw("GET /v1/tasks HTTP/1.1", &[&host, &host]),
        raw("GET /v1/tasks HTTP/1.1", &[&host, "Host: evil.example"]),
        raw("GET /v1/tasks HTTP/1.1", &["Host: evil.example"]),
        raw("GET /v1/tasks HTTP/1.0", &[]),
        raw("GET /v1/tasks HTTP/1.1", &[&host, "Origin: null"]),
        raw("GET /v1/tasks HTTP/1.1", &[&host, &format!("Origin: http://{own}.evil.example")]),
    ] {
        foreign.expect(403);
    }
    served.end();
}
