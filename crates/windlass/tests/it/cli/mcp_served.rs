//! `windlass mcp serve`: another agent asks for tasks, watches and answers them, and approves nothing.

use serde_json::{Value, json};

use super::cards::{approve, is_there, open_cards, standing};
use crate::support::{Home, read};

/// Asks something, and writes down what it heard.
const ASKER: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: ask_user, args: { question: "Which word?" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "User responded to your question: plover" }
      calls: [ { tool: write, args: { path: done.txt, content: "plover\n" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      repeat: forever
      usage: { input: 900, output: 10 }
"#;

const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// What the server answers to one request.
fn asked(home: &Home, more: &[&str], method: &str, params: &Value) -> Value {
    let script = home.script();
    let words = ["mcp", "serve", "--rehearsal", script.to_str().expect("a plain path")];
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let heard = format!("{GREETING}\n{request}\n");
    let answers = home.windlass(&[&words, more].concat()).hearing(&heard).run().expect(0).objects();
    let [hello, answer] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((&hello["id"], &answer["id"]), (&json!(0), &json!(1)));
    answer.clone()
}

/// What a tool answers, or what it complains of.
fn called_with(home: &Home, more: &[&str], tool: &str, arguments: Value) -> Result<Value, String> {
    let result = asked(home, more, "tools/call", &json!({"name": tool, "arguments": arguments}))["result"].clone();
    match result["isError"].as_bool() {
        Some(false) => Ok(result["structuredContent"].clone()),
        _ => Err(result["content"][0]["text"].as_str().expect("words").to_owned()),
    }
}

fn called(home: &Home, tool: &str, arguments: Value) -> Value {
    called_with(home, &[], tool, arguments).unwrap_or_else(|complaint| panic!("{tool}: {complaint}"))
}

fn started(home: &Home) -> String {
    let answer = called(home, "start_task", json!({"goal": "Find the word", "checks": ["file: done.txt"]}));
    assert!(answer["card_id"].is_string(), "{answer}");
    answer["task_id"].as_str().expect("an id").to_owned()
}

#[test]
fn no_tool_approves() {
    let home = Home::playing(ASKER);
    let list = asked(&home, &[], "tools/list", &json!({}));
    let tools: Vec<&str> =
        list["result"]["tools"].as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(
        tools,
        [
            "start_task",
            "task_status",
            "list_tasks",
            "task_log",
            "list_questions",
            "answer_question",
            "list_approvals",
            "cancel_task"
        ]
    );
    let refused = asked(&home, &[], "tools/call", &json!({"name": "approve", "arguments": {}}));
    assert_eq!(refused["error"]["code"], -32602);
}

#[test]
fn a_task_from_outside_waits_for_a_person_and_its_words_stay_external() {
    let home = Home::playing(ASKER);
    let task = started(&home);
    assert_eq!(standing(&home), "waiting");
    let cards = open_cards(&home);
    assert_eq!(cards[0]["details"]["taint"], "external");
    assert_eq!(called(&home, "list_approvals", json!({}))["approvals"][0]["card_id"], cards[0]["card_id"]);
    // Who goes on with it without a yes gets nowhere.
    home.windlass(&["resume", &task]).run().expect(3);
    assert_eq!(read(&home).of("model.requested").count(), 0);

    approve(&home);
    home.windlass(&["resume", &task]).run().expect(3);
    let questions = called(&home, "list_questions", json!({}));
    let question = &questions["questions"][0];
    assert_eq!(question["question"], "Which word?");
    let answer = json!({"question": question["request_id"], "answer": "plover"});
    assert_eq!(called(&home, "answer_question", answer)["answered"], true);
    home.windlass(&["resume", &task]).run().expect(0);
    assert!(is_there(&home, "done.txt"));
    let status = called(&home, "task_status", json!({"task": task}));
    assert_eq!(status["standing"], "verified");
    let heard: Vec<Value> =
        read(&home).of("injection.received").map(|record| record["data"]["taint"].clone()).collect();
    assert_eq!(heard, [json!("external")]);
    let log = called(&home, "task_log", json!({"task": task, "limit": 3}));
    assert_eq!((log["lines"].as_array().expect("lines").len(), &log["next"]), (3, &json!(3)));
}

#[test]
fn what_the_owner_began_is_not_seen_unless_the_owner_says_so() {
    let home = Home::playing(ASKER);
    home.run(&[]).run().expect(3);
    let task = home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"].clone();
    let question = home.windlass(&["inbox", "--json"]).run().expect(0).objects()[0]["request_id"].clone();
    assert_eq!(called(&home, "list_tasks", json!({}))["tasks"], json!([]));
    assert_eq!(called(&home, "list_questions", json!({}))["questions"], json!([]));
    let attempts = [
        ("task_status", json!({"task": task})),
        ("task_log", json!({"task": task})),
        ("cancel_task", json!({"task": task})),
        ("answer_question", json!({"question": question, "answer": "plover"})),
    ];
    for (tool, arguments) in &attempts {
        let complaint = called_with(&home, &[], tool, arguments.clone()).expect_err(tool);
        assert!(complaint.contains("here that you may"), "{complaint}");
    }
    assert_eq!(standing(&home), "waiting");
    // The control.
    assert_eq!(called_with(&home, &["--all"], "list_tasks", json!({})).unwrap()["tasks"][0]["task_id"], task);
    let (tool, arguments) = &attempts[2];
    assert_eq!(called_with(&home, &["--all"], tool, arguments.clone()).unwrap()["status"], "CANCELLED");
}

#[test]
fn tasks_work_in_the_folder_that_is_served_and_nowhere_else() {
    let home = Home::playing(ASKER);
    home.write("inside/a.txt", "a\n");
    std::os::unix::fs::symlink(home.path(), home.workspace().join("link")).expect("a link");
    for folder in ["..", "link", "/", "/tmp", "nowhere"] {
        let complaint = called_with(&home, &[], "start_task", json!({"goal": "g", "workspace": folder})).unwrap_err();
        assert!(complaint.contains("is no folder in the one that is served"), "{folder}: {complaint}");
    }
    called(&home, "start_task", json!({"goal": "g", "workspace": "inside"}));
    let tasks = called(&home, "list_tasks", json!({}));
    assert!(tasks["tasks"][0]["workspace"].as_str().expect("a path").ends_with("/inside"), "{tasks}");
}

/// Whoever asked for the task may write there, and swaps what was agreed to for something else.
#[test]
fn a_folder_that_has_become_a_link_since_the_yes_is_not_worked_in() {
    let home = Home::playing(ASKER);
    home.write("inside/a.txt", "a\n");
    let elsewhere = home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    let answer = called(&home, "start_task", json!({"goal": "g", "workspace": "inside"}));
    let task = answer["task_id"].as_str().expect("an id");
    approve(&home);
    let inside = home.workspace().join("inside");
    std::fs::rename(&inside, home.workspace().join("kept")).expect("it moves");
    std::os::unix::fs::symlink(&elsewhere, &inside).expect("a link");
    let ended = home.windlass(&["resume", task]).run();
    assert_ne!(ended.code(), 0, "{}", ended.stderr);
    assert_eq!(read(&home).of("model.requested").count(), 0);
    assert!(ended.stdout.contains("put it back"), "{}{}", ended.stdout, ended.stderr);
    // Back in its place it goes on.
    std::fs::remove_file(&inside).expect("the link goes");
    std::fs::rename(home.workspace().join("kept"), &inside).expect("it moves");
    home.windlass(&["resume", task]).run().expect(3);
    assert_ne!(read(&home).of("model.requested").count(), 0);
}

#[test]
fn a_task_from_outside_can_be_ended_from_outside() {
    let home = Home::playing(ASKER);
    let task = started(&home);
    assert_eq!(called(&home, "cancel_task", json!({"task": task}))["status"], "CANCELLED");
    assert!(open_cards(&home).is_empty());
    let complaint =
        called_with(&home, &[], "start_task", json!({"goal": "g", "checks": ["command: true"]})).unwrap_err();
    assert!(complaint.contains("cannot fail"), "{complaint}");
}

#[test]
fn a_bridge_without_an_address_says_what_is_missing() {
    let home = Home::new();
    let ended = home.windlass(&["mcp", "bridge"]).run().expect(2);
    assert!(ended.stderr.contains("WINDLASS_MCP_URL"), "{}", ended.stderr);
    let wrong = home.windlass(&["mcp", "bridge"]).env("WINDLASS_MCP_URL", "http://evil.example/mcp");
    let ended = wrong.env("WINDLASS_MCP_TOKEN", "t").run().expect(2);
    assert!(ended.stderr.contains("no endpoint of this machine"), "{}", ended.stderr);
    // Nobody is there any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let bridge = home.windlass(&["mcp", "bridge"]).env("WINDLASS_MCP_URL", &format!("http://{gone}/mcp"));
    let ended = bridge.env("WINDLASS_MCP_TOKEN", "t").hearing(&format!("{GREETING}\n")).run().expect(0);
    let answer = &ended.objects()[0];
    assert_eq!(answer["id"], 0);
    assert!(answer["error"]["message"].as_str().expect("words").contains("cannot be reached"), "{answer}");
}
