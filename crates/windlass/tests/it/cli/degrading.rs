//! Programs that are not of the version Windlass was tried with: stand-ins for agents of another version, whose channel is as it was, or is
//! in a language of its own. It is never read on a guess: the same execution goes on on the program's own screen, once the gates have judged that
//! launch, too.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::Value;

use crate::cli::cards::{approve, is_there};
use crate::support::{Ended, Home, Program, Story, Terminal, none_left, read};

/// Over its channel (`--print`) it does what `channel.txt` says, on its screen what `screen.txt` says.
const PROGRAM: &str = r#"#!/bin/bash
case "$1" in --version) echo '9.9.9 (Claude Code)'; exit;; esac
told=$(printf '%s' "$*" | grep -o '{"execution":"[^"]*","nonce":"[^"]*"' | head -1)
claim() { printf '@task::%s,"event":"%s","kind":"%s","payload":{"message":"%s"}}\n' "$told" "$1" "$1" "$2"; }
case "$*" in
  *--print*) ;;
  *)
    echo "$*" | tr '\n' ' ' | grep -o -- '--\(resume\|session-id\)' >> screens.txt
    echo READY
    case $(cat screen.txt) in
      works) touch there.txt; claim completed_claim 'it is there'; read -r _;;
      waits) while read -r line; do touch there.txt; claim completed_claim "$line"; done;;
    esac
    exit;;
esac
session=s-1
while [ $# -gt 0 ]; do case $1 in --session-id|--resume) session=$2 ;; esac; shift; done
echo x >> channels.txt
read -r _
hello() { printf '{"type":"system","subtype":"init","session_id":"%s","permissionMode":"%s","mcp_servers":[{"name":"windlass","status":"connected"}]}\n' "$session" "$1"; }
new_language() { printf '<<stream-json v3>> {"kind":"hello"}\n'; }
case $(cat channel.txt) in
  understood) hello default; touch there.txt
    printf '{"type":"result","uuid":"u","subtype":"success","is_error":false,"result":"It is there.","session_id":"%s"}\n' "$session"; read -r _ ;;
  richer) hello default; touch there.txt
    for kind in news mood news; do printf '{"type":"%s","session_id":"%s"}\n' "$kind" "$session"; done
    printf '{"type":"result","uuid":"u","subtype":"success","is_error":false,"result":"It is there.","session_id":"%s"}\n' "$session"; read -r _ ;;
  changed) new_language; sleep 1000 ;;
  changes) hello default; for i in $(seq 30); do new_language; done; sleep 1000 ;;
  strays) hello default; new_language; touch there.txt
    printf '{"type":"result","uuid":"u","subtype":"success","is_error":false,"result":"It is there.","session_id":"%s"}\n' "$session"; read -r _ ;;
  strays_later) hello default
    printf '{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"c","input":{"command":"true"}}}\n'
    read -r _; new_language; touch there.txt
    printf '{"type":"result","uuid":"u","subtype":"success","is_error":false,"result":"It is there.","session_id":"%s"}\n' "$session"; read -r _ ;;
  acts) hello default
    printf '{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"c","input":{"command":"true"}}}\n'
    read -r _; for i in $(seq 30); do new_language; done; sleep 1000 ;;
  bypasses) hello bypassPermissions; sleep 1000 ;;
esac
"#;

const NO_SCREENS: &str = "- name: no-screens\n  on: on_tool_call\n  type: string_match\n  \
     config: { tools: [launch_agent], field: tool_args, any_of: ['instead_of'] }\n";
const ASKED_FIRST: &str = "- name: asked-first\n  on: on_tool_call\n  type: string_match\n  \
     config: { tools: [launch_agent], field: tool_args, any_of: ['instead_of'], effect: require_approval }\n";

/// Of Copilot, that greets with another version of its protocol.
const COPILOT: &str = r#"#!/bin/bash
case "$*" in
  *--version*) echo '9.9.9';;
  *--headless*) body='{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":4,"timestamp":"t"}}'
    printf 'Content-Length: %d\r\n\r\n%s' ${#body} "$body"; sleep 1000;;
  *) touch there.txt;;
esac
"#;

/// Of OpenCode, or of any other that speaks its protocol, as above.
const OPENCODE: &str = r#"#!/bin/bash
case "$1" in
  --version) echo '9.9.9';;
  session) echo '[]';;
  acp) read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"agentCapabilities":{}}}'; sleep 1000;;
  *) touch there.txt;;
esac
"#;

fn home(channel: &str, screen: &str) -> Home {
    let home = with_program("claude", PROGRAM);
    home.write("channel.txt", channel);
    home.write("screen.txt", screen);
    home
}

fn with_program(name: &str, script: &str) -> Home {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Never asked. } ] }\n");
    let bin = home.path().join("agents/bin");
    fs::create_dir_all(&bin).expect("made");
    let program = bin.join(name);
    fs::write(&program, script).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("made executable");
    home
}

const CHECK: [&str; 6] = ["--agent", "claude-code", "--base-case", "command: test -f there.txt", "--max-attempts", "1"];

fn run_agent(home: &Home, agent: &str) -> Ended {
    let mut words = CHECK;
    words[1] = agent;
    let ended = with_agents(home, home.run(&words)).run();
    none_left(home);
    ended
}

fn with_agents(home: &Home, program: Program) -> Program {
    let agents = home.path().join("agents");
    program.env("WINDLASS_AGENTS", agents.to_str().expect("plain"))
}

fn run(home: &Home) -> Ended {
    run_agent(home, "claude-code")
}

fn resume(home: &Home) -> Ended {
    let ended = with_agents(home, home.windlass(&["resume"])).run();
    none_left(home);
    ended
}

fn gate(home: &Home, gate: &str) {
    fs::create_dir_all(home.data()).expect("made");
    fs::write(home.data().join("gates.yaml"), gate).expect("written");
}

fn transports(story: &Story) -> Vec<&str> {
    story.of("runner.noted").filter_map(|record| record["data"]["transport"].as_str()).collect()
}

/// What is doubted, in order.
fn doubts(story: &Story) -> Vec<&str> {
    let observed = story.of("observation.recorded").filter(|record| record["data"]["observed"] == "doubted");
    observed.filter_map(|record| record["data"]["doubt"].as_str()).collect()
}

fn launches(story: &Story) -> Vec<Value> {
    let proposed = story.of("call.proposed").filter(|record| record["data"]["tool"] == "launch_agent");
    proposed
        .map(|record| match &record["data"]["arguments"] {
            Value::String(written) => serde_json::from_str(written).expect("JSON"),
            arguments => arguments.clone(),
        })
        .collect()
}

fn started(story: &Story) -> usize {
    story.of("tool.started").filter(|record| record["data"]["tool"] == "launch_agent").count()
}

#[test]
fn another_version_that_is_understood_is_believed_and_said_to_be_one() {
    let home = home("understood", "works");
    let ended = run(&home).expect(0);
    assert!(ended.stdout.contains("was not tried with Claude Code 9.9.9"), "{}", ended.stdout);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
    let story = read(&home);
    assert_eq!((transports(&story), doubts(&story)), (vec!["structured"], vec!["version"]));
    let task = story.records[0]["task_id"].as_str().expect("an id");
    for words in [&["log", task][..], &["status", task], &["status", task, "--json"], &["log", "--timeline"]] {
        let told = home.windlass(words).run().expect(0).stdout;
        assert!(told.contains("was not tried with Claude Code 9.9.9"), "{words:?}: {told}");
    }
}

/// Regression: it was dropped, and nobody knew that anything was.
#[test]
fn what_it_tells_of_that_nobody_knows_is_passed_over_and_said_to_be_once_for_each_kind() {
    let home = home("richer", "works");
    run(&home).expect(0);
    let story = read(&home);
    let noticed = story.of("observation.recorded").filter_map(|record| record["data"]["text"].as_str());
    let passed_over: Vec<_> = noticed.filter(|text| text.contains("it is passed over")).collect();
    assert_eq!(passed_over.len(), 2, "{passed_over:?}");
    assert!(passed_over[0].contains("`news`") && passed_over[1].contains("`mood`"), "{passed_over:?}");
}

#[test]
fn one_that_changes_its_format_goes_on_on_its_own_screen_and_says_why() {
    for channel in ["changed", "changes"] {
        let home = home(channel, "works");
        let ended = run(&home).expect(0);
        assert!(
            ended.stdout.contains("cannot be read") && ended.stdout.contains("windlass attach"),
            "{}",
            ended.stdout
        );
        assert!(
            ended.stdout.contains("COMPLETED, verified") && ended.stdout.contains("it is there"),
            "{}",
            ended.stdout
        );
        let story = read(&home);
        assert_eq!(transports(&story), ["structured", "terminal"], "{channel}");
        assert_eq!(doubts(&story), ["version", "channel"], "{channel}");
        let launches = launches(&story);
        assert_eq!(launches.len(), 2, "{launches:?}");
        assert!(launches[0].get("terminal").is_none(), "{launches:?}");
        assert_eq!((&launches[1]["terminal"], &launches[1]["instead_of"]), (&true.into(), &"structured".into()));
        assert_eq!(story.of("journal.header").count(), 1, "the same execution");
        // It never asked its model, so that there is nothing to go on with.
        assert_eq!(home.read("screens.txt").trim(), "--session-id");
        assert!(story.once_in_flight().is_empty());
    }
}

/// Of another version one thing that makes no sense is enough, where the screen loses nothing. Regression: twenty were let pass.
#[test]
fn one_stray_word_is_enough_of_another_version_that_has_done_nothing_yet() {
    for (channel, transports_are) in [("strays", &["structured", "terminal"][..]), ("strays_later", &["structured"])] {
        let home = home(channel, "works");
        let ended = run(&home).expect(0);
        assert!(ended.stdout.contains("COMPLETED, verified"), "{channel}: {}", ended.stdout);
        assert_eq!(transports(&read(&home)), transports_are, "{channel}");
    }
    // The control: of the version that was tried it is passed over.
    let home = home("strays", "works");
    let program = PROGRAM.replace("9.9.9 (Claude Code)", "2.1.325 (Claude Code)");
    fs::write(home.path().join("agents/bin/claude"), program).expect("written");
    run(&home).expect(0);
    assert_eq!(transports(&read(&home)), ["structured"]);
}

#[test]
fn one_that_greets_with_another_version_of_its_protocol_goes_on_on_its_own_screen() {
    for (agent, program, script, said) in [
        ("copilot", "copilot", COPILOT, "it speaks version 4 of its protocol, and Windlass 3"),
        ("opencode", "opencode", OPENCODE, "it speaks version 2 of the Agent Client Protocol, and Windlass 1"),
    ] {
        let home = with_program(program, script);
        let ended = run_agent(&home, agent).expect(0);
        assert!(ended.stdout.contains(said) && ended.stdout.contains("windlass attach"), "{}", ended.stdout);
        assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
        let story = read(&home);
        assert_eq!(transports(&story), ["structured", "terminal"], "{agent}");
        assert_eq!(doubts(&story), ["version", "channel"], "{agent}");
        assert_eq!(launches(&story)[1]["instead_of"], "structured", "{agent}");
    }
}

/// Nobody knows how it would be started on one.
#[test]
fn one_that_has_no_screen_ends_and_says_what_it_speaks() {
    let home = with_program("mine", OPENCODE);
    fs::create_dir_all(home.data()).expect("made");
    let agent = "[agents.acp.mine]\nprogram = \"mine\"\narguments = [\"acp\"]\n";
    fs::write(home.data().join("windlass.toml"), agent).expect("written");
    let ended = run_agent(&home, "mine").expect(1);
    assert!(ended.stdout.contains("it speaks version 2 of the Agent Client Protocol"), "{}", ended.stdout);
    assert!(ended.stdout.contains("it has no screen to go on on"), "{}", ended.stdout);
    assert_eq!((transports(&read(&home)), is_there(&home, "there.txt")), (vec!["structured"], false));
}

#[test]
fn leave_for_the_channel_is_no_leave_for_the_screen() {
    let home = home("changed", "works");
    gate(&home, NO_SCREENS);
    let ended = run(&home).expect(1);
    assert!(ended.stdout.contains("on its own screen it may not be started"), "{}", ended.stdout);
    assert!(ended.stdout.contains("2.1.325") && ended.stdout.contains("windlass attach"), "{}", ended.stdout);
    assert!(!is_there(&home, "screens.txt") && !is_there(&home, "there.txt"));
    assert_eq!((transports(&read(&home)), started(&read(&home))), (vec!["structured"], 1));
}

#[test]
fn where_a_person_is_to_be_asked_about_screens_they_are_asked_first() {
    let home = home("changed", "works");
    gate(&home, ASKED_FIRST);
    let ended = run(&home).expect(3);
    assert!(ended.stdout.contains("WAITING FOR YOU"), "{}", ended.stdout);
    assert!(!is_there(&home, "screens.txt"));
    approve(&home);
    let ended = resume(&home).expect(0);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
    assert_eq!(transports(&read(&home)), ["structured", "terminal"]);
}

#[test]
fn what_was_done_already_is_not_lost_for_a_screen() {
    let home = home("acts", "works");
    let ended = run(&home).expect(1);
    assert!(ended.stdout.contains("cannot be read") && ended.stdout.contains("would be lost"), "{}", ended.stdout);
    assert!(!is_there(&home, "screens.txt"));
    assert_eq!((transports(&read(&home)), doubts(&read(&home))), (vec!["structured"], vec!["version"]));
}

/// On its screen it would ask for nothing either.
#[test]
fn one_that_does_not_ask_is_not_put_on_a_screen() {
    let home = home("bypasses", "works");
    let ended = run(&home).expect(1);
    assert!(ended.stdout.contains("does not ask for permissions"), "{}", ended.stdout);
    assert!(!is_there(&home, "screens.txt"));
}

#[test]
fn after_a_kill_it_is_still_the_screen() {
    let home = home("changed", "waits");
    let mut running = with_agents(&home, home.run(&CHECK)).start();
    running.wait_for(|line| line.contains("terminal"));
    running.signal(Signal::KILL);
    assert!(running.end_unread().was_killed());
    none_left(&home);
    home.write("screen.txt", "works");
    let ended = resume(&home).expect(0);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
    let story = read(&home);
    assert_eq!(transports(&story), ["structured", "terminal", "terminal"]);
    assert_eq!((home.read("channels.txt").trim(), doubts(&story)), ("x", vec!["version", "channel"]));
    assert_eq!(launches(&story).len(), 3, "each launch is judged");
}

#[test]
fn who_sits_at_a_terminal_has_the_screen_before_them() {
    let home = home("changed", "waits");
    let script = home.script();
    let words = format!(
        "run 'Do it' --agent claude-code --base-case 'command: test -f there.txt' --rehearsal {}",
        script.display()
    );
    let agents = format!("stty rows 30 cols 100; WINDLASS_AGENTS={}/agents", home.path().display());
    let mut terminal = Terminal::start_with(&home, &agents, &words);
    terminal.types("go\n");
    terminal.wait_for("READY");
    terminal.types("all of it\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("cannot be read") && shown.contains("COMPLETED, verified"), "{shown}");
    none_left(&home);
}
