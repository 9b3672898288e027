//! An agent of `[agents.acp]` that cannot go on with a conversation, as the Agent Client Protocol leaves it to each: after a card it is started again
//! with all that it has to know.

use std::fs;

use super::cards::{approve, is_there};
use super::stand_in::{install, windlass};
use crate::support::{Home, none_left, read};

/// Writes down what it is told, asks for leave, and does its work when it has it.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import json, pathlib, sys, time
if "--version" in sys.argv:
    print("1.0.0")
    sys.exit()
session = f"s-{time.time_ns()}"
def say(**frame):
    print(json.dumps(dict(frame, jsonrpc="2.0")), flush=True)
def hear():
    return json.loads(sys.stdin.readline())
def asks():
    call = {"toolCallId": "call-1", "kind": "execute", "status": "in_progress", "rawInput": {"command": "git push origin main"}}
    options = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]
    say(id=70, method="session/request_permission", params={"sessionId": session, "toolCall": call, "options": options})
    answer = hear()
    while "result" not in answer:
        answer = hear()
    return answer["result"]["outcome"].get("optionId") == "yes"
while True:
    asked = hear()
    method = asked.get("method")
    if method == "initialize":
        say(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif method == "session/new":
        say(id=asked["id"], result={"sessionId": session})
    elif method == "session/prompt":
        with open("prompts.txt", "a") as prompts:
            prompts.write(asked["params"]["prompt"][0]["text"] + "\n=====\n")
        if not asks():
            say(id=asked["id"], result={"stopReason": "cancelled"})
            continue
        pathlib.Path("there.txt").touch()
        chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "It is there."}}
        say(method="session/update", params={"sessionId": session, "update": chunk})
        say(id=asked["id"], result={"stopReason": "end_turn"})
"#;

/// Regression: it failed with `the program cannot go on with a conversation`, after every card, question, pause or crash.
#[test]
fn after_a_card_an_agent_that_cannot_go_on_begins_anew_and_is_told_what_it_has_to_know() {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Never asked. } ] }\n");
    install(&home, "mine", PROGRAM);
    fs::create_dir_all(home.data()).expect("made");
    fs::write(home.data().join("windlass.toml"), "[agents.acp.mine]\nprogram = \"mine\"\n").expect("written");
    let listed = windlass(&home, &["agents", "--json"]).run().expect(0).objects();
    let can_resume = |id: &str| listed.iter().find(|agent| agent["id"] == id).expect("listed")["resume"].clone();
    assert_eq!(
        (can_resume("mine"), can_resume("opencode")),
        (false.into(), true.into()),
        "nobody knows before it is asked"
    );
    let script = home.script();
    let words = ["run", "Do it", "--rehearsal", script.to_str().expect("a plain path"), "--agent", "mine"];
    let words = [&words[..], &["--base-case", "command: test -f there.txt", "--max-attempts", "1"]].concat();
    windlass(&home, &words).run().expect(3);
    approve(&home);
    let ended = windlass(&home, &["resume"]).run().expect(0);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
    assert!(ended.stdout.contains("begins a new one with the task"), "{}", ended.stdout);
    assert!(is_there(&home, "there.txt"));
    let prompts = home.read("prompts.txt");
    let second = prompts.split("=====").nth(1).expect("it was told twice");
    for told in ["Do it", "nobody can go on with that conversation", "A person approved"] {
        assert!(second.contains(told), "{told}: {second}");
    }
    assert_eq!(read(&home).of("runner.noted").count(), 2);
    none_left(&home);
}
