//! What is listed comes in pages, one after the other all of it; and what there is to see of a task beside itself: what it is for, who worked
//! on it, and what is due.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::serving::{Served, serve};
use crate::support::Home;

/// Each run delivers two files, asks something, and is done.
const BUSY: &str = r#"
version: 1
tracks:
  proxy:
    - reply: '{"route": "small_talk", "response": "Hello yourself."}'
      repeat: forever
  default:
    - calls:
        - { tool: write, args: { path: output/one.txt, content: "1\n" } }
        - { tool: write, args: { path: output/two.txt, content: "2\n" } }
    - calls:
        - { tool: publish_deliverable, args: { filepath: output/one.txt, description: One, type: report } }
        - { tool: publish_deliverable, args: { filepath: output/two.txt, description: Two, type: report } }
    - calls: [ { tool: ask_user, args: { question: "Which?" } } ]
    - reply: Done.
      repeat: forever
"#;

fn id(value: &Value) -> String {
    value.as_str().expect("an id").to_owned()
}

/// All of a list, one at a time.
fn all_of(served: &Served, path: &str, name: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = served.get(&format!("{path}?limit=1{cursor}")).expect(200).json();
        let shown = page[name].as_array().unwrap_or_else(|| panic!("{path} has no {name}: {page}")).clone();
        assert!(shown.len() <= 1, "{page}");
        all.extend(shown);
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

/// It is the same, at once and page by page.
fn whole(served: &Served, path: &str, name: &str, expected: usize) -> Vec<Value> {
    let paged = all_of(served, path, name);
    assert_eq!(paged.len(), expected, "{path}: {paged:#?}");
    assert_eq!(served.get(path).expect(200).json()[name], json!(paged), "{path}");
    served.get(&format!("{path}?cursor=nonsense")).expect(400);
    served.get(&format!("{path}?limit=0")).expect(400);
    paged
}

fn waits(served: &Served, task: &str) {
    let mut events = served.listen(&format!("/v1/tasks/{task}/events?after=0"), None);
    let parked = std::iter::from_fn(|| events.next()).find(|(_, event)| event["kind"] == "attempt.waiting");
    assert!(parked.is_some(), "it asks nothing");
}

#[test]
fn lists_come_in_pages_and_those_are_all_of_it() {
    let home = Home::playing(BUSY);
    let served = serve(&home, &[]);
    let wanted = json!({"goal": "Say hello", "base_case": ["file: output/one.txt"], "deadline": "2h"});
    let tasks: Vec<String> =
        (0..2).map(|_| id(&served.post("/v1/tasks", &wanted).expect(202).json()["task_id"])).collect();
    tasks.iter().for_each(|task| waits(&served, task));
    whole(&served, "/v1/questions", "questions", 2);
    let due = whole(&served, "/v1/schedules", "schedules", 2);
    assert!(due.iter().all(|one| one["type"] == "deadline" && one["deadline_action"] == "fail"), "{due:?}");

    let of_task = format!("/v1/tasks/{}", tasks[0]);
    let delivered = whole(&served, &format!("{of_task}/deliverables"), "deliverables", 2);
    // Two calls of one answer run at once, and either may be done first.
    let paths: BTreeSet<String> = delivered.iter().map(|one| id(&one["path"])).collect();
    assert_eq!(paths, BTreeSet::from(["output/one.txt".to_owned(), "output/two.txt".to_owned()]));
    let executions = whole(&served, &format!("{of_task}/executions"), "executions", 1);
    let execution = id(&executions[0]["execution_id"]);
    assert_eq!(served.get(&format!("/v1/executions/{execution}")).expect(200).json(), executions[0]);
    let turns = served.get(&format!("/v1/executions/{execution}/timeline")).expect(200).json()["items"].clone();
    whole(&served, &format!("/v1/executions/{execution}/timeline"), "items", turns.as_array().expect("turns").len());

    let session = id(&served.post("/v1/sessions", &json!({})).expect(200).json()["session_id"]);
    let messages = format!("/v1/sessions/{session}/messages");
    for words in ["hello", "and again"] {
        let said = served.post(&messages, &json!({"message": words})).expect(202).json();
        served.end_of(&id(&said["turn"]));
    }
    let said = whole(&served, &messages, "said", 4);
    let words: Vec<&str> = said.iter().filter_map(|one| one["words"].as_str()).collect();
    assert_eq!(words, ["hello", "Hello yourself.", "and again", "Hello yourself."]);
    whole(&served, "/v1/approvals", "approvals", 0);
    served.end();
}

#[test]
fn a_task_says_what_it_is_for() {
    let home = Home::playing(BUSY);
    let served = serve(&home, &["--no-work"]);
    let wanted = json!({"goal": "Say hello", "base_case": ["file: output/one.txt"]});
    let task = id(&served.post("/v1/tasks", &wanted).expect(202).json()["task_id"]);
    let told = served.get(&format!("/v1/tasks/{task}/objective")).expect(200).json();
    assert_eq!((&told["goal"], &told["base_case_passed"]), (&json!("Say hello"), &Value::Null), "{told}");
    assert_eq!(told["base_case"][0]["protect"], json!([]), "{told}");
    assert_eq!(told["base_case"].as_array().map(Vec::len), Some(1), "{told}");
    for empty in ["bindings", "trail", "corrections"] {
        assert_eq!(told[empty], json!([]), "{told}");
    }
    served.get("/v1/tasks/01990000-0000-7000-8000-000000000000/objective").expect(404);
    served.end();
}
