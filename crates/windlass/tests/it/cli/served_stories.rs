//! Whole pieces of work over HTTP, from asking for them to their end: what agents ask and deliver, cards, objectives, schedules,
//! conversations, and what operators look at. Each follows one person through the routes that they need for it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_domain::Tenant;

use super::cards::{is_there, waits_to_ask};
use super::dead_letters::dead_letter;
use super::scripts::HELLO;
use super::serving::{Served, serve, token};
use crate::support::{Home, Listening, none_left};

impl Served {
    pub fn waits_for<T>(&self, path: &str, wanted: impl Fn(&Value) -> Option<T>) -> T {
        self.at_last(&self.token, path, wanted)
    }

    pub fn ask_for(&self, wanted: &Value) -> String {
        text(&self.post("/v1/tasks", wanted).expect(202).json()["task_id"])
    }

    fn stands(&self, task: &str, standing: &str) {
        self.waits_for(&format!("/v1/tasks/{task}"), |one| (one["standing"] == standing).then_some(()));
    }

    pub fn only_card(&self) -> String {
        self.waits_for("/v1/approvals", |all| all["approvals"][0]["card"]["card_id"].as_str().map(str::to_owned))
    }

    /// Whose token it asks with.
    fn own_name(&self) -> Value {
        self.get("/v1/whoami").expect(200).json()["name"].clone()
    }

    fn delete(&self, path: &str) -> crate::support::Answer {
        self.ask_as(&self.token, "DELETE", path, &[], "")
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// Delivers a file, asks which one is meant, and is done with the answer.
const REPORTER: &str = r#"
version: 1
tracks:
  default:
    - reply: I write it down.
      calls:
        - { tool: write, args: { path: output/report.txt, content: "all is well\n" } }
        - { tool: publish_deliverable, args: { filepath: output/report.txt, description: "The report.", type: report } }
    - calls: [ { tool: ask_user, args: { question: "Whose report?", options: [mine, yours] } } ]
    - when: { request: "User responded to your question: yours" }
      reply: Yours, then.
"#;

#[test]
fn a_question_is_answered_and_what_was_delivered_is_fetched_in_parts() {
    let home = Home::playing(REPORTER);
    let served = serve(&home, &[]);
    let task = served.ask_for(&json!({"goal": "Report"}));
    let question = served.waits_for("/v1/questions", |all| all["questions"].get(0).cloned());
    assert_eq!((&question["task_id"], &question["asked"]["question"]), (&json!(task), &json!("Whose report?")));
    let path = format!("/v1/questions/{}/answer", text(&question["request_id"]));
    let answered = served.post(&path, &json!({"answer": "yours"})).expect(202).json();
    assert_eq!(
        (&answered["injection_type"], &answered["request_id"]),
        (&json!("hitl_response"), &question["request_id"])
    );
    served.end_of(&task);
    assert_eq!(served.post(&path, &json!({"answer": "mine"})).expect(409).json()["code"], "over");
    // What became of it can be read by whoever comes late; of one that never was there is nothing to read.
    let told = served.get(&format!("/v1/questions/{}", text(&question["request_id"]))).expect(200).json();
    assert_eq!((&told["standing"], &told["answered"]["answer"]), (&json!("answered"), &json!("yours")), "{told}");
    assert_eq!(told["whose"], json!({"task_id": task, "goal": "Report", "item": null, "item_title": null}));
    assert_eq!(told["answered"]["by"], served.own_name(), "{told}");
    served.get(&format!("/v1/questions/{task}")).expect(404);
    assert_eq!(served.get("/v1/questions").expect(200).json()["questions"], json!([]));

    let delivered = served.get(&format!("/v1/tasks/{task}/deliverables")).expect(200).json()["deliverables"][0].clone();
    assert_eq!((&delivered["path"], &delivered["bytes"]), (&json!("output/report.txt"), &json!(12)));
    let blob = format!("/v1/blobs/{}", text(&delivered["digest"]));
    let whole = served.get(&blob).expect(200);
    assert_eq!((whole.body.as_str(), whole.header("content-disposition")), ("all is well\n", Some("attachment")));
    let part = |range: &str| served.ask_as(&served.token, "GET", &blob, &[("Range", range)], "");
    let middle = part("bytes=4-5").expect(206);
    assert_eq!((middle.body.as_str(), middle.header("content-range")), ("is", Some("bytes 4-5/12")));
    assert_eq!(part("bytes=-5").expect(206).body, "well\n");
    part("bytes=12-").expect(416);
    let tag = whole.header("etag").expect("a tag").to_owned();
    served.ask_as(&served.token, "GET", &blob, &[("If-None-Match", &tag)], "").expect(304);
    served.get(&format!("/v1/blobs/{}", "0".repeat(64))).expect(404);

    let records = served.get(&format!("/v1/tasks/{task}/records?limit=500")).expect(200).json();
    let of_execution = |record: &Value| record["stream"].as_str()?.strip_prefix("execution/").map(str::to_owned);
    let execution = records["records"].as_array().expect("records").iter().find_map(of_execution).expect("one");
    let told = served.get(&format!("/v1/executions/{execution}")).expect(200).json();
    assert_eq!((&told["execution_id"], &told["lifecycle"]), (&json!(execution), &json!("completed")), "{told}");
    let turns = served.get(&format!("/v1/executions/{execution}/timeline")).expect(200).json()["items"].clone();
    assert_eq!(turns.as_array().map(Vec::len), Some(2), "{turns}");
    assert!(turns[1].to_string().contains("Yours, then."), "{turns}");
    let journal = served.get(&format!("/v1/executions/{execution}/journal?limit=500")).expect(200).json();
    assert_eq!(
        journal["records"].as_array().map(Vec::len),
        told["records"].as_u64().and_then(|all| all.try_into().ok())
    );
    // What has no plan has no graph.
    served.get(&format!("/v1/tasks/{task}/graph")).expect(422);
    served.end();
    none_left(&home);
}

#[test]
fn a_card_is_looked_at_sent_back_and_declined() {
    let home = waits_to_ask();
    let served = serve(&home, &[]);
    let first = served.ask_for(&json!({"goal": "Tidy up"}));
    let card = served.only_card();
    let looked = || served.get(&format!("/v1/approvals/{card}")).expect(200).json();
    assert_eq!((&looked()["standing"], &looked()["task_id"]), (&json!("open"), &json!(first)));
    let edited = served.post(&format!("/v1/approvals/{card}/edit"), &json!({"note": "keep a copy"})).expect(200).json();
    assert_eq!((&edited["verdict"], &edited["task_id"]), (&json!("edit_requested"), &json!(first)));
    served.end_of(&first);
    assert_eq!(looked()["standing"], "refused");
    let decision = looked()["decision"].clone();
    assert_eq!(
        (&decision["verdict"], &decision["note"], &decision["by"], &decision["confirmed"]),
        (&json!("edit_requested"), &json!("keep a copy"), &served.own_name(), &json!(false)),
        "{decision}"
    );
    let decided = served.get("/v1/decisions").expect(200).json()["decisions"].clone();
    assert_eq!((decided.as_array().map(Vec::len), &decided[0]["decision"]), (Some(1), &decision), "no own word");
    assert!(is_there(&home, "copy.txt") && is_there(&home, "old.txt"));
    assert_eq!(served.post(&format!("/v1/approvals/{card}/decline"), &json!({})).expect(409).json()["code"], "card");

    let second = served.ask_for(&json!({"goal": "Tidy up again"}));
    let path = format!("/v1/approvals/{}/decline", served.only_card());
    assert_eq!(served.post(&path, &json!({"note": "not this one"})).expect(200).json()["verdict"], "declined");
    served.end_of(&second);
    assert!(is_there(&home, "old.txt"));
    assert_eq!(served.get("/v1/approvals").expect(200).json()["approvals"], json!([]));
    served.end();
}

/// Asks before it writes over a file, as whoever looks at it may want to see both.
const WRITER: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: write, args: { path: old.txt, content: "new\n" } } ]
    - reply: Done.
      repeat: forever
"#;

const CAREFUL: &str = "---\nid: careful\ntype: project\ntitle: Something careful\ntasks:\n  - {id: note, type: task, title: The note, \
                       interaction_mode: confirm_always}\n---\n# What to do\n## note\nWrite it anew.\n";

#[test]
fn a_part_s_card_says_whose_it_is_and_what_stands_where_it_would_write() {
    let home = Home::playing(WRITER);
    home.write("old.txt", "old\n");
    let served = serve(&home, &[]);
    let task = served.ask_for(&json!({"goal": "Be careful", "planning": "given", "document": CAREFUL}));
    let plan = served.only_card();
    served.post(&format!("/v1/approvals/{plan}/approve"), &json!({"confirmed": true})).expect(200);
    let asked = served.waits_for("/v1/approvals", |all| {
        all["approvals"].as_array()?.iter().find(|one| one["card"]["details"]["tool"] == "write").cloned()
    });
    assert_ne!(asked["task_id"], task.as_str(), "a part of it asks");
    let whose = json!({"task_id": task, "goal": "Something careful", "item": "note", "item_title": "The note"});
    assert_eq!(asked["whose"], whose, "{asked}");
    let before = text(&asked["card"]["details"]["before"]);
    assert_eq!(served.get(&format!("/v1/blobs/{before}")).expect(200).body, "old\n");
    served.end();
}

#[test]
fn a_document_is_checked_where_it_is_written() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &[]);
    let check = |kind: &str, document: &str| {
        served.post("/v1/documents/check", &json!({"kind": kind, "document": document})).expect(200).json()
    };
    let good = check("plan", CAREFUL);
    assert_eq!((&good["misfits"], &good["read"]["id"]), (&json!([]), &json!("careful")), "{good}");
    assert!(good["worst_case"]["attempts"].as_u64() > Some(0), "{good}");
    let bad = check("plan", &CAREFUL.replace("type: project", "type: projekt"));
    assert_eq!((&bad["misfits"][0]["line"], &bad["read"]), (&json!(3), &json!(null)), "{bad}");
    assert_eq!(check("goal", CAREFUL)["misfits"].as_array().map(Vec::len), Some(1), "it is no goal");
    assert_eq!(check("pattern", "name: x\n")["read"], json!(null));
    let pattern = "name: mine\ndescription: Of mine.\nsteps:\n  - {name: one, tools: [write]}\n";
    assert_eq!(check("pattern", pattern)["read"]["name"], "mine");
    served.end();
}

#[test]
fn a_call_is_tried_against_the_gates_and_what_the_operator_set_is_told() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &[]);
    let tried = |command: &str| {
        let call = json!({"tool": "bash", "tool_args": {"command": command}});
        served.post("/v1/gates/try", &call).expect(200).json()
    };
    assert_eq!(tried("ls")["decision"], "continue");
    let removes = tried("rm old.txt");
    assert_eq!((&removes["decision"], removes["by"].is_string()), (&json!("require_approval"), true), "{removes}");
    let settings = served.get("/v1/settings").expect(200).json();
    assert_eq!(settings["workspaces"], json!([home.workspace().canonicalize().expect("it is there")]), "{settings}");
    assert_eq!((&settings["max_attempts"], &settings["max_tokens"]), (&json!(20), &json!(10_000_000)), "{settings}");
    served.end();
}

/// Whoever writes `a` thinks for an hour, unless they are told to hurry; `b` is written at once.
const OBJECTIVE: &str = "---
objective:
  goal: Two files
  base_case: [{command: cat b.txt}]
atoms:
  - {id: a, description: Write the first file., verify: [{file: a.txt}]}
  - {id: b, description: Write the second file., verify: [{file: b.txt}]}
  - {id: c, description: Write the third file., depends_on: [a], verify: [{file: c.txt}]}
---
";

const AGENTS: &str = r#"
version: 1
tracks:
  planner:
    - reply: OBJECTIVE
  executor:
    - when: { last_result: "bytes" }
      reply: '{"success": true, "bindings_delta": {"summary": "It is there."}}'
      repeat: forever
    - when: { request: "the second file" }
      calls: [ { tool: write, args: { path: b.txt, content: "b\n" } } ]
      repeat: forever
    - when: { request: "please hurry" }
      calls: [ { tool: write, args: { path: a.txt, content: "a\n" } } ]
      repeat: forever
    - when: { request: "the first file" }
      calls: [ { tool: ask_user, args: { question: "Which letter?" } } ]
    - when: { request: "User responded to your question: the first" }
      delay_ms: 3600000
      reply: Too late.
      repeat: forever
"#;

fn atoms(graph: &Value) -> Vec<String> {
    let parts = graph["parts"].as_array().expect("parts").iter();
    parts.filter(|part| part["is_leaf"] == true).map(|part| text(&part["id"])).collect()
}

#[test]
fn an_objective_is_agreed_on_started_answered_redirected_stopped_and_ended() {
    let objective = serde_json::to_string(OBJECTIVE).expect("plain text");
    let home = Home::playing(&AGENTS.replace("OBJECTIVE", &objective));
    let served = serve(&home, &[]);
    let task = served.ask_for(&json!({"goal": "Two files", "planning": "aligning"}));
    let path = |what: &str| format!("/v1/tasks/{task}/{what}");
    served.stands(&task, "agreed");
    let drawn = || atoms(&served.get(&path("graph")).expect(200).json());
    assert_eq!(drawn(), ["a", "b", "c"]);
    let explained = served.get(&path("explanation")).expect(200).json();
    assert!(explained.to_string().contains("attempts"), "{explained}");
    assert_eq!(served.post(&path("messages"), &json!({"message": "Go"})).expect(409).json()["code"], "nobody_hears");

    // Whoever begins it says which of it they saw.
    let to_start = served.get(&path("start")).expect(200).json();
    assert_eq!(to_start["card"]["binds"]["plan_hash"], to_start["seen"]);
    assert!(to_start["card"]["worst_case"]["tokens"].as_u64() > Some(0), "{to_start}");
    let other = json!({"seen": "sha256-of-something-else"});
    assert_eq!(served.post(&path("start"), &other).expect(409).json()["code"], "changed");
    served.stands(&task, "agreed");
    served.post(&path("start"), &json!({"seen": to_start["seen"]})).expect(202);
    assert_eq!(served.get(&path("start")).expect(200).json()["card"], Value::Null, "it is begun");
    // What is said to the whole is heard by whoever asks in it.
    served.waits_for("/v1/questions", |all| all["questions"].get(0).map(|_| ()));
    let heard = served.post(&path("messages"), &json!({"message": "the first"})).expect(202).json();
    assert_eq!((&heard["task_id"], &heard["injection_type"]), (&json!(task), &json!("hitl_response")), "{heard}");
    served.waits_for("/v1/questions", |all| all["questions"].as_array()?.is_empty().then_some(()));

    let change = json!({"graph": {"drop": ["c"]}});
    let shown = served.post(&path("redirect"), &json!({"change": change})).expect(200).json();
    assert_eq!((&shown["redirected"], &shown["task_id"]), (&json!(false), &json!(task)), "{shown}");
    assert_eq!(drawn(), ["a", "b", "c"], "it was only shown");
    assert_eq!(shown["changes"], json!(["  c: Write the third file. → not done"]));
    assert_eq!(shown["risk_level"], "medium");
    let limits = json!({"limits": {"max_parallel_agents": 2}});
    let confirmed = |change: &Value, seen: &Value| json!({"change": change, "confirmed": true, "seen": seen});
    let early = served.post(&path("redirect"), &json!({"change": limits})).expect(200).json();
    let done = served.post(&path("redirect"), &confirmed(&change, &shown["seen"])).expect(200).json();
    assert_eq!(done["redirected"], true);
    assert_eq!(drawn(), ["a", "b"]);
    // What was shown before that was of another graph, and what was shown of one change is no word for another.
    for (change, seen) in [(&limits, &early["seen"]), (&limits, &shown["seen"])] {
        assert_eq!(served.post(&path("redirect"), &confirmed(change, seen)).expect(409).json()["code"], "changed");
    }

    // A part says of what it is one, and how much all of them used is told over time.
    let runs = served.get(&path("executions")).expect(200).json()["executions"].clone();
    let of_part = runs.as_array().expect("executions").iter().find_map(|run| {
        let one = served.get(&format!("/v1/tasks/{}", text(&run["scope"]["id"]))).expect(200).json();
        (one["part_of"]["atom"] == "a").then_some(one)
    });
    let part = of_part.expect("somebody works on the first file");
    // So do executions: of nobody who plans, and of everybody who works on an item.
    for run in runs.as_array().expect("executions") {
        let item = run["atom"].as_str();
        assert_eq!(item.is_some(), run["agent_id"] == "executor", "{run}");
        assert_eq!(item == Some("a"), run["scope"]["id"] == part["task_id"], "{run}");
        let alone = served.get(&format!("/v1/executions/{}", text(&run["execution_id"]))).expect(200).json();
        assert_eq!(alone["atom"], run["atom"]);
    }
    // And what happened is that of the whole, or of one part alone.
    let kinds = |task: &str| -> BTreeSet<String> {
        let path = format!("/v1/activity?limit=500&kinds=atom.started,model.requested&task={task}");
        let records = served.get(&path).expect(200).json()["records"].clone();
        records.as_array().expect("records").iter().map(|record| text(&record["kind"])).collect()
    };
    let id = text(&part["task_id"]);
    assert_eq!(kinds(&task), ["atom.started", "model.requested"].map(str::to_owned).into());
    assert_eq!(kinds(&id), BTreeSet::from(["model.requested".to_owned()]));
    served.get(&format!("/v1/activity?task={id}&session={id}")).expect(400);
    served.get("/v1/activity?task=nosuchtask").expect(404);
    assert_eq!((&part["part_of"]["root"], &part["part_of"]["kind"]), (&json!(task), &json!("atom")), "{part}");
    assert_eq!(part["part_of"]["title"], "Two files");
    assert_eq!(part["title"], "Write the first file.");
    let spent = served.get(&path("spending")).expect(200).json();
    let all: u64 = runs.as_array().expect("executions").iter().filter_map(|run| run["tokens"].as_u64()).sum();
    let last = spent["points"].as_array().and_then(|points| points.last()).expect("it used something");
    assert!(last["tokens"].as_u64() >= Some(all) && all > 0, "{spent} of {all}");

    served.post(&path("stop"), &json!({"reason": "enough for today"})).expect(202);
    served.stands(&task, "stopped");
    served.post(&path("resume"), &json!({})).expect(202);
    served.post(&path("cancel"), &json!({"reason": "not wanted any more"})).expect(202);
    served.end_of(&task);
    served.stands(&task, "cancelled");
    assert_eq!(served.post(&path("pause"), &json!({})).expect(409).json()["code"], "over");
    served.end();
    none_left(&home);
}

const GOAL: &str = "---
id: report
type: goal
title: Keep the report there
schedule: \"0 6 * * 1-5\"
verify: [{command: test -f report.txt}]
failure_context: \"Write it again: $failed_checks\"
---
# What to do
`report.txt` is there.
";

#[test]
fn a_goal_is_looked_at_now_and_says_what_was_found() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    served.post("/v1/schedules", &json!({"document": GOAL})).expect(201);
    let look = || served.post("/v1/schedules/report/run", &json!({})).expect(200).json();
    home.write("report.txt", "all is well\n");
    let held = look();
    assert_eq!((&held["came_to"], &held["task_id"]), (&json!("holds"), &Value::Null), "{held}");
    std::fs::remove_file(home.workspace().join("report.txt")).expect("it is there");
    let broken = look();
    assert_eq!(
        (&broken["came_to"], broken["failed"].as_array().map(Vec::len)),
        (&json!("broken"), Some(1)),
        "{broken}"
    );
    served.get(&format!("/v1/tasks/{}", text(&broken["task_id"]))).expect(200);
    let skipped = look();
    assert_eq!((&skipped["came_to"], &skipped["task_id"]), (&json!("skipped"), &broken["task_id"]), "{skipped}");
    served.post("/v1/schedules/nosuch/run", &json!({})).expect(404);
    served.end();
}

#[test]
fn a_goal_is_added_paused_resumed_and_removed() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let listed = || served.get("/v1/schedules").expect(200).json()["schedules"].clone();
    let added = served.post("/v1/schedules", &json!({"document": GOAL, "max_fixes": 3})).expect(201).json();
    assert_eq!((&added["goal"], &listed()[0]["goal_id"]), (&json!("report"), &added["goal_id"]));
    assert_eq!(served.only_card(), text(&added["card_id"]));
    assert_eq!((&listed()[0]["status"], &listed()[0]["schedule"]), (&json!("active"), &json!("0 6 * * 1-5")));
    assert_eq!(listed()[0]["card_id"], added["card_id"]);
    assert_eq!((&listed()[0]["title"], &listed()[0]["last"]), (&json!("Keep the report there"), &json!(null)));
    assert_eq!(listed()[0]["checks"], json!(["test -f report.txt"]));
    assert_eq!(listed()[0]["what_to_do"], "`report.txt` is there.");
    served.post("/v1/schedules", &json!({"document": GOAL})).expect(409);
    for (word, status) in [("pause", "paused"), ("resume", "active")] {
        served.post(&format!("/v1/schedules/report/{word}"), &json!({})).expect(200);
        assert_eq!(listed()[0]["status"], status);
    }
    assert_eq!(served.delete("/v1/schedules/report").expect(200).json()["status"], "removed");
    assert_eq!(listed(), json!([]));
    served.delete("/v1/schedules/report").expect(404);
    served.end();
}

const PROXY: &str = r#"
version: 1
tracks:
  proxy:
    - reply: '{"route": "small_talk", "response": "Hello yourself."}'
"#;

#[test]
fn a_conversation_is_opened_heard_and_read() {
    let home = Home::playing(PROXY);
    let served = serve(&home, &[]);
    let opened = served.post("/v1/sessions", &json!({"name": "morning"})).expect(200).json();
    let session = format!("/v1/sessions/{}", text(&opened["session_id"]));
    served.get(&session).expect(404);
    let said = served.post(&format!("{session}/messages"), &json!({"message": "Hello"})).expect(202).json();
    assert_eq!(said["session_id"], opened["session_id"]);
    let mut events = served.listen(&format!("{session}/events?after=0"), None);
    while !events.next().expect("it is answered").1.to_string().contains("Hello yourself.") {}
    let conversation = served.waits_for(&format!("{session}/messages"), |all| {
        all["said"].as_array().filter(|said| said.len() == 2).cloned()
    });
    assert_eq!(conversation[0], json!({"by": "user", "words": "Hello"}));
    assert_eq!(conversation[1], json!({"by": "windlass", "words": "Hello yourself."}));
    assert_eq!(served.get("/v1/sessions").expect(200).json()["sessions"][0]["session_id"], opened["session_id"]);
    served.end();
}

#[test]
fn an_operator_looks_at_what_is_there_and_settles_what_is_dead() {
    let home = Home::playing(HELLO);
    let letters = ["first", "second"].map(|words| dead_letter(&home, &Tenant::local(), words));
    let served = serve(&home, &[]);
    let task = served.ask_for(&json!({"goal": "Say hello"}));
    served.end_of(&task);

    let me = served.get("/v1/whoami").expect(200).json();
    assert_eq!((&me["tenant"], me["scopes"].as_array().map(Vec::len)), (&json!("local"), Some(5)));
    let names = |path: &str, field: &str| {
        let items = served.get(path).expect(200).json()["items"].as_array().cloned().unwrap_or_default();
        items.iter().filter_map(|item| item[field].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert!(names("/v1/patterns", "name").contains(&"code_modify".to_owned()));
    assert!(names("/v1/skills", "name").contains(&"debugging".to_owned()));
    let agents = served.get("/v1/agents").expect(200).json()["items"].to_string();
    assert!(agents.contains("claude-code") && agents.contains("executor"), "{agents}");
    served.get("/v1/gates").expect(200);

    let audit = served.get("/v1/audit?limit=500").expect(200).json()["items"].clone();
    assert!(audit.as_array().is_some_and(|events| !events.is_empty()), "{audit}");
    let verified = served.get("/v1/audit/verification").expect(200).json();
    assert_eq!(verified["intact"], true, "{verified}");

    let metrics = served.get("/v1/metrics").expect(200);
    assert!(metrics.header("content-type").is_some_and(|kind| kind.starts_with("text/plain")));
    assert!(metrics.body.contains("queue_wait_ms_count{queue_name=\"executor_queue\"}"), "{}", metrics.body);

    let listed = || served.get("/v1/dead-letters").expect(200).json()["items"].clone();
    assert_eq!(listed().as_array().map(Vec::len), Some(2));
    let settle = |letter: &str, word: &str| served.post(&format!("/v1/dead-letters/{letter}/{word}"), &json!({}));
    assert_eq!(settle(&letters[0], "drop").expect(200).json()["decision"], "dropped");
    settle(&letters[0], "drop").expect(404);
    assert_eq!(settle(&letters[1], "retry").expect(200).json()["decision"], "retried");
    served.end();
}

#[test]
fn whoever_asks_too_often_is_told_when_to_ask_again() {
    let home = Home::playing(HELLO);
    std::fs::create_dir_all(home.data()).expect("a folder");
    std::fs::set_permissions(home.data(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("its mode");
    std::fs::write(home.data().join("windlass.toml"), "[server]\nrequests_per_second = 1\n").expect("a file");
    let served = serve(&home, &["--no-work"]);
    let refused = loop {
        let answer = served.get("/v1/whoami");
        if answer.status != 200 {
            break answer.expect(429);
        }
    };
    assert_eq!((refused.json()["code"].as_str(), refused.header("retry-after")), (Some("too_often"), Some("1")));
    // Others are answered.
    let other = token(&home, "other", &[]);
    served.ask_as(&other, "GET", "/v1/whoami", &[], "").expect(200);
    served.end();
}

/// What was taken back is good for nothing at once, and neither is what it had opened.
#[test]
fn a_token_that_is_taken_back_hears_nothing_more() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let reader = token(&home, "reader", &[]);
    let bearer = format!("Bearer {reader}");
    let task = served.ask_for(&json!({"goal": "Say hello"}));
    let listen = |path: &str| Listening::to(&served.address, path, &[("Authorization", &bearer)]);
    let mut streams = ["/v1/events?live=true".to_owned(), format!("/v1/tasks/{task}/events")].map(|path| listen(&path));
    let mut others = served.listen("/v1/events", None);
    home.windlass(&["token", "revoke", "reader"]).run().expect(0);
    served.ask_for(&json!({"goal": "Say hello again"}));
    for stream in &mut streams {
        assert_eq!(stream.next_of_all(), None, "nothing is said, and it ends");
    }
    assert!(others.next().is_some(), "the others hear it");
    served.end();
}

/// Regression: what broke once was answered for ever.
#[test]
fn what_broke_may_be_asked_again_under_the_same_key() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let ask = || {
        let body = json!({"goal": "Say hello"}).to_string();
        served.ask_as(&served.token, "POST", "/v1/tasks", &[("Idempotency-Key", "one")], &body)
    };
    served.ask_for(&json!({"goal": "Make the key"}));
    let (key, kept) = (home.data().join("keys/owner"), home.path().join("kept"));
    std::fs::rename(&key, &kept).expect("there is a key");
    std::fs::create_dir(&key).expect("something else in its place");
    ask().expect(500);
    ask().expect(500);
    std::fs::remove_dir(&key).expect("it goes away");
    std::fs::rename(&kept, &key).expect("the key is back");
    let done = ask().expect(202);
    assert_eq!(done.header("idempotency-replayed"), None);
    let again = ask().expect(202);
    assert_eq!((again.json(), again.header("idempotency-replayed")), (done.json(), Some("true")));
    assert_eq!(served.get("/v1/tasks").expect(200).json()["tasks"].as_array().map(Vec::len), Some(2));
    served.end();
}
