//! An agent on its own screen, by the real binary at real terminals: a program of the test's stands in for the agent's, under its name.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use windlass_terminal::Size;

use super::bad_agents::has_noticed;
use super::stand_in::install;
use crate::support::{Ended, Home, Terminal, none_left, read};

/// It is told what to do a line at a time; asked to work by itself, it does so and says that it is done.
const PROGRAM: &str = r##"#!/bin/bash
case "$1" in --version) echo '9.9.9 (stand-in)'; exit;; esac
told=$(printf '%s' "$*" | grep -o '{"execution":"[^"]*","nonce":"[^"]*"' | head -1)
claim() { printf '@task::%s,"event":"%s","kind":"%s","payload":{"message":"%s"}}\n' "$told" "$1" "$1" "$2"; }
printf 'READY %s\n' "$(stty size)"
case "$*" in *"by yourself"*) touch x; claim completed_claim "x is there";; esac
case "$*" in *"go on with your task"*) echo 'GOING ON';; esac
while read -r line; do
  case "$line" in
    work) touch x; echo 'has worked';;
    size) printf 'SIZE %s\n' "$(stty size)";;
    done) claim completed_claim 'all of it';;
    fail) claim failed_claim 'no way';;
    ask) claim needs_input 'Which colour?';;
    break) exit 7;;
    quit) echo 'bye now'; exit 0;;
    hostile)
      printf '\033]52;c;aGk=\007\033]0;title\007\033[?1049h\033[?1000h\033P+q\033\\ \xff\xfe\302'
      head -c 300000 /dev/zero | tr '\0' 'e'
      printf '\033[2J\033[1;1Hstill here\n';;
    confirm)
      stty -echo -icanon; printf 'ALLOW? Enter: yes, Escape: no\n'
      while IFS= read -rsn1 key; do
        case "$key" in '') touch approved; break;; $'\e') break;; esac
      done
      stty echo icanon; printf '\033[2J\033[1;1Hthat is answered\n\n\nand gone\n';;
    deaf) stty -echo -icanon; echo 'NOW DEAF'; while IFS= read -rsn1 key; do [ "$key" = q ] && exit 0; done;;
    turns) stty -echo -icanon; echo 'IT TURNS'; while :; do IFS= read -rsn1 -t 0.1 key; [ "$key" = q ] && exit 0; printf '\rround %s' "$((i++))"; done;;
    page) printf '\033[2J\033[1;1H\033[?1049h\033[2J\033[1;1HON ITS OWN PAGE\n';;
    leave) printf '\033[?1049l'; exit 0;;
    pastes) printf '\033[?2004hPASTE NOW\n';;
    secret) echo 'a-secret-of-mine-1234';;
    *) echo "heard $line";;
  esac
done
"##;

const SCRIPT: &str = "version: 1\ntracks:\n  default:\n    - reply: never asked\n      repeat: forever\n";
const CHECK: &str = "command: test -f x";
pub const LEAVE: &str = "\u{1d}\u{1d}";

pub fn home() -> Home {
    let home = Home::playing(SCRIPT);
    install(&home, "claude", PROGRAM);
    home
}

fn variables(home: &Home, rows: u16, cols: u16) -> String {
    format!(
        "stty rows {rows} cols {cols}; A_SECRET_TOKEN=a-secret-of-mine-1234 WINDLASS_AGENTS={}/agents",
        home.path().display()
    )
}

fn run_in(home: &Home, more: &str) -> Terminal {
    let script = home.script();
    let words = format!("run 'Do it' --agent claude-code --terminal --rehearsal {} {more}", script.display());
    let mut terminal = Terminal::start_with(home, &variables(home, 30, 100), &words);
    terminal.types("go\n");
    terminal.wait_for("READY");
    terminal
}

fn attach(home: &Home, rows: u16, cols: u16) -> Terminal {
    let mut terminal = Terminal::start_with(home, &variables(home, rows, cols), "attach");
    terminal.types("go\n");
    terminal.wait_for("Ctrl-] twice");
    terminal
}

fn checked() -> String {
    format!("--base-case '{CHECK}' --max-attempts 1")
}

/// The one there is.
fn recorded(home: &Home) -> String {
    let folder = home.data().join("recordings");
    let mut files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let file = files.next().expect("a recording");
    assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    assert!(files.next().is_none(), "one for each execution");
    fs::read_to_string(file).expect("text")
}

fn execution(home: &Home) -> String {
    let folder = home.data().join("recordings");
    let file = fs::read_dir(folder).expect("a folder").next().expect("one").expect("an entry").path();
    file.file_stem().expect("a name").to_string_lossy().into_owned()
}

fn open_sockets(home: &Home) -> usize {
    fs::read_dir(home.data().join("terminals")).expect("a folder").count()
}

#[test]
fn at_a_terminal_the_agents_screen_is_seen_and_typed_into_and_checks_decide() {
    let home = home();
    let mut terminal = run_in(&home, &checked());
    terminal.wait_for("29 100");
    terminal.types("work\n");
    terminal.wait_for("has worked");
    terminal.types("quit\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("COMPLETED, verified") && shown.contains("│ bye now"), "{shown}");
    assert!(shown.contains("it exited with 0"), "{shown}");
    assert!(recorded(&home).contains("bye now"));
    assert_eq!(open_sockets(&home), 0);
    let replayed = home.windlass(&["replay", &execution(&home)]).run().expect(0).stdout;
    assert!(replayed.contains("has worked") && replayed.contains("bye now"), "{replayed}");
    none_left(&home);
}

/// Its id is the execution's, so that everything else about its owner is found by that; what people are shown is its display name.
#[test]
fn a_terminal_has_its_executions_id_and_a_display_name() {
    let home = home();
    let mut terminal = run_in(&home, "");
    let story = read(&home);
    let execution = story.of("journal.header").next().expect("it was begun")["execution_id"].clone();
    let open = fs::read_dir(home.data().join("terminals")).expect("a folder");
    let open: Vec<_> = open.map(|entry| entry.expect("an entry").path()).collect();
    let ids: Vec<_> = open.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    assert_eq!(ids, [execution.as_str().expect("an id")]);
    let mut viewer = attach(&home, 24, 100);
    viewer.wait_for("Claude Code in ");
    terminal.types("quit\n");
    terminal.end();
    viewer.end();
    let header = recorded(&home).lines().next().expect("a header").to_owned();
    assert!(header.contains(r#""title":"Claude Code in "#), "{header}");
}

#[test]
fn several_look_at_the_same_screen_which_fits_the_smallest_and_whoever_leaves_stops_nothing() {
    let home = home();
    let mut first = run_in(&home, "");
    let mut second = attach(&home, 20, 60);
    second.wait_for("READY");
    second.types("from the second\n");
    first.wait_for("heard from the second");
    second.wait_for("heard from the second");
    first.types("size\n");
    second.wait_for("SIZE 19 60");
    second.types(LEAVE);
    let (code, shown) = second.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("it goes on"), "{shown}");
    first.types("and on\n");
    first.wait_for("heard and on");
    first.types(LEAVE);
    first.wait_for("it goes on");
    let mut again = attach(&home, 24, 70);
    again.wait_for("heard and on");
    again.types("quit\n");
    let (code, shown) = again.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("has ended: it exited with 0"), "{shown}");
    let (code, shown) = first.end();
    assert_eq!(code, Some(0), "{shown}");
    none_left(&home);
}

/// Pulled at while it is looked on, and given back as it was found.
#[test]
fn the_screen_follows_a_terminal_that_changes_and_whoever_leaves_has_theirs_back() {
    let home = home();
    let mut first = run_in(&home, "");
    let program = env!("CARGO_BIN_EXE_windlass");
    let attached = format!(
        "tty > ../tty.txt; stty rows 20 cols 60; before=$(stty -g); {program} attach; echo \"left with $?\"; \
         test \"$before\" = \"$(stty -g)\" && echo as before;"
    );
    let mut viewer = Terminal::start_with(&home, &attached, "--version");
    viewer.types("go\n");
    viewer.wait_for("Ctrl-] twice");
    viewer.types("size\n");
    viewer.wait_for("SIZE 19 60");
    let tty = fs::read_to_string(home.path().join("tty.txt")).expect("its name");
    Terminal::resize(tty.trim(), Size { rows: 15, cols: 50 });
    // All of it is painted anew once whoever runs it has been told.
    viewer.wait_for("\u{1b}[2J");
    viewer.types("size\n");
    viewer.wait_for("SIZE 14 50");
    viewer.types(LEAVE);
    viewer.wait_for("left with 0");
    viewer.wait_for("as before");
    viewer.end();
    first.types("quit\n");
    let (code, shown) = first.end();
    assert_eq!(code, Some(0), "{shown}");
}

#[test]
fn a_claim_on_the_screen_ends_the_turn_and_the_checks_run() {
    let home = home();
    let mut terminal = run_in(&home, &checked());
    terminal.types("work\ndone\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("COMPLETED, verified") && shown.contains("│ all of it"), "{shown}");

    let mut terminal = run_in(&home, &checked().replace("test -f x", "test -f y"));
    terminal.types("done\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(1), "{shown}");
}

#[test]
fn whoever_gives_up_or_breaks_has_failed_and_why_is_said() {
    for (typed, why) in [("fail\n", "gives up: no way"), ("break\n", "in the middle of its work")] {
        let home = home();
        let mut terminal = run_in(&home, "--max-attempts 1");
        terminal.types(typed);
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(1), "{shown}");
        assert!(shown.contains(why), "{shown}");
    }
}

#[test]
fn a_question_of_the_agents_is_asked_of_a_person_without_the_program() {
    let home = home();
    let mut terminal = run_in(&home, "--max-attempts 1");
    terminal.types("ask\n");
    terminal.wait_for("your answer");
    terminal.types("blue\n");
    terminal.wait_for("READY");
    terminal.types("quit\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
}

/// Regression: nothing was said of a claim under a name that was used before its program was started anew, and nothing came of it.
#[test]
fn what_is_told_under_a_name_from_before_it_was_started_anew_is_said_to_count_for_nothing() {
    let home = home();
    let mut terminal = run_in(&home, "--max-attempts 1");
    terminal.types("ask\n");
    terminal.wait_for("your answer");
    terminal.types("blue\n");
    terminal.wait_for("READY");
    terminal.types("ask\nquit\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(has_noticed(&read(&home), "was told before, and counts once"), "{shown}");
}

#[test]
fn without_a_terminal_it_runs_unattended() {
    let home = home();
    let Ended { stdout, .. } = unattended(&home).run().expect(0);
    assert!(stdout.contains("COMPLETED, verified") && stdout.contains("│ x is there"), "{stdout}");
    assert!(recorded(&home).contains("READY"));
    none_left(&home);
}

/// Contracts §6: the journal holds what it means, and the recording what was seen.
#[test]
fn what_a_screen_shows_is_recorded_apart_from_the_journal() {
    let home = home();
    unattended(&home).run().expect(0);
    assert!(recorded(&home).contains("READY"));
    let journal = home.windlass(&["log", "--json"]).run().expect(0).stdout;
    assert!(journal.contains("x is there") && !journal.contains("READY"), "{journal}");
}

fn unattended(home: &Home) -> crate::support::Program {
    let agents = home.path().join("agents");
    let script = home.script();
    let words =
        ["run", "Do it by yourself", "--agent", "claude-code", "--terminal", "--base-case", CHECK, "--rehearsal"];
    let words = [&words[..], &[script.to_str().expect("a plain path")]].concat();
    home.windlass(&words).env("WINDLASS_AGENTS", agents.to_str().expect("a plain path"))
}

#[test]
fn what_a_program_prints_reaches_nobodys_terminal_as_it_is() {
    let home = home();
    let mut terminal = run_in(&home, "");
    let mut second = attach(&home, 20, 60);
    second.wait_for("READY");
    terminal.types("hostile\n");
    terminal.wait_for("still here");
    second.wait_for("still here");
    second.types(LEAVE);
    let (_, seen) = second.end();
    terminal.types("quit\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    for shown in [seen, shown] {
        for sequence in ["\u{1b}]", "\u{1b}P", "[?1000h"] {
            assert!(!shown.contains(sequence), "{sequence:?} in {shown:?}");
        }
    }
    // The control: it was printed, and is in the recording, which is only ever played through an emulator.
    assert!(recorded(&home).contains("\\u001b]52;c"));
}

/// Regression: where the output is no terminal it was not printed, and whoever quit such a program had no last words of it.
#[test]
fn what_stood_on_a_page_of_the_programs_own_is_its_last_word_and_is_printed_by_replay() {
    let home = home();
    let mut terminal = run_in(&home, &checked());
    terminal.types("work\npage\n");
    terminal.wait_for("ON ITS OWN PAGE");
    terminal.types("leave\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("│ ON ITS OWN PAGE"), "{shown}");
    let replayed = home.windlass(&["replay", &execution(&home)]).run().expect(0).stdout;
    assert!(replayed.contains("ON ITS OWN PAGE"), "{replayed}");
}

/// Regression: a person's own terminal was never told, so that of several lines that were pasted the first was sent off at once, and at a question
/// its end was the Enter that says yes.
#[test]
fn a_program_that_wants_to_be_told_what_is_pasted_is_told_by_the_persons_own_terminal() {
    let home = home();
    let mut terminal = run_in(&home, "");
    let mut viewer = attach(&home, 20, 60);
    viewer.wait_for("READY");
    terminal.types("pastes\n");
    for person in [&mut terminal, &mut viewer] {
        person.wait_for("\u{1b}[?2004h");
    }
    // So their terminals send it.
    viewer.types("\u{1b}[200~one\u{1b}[201~\n");
    terminal.wait_for("heard ");
    viewer.types(LEAVE);
    let (code, shown) = viewer.end();
    assert_eq!(code, Some(0), "{shown}");
    let (_, left) = shown.rsplit_once("\u{1b}[?2004").expect("it was told");
    assert!(left.starts_with('l'), "it is as it was before: {shown:?}");
    terminal.types("quit\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
}

#[test]
fn no_secret_is_in_a_recording() {
    let home = home();
    let mut terminal = run_in(&home, "");
    terminal.types("secret\nother\n");
    terminal.wait_for("heard other");
    terminal.types("quit\n");
    terminal.end();
    let recorded = recorded(&home);
    assert!(!recorded.contains("a-secret-of-mine-1234") && recorded.contains("heard other"), "{recorded}");
}

#[test]
fn what_is_sent_is_typed() {
    let home = home();
    let mut terminal = run_in(&home, "");
    home.windlass(&["send", &task(&home), "a word\nfrom outside"]).run().expect(0);
    terminal.wait_for("heard User says: a word from outside");
    terminal.types("quit\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
}

pub fn task(home: &Home) -> String {
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    tasks.iter().find_map(|line| line["task_id"].as_str().map(ToOwned::to_owned)).expect("a task")
}

/// What became of messages, without the attempts.
fn deliveries(home: &Home) -> Vec<String> {
    let story = read(home);
    let became = story.of("message.delivery").filter_map(|record| record["data"]["delivery"].as_str());
    became.filter(|became| *became != "attempted").map(ToOwned::to_owned).collect()
}

pub fn wait_for_deliveries(home: &Home, expected: &[&str]) {
    while deliveries(home).len() < expected.len() {
        std::thread::yield_now();
    }
    assert_eq!(deliveries(home), expected);
}

/// Enter would say yes to whatever it asks.
#[test]
fn what_is_sent_while_the_program_asks_something_answers_nothing_and_is_typed_afterwards() {
    let home = home();
    let mut terminal = run_in(&home, "");
    terminal.types("confirm\n");
    terminal.wait_for("ALLOW?");
    home.windlass(&["send", &task(&home), "how far are you?"]).run().expect(0);
    wait_for_deliveries(&home, &["deferred"]);
    assert!(!home.workspace().join("approved").exists(), "nobody said yes");
    terminal.types("\u{1b}");
    terminal.wait_for("heard User says: how far are you?");
    wait_for_deliveries(&home, &["deferred", "delivered"]);
    terminal.types("quit\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
}

#[test]
fn an_interrupt_says_no_to_what_the_program_asks() {
    let home = home();
    let mut terminal = run_in(&home, "");
    terminal.types("confirm\n");
    terminal.wait_for("ALLOW?");
    home.windlass(&["send", &task(&home), "--kind", "interrupt"]).run().expect(0);
    terminal.wait_for("that is answered");
    wait_for_deliveries(&home, &["delivered"]);
    assert!(!home.workspace().join("approved").exists(), "nobody said yes");
    terminal.types("and on\n");
    terminal.wait_for("heard and on");
    terminal.types("quit\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
}

/// Regression: whatever came of it, it was said to be delivered; and then, where something turned that would have turned all the same.
#[test]
fn an_interrupt_that_nothing_comes_of_is_not_said_to_be_delivered() {
    for (typed, shown) in [("deaf\n", "NOW DEAF"), ("turns\n", "round 3")] {
        let home = home();
        let mut terminal = run_in(&home, "");
        terminal.types(typed);
        terminal.wait_for(shown);
        home.windlass(&["send", &task(&home), "--kind", "interrupt"]).run().expect(0);
        wait_for_deliveries(&home, &["undeliverable"]);
        terminal.types("q");
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
    }
}

/// As Codex opens a folder that it does not trust, and deaf to the first key.
const OPENS: &str = r#"#!/bin/bash
case "$1" in --version) echo 'codex-cli 0.166.0'; exit;; esac
stty -echo -icanon
echo '› 1. Open restricted'
IFS= read -rsn1 key
IFS= read -rsn1 key
printf '\033[2J\033[1;1HOPENED\n'
IFS= read -rsn1 key
echo "HEARD $key"
"#;

/// Regression: a screen that stood still was not looked at again.
#[test]
fn the_question_that_a_screen_opens_with_is_answered_until_that_is_heard() {
    let home = home();
    install(&home, "codex", OPENS);
    let script = home.script();
    let words = format!("run 'Do it' --agent codex --terminal --rehearsal {}", script.display());
    let mut terminal = Terminal::start_with(&home, &variables(&home, 30, 100), &words);
    terminal.types("go\n");
    terminal.wait_for("OPENED");
    terminal.types("q");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("HEARD q"), "only that was asked: {shown}");
}

#[test]
fn after_a_kill_viewers_are_told_the_name_left_behind_goes_and_the_recording_goes_on() {
    let home = home();
    let agents = home.path().join("agents");
    let script = home.script();
    let words = ["run", "Do it", "--agent", "claude-code", "--terminal", "--json", "--base-case", CHECK, "--rehearsal"];
    let words = [&words[..], &[script.to_str().expect("a plain path")]].concat();
    let running = home.windlass(&words).env("WINDLASS_AGENTS", agents.to_str().expect("a plain path"));
    let mut running = running.start();
    running.wait_for(|line| line.contains("terminal"));
    let mut viewer = attach_when_open(&home);
    viewer.types("before the end\n");
    viewer.wait_for("heard before the end");
    running.signal(Signal::KILL);
    let (code, shown) = viewer.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("is gone"), "{shown}");
    running.end();
    assert_eq!(open_sockets(&home), 1);
    let mut late = Terminal::start_with(&home, &variables(&home, 20, 60), "attach");
    late.types("go\n");
    late.wait_for("no terminal is open");
    late.end();
    assert_eq!(open_sockets(&home), 0);
    let mut resumed = Terminal::start_with(&home, &variables(&home, 20, 60), "resume");
    resumed.types("go\n");
    resumed.wait_for("READY");
    resumed.types("work\nquit\n");
    let (code, shown) = resumed.end();
    assert_eq!(code, Some(0), "{shown}");
    let recorded = recorded(&home);
    assert!(recorded.contains("heard before the end") && recorded.contains("bye now"), "{recorded}");
    none_left(&home);
}

/// The record that it runs is there a moment before its name is.
fn attach_when_open(home: &Home) -> Terminal {
    while fs::read_dir(home.data().join("terminals")).map_or(0, Iterator::count) == 0 {
        std::thread::yield_now();
    }
    attach(home, 20, 60)
}

#[test]
fn what_has_no_screen_or_no_terminal_is_said() {
    let home = home();
    let check = |words: &[&str], expected: &str| {
        let ended = home.windlass(words).run().expect(2);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    };
    let script = home.script();
    let script = script.to_str().expect("a plain path");
    check(&["run", "x", "--terminal", "--rehearsal", script], "has no screen of its own");
    check(&["attach"], "needs a terminal");
    check(&["replay", "nothing"], "there is no task");
    check(&["replay", script], "is no recording that can be played");
    check(&["replay", script, "--speed", "-1"], "--speed");
    unattended(&home).run().expect(0);
    let mut terminal = Terminal::start_with(&home, &variables(&home, 20, 60), &format!("attach {}", execution(&home)));
    terminal.types("go\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("it was recorded: windlass replay"), "{shown}");
}

#[test]
fn a_gate_may_refuse_the_launch_on_a_screen() {
    let home = home();
    fs::create_dir_all(home.data()).expect("a folder");
    let gate = "- name: no-screens\n  on: on_tool_call\n  type: string_match\n  \
                config: { tools: [launch_agent], field: tool_args, any_of: ['terminal'] }\n";
    fs::write(home.data().join("gates.yaml"), gate).expect("written");
    let Ended { stdout, stderr, .. } = unattended(&home).run().expect(1);
    assert!(stdout.contains("the agent may not be started"), "{stdout}{stderr}");
    assert!(!home.data().join("recordings").exists(), "it was not started");
}
