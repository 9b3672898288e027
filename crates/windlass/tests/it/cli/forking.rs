//! `windlass fork`: a new run goes on with an earlier conversation, and the earlier one stays as it is.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::bad_agents::Stand;
use super::bad_wires::OPENCODE;
use super::serving::serve;
use super::stand_in::{begin, install, windlass, with};
use crate::support::{Home, read};

const WRITES: &str = r#"
version: 1
tracks:
  default:
    - reply: I will write it.
      calls: [ { tool: write, args: { path: x, content: "hi\n" } } ]
    - reply: It is there.
    - when: { request: "(?s)I will write it.*Now write y.*Files are as they are" }
      calls: [ { tool: write, args: { path: y, content: "two\n" } } ]
    - reply: Both are there.
"#;

const ASKS: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: ask_user, args: { question: "Which?" } } ]
"#;

const HEARD: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: ask_user, args: { question: "Which?" } } ]
    - when: { request: "This one" }
      reply: I heard the answer.
    - reply: I heard no answer.
"#;

fn task(home: &Home) -> String {
    home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"].as_str().expect("an id").to_owned()
}

fn story(home: &Home, task: &str) -> Vec<Value> {
    home.windlass(&["log", task, "--json"]).run().expect(0).objects()
}

#[test]
fn a_fork_goes_on_with_the_conversation_and_the_old_one_stays_as_it_is() {
    let home = Home::playing(WRITES);
    home.run(&[]).run().expect(0);
    let old = task(&home);
    let before = story(&home, &old);
    let result = home.windlass(&["fork", &old, "Now write y", "--json"]).run().expect(0).result();
    assert_eq!((&result["final_message"], result["task_id"] == old.as_str()), (&"Both are there.".into(), false));
    assert_eq!((home.read("x"), home.read("y")), ("hi\n".to_owned(), "two\n".to_owned()));
    assert_eq!(story(&home, &old), before);
    let usage = &result["usage"];
    assert_eq!(
        (&usage["iterations"], &usage["tool_calls"]),
        (&2.into(), &1.into()),
        "it pays for itself alone: {usage}"
    );
}

#[test]
fn where_it_comes_from_is_on_record_shown_and_audited() {
    let home = Home::playing(WRITES);
    home.run(&[]).run().expect(0);
    let old = task(&home);
    home.windlass(&["fork", &old, "Now write y"]).run().expect(0);
    let records = read(&home);
    let forked = records.of("execution.forked").next().expect("a record")["data"].clone();
    assert_eq!((&forked["from"]["task_id"], &forked["from"]["turn"]), (&old.as_str().into(), &1.into()), "{forked}");
    let messages = &forked["taken_over"]["conversation"]["messages"];
    assert_eq!(messages.as_array().map(Vec::len), Some(4), "whole in itself: {forked}");
    assert_eq!(records.of("task.created").next().expect("a task")["data"]["forked"], forked["from"]);
    for words in [&["status", &task(&home)][..], &["log"], &["log", "--timeline"]] {
        let shown = home.windlass(words).run().expect(0).stdout;
        assert!(
            shown.contains("⑂ forked from execution ") && shown.contains(" · turn 1 · task "),
            "{words:?}: {shown}"
        );
    }
    let audited = home.windlass(&["audit", "show", "--json"]).run().expect(0).objects();
    let forks = audited.iter().filter(|record| record.to_string().contains("\"forked\"")).count();
    assert_eq!(forks, 1, "{audited:?}");
    home.windlass(&["audit", "verify"]).run().expect(0);
}

#[test]
fn any_turn_can_be_gone_on_with_also_of_a_fork() {
    let home = Home::playing(HEARD);
    home.run(&[]).run().expect(3);
    let old = task(&home);
    home.windlass(&["send", &old, "This one."]).run().expect(0);
    home.windlass(&["resume"]).run().expect(0);
    let says = |words: &[&str]| {
        let ended = home.windlass(&[words, &["--json"]].concat()).run().expect(0);
        ended.result()["final_message"].as_str().expect("a word").to_owned()
    };
    assert_eq!(says(&["fork", &old, "--turn", "1"]), "I heard no answer.");
    let first = task(&home);
    let refused = home.windlass(&["fork", &first, "--turn", "2"]).run().expect(2).stderr;
    assert!(refused.contains("it has no turn 2") && refused.contains("of which there are 1"), "{refused}");
    // The place in a script follows from how many answers the conversation holds.
    fs::write(home.script(), HEARD.replace("I heard no answer.", "A fork of a fork.")).expect("written");
    let script = home.script();
    let script = script.to_str().expect("a plain path");
    assert_eq!(says(&["fork", &first, "--rehearsal", script]), "A fork of a fork.");
    let conversation = read(&home).of("execution.forked").next().expect("a record")["data"]["taken_over"].clone();
    assert_eq!(conversation["conversation"]["answers"], 2, "{conversation}");
}

#[test]
fn calls_that_had_not_ended_are_told_and_no_question_is_taken_over() {
    let home = Home::playing(ASKS);
    home.run(&[]).run().expect(3);
    let old = task(&home);
    fs::write(
        home.script(),
        r#"
version: 1
tracks:
  default:
    - reply: never
    - when: { request: "These calls had not ended, and nobody knows what became of them: `ask_user`" }
      reply: I was told.
"#,
    )
    .expect("written");
    let script = home.script();
    let words = ["fork", &old, "--json", "--rehearsal", script.to_str().expect("a plain path")];
    let result = home.windlass(&words).run().expect(0).result();
    assert_eq!(result["final_message"], "I was told.", "{result}");
    let open = home.windlass(&["inbox", "--json"]).run().expect(0).objects();
    assert!(open.iter().any(|object| object.to_string().contains("Which?")), "the old one still asks: {open:?}");
}

#[test]
fn what_is_at_work_on_its_first_turn_is_not_forked() {
    let home = Home::playing("version: 1\ntracks: { default: [ { delay_ms: 600000, reply: never } ] }\n");
    let mut run = home.run(&["--json"]).start();
    run.wait_for_record("model.requested");
    let refused = home.windlass(&["fork", &task(&home)]).run().expect(2).stderr;
    assert!(refused.contains("it is at work on its first turn"), "{refused}");
    run.signal(Signal::INT);
    run.end().expect(5);
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    assert_eq!(tasks.len(), 1, "nothing was begun: {tasks:?}");
}

#[test]
fn what_is_not_there_is_said() {
    let home = Home::playing(WRITES);
    home.run(&[]).run().expect(0);
    let refused = home.windlass(&["fork", "0199a1b2-0000-7000-8000-000000000000"]).run().expect(2).stderr;
    assert!(refused.contains("there is no task 0199a1b2"), "{refused}");
    let refused = home.windlass(&["fork", &task(&home), "--turn", "0"]).run().expect(2).stderr;
    assert!(refused.contains("it has no turn 0"), "{refused}");
}

#[test]
fn a_fork_is_left_to_workers_and_held_to_its_checks() {
    let home = Home::playing(WRITES);
    home.run(&[]).run().expect(0);
    let old = task(&home);
    let detached = home
        .windlass(&["fork", &old, "Now write y", "--detach", "--base-case", "command: grep -q two y"])
        .run()
        .expect(0);
    assert_eq!(detached.stdout.trim(), task(&home), "the id alone");
    let result = home.windlass(&["resume", "--json"]).run().expect(0).result();
    assert_eq!((&result["verified"], &result["final_message"]), (&true.into(), &"Both are there.".into()), "{result}");
}

/// Leaves something in its home, and finds the conversation there, and nothing else, where that is a copy.
const REMEMBERS: &str = r#"introduce()
home = os.environ["HOME"]
told = hear()["message"]["content"]
folder = home + "/.claude/projects/-workspace"
notes = folder + "/notes.jsonl"
if "--fork-session" in sys.argv:
    found = [os.path.relpath(os.path.join(at, name), home) for at, _, names in os.walk(home) for name in names]
    others = [name for name in sorted(found) if name not in (".claude/settings.json", ".claude/CLAUDE.md", ".claude/windlass-mcp.json")]
    end(given("--resume") + " knew " + open(notes).read() + " of " + str(others))
    open(notes, "w").write("changed")
else:
    os.makedirs(folder)
    open(notes, "w").write("this")
    os.symlink("/etc/hostname", folder + "/away.jsonl")
    os.mkfifo(folder + "/pipe.jsonl")
    for planted in (".bashrc", ".env", "AGENTS.md", ".claude/settings.local.json", ".claude/rules.md", ".agents/skills/x/SKILL.md", ".config/x"):
        os.makedirs(os.path.dirname(home + "/" + planted), exist_ok=True)
        open(home + "/" + planted, "w").write("obeyed")
    end("Did it")"#;

const NOTES: &str = ".claude/projects/-workspace/notes.jsonl";

#[test]
fn a_program_forks_its_own_conversation_in_a_copy_of_its_home() {
    let home = with(REMEMBERS);
    begin(&home).end().expect(0);
    let old = read(&home);
    let header = &old.of("journal.header").next().expect("a header")["data"];
    let execution = header["execution_id"].as_str().expect("an id");
    let session = old.of("observation.recorded").find(|record| record["data"]["observed"] == "session");
    let session = session.expect("a conversation")["data"]["session_id"].as_str().expect("a name").to_owned();
    let result = windlass(&home, &["fork", execution, "Go on", "--json"]).run().expect(0).result();
    assert_eq!(
        result["final_message"],
        format!("{session} knew this of ['.claude/projects/-workspace/notes.jsonl']"),
        "{result}"
    );
    let kept = fs::read_to_string(home.data().join("homes").join(execution).join(NOTES)).expect("the old home");
    assert_eq!(kept, "this", "the old one is not touched");
    let story = read(&home);
    assert_eq!(story.of("execution.forked").next().expect("a record")["data"]["taken_over"]["session"], session);
    let names = story.of("observation.recorded").filter(|record| record["data"]["observed"] == "session");
    let named = names.map(|record| record["data"]["session_id"].clone()).next();
    assert_eq!(named, Some(format!("forked-from-{session}").into()));
}

/// Regression: a home of a few megabytes with many names for the same file filled the disk.
#[test]
fn a_home_that_holds_more_than_a_conversation_is_not_copied() {
    let home = with(REMEMBERS);
    begin(&home).end().expect(0);
    let old = read(&home);
    let execution = old.of("journal.header").next().expect("a header")["data"]["execution_id"].clone();
    let folder = home.data().join("homes").join(execution.as_str().expect("an id"));
    // What is no part of it does not count.
    let large = fs::File::create(folder.join("large")).expect("made");
    large.set_len(1 << 40).expect("a hole");
    windlass(&home, &["fork", &task(&home), "Go on"]).run().expect(0);
    let first = folder.join(".claude/projects/-workspace/0.jsonl");
    fs::File::create(&first).expect("made").set_len(1 << 30).expect("a hole");
    for number in 1..3 {
        fs::hard_link(&first, first.with_file_name(format!("{number}.jsonl"))).expect("linked");
    }
    let refused = windlass(&home, &["fork", execution.as_str().expect("an id")]).run().expect(2).stderr;
    assert!(refused.contains("more than 2 GiB") && refused.contains("`windlass run`"), "{refused}");
    let left = fs::read_dir(home.data().join("homes/forked")).expect("there is one");
    assert_eq!(left.count(), 1, "nothing of it is left but the first one's");
}

/// OpenCode, as far as a fork goes: on its screen it asks its model and waits, over its channel it forks. Its database is a name.
const SITS: &str = r#"#!/usr/bin/env python3
import json, os, pathlib, sys, urllib.request
if "--version" in sys.argv:
    print("1.18.33")
    sys.exit()
kept = pathlib.Path.home() / ".local/share/opencode/opencode.db"
def post(url, head, **body):
    head = dict(head, **{"content-type": "application/json", "accept": "application/json, text/event-stream"})
    return urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), head))
def tell(**frame):
    print(json.dumps(dict(frame, jsonrpc="2.0")), flush=True)
def sit():
    given = json.loads(os.environ["OPENCODE_CONFIG_CONTENT"])
    server, options = given["mcp"]["windlass"], given["provider"]["windlass"]["options"]
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "stand-in", "version": "1"}}
    greeted = post(server["url"], server["headers"], jsonrpc="2.0", id=1, method="initialize", params=about)
    head = dict(server["headers"], **{"mcp-session-id": greeted.headers["mcp-session-id"]})
    post(server["url"], head, jsonrpc="2.0", method="notifications/initialized")
    post(server["url"], head, jsonrpc="2.0", id=2, method="tools/list")
    kept.parent.mkdir(parents=True)
    kept.write_text("ses_1")
    words = [{"role": "user", "content": "now"}]
    tools = [{"name": "bash", "input_schema": {"type": "object"}}]
    post(options["baseURL"] + "/messages", {"x-api-key": options["apiKey"]}, model="m", max_tokens=9, messages=words, tools=tools)
    print("I SIT HERE", flush=True)
    sys.stdin.read()
def talk():
    while line := sys.stdin.readline():
        heard = json.loads(line)
        match heard["method"]:
            case "initialize":
                able = {"mcpCapabilities": {"http": True}, "sessionCapabilities": {"fork": {}}}
                answer = {"protocolVersion": 1, "agentCapabilities": able}
            case "session/fork":
                old, answer = heard["params"]["sessionId"], {"sessionId": "ses_2"}
            case "session/prompt":
                said = {"type": "text", "text": old + " forked from " + kept.read_text()}
                update = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": said}
                tell(method="session/update", params={"sessionId": "ses_2", "update": update})
                answer = {"stopReason": "end_turn"}
        tell(id=heard["id"], result=answer)
match sys.argv[1]:
    case "session": print(json.dumps([{"id": kept.read_text()}]))
    case "db": print('[{"kept":0}]' if "SELECT (" in sys.argv[-1] else "[]")
    case "acp": talk()
    case _: sit()
"#;

/// Regression: what was stopped on its screen had no name on record, and was said to have begun nothing.
#[test]
fn a_program_that_was_stopped_on_its_screen_can_be_forked() {
    for wish in ["pause", "stop"] {
        let home = Home::playing("version: 1\ntracks: { default: [ { reply: Yes. } ] }\n");
        install(&home, "opencode", SITS);
        let script = home.script();
        let words = ["run", "Do it", "--agent", "opencode", "--terminal", "--json", "--rehearsal"];
        let mut run = windlass(&home, &[&words[..], &[script.to_str().expect("a plain path")]].concat()).start();
        run.wait_for_record("exchange.closed");
        let old = task(&home);
        home.windlass(&[wish, &old]).run().expect(0);
        run.end();
        let result = windlass(&home, &["fork", &old, "Go on", "--json"]).run().expect(0).result();
        assert_eq!(result["final_message"], "ses_1 forked from ses_1", "{wish}: {result}");
    }
}

#[test]
fn a_program_whose_home_is_gone_is_not_forked() {
    let home = with(REMEMBERS);
    begin(&home).end().expect(0);
    fs::remove_dir_all(home.data().join("homes")).expect("removed");
    let refused = windlass(&home, &["fork", &task(&home)]).run().expect(2).stderr;
    assert!(refused.contains("cannot be forked") && refused.contains("cannot be copied"), "{refused}");
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    assert_eq!(tasks.len(), 1, "nothing was begun: {tasks:?}");
}

/// The protocol may know forks, and of an agent that was added nobody knows where its conversation is.
#[test]
fn an_agent_that_cannot_fork_is_not_forked_and_that_is_said() {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Never asked. } ] }\n");
    Stand { file: "mine", ..OPENCODE }.install(&home);
    home.write("mode.txt", "good");
    let added = "[agents.acp.mine]\nprogram = \"mine\"\narguments = [\"acp\"]\n";
    fs::write(home.data().join("windlass.toml"), added).expect("written");
    let script = home.script();
    let words = ["run", "Do it", "--agent", "mine", "--rehearsal", script.to_str().expect("a plain path")];
    windlass(&home, &words).run().expect(0);
    let refused = windlass(&home, &["fork", &task(&home), "Go on"]).run().expect(2).stderr;
    assert!(refused.contains("its agent, mine, cannot fork a conversation"), "{refused}");
    assert!(refused.contains("begin a new one with `windlass run`"), "{refused}");
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    assert_eq!(tasks.len(), 1, "nothing was begun: {tasks:?}");
}

#[test]
fn a_conversation_is_forked_over_http_after_a_look_at_what_is_taken_over() {
    let home = Home::playing(WRITES);
    let served = serve(&home, &[]);
    let old = served.ask_for(&json!({"goal": "Write x"}));
    served.end_of(&old);
    let run = served.get(&format!("/v1/tasks/{old}/executions")).expect(200).json()["executions"][0].clone();
    let id = run["execution_id"].as_str().expect("an id");
    assert_eq!((&run["parent"], &run["recorded"]), (&Value::Null, &json!(false)), "{run}");
    assert!(run["tokens"].as_u64() > Some(0) && run["began_at"].as_str() <= run["last_at"].as_str(), "{run}");

    let fork = format!("/v1/executions/{id}/fork");
    let shown = served.get(&format!("{fork}?turn=1")).expect(200).json();
    assert_eq!((&shown["turn"], &shown["task_id"], &shown["goal"]), (&json!(1), &json!(old), &json!("Write x")));
    assert_eq!(served.get(&format!("{fork}?turn=7")).expect(409).json()["code"], "execution");
    let before = served.get(&format!("/v1/executions/{id}/journal")).expect(200).body;
    let wanted = json!({"words": "Now write y", "turn": 1, "base_case": ["file: y"]});
    let taken = served.post(&fork, &wanted).expect(202).json();
    let new = taken["task_id"].as_str().expect("an id");
    served.end_of(new);
    let done = served.get(&format!("/v1/tasks/{new}")).expect(200).json();
    assert_eq!((&done["standing"], &done["goal"]), (&json!("verified"), &json!("Now write y")), "{done}");
    assert_eq!(home.read("y"), "two\n");
    assert_eq!(served.get(&format!("/v1/executions/{id}/journal")).expect(200).body, before);
    served.end();
}
