//! Whoever listens to a task or a conversation over HTTP and is cut off, wherever that is, hears the same as who was not.

use serde_json::{Value, json};

use super::serving::{Served, serve};
use crate::support::Home;

/// Removes a file, which a person is asked about, and asks whose it was.
const ASKER: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "rm old.txt" } } ]
    - calls: [ { tool: ask_user, args: { question: "Whose was it?" } } ]
    - reply: Done.
"#;

/// A turn begins a task, whose plan waits for a yes.
const TALK: &str = r#"
version: 1
tracks:
  proxy:
    - reply: '{"route": "new_task", "response": "On it."}'
      repeat: forever
  default:
    - reply: Done.
"#;

fn heard(served: &Served, path: &str, after: u64) -> Vec<(u64, String)> {
    let mut events = served.listen(&format!("{path}?until_now=true"), Some(after));
    let mut heard = Vec::new();
    while let Some((position, event)) = events.next() {
        heard.push((position, event["kind"].as_str().expect("a kind").to_owned()));
    }
    heard
}

/// From every position on, what is heard is the rest of the whole.
fn same_wherever_it_breaks(served: &Served, path: &str, kinds: &[&str], mut live: crate::support::Listening) {
    let whole = heard(served, path, 0);
    for kind in kinds {
        assert!(whole.iter().any(|(_, heard)| heard == kind), "no {kind} in {whole:?}");
    }
    for (number, (position, _)) in whole.iter().enumerate() {
        assert_eq!(heard(served, path, *position), whole[number + 1..], "after {position}");
    }
    let unbroken: Vec<u64> = whole.iter().map(|_| live.next().expect("it goes on").0).collect();
    assert_eq!(unbroken, whole.iter().map(|(position, _)| *position).collect::<Vec<_>>());
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

#[test]
fn of_a_task_whoever_comes_back_misses_no_card_and_no_question() {
    let home = Home::playing(ASKER);
    home.write("old.txt", "old\n");
    let served = serve(&home, &[]);
    let task = served.ask_for(&json!({"goal": "Tidy up"}));
    let path = format!("/v1/tasks/{task}/events");
    let live = served.listen(&format!("{path}?after=0"), None);
    // Of somebody else's nothing is heard.
    let card = served.only_card();
    let other = served.ask_for(&json!({"goal": "Tidy up again"}));
    served.post(&format!("/v1/approvals/{card}/decline"), &json!({})).expect(200);
    let question = served.waits_for("/v1/questions", |all| {
        all["questions"].as_array()?.iter().find(|one| one["task_id"] == task).cloned()
    });
    let answer = format!("/v1/questions/{}/answer", text(&question["request_id"]));
    served.post(&answer, &json!({"answer": "mine"})).expect(202);
    served.end_of(&task);
    served.post(&format!("/v1/tasks/{other}/cancel"), &json!({"reason": "enough"}));
    let asked = ["approval.requested", "approval.decided", "question.asked", "question.answered", "task.finished"];
    same_wherever_it_breaks(&served, &path, &asked, live);
    served.end();
}

#[test]
fn and_of_a_conversation_and_its_tasks() {
    let home = Home::playing(TALK);
    let served = serve(&home, &[]);
    let session = text(&served.post("/v1/sessions", &json!({"name": "one"})).expect(200).json()["session_id"]);
    let path = format!("/v1/sessions/{session}/events");
    let said = format!("/v1/sessions/{session}/messages");
    let told = served.post(&said, &json!({"message": "Write it"})).expect(202).json();
    let live = served.listen(&format!("{path}?after=0"), None);
    served.end_of(&text(&told["turn"]));
    let card = served.only_card();
    let task = text(&served.get(&format!("/v1/approvals/{card}")).expect(200).json()["task_id"]);
    served.post(&format!("/v1/approvals/{card}/decline"), &json!({})).expect(200);
    served.end_of(&task);
    let kinds = ["turn.started", "journal.header", "turn.ended", "approval.requested", "approval.decided"];
    same_wherever_it_breaks(&served, &path, &kinds, live);
    served.end();
}
