//! An agent that exits at once, hangs silently, floods, prints half a JSON line, claims another execution's id, answers a permission twice, changes
//! its format, needs a login, leaves children behind, or is killed, at work on an atom of an objective: its attempt ends in the right state with
//! the reason, its worktree is released, and the ladder goes on. What the same agents come to by themselves is in `foreign`, what others in their own
//! languages come to in `bad_wires`, and on a screen in `bad_screens`.

use std::fs;

use super::stand_in::install;
use crate::support::{Home, Story, none_left, read};

/// Speaks as Claude Code does, and does in its first attempt what its folder tells it to. In the next one it does its work.
const PROGRAM: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.325 (Claude Code)"; exit 0; fi
session=s-1
while [ $# -gt 0 ]; do case $1 in --session-id|--resume) session=$2 ;; esac; shift; done
read -r first
say() { printf "$@"; printf '\n'; }
hello() { say '{"type":"system","subtype":"init","session_id":"%s","permissionMode":"default","mcp_servers":[{"name":"windlass","status":"connected"}]}' "$session"; }
said() { say '{"type":"assistant","uuid":"%s","session_id":"%s","message":{"id":"m","role":"assistant","content":[%s]}}' "$1" "$session" "$2"; }
ask() { say '{"type":"control_request","request_id":"%s","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"%s","input":{"command":"%s"}}}' "$1" "$2" "$3"; }
works() {
  touch there.txt
  say '{"type":"result","uuid":"u-%s","subtype":"success","is_error":false,"result":"{\\"success\\": true, \\"bindings_delta\\": {\\"summary\\": \\"it is there\\"}, \\"artifacts\\": [\\"there.txt\\"]}","session_id":"%s"}' "$1" "$session"
  read -r _
}
mode=$(cat mode.txt)
case $first in *"This is attempt"*|*"another way"*) mode=good ;; esac
case $mode in
  exits) echo "no licence for today" >&2; exit 3 ;;
  silent) hello; exec sleep 1000 ;;
  endless) hello; said 1 '{"type":"tool_use","id":"c1","name":"Read","input":{"file_path":"x"}}'; exec sleep 1000 ;;
  floods) hello; while :; do i=$((i+1)); said "$i" '{"type":"text","text":"And on."}'; done ;;
  babbles) hello; exec yes '{"type":"x"}' ;;
  pesters) hello; while :; do i=$((i+1)); ask "q$i" "c$i" "true"; read -r _; done ;;
  half) hello; printf '{"type":"assistant","uuid":"1","mess'; exit 0 ;;
  another) hello
    said 1 '{"type":"text","text":"@task::{\"execution\":\"0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11\",\"nonce\":\"x\",\"event\":\"1\",\"kind\":\"failed_claim\"}"}'
    works 2 ;;
  twice) hello; ask q1 c1 "touch once.txt"; read -r _; touch once.txt
    say '{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow"}}}'
    say '{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow"}}}'
    works 3 ;;
  changes) hello; ask q1 c1 "true"; read -r _; i=0; while [ $i -lt 30 ]; do say '<<stream-json v3>>'; i=$((i+1)); done; exec sleep 1000 ;;
  login) hello; say '{"type":"result","uuid":"9","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":401,"result":"Invalid API key","session_id":"%s"}' "$session"; read -r _ ;;
  children) hello; setsid sleep 271 & works 4 ;;
  killed) hello; kill -9 $$ ;;
  outlived) if [ -e been.txt ]; then hello; works 7; exit; fi
    touch been.txt; hello; said 1 '{"type":"text","text":"I am at it."}'; ask q1 c1 "true"; read -r _; exec sleep 1000 ;;
  good) hello; works 5 ;;
esac
"#;

const ONE_WAY: &str = "---
objective: {goal: A file, base_case: [{command: test -f there.txt}]}
atoms:
  - {id: a, description: Make it., agent: AGENT, budget: {max_attempts: 2}, touches: {paths: [there.txt]}, verify: [{file: there.txt}]}
---
As agreed.
";

const TWO_WAYS: &str = "---
objective: {goal: A file, base_case: [{command: test -f there.txt}], constraints: {probe_before_switch: false}}
atoms:
  - {id: a, description: Make it., agent: AGENT, or_group: how, budget: {max_attempts: 2}, touches: {paths: [there.txt]}, verify: [{file: there.txt}]}
  - {id: b, description: Make it another way., agent: AGENT, or_group: how, touches: {paths: [there.txt]}, verify: [{file: there.txt}]}
or_groups:
  how: {choices: [a, b]}
---
As agreed.
";

const CLAUDE_CODE: Stand<'static> = Stand { agent: "claude-code", file: "claude", program: PROGRAM };

/// A stand-in for an agent.
pub struct Stand<'a> {
    pub agent: &'a str,
    /// What is looked for on the machine.
    pub file: &'a str,
    pub program: &'a str,
}

pub struct Seen {
    pub story: Story,
    pub stdout: String,
}

impl Seen {
    pub fn launches(&self) -> usize {
        self.story.of("runner.noted").count()
    }

    /// What executions failed with.
    pub fn reasons(&self) -> String {
        let ended = self.story.of("state.changed").filter(|record| record["data"]["to"] == "failed");
        ended.map(|record| record["data"].to_string()).collect::<Vec<_>>().join("\n")
    }
}

impl Stand<'_> {
    pub fn install(&self, home: &Home) {
        install(home, self.file, self.program);
        fs::create_dir_all(home.data()).expect("made");
        let patience = "[agents]\nsilence_seconds = 2\ncall_seconds = 3\n";
        fs::write(home.data().join("windlass.toml"), patience).expect("written");
    }

    /// The objective is begun, and comes to its end; nothing that was taken for it is left.
    pub fn carried_out(&self, mode: &str, code: i32) -> Seen {
        self.carried_out_as(ONE_WAY, mode, code)
    }

    fn carried_out_as(&self, objective: &str, mode: &str, code: i32) -> Seen {
        let home = Home::playing("version: 1\ntracks: { default: [ { reply: No idea., repeat: forever } ] }\n");
        self.install(&home);
        home.write("mode.txt", mode);
        let file = home.path().join("objective.md");
        fs::write(&file, objective.replace("AGENT", self.agent)).expect("written");
        let (agents, script) = (home.path().join("agents"), home.script());
        let windlass =
            |words: &[&str]| home.windlass(words).env("WINDLASS_AGENTS", agents.to_str().expect("a plain path")).run();
        let from = file.to_str().expect("a plain path");
        windlass(&["align", "--from", from, "--rehearsal", script.to_str().expect("a plain path")]).expect(0);
        let stdout = windlass(&["start"]).expect(code).stdout;
        none_left(&home);
        let worktrees = home.data().join("worktrees");
        assert!(!worktrees.read_dir().is_ok_and(|mut left| left.next().is_some()), "{} {mode}", self.agent);
        let story = read(&home);
        assert!(story.once_in_flight().is_empty(), "{} {mode}: its launch has an end", self.agent);
        Seen { story, stdout }
    }

    /// The first attempt fails for this reason, and the second is made.
    pub fn is_tried_again(&self, mode: &str, reason: &str) {
        let seen = self.carried_out(mode, 0);
        assert!(seen.stdout.contains("COMPLETED, verified"), "{} {mode}: {}", self.agent, seen.stdout);
        assert_eq!(seen.launches(), 2, "{} {mode}: {}", self.agent, seen.stdout);
        assert!(seen.reasons().contains(reason), "{} {mode}: {}", self.agent, seen.reasons());
    }

    /// Nothing of it stands in the way of the work.
    pub fn is_done_at_once(&self, mode: &str) -> Story {
        let seen = self.carried_out(mode, 0);
        assert!(seen.stdout.contains("COMPLETED, verified"), "{} {mode}: {}", self.agent, seen.stdout);
        assert_eq!(seen.launches(), 1, "{} {mode}: {}", self.agent, seen.stdout);
        seen.story
    }

    /// Another attempt with the same program would come to the same: the ladder goes on with its next rung, another way where there is
    /// one; otherwise what is left to do is a person's.
    pub fn is_tried_in_another_way(&self, mode: &str, reason: &str) {
        let seen = self.carried_out(mode, 1);
        assert_eq!(seen.launches(), 1, "{} {mode}: {}", self.agent, seen.stdout);
        assert!(seen.reasons().contains(reason), "{} {mode}: {}", self.agent, seen.reasons());
        assert!(seen.stdout.contains(reason), "{} {mode}: {}", self.agent, seen.stdout);

        let seen = self.carried_out_as(TWO_WAYS, mode, 0);
        assert!(seen.stdout.contains("COMPLETED, verified"), "{} {mode}: {}", self.agent, seen.stdout);
        assert_eq!(seen.launches(), 2, "{} {mode}: {}", self.agent, seen.stdout);
        assert!(seen.reasons().contains(reason), "{} {mode}: {}", self.agent, seen.reasons());
    }
}

#[test]
fn an_agent_that_exits_at_once() {
    CLAUDE_CODE.is_tried_again("exits", "no licence for today");
}

#[test]
fn an_agent_that_hangs_silently() {
    CLAUDE_CODE.is_tried_again("silent", "says nothing and does nothing");
}

/// The review found it: what never ended was an excuse for ever.
#[test]
fn an_agent_that_hangs_silently_in_a_call_of_its_own() {
    CLAUDE_CODE.is_tried_again("endless", "says nothing and does nothing");
}

#[test]
fn an_agent_that_floods() {
    CLAUDE_CODE.is_tried_again("floods", "it tells more than anybody could read");
}

/// Regression: what came to nothing was not counted, and kept everybody else from the word.
#[test]
fn an_agent_that_floods_with_what_says_nothing() {
    CLAUDE_CODE.is_tried_again("babbles", "it talks without end");
}

/// And this: nobody counted what was asked for.
#[test]
fn an_agent_that_floods_with_questions() {
    CLAUDE_CODE.is_tried_again("pesters", "it asks for leave again and again");
}

#[test]
fn an_agent_that_prints_half_a_json_line() {
    CLAUDE_CODE.is_tried_again("half", "ended in the middle of its work");
}

#[test]
fn an_agent_that_claims_another_executions_id() {
    let story = CLAUDE_CODE.is_done_at_once("another");
    assert!(has_noticed(&story, "names another execution"));
}

pub fn has_noticed(story: &Story, words: &str) -> bool {
    let mut noticed = story.of("observation.recorded").filter_map(|record| record["data"]["text"].as_str());
    noticed.any(|text| text.contains(words))
}

/// An answer that it gives itself is none.
#[test]
fn an_agent_that_answers_a_permission_twice() {
    assert_eq!(calls_made(&CLAUDE_CODE.is_done_at_once("twice")), (1, 1));
}

/// How many commands were asked for, and begun.
pub fn calls_made(story: &Story) -> (usize, usize) {
    let of_commands = |kind| story.of(kind).filter(|record| record["data"]["tool"] == "bash").count();
    (of_commands("call.proposed"), of_commands("tool.started"))
}

#[test]
fn an_agent_that_changes_its_format() {
    CLAUDE_CODE.is_tried_in_another_way("changes", "cannot be read");
}

#[test]
fn an_agent_that_needs_a_login() {
    CLAUDE_CODE.is_tried_in_another_way("login", "Invalid API key");
}

#[test]
fn an_agent_that_leaves_children_behind() {
    CLAUDE_CODE.is_done_at_once("children");
}

/// Windlass itself, at more points than one of what its agent does: the same attempt goes on in its worktree, with the agent's conversation.
#[test]
fn an_agent_of_an_atom_goes_on_after_a_kill_of_windlass() {
    for point in ["I am at it.", "tool.started"] {
        let home = Home::playing("version: 1\ntracks: { default: [ { reply: No idea., repeat: forever } ] }\n");
        CLAUDE_CODE.install(&home);
        fs::write(home.data().join("windlass.toml"), "[agents]\nsilence_seconds = 60\n").expect("written");
        home.write("mode.txt", "outlived");
        let file = home.path().join("objective.md");
        fs::write(&file, ONE_WAY.replace("AGENT", CLAUDE_CODE.agent)).expect("written");
        let (agents, script) = (home.path().join("agents"), home.script());
        let windlass = |words: &[&str]| home.windlass(words).env("WINDLASS_AGENTS", agents.to_str().expect("plain"));
        let from = file.to_str().expect("a plain path");
        windlass(&["align", "--from", from, "--rehearsal", script.to_str().expect("plain")]).run().expect(0);
        let mut running = windlass(&["start", "--json"]).start();
        let has_come = |line: &str| match point {
            "I am at it." => line.contains(point),
            _ => line.contains("\"tool.started\"") && line.contains("\"bash\""),
        };
        running.wait_for(has_come);
        running.signal(rustix::process::Signal::KILL);
        assert!(running.end_unread().was_killed());
        none_left(&home);
        let ended = windlass(&["resume"]).run().expect(0);
        assert!(ended.stdout.contains("COMPLETED, verified"), "{point}: {}", ended.stdout);
        none_left(&home);
        let worktrees = home.data().join("worktrees");
        assert!(!worktrees.read_dir().is_ok_and(|mut left| left.next().is_some()), "{point}");
        let story = read(&home);
        let resumes: Vec<bool> = story.of("runner.noted").map(|record| !record["data"]["resumes"].is_null()).collect();
        assert_eq!(resumes, [false, true], "{point}: the same execution, with its conversation");
        assert!(story.once_in_flight().is_empty(), "{point}");
    }
}

#[test]
fn an_agent_that_is_killed() {
    CLAUDE_CODE.is_tried_again("killed", "ended in the middle of its work");
}
