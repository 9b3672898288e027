//! Programs of others that do not behave: a stand-in for Claude Code that does what its folder tells it to. Whatever it does, the execution
//! ends in the right state with the reason, nothing of it is left, and the attempt is spent and no more. The real programs are in
//! `real_agents`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::cli::cards::{card, is_there};
use crate::support::{Ended, Home, Story, none_left, read};

/// Speaks as Claude Code does over its structured channel, as far as is needed to misbehave.
const PROGRAM: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.325 (Claude Code)"; exit 0; fi
session=s-1; launch=first
nonce=$(printf '%s' "$*" | sed -n 's/.*"nonce":"\([0-9a-f]*\)".*/\1/p' | head -n 1)
execution=$(printf '%s' "$*" | sed -n 's/.*"execution":"\([0-9a-f-]*\)".*/\1/p' | head -n 1)
while [ $# -gt 0 ]; do case $1 in --session-id) session=$2 ;; --resume) session=$2; launch=second ;; esac; shift; done
if [ "$(cat mode.txt)" = unread ]; then exec sleep 1000; fi
read -r first
hello() {
  printf '{"type":"system","subtype":"init","session_id":"%s","permissionMode":"%s","mcp_servers":[{"name":"windlass","status":"connected"}]}\n' "$session" "$1"
}
said() { printf '{"type":"assistant","uuid":"%s","session_id":"%s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"%s"}]}}\n' "$1" "$session" "$2"; }
done_with() { printf '{"type":"result","uuid":"%s","subtype":"success","is_error":false,"result":"%s","session_id":"%s"}\n' "$1" "$2" "$session"; }
ask() { printf '{"type":"control_request","request_id":"%s","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"%s","input":{"command":"%s"}}}\n' "$1" "$2" "$3"; }
mode=$(cat mode.txt)
case $mode in
  exits) echo "no licence for today" >&2; exit 3 ;;
  silent) hello default; exec sleep 1000 ;;
  garbage) exec yes garbage ;;
  long) hello default; head -c 40000000 /dev/zero | tr '\0' x; echo; head -c 400000000 /dev/zero | tr '\0' y; sleep 1000 ;;
  half) hello default; printf '{"type":"assistant","uuid":"1","mess'; exit 0 ;;
  bypass) hello bypassPermissions; sleep 1000 ;;
  another) hello default
    said 1 '@task::{\"execution\":\"0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11\",\"nonce\":\"x\",\"event\":\"1\",\"kind\":\"failed_claim\"}'
    touch there.txt; done_with 2 "It is done." ; read -r _ ;;
  twice) hello default; ask q1 c1 "touch there.txt"; read -r answer; printf '%s\n' "$answer" > answers.txt
    ask q1 c1 "touch there.txt"; touch there.txt; done_with 2 "Asked twice." ; read -r _ ;;
  login) hello default
    printf '{"type":"result","uuid":"9","subtype":"success","is_error":true,"api_error_status":401,"result":"Invalid API key","session_id":"%s"}\n' "$session"; read -r _ ;;
  children) hello default; setsid sleep 271 & hello default; touch there.txt; done_with 2 "I leave somebody behind."; read -r _ ;;
  deaf) hello default; trap '' TERM INT HUP; touch there.txt; done_with 2 "I do not go."; while :; do sleep 272; done ;;
  again) hello default
    said "$launch" "@task::{\\\"execution\\\":\\\"$execution\\\",\\\"nonce\\\":\\\"$nonce\\\",\\\"event\\\":\\\"1\\\",\\\"kind\\\":\\\"needs_input\\\",\\\"payload\\\":{\\\"question\\\":\\\"Which one?\\\"}}"
    touch there.txt; done_with "$launch-end" "It is done."; read -r _ ;;
  poison) hello default
    if [ $launch = second ]; then
      if [ -e ~/.bashrc ] || [ -e ~/.claude/agents ]; then touch poisoned.txt; fi
      touch there.txt; done_with 4 "I went on."; read -r _; exit 0
    fi
    mkdir -p ~/.claude/agents; touch ~/.bashrc ~/.claude/agents/x.md; [ -e ~/.bashrc ] && touch planted.txt
    ask q1 c1 "git push origin main"; read -r _; read -r _ ;;
  push) hello default; ask q1 c1 "git push origin main"; read -r answer; printf '%s\n' "$answer" >> answers.txt
    touch there.txt; done_with 3 "It went on all the same."; read -r _ ;;
esac
"#;

fn home(mode: &str) -> Home {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Never asked. } ] }\n");
    let bin = home.path().join("agents/bin");
    fs::create_dir_all(&bin).expect("made");
    let program = bin.join("claude");
    fs::write(&program, PROGRAM).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("made executable");
    fs::create_dir_all(home.data()).expect("made");
    fs::write(home.data().join("windlass.toml"), "[agents]\nsilence_seconds = 2\n").expect("written");
    home.write("mode.txt", mode);
    home
}

fn run(home: &Home) -> Ended {
    let agents = home.path().join("agents");
    let words = ["--agent", "claude-code", "--base-case", "command: test -f there.txt", "--max-attempts", "1"];
    let ended = home.run(&words).env("WINDLASS_AGENTS", agents.to_str().expect("plain")).run();
    none_left(home);
    ended
}

fn resume(home: &Home) -> Ended {
    let agents = home.path().join("agents");
    let ended = home.windlass(&["resume"]).env("WINDLASS_AGENTS", agents.to_str().expect("plain")).run();
    none_left(home);
    ended
}

fn fails(mode: &str, reason: &str) -> Story {
    let home = home(mode);
    let ended = run(&home).expect(1);
    assert!(ended.stdout.contains(reason), "{mode}: {}", ended.stdout);
    let story = read(&home);
    let last = story.of("state.changed").last().expect("an end");
    assert_eq!(last["data"]["to"], "failed", "{mode}");
    assert!(story.once_in_flight().is_empty(), "{mode}: its launch has an end");
    story
}

fn ends_well(mode: &str) -> (Home, Story) {
    let home = home(mode);
    let ended = run(&home).expect(0);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{mode}: {}", ended.stdout);
    let story = read(&home);
    (home, story)
}

#[test]
fn one_that_exits_at_once_fails_with_what_it_said() {
    fails("exits", "no licence for today");
}

#[test]
fn one_that_hangs_silently_is_not_waited_for_for_ever() {
    fails("silent", "says nothing and does nothing");
}

#[test]
fn one_that_speaks_another_language_is_not_believed() {
    fails("garbage", "cannot be read");
    fails("bypass", "does not ask for permissions");
}

#[test]
fn one_that_floods_costs_no_memory_and_is_ended() {
    fails("long", "says nothing and does nothing");
}

#[test]
fn half_a_line_is_no_line() {
    let story = fails("half", "ended in the middle of its work");
    assert!(!story.of("observation.recorded").any(|record| record["data"]["observed"] == "said"));
}

#[test]
fn a_marker_of_another_execution_is_a_diagnostic() {
    let (_home, story) = ends_well("another");
    let noticed = story.of("observation.recorded").filter(|record| record["data"]["observed"] == "noticed");
    let noticed: Vec<&str> = noticed.filter_map(|record| record["data"]["text"].as_str()).collect();
    assert!(noticed.iter().any(|text| text.contains("names another execution")), "{noticed:?}");
    assert!(!story.of("observation.recorded").any(|record| record["data"]["observed"] == "claimed"));
}

#[test]
fn a_permission_that_is_asked_for_twice_is_judged_twice() {
    let (home, story) = ends_well("twice");
    let answers = home.read("answers.txt");
    assert!(answers.contains("allow"), "{answers}");
    let asked = story.of("call.proposed").filter(|record| record["data"]["tool"] == "bash");
    // A yes is for one call.
    assert_eq!(asked.count(), 2);
    let started = story.of("tool.started").filter(|record| record["data"]["tool"] == "bash");
    assert_eq!(started.count(), 2);
}

#[test]
fn one_that_needs_a_login_says_so() {
    fails("login", "Invalid API key");
}

#[test]
fn children_that_are_left_behind_are_ended() {
    ends_well("children");
}

#[test]
fn one_that_will_not_go_is_made_to() {
    ends_well("deaf");
}

/// It is told to stop for a person, goes on, and says that it is done: nothing of that counts before they have answered.
#[test]
fn one_that_goes_on_without_leave_is_stopped_all_the_same() {
    let home = home("push");
    let ended = run(&home).expect(3);
    assert!(ended.stdout.contains("WAITING FOR YOU"), "{}", ended.stdout);
    assert!(!is_there(&home, "answers.txt") || home.read("answers.txt").contains("deny"));
    let story = read(&home);
    assert!(!story.of("tool.started").any(|record| record["data"]["tool"] == "bash"));
    home.windlass(&["deny", &card(&home)]).run().expect(0);
}

/// The review found it: nothing came between Windlass and a pipe that nobody reads.
#[test]
fn one_that_does_not_read_is_not_waited_for() {
    let home = home("unread");
    let agents = home.path().join("agents");
    let goal = "Do it. ".repeat(14_000);
    let script = home.script();
    let words = ["run", &goal, "--rehearsal", script.to_str().expect("plain"), "--agent", "claude-code"];
    let words = [&words[..], &["--base-case", "command: test -f there.txt", "--max-attempts", "1"]].concat();
    let ended = home.windlass(&words).env("WINDLASS_AGENTS", agents.to_str().expect("plain")).run().expect(1);
    assert!(ended.stdout.contains("says nothing and does nothing"), "{}", ended.stdout);
    none_left(&home);
}

/// So was this: what was told under the same name was asked about again.
#[test]
fn a_question_that_is_told_twice_is_put_once() {
    let home = home("again");
    let waiting = run(&home).expect(3);
    assert!(waiting.stdout.contains("Which one?"), "{}", waiting.stdout);
    let task = read(&home).records[0]["task_id"].as_str().expect("an id").to_owned();
    home.windlass(&["send", &task, "The first."]).run().expect(0);
    let ended = resume(&home).expect(0);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
    let story = read(&home);
    assert_eq!(story.of("call.proposed").filter(|record| record["data"]["tool"] == "ask_user").count(), 1);
    let noticed = story.of("observation.recorded").filter_map(|record| record["data"]["text"].as_str());
    assert!(noticed.into_iter().any(|text| text.contains("was told before")));
}

/// And this: what an agent left in its home was obeyed by its next launch.
#[test]
fn what_would_loosen_the_rules_is_out_of_the_home_before_each_launch() {
    let home = home("poison");
    run(&home).expect(3);
    assert!(is_there(&home, "planted.txt"), "it could plant it");
    home.windlass(&["deny", &card(&home)]).run().expect(0);
    resume(&home).expect(0);
    assert!(is_there(&home, "there.txt") && !is_there(&home, "poisoned.txt"));
}

/// And this: OpenCode runs plugins of a repository when it starts.
#[test]
fn a_workspace_whose_plugins_would_run_is_refused_before_anything_does() {
    let home = home("exits");
    let program = home.path().join("agents/bin/opencode");
    fs::write(&program, "#!/bin/sh\ntouch ran.txt\n").expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("made executable");
    home.write(".opencode/plugin/p.js", "");
    let agents = home.path().join("agents");
    let words = ["--agent", "opencode", "--base-case", "command: test -f there.txt", "--max-attempts", "1"];
    let ended = home.run(&words).env("WINDLASS_AGENTS", agents.to_str().expect("plain")).run().expect(1);
    assert!(ended.stdout.contains(".opencode/plugin") && ended.stdout.contains("take it out"), "{}", ended.stdout);
    assert!(!is_there(&home, "ran.txt"));
}

#[test]
fn what_is_not_installed_is_said_with_what_to_do() {
    let home = home("exits");
    let words = ["--agent", "codex", "--base-case", "command: test -f there.txt"];
    let ended = home.run(&words).env("WINDLASS_AGENTS", "/nowhere").env("PATH", "/usr/bin:/bin").run();
    assert!(ended.stdout.contains("Codex is not installed") && ended.stdout.contains("[agents]"), "{}", ended.stdout);
    let unknown = home.run(&["--agent", "nobody"]).run().expect(2).stderr;
    assert!(unknown.contains("there is no agent `nobody`") && unknown.contains("`windlass agents`"), "{unknown}");
}
