//! A command that an agent leaves running behind the call that began it: a stand-in for GitHub Copilot CLI, which calls such a call done.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Home, Story, none_left, read};

/// Says what the program would, and hears nothing: each frame of ours is written before its next one is read.
const PROGRAM: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "1.0.102."; exit 0; fi
say() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"; }
event() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session.event\",\"params\":{\"sessionId\":\"s1\",\"event\":{\"id\":\"$1\",\"type\":\"$2\",\"data\":$3}}}"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$1,\"result\":$2}"; }
answer 1 '{"protocolVersion":3,"timestamp":"t"}'
answer 2 '{"sessionId":"s1"}'
event e1 assistant.turn_start '{}'
event e2 tool.execution_start '{"toolCallId":"c1","toolName":"bash","arguments":{"command":"make all","mode":"async"}}'
event e3 permission.requested '{"requestId":"q1","permissionRequest":{"kind":"shell","toolCallId":"c1","fullCommandText":"make all"}}'
event e4 tool.execution_complete '{"toolCallId":"c1","success":true,"result":{"content":"<command started in background with shellId: 0>"}}'
event e5 assistant.message '{"content":"It runs."}'
event e6 assistant.idle '{}'
answer 5 '{"tasks":[{"type":"shell","id":"0","status":"running"}]}'
touch there.txt
if [ "$(cat mode.txt)" = ends ]; then
  event e7 system.notification '{"kind":{"type":"shell_completed","shellId":"0","exitCode":0}}'
  event e8 assistant.turn_start '{}'
  event e9 assistant.message '{"content":"It has ended."}'
  event e10 assistant.idle '{}'
  answer 6 '{"tasks":[]}'
  event e11 session.idle '{}'
fi
# Until nobody speaks to it any more, and with its own way to speak open.
while read -r _; do :; done
"#;

fn carried_out(mode: &str) -> (String, Story) {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Never asked. } ] }\n");
    let bin = home.path().join("agents/bin");
    fs::create_dir_all(&bin).expect("made");
    fs::write(bin.join("copilot"), PROGRAM).expect("written");
    fs::set_permissions(bin.join("copilot"), fs::Permissions::from_mode(0o755)).expect("made executable");
    fs::create_dir_all(home.data()).expect("made");
    fs::write(home.data().join("windlass.toml"), "[agents]\nsilence_seconds = 2\ncall_seconds = 3\n").expect("written");
    home.write("mode.txt", mode);
    let agents = home.path().join("agents");
    let words = ["--agent", "copilot", "--base-case", "command: test -f there.txt", "--max-attempts", "1", "--json"];
    let ended = home.run(&words).env("WINDLASS_AGENTS", agents.to_str().expect("a plain path")).run().expect(0);
    none_left(&home);
    (ended.result()["final_message"].as_str().unwrap_or_default().to_owned(), read(&home))
}

fn command(story: &Story) -> (String, String) {
    let mut ended = story.of("tool.finished").filter(|record| record["data"]["tool"] == "bash");
    let data = &ended.next().expect("it has an end")["data"];
    assert!(ended.next().is_none(), "it ends once");
    let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
    (text("status"), text("content"))
}

#[test]
fn a_command_in_the_background_is_waited_for_and_has_its_own_end() {
    let (message, story) = carried_out("ends");
    assert_eq!(message, "It has ended.");
    assert_eq!(command(&story), ("ok".to_owned(), "<completed in the background with exit code 0>".to_owned()));
}

#[test]
fn one_that_does_not_end_is_not_waited_for_for_ever_and_is_not_said_to_have_ended_well() {
    let (message, story) = carried_out("runs");
    assert_eq!(message, "It runs.");
    let (status, said) = command(&story);
    assert_eq!(status, "interrupted", "{said}");
}
