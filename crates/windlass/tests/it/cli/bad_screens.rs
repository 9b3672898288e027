//! An agent on its own screen that exits at once, hangs, floods, wants a login, leaves children behind, or is killed: its execution says why it ended
//! and how its program did, its terminal is closed and nobody finds it any more, its recording can be played to its end, and the next attempt is made.

use serde_json::Value;

use super::bad_agents::Stand;
use crate::support::{Home, Program, Story, Terminal, none_left, read};

/// Does in its first attempt what its folder tells it to. In the next one it does its work.
const PROGRAM: &str = r#"#!/bin/bash
case "$1" in --version) echo '2.1.325 (Claude Code)'; exit;; esac
told=$(printf '%s' "$*" | grep -o '{"execution":"[^"]*","nonce":"[^"]*"' | head -1)
claim() { printf '@task::%s,"event":"1","kind":"completed_claim","payload":{"message":"it is there"}}\n' "$told"; }
mode=$(cat mode.txt)
case "$*" in *"This is attempt"*) mode=good;; esac
echo READY
case $mode in
  exits) echo 'no licence for today'; exit 3;;
  killed) kill -9 $$;;
  floods) exec yes 'And on.';;
  leaves) exit 0;;
  tells) while :; do i=$((i+1)); printf '@task::%s,"event":"%s","kind":"note","payload":{"message":"on"}}\n' "$told" "$i"; done;;
  hangs) exec sleep 1000;;
  login) echo 'Log in:'; while :; do read -r _; done;;
  thinks) sleep 6; echo 'STILL HERE'; touch there.txt; claim; read -r _;;
  children) setsid sleep 271 & touch there.txt; claim; read -r _;;
  good) touch there.txt; claim; read -r _;;
esac
"#;

/// The same of any other agent, that tells nobody what it has done: the checks say.
const ANY: &str = r#"#!/bin/bash
case "$1" in --version) echo '9.9.9'; exit;; session|db) echo '[]'; exit;; esac
mode=$(cat mode.txt)
case "$*" in *"This is attempt"*) mode=good;; esac
echo READY
case $mode in
  exits) echo 'no licence for today'; exit 3;;
  killed) kill -9 $$;;
  floods) exec yes 'And on.';;
  hangs) exec sleep 1000;;
  children) setsid sleep 271 & touch there.txt;;
  good) touch there.txt;;
esac
"#;

const AGENT: Stand<'static> = Stand { agent: "claude-code", file: "claude", program: PROGRAM };
const OTHERS: [Stand<'static>; 4] = [
    Stand { agent: "codex", file: "codex", program: ANY },
    Stand { agent: "copilot", file: "copilot", program: ANY },
    Stand { agent: "opencode", file: "opencode", program: ANY },
    Stand { agent: "pi", file: "pi", program: ANY },
];
const CHECKED: [&str; 4] = ["--base-case", "command: test -f there.txt", "--max-attempts", "2"];

fn home(mode: &str) -> Home {
    home_of(&AGENT, mode)
}

fn home_of(agent: &Stand<'_>, mode: &str) -> Home {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Never asked., repeat: forever } ] }\n");
    agent.install(&home);
    home.write("mode.txt", mode);
    home
}

fn on_screen(home: &Home, more: &[&str]) -> Program {
    on_screen_of(&AGENT, home, more)
}

fn on_screen_of(agent: &Stand<'_>, home: &Home, more: &[&str]) -> Program {
    let agents = home.path().join("agents");
    let words = [&["--agent", agent.agent, "--terminal"][..], more].concat();
    home.run(&words).env("WINDLASS_AGENTS", agents.to_str().expect("a plain path"))
}

/// The run has ended, and with it all that was its.
fn ended(home: &Home, more: &[&str], code: i32) -> Story {
    ended_of(&AGENT, home, more, code)
}

fn ended_of(agent: &Stand<'_>, home: &Home, more: &[&str], code: i32) -> Story {
    on_screen_of(agent, home, more).run().expect(code);
    none_left(home);
    let story = read(home);
    assert!(story.once_in_flight().is_empty(), "each launch has an end");
    let sockets = home.data().join("terminals").read_dir().expect("there were terminals").count();
    assert_eq!(sockets, 0, "nobody finds a terminal that is none");
    for execution in executions(&story) {
        let (code, shown) = attach(home, execution).end();
        assert_eq!(code, Some(2), "{shown}");
        assert!(shown.contains("it was recorded: windlass replay"), "{shown}");
    }
    story
}

fn attach(home: &Home, execution: &str) -> Terminal {
    let mut terminal = Terminal::start_with(home, "stty rows 20 cols 60;", &format!("attach {execution}"));
    terminal.types("go\n");
    terminal
}

fn executions(story: &Story) -> Vec<&str> {
    story.of("journal.header").filter_map(|record| record["execution_id"].as_str()).collect()
}

/// What the first execution ended as, why, and what is said of its program.
fn first(story: &Story) -> (String, String, String) {
    let first = executions(story)[0];
    let of_first = |kind: &'static str| story.of(kind).filter(move |record| record["execution_id"] == first);
    let last = of_first("state.changed").last().expect("it has an end")["data"].clone();
    let noticed = of_first("observation.recorded").filter_map(|record| record["data"]["text"].as_str());
    let program = noticed.filter(|text| text.contains("the program on the screen has ended")).collect::<Vec<_>>();
    assert_eq!(program.len(), 1, "it ends once: {program:?}");
    let to = last["to"].as_str().unwrap_or_default().to_owned();
    (to, last.get("reason").or_else(|| last.get("error")).unwrap_or(&Value::Null).to_string(), program[0].to_owned())
}

/// Of the first execution, played to its end.
fn replayed(home: &Home, story: &Story) -> String {
    home.windlass(&["replay", executions(story)[0]]).run().expect(0).stdout
}

#[test]
fn a_program_that_exits_at_once() {
    let home = home("exits");
    let story = ended(&home, &CHECKED, 0);
    let (state, why, program) = first(&story);
    assert_eq!(state, "failed");
    assert!(why.contains("in the middle of its work: no licence for today"), "{why}");
    assert!(program.ends_with("it exited with 3"), "{program}");
    assert_eq!(executions(&story).len(), 2, "the next attempt is made");
    let shown = replayed(&home, &story);
    assert!(shown.contains("READY") && shown.contains("no licence for today"), "{shown}");
}

#[test]
fn a_program_that_is_killed() {
    let home = home("killed");
    let story = ended(&home, &CHECKED, 0);
    let (state, why, program) = first(&story);
    assert_eq!(state, "failed");
    assert!(why.contains("in the middle of its work"), "{why}");
    assert!(program.ends_with("it was ended by signal 9"), "{program}");
    assert_eq!(executions(&story).len(), 2, "the next attempt is made");
    assert!(replayed(&home, &story).contains("READY"));
}

/// Each does in its first attempt what is wrong, and its work in the next one.
#[test]
fn programs_of_other_agents_that_exit_are_killed_flood_hang_or_leave_children_behind() {
    let timed = [&CHECKED[..], &["--timeout", "3"]].concat();
    let cases: [(&str, &[&str], &str, &str, usize); 5] = [
        ("exits", &CHECKED, "failed", "in the middle of its work: no licence for today", 2),
        ("killed", &CHECKED, "failed", "in the middle of its work", 2),
        ("floods", &timed, "failed", "the time limit is reached", 2),
        ("hangs", &CHECKED, "completed", "", 2),
        ("children", &CHECKED, "completed", "", 1),
    ];
    std::thread::scope(|threads| {
        for agent in &OTHERS {
            threads.spawn(|| {
                for (mode, words, expected, reason, attempts) in cases {
                    let home = home_of(agent, mode);
                    let story = ended_of(agent, &home, words, 0);
                    let (state, why, _) = first(&story);
                    assert!(state == expected && why.contains(reason), "{} {mode}: {state} {why}", agent.agent);
                    assert_eq!(executions(&story).len(), attempts, "{} {mode}", agent.agent);
                }
            });
        }
    });
}

/// Regression: it was taken for one that somebody had quit, and its work for done.
#[test]
fn a_program_that_says_nothing_of_its_work_and_goes_has_not_done_it() {
    let home = home("leaves");
    let story = ended(&home, &["--max-attempts", "1"], 1);
    let (state, why, program) = first(&story);
    assert_eq!(state, "failed");
    assert!(why.contains("it had not said that it was done"), "{why}");
    assert!(program.ends_with("it exited with 0"), "{program}");
}

/// Regression: over its channel such a program is ended, and on its screen it filled the journal.
#[test]
fn a_program_that_floods_with_what_it_has_to_tell() {
    let home = home("tells");
    let story = ended(&home, &CHECKED, 0);
    let (state, why, _) = first(&story);
    assert_eq!(state, "failed");
    assert!(why.contains("it tells more than anybody could read"), "{why}");
    assert_eq!(executions(&story).len(), 2, "the next attempt is made");
}

/// Nobody reads it, and it is never silent: its time ends it.
#[test]
fn a_program_that_floods() {
    let home = home("floods");
    let story = ended(&home, &[&CHECKED[..], &["--timeout", "3"]].concat(), 0);
    let (state, why, _) = first(&story);
    assert_eq!(state, "failed");
    assert!(why.contains("the time limit is reached"), "{why}");
    assert_eq!(executions(&story).len(), 2, "the next attempt is made");
    assert!(replayed(&home, &story).contains("And on."));
}

#[test]
fn a_program_that_leaves_children_behind() {
    let home = home("children");
    let story = ended(&home, &CHECKED, 0);
    assert_eq!(first(&story).0, "completed");
    assert_eq!(executions(&story).len(), 1);
}

/// The checks say what came of it, and here nothing did.
#[test]
fn a_program_on_whose_screen_nothing_happens_is_over_where_checks_can_tell() {
    let home = home("hangs");
    let story = ended(&home, &CHECKED, 0);
    assert_eq!(first(&story).0, "completed");
    assert_eq!(executions(&story).len(), 2, "its checks fail, and the next attempt is made");
    assert!(replayed(&home, &story).contains("READY"));
}

#[test]
fn a_program_on_whose_screen_nothing_happens_has_failed_where_nothing_is_checked() {
    let home = home("hangs");
    let story = ended(&home, &[], 1);
    let (state, why, _) = first(&story);
    assert_eq!(state, "failed");
    assert!(why.contains("says nothing and does nothing"), "{why}");
}

/// And nobody is there to log in.
#[test]
fn a_program_that_wants_a_login() {
    let checked = home("login");
    let story = ended(&checked, &CHECKED, 0);
    assert_eq!(first(&story).0, "completed");
    assert_eq!(executions(&story).len(), 2, "its checks fail, and the next attempt is made");
    assert!(replayed(&checked, &story).contains("Log in:"));

    let unchecked = home("login");
    let story = ended(&unchecked, &[], 1);
    let (state, why, _) = first(&story);
    assert_eq!(state, "failed");
    assert!(why.contains("says nothing and does nothing"), "{why}");
    assert!(replayed(&unchecked, &story).contains("Log in:"));
}

/// Whoever sits there knows what it waits for; with nobody there, the same program is over before it goes on.
#[test]
fn a_screen_that_somebody_looks_at_is_not_over_because_nothing_happens() {
    let watched = home("thinks");
    let mut running = on_screen(&watched, &[&CHECKED[..], &["--json"]].concat()).start();
    running.wait_for(|line| line.contains("terminal"));
    while watched.data().join("terminals").read_dir().map_or(0, Iterator::count) == 0 {
        std::thread::yield_now();
    }
    let mut viewer = attach(&watched, "");
    viewer.wait_for("STILL HERE");
    viewer.end();
    running.end();
    assert_eq!(executions(&read(&watched)).len(), 1);

    let alone = home("thinks");
    let story = ended(&alone, &CHECKED, 0);
    assert_eq!(executions(&story).len(), 2);
    let shown = replayed(&alone, &story);
    assert!(!shown.contains("STILL HERE"), "{shown}");
}
