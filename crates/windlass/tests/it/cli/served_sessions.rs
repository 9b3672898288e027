//! Conversations over HTTP are somebody's: the token's, or whom an admin's token speaks for. Records say who asked, and each user has a
//! number of conversations of their own.

use serde_json::{Value, json};

use super::scripts::HELLO;
use super::serving::{Served, serve, token};
use crate::support::{Home, ask_raw};

/// Every turn begins a task, whose plan waits for a yes.
const TALK: &str = r#"
version: 1
tracks:
  proxy:
    - reply: '{"route": "new_task", "response": "On it."}'
      repeat: forever
  default:
    - reply: Done.
"#;

fn id(value: &Value) -> String {
    value.as_str().expect("an id").to_owned()
}

pub fn session_of(served: &Served, name: &str) -> String {
    id(&served.post("/v1/sessions", &json!({"name": name})).expect(200).json()["session_id"])
}

/// Says it and waits for the turn.
pub fn say(served: &Served, token: &str, session: &str, said: &Value) {
    let path = format!("/v1/sessions/{session}/messages");
    let told = served.ask_as(token, "POST", &path, &[], &said.to_string()).expect(202).json();
    served.end_of(&id(&told["turn"]));
}

pub fn shown(served: &Served, session: &str) -> Value {
    served.get(&format!("/v1/sessions/{session}")).expect(200).json()
}

#[test]
fn a_conversation_is_its_tokens_and_each_has_a_number_of_its_own() {
    let home = Home::playing(TALK);
    std::fs::create_dir_all(home.data()).expect("a folder");
    std::fs::set_permissions(home.data(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("its mode");
    let limits = "[coordinator]\nmax_concurrent_sessions_per_user = 1\n";
    std::fs::write(home.data().join("windlass.toml"), limits).expect("a file");
    let scopes = ["--scope", "read,write"];
    let (ada, bob) = (token(&home, "ada", &scopes), token(&home, "bob", &scopes));
    let served = serve(&home, &[]);
    let [first, second, third] = ["first", "second", "third"].map(|name| session_of(&served, name));
    let write = json!({"message": "Write it"});
    say(&served, &ada, &first, &write);
    say(&served, &ada, &second, &write);
    say(&served, &bob, &third, &write);

    let told = shown(&served, &first);
    assert_eq!((&told["user_id"], &told["channel"]), (&json!("ada"), &json!("http")), "{told}");
    let task = &told["tasks"][0];
    assert_eq!((&task["status"], &task["task_id"]), (&json!("RUNNING"), &told["active_task_id"]), "{told}");
    assert_eq!(task["goal_summary"], "Write it", "{told}");
    assert_eq!(shown(&served, &second)["tasks"], json!([]), "she has as many as she may");
    let told = shown(&served, &third);
    assert_eq!((&told["user_id"], told["tasks"].as_array().map(Vec::len)), (&json!("bob"), Some(1)), "{told}");

    // A third person may speak in it: it stays whose it is, and the record says who.
    say(&served, &bob, &first, &json!({"message": "And this"}));
    assert_eq!(shown(&served, &first)["user_id"], "ada");
    let mut said = Vec::new();
    let mut events = served.listen(&format!("/v1/sessions/{first}/events?after=0&until_now=true"), None);
    while let Some((_, event)) = events.next() {
        if event["kind"] == "session.triggered" {
            said.push(event["data"]["by"].clone());
        }
    }
    assert_eq!(said, [json!("ada"), json!("bob")]);
    served.end();
}

#[test]
fn a_task_may_be_asked_for_within_a_conversation() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &[]);
    let session = session_of(&served, "work");
    let wanted = json!({"goal": "Say hello", "session_id": session, "workspace": "/nowhere-that-anybody-listed"});
    served.post("/v1/tasks", &wanted).expect(422);
    let wanted = json!({"goal": "Say hello", "session_id": session});
    let task = id(&served.post("/v1/tasks", &wanted).expect(202).json()["task_id"]);
    served.end_of(&task);
    let told = shown(&served, &session);
    assert_eq!(told["tasks"][0]["task_id"], json!(task), "{told}");
    assert_eq!((&told["tasks"][0]["status"], &told["channel"]), (&json!("COMPLETED"), &json!("http")), "{told}");
    served.post("/v1/tasks", &json!({"goal": "Say hello", "session_id": "nothing like an id"})).expect(422);
    served.end();
}

#[test]
fn whoever_may_speak_for_others_says_for_whom() {
    let home = Home::playing(TALK);
    let plain = token(&home, "plain", &["--scope", "read,write"]);
    let gateway = token(&home, "gateway", &["--scope", "read,write,admin"]);
    let served = serve(&home, &[]);
    let session = session_of(&served, "chat");
    let said = json!({"message": "Write it", "user_id": "carol"});
    let path = format!("/v1/sessions/{session}/messages");
    served.ask_as(&plain, "POST", &path, &[], &said.to_string()).expect(403);
    for nobody in ["", " ", "unnamed", "Local", "runtime", "system", "windlass"] {
        let said = json!({"message": "Write it", "user_id": nobody});
        served.ask_as(&gateway, "POST", &path, &[], &said.to_string()).expect(422);
    }
    say(&served, &gateway, &session, &said);
    assert_eq!(shown(&served, &session)["user_id"], "carol");
    served.end();
}

#[test]
fn what_is_begun_or_paused_by_a_token_is_recorded_under_its_name() {
    let home = Home::playing(HELLO);
    let robot = token(&home, "robot", &["--scope", "read,write,approve"]);
    let served = serve(&home, &["--no-work"]);
    let wanted = json!({"goal": "Say hello"}).to_string();
    let task = id(&served.ask_as(&robot, "POST", "/v1/tasks", &[], &wanted).expect(202).json()["task_id"]);
    let audit = served.get("/v1/audit").expect(200).json();
    let signed = audit["items"].as_array().expect("records").iter().any(|item| item.to_string().contains("\"robot\""));
    assert!(signed, "{audit}");
    let reason = json!({"reason": "not today"}).to_string();
    served.ask_as(&robot, "POST", &format!("/v1/tasks/{task}/pause"), &[], &reason).expect(202);
    served.end();

    let working = serve(&home, &[]);
    let mut events = working.listen(&format!("/v1/tasks/{task}/events?after=0"), None);
    let paused = std::iter::from_fn(|| events.next()).find(|(_, event)| event["kind"] == "task.changed");
    let (_, paused) = paused.expect("it rests");
    assert_eq!(paused["data"]["reason"], "not today (paused by robot)", "{paused}");
    working.end();
}

/// Whoever answers has it, and so has the task that begins with it; what is said next has its own.
#[test]
fn what_is_said_may_bring_files_for_the_task_that_begins_with_it() {
    let home = Home::playing(TALK);
    let served = serve(&home, &[]);
    let session = session_of(&served, "files");
    let note = json!({"name": "notes.txt", "content": "YSBrdW1xdWF0"});
    say(&served, &served.token, &session, &json!({"message": "Write it", "attachments": [note]}));
    say(&served, &served.token, &session, &json!({"message": "Write another"}));
    let created = served.get("/v1/activity?kinds=task.created&limit=500").expect(200).json();
    let attached = |goal: &str, is_planned: bool| -> Value {
        let records = created["records"].as_array().expect("records");
        let is_it = |record: &&Value| {
            let command = &record["data"]["command"]["goal"];
            command.as_str().is_some_and(|words| words.contains(goal)) && record["data"]["planned"] == json!(is_planned)
        };
        records.iter().find(is_it).unwrap_or_else(|| panic!("{goal}: {created}"))["data"]["attachments"].clone()
    };
    let task = attached("Write it", true);
    assert_eq!((&task[0]["name"], &task[0]["text"]), (&json!("notes.txt"), &json!("a kumquat")), "{task}");
    assert_eq!(task.as_array().map(Vec::len), Some(1), "{task}");
    let other = attached("Write another", true);
    assert!(other.as_array().is_none_or(Vec::is_empty), "{other}");

    let path = format!("/v1/sessions/{session}/messages");
    let sent = |content: &str| {
        served.post(&path, &json!({"message": "x", "attachments": [{"name": "a.bin", "content": content}]}))
    };
    let refused = sent("//8=").expect(422).json();
    assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains("neither UTF-8 text")), "{refused}");
    // Only where files are taken a body may be so long.
    let long = "eHh4".repeat(400_000);
    let refused = sent(&long).expect(422).json();
    assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains("longer than 256 KiB")), "{refused}");
    // Regression: whoever sends it piece by piece, and says no length, was held to a body without files.
    let in_pieces = |path: &str| {
        let body = json!({"message": "x", "attachments": [{"name": "a.bin", "content": long}]}).to_string();
        let (address, token) = (&served.address, &served.token);
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n");
        let head = format!("{head}Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\r\n");
        let request = format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        ask_raw(address, request.as_bytes()).expect("an answer")
    };
    let refused = in_pieces(&path).expect(422).json();
    assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains("longer than 256 KiB")), "{refused}");
    in_pieces("/v1/schedules").expect(413);
    served.end();
}
