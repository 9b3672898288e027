//! Two servers on one PostgreSQL: one takes requests, the other works. Whoever asks either is told the same.

use serde_json::{Value, json};
use windlass_postgres_server::Server;

use super::store::on;
use crate::cli::cards::{is_there, waits_to_ask};
use crate::cli::serving::{Served, begun};
use crate::support::{Answer, none_left};

#[test]
fn a_task_is_asked_for_at_one_server_worked_on_by_another_and_approved_at_either() {
    let (server, home) = (Server::start(), waits_to_ask());
    let url = server.database("windlass");
    let script = home.script();
    let words = ["serve", "--listen", "127.0.0.1:0", "--rehearsal", script.to_str().expect("a plain path")];
    let serve = |more: &[&str]| begun(&home, on(&url, home.windlass(&[&words, more].concat())));
    let (door, works) = (serve(&["--no-work"]), serve(&[]));

    // The same request under one key is heard once, whoever is asked again.
    let ask = |served: &Served| -> Answer {
        let body = json!({"goal": "Tidy up"}).to_string();
        served.ask_as(&served.token, "POST", "/v1/tasks", &[("Idempotency-Key", "one")], &body).expect(202)
    };
    let first = ask(&door);
    let again = ask(&works);
    assert_eq!((again.json(), again.header("idempotency-replayed")), (first.json(), Some("true")));
    let task = first.json()["task_id"].as_str().expect("an id").to_owned();

    // What the one commits is heard at the other, as it happens.
    let mut events = door.listen(&format!("/v1/tasks/{task}/events?after=0"), None);
    let asked = loop {
        let (position, event) = events.next().expect("it asks");
        if event["kind"] == "approval.requested" && event["data"]["card"]["details"].to_string().contains("old.txt") {
            break (position, event);
        }
    };
    let (seen, asked) = (asked.0, asked.1["data"]["card"]["card_id"].as_str().expect("an id").to_owned());
    drop(events);
    assert!(is_there(&home, "old.txt"));
    let path = format!("/v1/approvals/{asked}/approve");
    door.post(&path, &json!({"confirmed": true})).expect(200);
    assert_eq!(works.post(&path, &json!({"confirmed": true})).expect(409).json()["code"], "card");

    // Whoever was cut off goes on at the other one, from where they were.
    let mut events = works.listen(&format!("/v1/tasks/{task}/events"), Some(seen));
    let mut rest = Vec::new();
    while !rest.last().is_some_and(|event: &Value| event["kind"] == "task.finished") {
        rest.push(events.next().expect("it goes on").1);
    }
    assert!(rest.iter().any(|event| event["kind"] == "approval.decided"), "{rest:?}");
    assert!(!is_there(&home, "old.txt"));
    let told = |served: &Served| served.get(&format!("/v1/tasks/{task}")).expect(200).json();
    assert_eq!(told(&door), told(&works));
    assert_eq!(told(&door)["standing"], "completed");
    assert_eq!(door.get("/v1/tasks").expect(200).json()["tasks"].as_array().map(Vec::len), Some(1));
    door.end();
    works.end();
    on(&url, home.windlass(&["audit", "verify"])).run().expect(0);
    none_left(&home);
}
