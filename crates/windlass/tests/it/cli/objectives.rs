//! Objectives on the command line: agreed on in a dialogue, from a file or in words; begun, stopped, redirected; and what is said of
//! those that cannot be.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;
use windlass_domain::plan::AtomId;
use windlass_plan::parse_objective;

use crate::support::{Ended, Home, Program, Terminal};

/// `a` and `b` beside each other, `b` in two ways of which the first fails, then `c`.
const OBJECTIVE: &str = "---
objective:
  goal: Three files
  base_case: [{command: cat a.txt b.txt c.txt}]
  constraints: {probe_before_switch: false}
atoms:
  - {id: a, description: Write the first file., touches: {paths: [a.txt]}, verify: [{file: a.txt}]}
  - {id: wrong, description: Write the second file badly., or_group: how, budget: {max_attempts: 1}, verify: [{file: b.txt}]}
  - {id: right, description: Write the second file well., or_group: how, verify: [{file: b.txt}]}
  - {id: c, description: Write the third file., depends_on: [a, how], verify: [{file: c.txt}]}
or_groups:
  how: {choices: [wrong, right]}
---
As agreed.
";

const AGENTS: &str = r#"
version: 1
tracks:
  planner:
    - when: { request: "with two files only" }
      reply: SMALLER
      usage: { input: 900, output: 90 }
    - when: { request: "User responded" }
      reply: OBJECTIVE
      usage: { input: 900, output: 90 }
      repeat: forever
    - calls: [ { tool: ask_user, args: { question: "Which files?" } } ]
      usage: { input: 900, output: 20 }
    - reply: OBJECTIVE
      usage: { input: 900, output: 90 }
  executor:
    - when: { last_result: "bytes" }
      reply: '{"success": true, "bindings_delta": {"summary": "It is there."}}'
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { request: "the first file" }
      DELAY
      calls: [ { tool: write, args: { path: a.txt, content: "a\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "second file badly" }
      calls: [ { tool: write, args: { path: no.txt, content: "no\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "second file well" }
      calls: [ { tool: write, args: { path: b.txt, content: "b\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "the third file" }
      calls: [ { tool: write, args: { path: c.txt, content: "c\n" } } ]
      usage: { input: 900, output: 40 }
"#;

fn agents(delay: &str) -> String {
    let document = |text: &str| serde_json::to_string(text).expect("plain text");
    let smaller = OBJECTIVE.replace("a.txt b.txt c.txt", "a.txt b.txt").replace("Three files", "Two files");
    AGENTS.replace("SMALLER", &document(&smaller)).replace("OBJECTIVE", &document(OBJECTIVE)).replace("DELAY", delay)
}

fn home(delay: &str) -> Home {
    let home = Home::playing(&agents(delay));
    fs::write(home.path().join("objective.md"), OBJECTIVE).expect("written");
    home
}

/// With the script, which stands beside the workspace.
fn align(home: &Home, arguments: &[&str]) -> Program {
    let script = home.script();
    let workspace = home.workspace();
    let mut all = vec!["align", "--rehearsal", script.to_str().expect("plain"), "--workspace"];
    all.push(workspace.to_str().expect("plain"));
    all.extend(arguments);
    home.windlass(&all)
}

fn from_file(home: &Home) -> String {
    let file = home.path().join("objective.md");
    let said = align(home, &["--from", file.to_str().expect("plain"), "--json"]).run().expect(0);
    let last = said.objects().pop().expect("a result");
    assert_eq!((&last["aligned"], &last["objective"]["goal"]), (&Value::from(true), &Value::from("Three files")));
    last["task_id"].as_str().expect("an id").to_owned()
}

fn newest(home: &Home) -> String {
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    tasks[0]["task_id"].as_str().expect("an id").to_owned()
}

#[track_caller]
fn reached(home: &Home, ended: &Ended) {
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
    for (path, content) in [("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")] {
        assert_eq!(home.read(path), content);
    }
    assert!(!home.workspace().join("no.txt").exists(), "what was given up is not there");
}

#[test]
fn an_objective_file_is_shown_begun_and_reached_within_its_bound() {
    let home = home("");
    let file = home.path().join("objective.md");
    let shown = align(&home, &["--from", file.to_str().expect("plain")]).run().expect(0).stdout;
    for words in
        ["objective", "Three files", "over when", "cat a.txt b.txt c.txt", "at worst", "to begin: windlass start"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let ended = home.windlass(&["start"]).run().expect(0);
    reached(&home, &ended);
    for words in ["how: wrong is given up for another way", "of at most ", "it used 4 attempts"] {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
    let again = home.windlass(&["start"]).run().expect(2).stderr;
    assert!(again.contains("there is no objective to start") && again.contains("windlass align"), "{again}");
}

/// Somebody's own file, half of it done elsewhere; but for two commands that no sandbox has, as it is.
const FOREIGN: &str = include_str!("../../../../windlass-plan/tests/fixtures/objective.md");

const FOREIGN_AGENTS: &str = r#"
version: 1
tracks:
  executor:
    - when: { last_result: "bytes" }
      reply: '{"success": true, "bindings_delta": {"summary": "It is there."}}'
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { request: "As a small program" }
      calls: [ { tool: write, args: { path: changes.sh, content: "cat .changes/*.md > CHANGELOG.md\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "Turn the old file into entries" }
      calls:
        - { tool: write, args: { path: .changes/README.md, content: "by @ana\n" } }
        - { tool: write, args: { path: CHANGELOG.md, content: "by @ana\n" } }
      usage: { input: 900, output: 40 }
"#;

#[test]
fn an_objective_file_of_contract_v1_2_that_others_wrote_is_gone_on_with() {
    let home = Home::playing(FOREIGN_AGENTS);
    let document = FOREIGN
        .replace("make changelog && git diff --exit-code CHANGELOG.md", "sh changes.sh && cat CHANGELOG.md")
        .replace("cargo test -p changes", "sh -n changes.sh");
    fs::write(home.path().join("objective.md"), document).expect("written");
    let file = home.path().join("objective.md");
    align(&home, &["--from", file.to_str().expect("plain")]).run().expect(0);
    let ended = home.windlass(&["start"]).run().expect(0);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
    assert_eq!(fs::read_to_string(home.workspace().join("CHANGELOG.md")).expect("it is there"), "by @ana\n");
    let page = fs::read_to_string(home.data().join("traces").join(newest(&home)).join("objective.md")).expect("a page");
    let again = parse_objective(&page).expect("it is read again");
    assert_eq!(again.objective.goal, "The changelog is generated: no more merge conflicts in it");
    let done = again.resolved.iter().map(|(atom, _)| atom.as_str()).collect::<Vec<_>>();
    assert!(["format", "program", "migrate"].iter().all(|atom| done.contains(atom)), "{done:?}");
}

#[test]
fn a_planner_finds_out_with_the_user_what_is_wanted() {
    let home = home("");
    align(&home, &["Some files, please"]).run().expect(3);
    let early = home.windlass(&["start"]).run().expect(2).stderr;
    assert!(early.contains("not agreed on yet"), "{early}");
    let inbox = home.windlass(&["inbox"]).run().expect(0).stdout;
    assert!(inbox.contains("Which files?"), "{inbox}");
    let task = newest(&home);
    let asker = home.windlass(&["inbox", "--json"]).run().expect(0).objects();
    let asker = asker[0]["task_id"].as_str().expect("whose question").to_owned();
    home.windlass(&["send", &asker, "Three of them."]).run().expect(0);
    let agreed = home.windlass(&["resume"]).run().expect(0).stdout;
    assert!(agreed.contains("it is agreed on\n"), "{agreed}");
    assert_eq!(agreed.matches("to begin: windlass start").count(), 1, "{agreed}");
    let changed = align(&home, &["--task", &task, "--change", "with two files only"]).run().expect(0).stdout;
    assert!(changed.contains("Two files"), "{changed}");
    let ended = home.windlass(&["start", &task]).run().expect(0);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
}

/// Regression: it was shown once before the question what should be different, and once more after the answer.
#[test]
fn at_a_terminal_what_was_agreed_on_is_shown_once() {
    let document = serde_json::to_string(OBJECTIVE).expect("plain text");
    let asks = r#"calls: [ { tool: ask_user, args: { question: "Which files?" } } ]"#;
    let home = Home::playing(&agents("").replace(asks, &format!("reply: {document}")));
    let mut terminal = Terminal::start(&home, "align --rehearsal ../script.yaml 'Some files, please'");
    terminal.types("go\n");
    terminal.wait_for("What should be different? Enter leaves it so: ");
    terminal.types("\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    for words in ["over when", "at worst", "to begin: windlass start "] {
        assert_eq!(shown.matches(words).count(), 1, "{words}: {shown}");
    }
}

/// Regression: whatever task was the newest was meant, in whatever folder.
#[test]
fn start_without_a_name_means_what_is_agreed_on_in_this_folder() {
    let home = home("");
    let wanted = from_file(&home);
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let goal = ["--goal", "Elsewhere", "--base-case", "file: a.txt", "--max-iterations", "7", "--json"];
    let script = home.script();
    let there = elsewhere.to_str().expect("plain");
    let words = ["align", "--rehearsal", script.to_str().expect("plain"), "--workspace", there];
    let said = home.windlass(&[words.as_slice(), &goal].concat()).run().expect(0).objects().pop().expect("a result");
    assert_eq!(said["objective"]["constraints"]["max_iterations"], 7, "as the file calls it: {said}");
    let ended = home.windlass(&["start"]).run().expect(0);
    reached(&home, &ended);

    let (one, other) = (from_file(&home), from_file(&home));
    let several = home.windlass(&["start"]).run().expect(2).stderr;
    assert!(several.contains("several objectives may be meant"), "{several}");
    for task in [one, other] {
        assert!(several.contains(&format!("{}  Three files", &task[task.len() - 8..])), "{several}");
    }
    assert!(!several.contains("Elsewhere") && !several.contains(&wanted[wanted.len() - 8..]), "{several}");
}

/// `--max-iterations` of an objective is what its file calls `max_iterations`; model calls have a name of their own.
#[test]
fn limits_are_called_as_the_objective_file_calls_them() {
    let home = home("");
    let file = home.path().join("objective.md");
    let from = ["--from", file.to_str().expect("plain"), "--max-iterations", "7"];
    let refused = align(&home, &from).run().expect(2).stderr;
    assert!(refused.contains("beside --goal only") && refused.contains("`constraints` in the file"), "{refused}");
    let wrong =
        align(&home, &["--goal", "G", "--base-case", "file: a", "--max-model-calls", "0"]).run().expect(2).stderr;
    assert!(wrong.contains("--max-model-calls"), "{wrong}");
}

#[test]
fn a_stop_ends_the_start_and_the_next_goes_on() {
    let home = home("delay_ms: 600000");
    let task = from_file(&home);
    let mut started = home.windlass(&["start"]).start();
    started.wait_for(|line| line.contains("▸ Write the first file."));
    let stopped = home.windlass(&["stop", &task, "--reason", "not today"]).run().expect(0).stdout;
    assert!(stopped.contains("STOPPED") && stopped.contains("not today"), "{stopped}");
    let ended = started.end().expect(4);
    assert!(ended.stdout.contains("to go on: windlass start"), "{}", ended.stdout);
    let twice = home.windlass(&["stop", &task]).run().expect(2).stderr;
    assert!(twice.contains("rests already: not today"), "{twice}");
    stands(&home, &task, "stopped", "start");
    let graph = home.windlass(&["graph"]).run().expect(0).stdout;
    assert!(graph.contains("stopped: not today"), "{graph}");
}

/// Everybody who tells how it stands says so, names the command that goes on with it, and calls nobody at work who is not.
#[track_caller]
fn stands(home: &Home, task: &str, word: &str, verb: &str) {
    let short = &task[task.len() - 8..];
    let command = format!("windlass {verb} {short}");
    let say = |arguments: &[&str]| home.windlass(arguments).run().expect(0).stdout;
    let status = say(&["status", task]);
    assert!(status.contains(word) && status.contains(&command), "{status}");
    let told: Value = serde_json::from_str(&say(&["status", task, "--json"])).expect("an object");
    assert_eq!(told["standing"], word.split(' ').next().expect("a word"));
    let explained = say(&["explain", task]);
    assert!(explained.contains(word) && explained.contains(&command), "{explained}");
    let graph = say(&["graph", task]);
    assert!(graph.contains(word) && !graph.contains("at work"), "{graph}");
    assert!(!explained.contains('▶') && !say(&["explain", task, "a"]).contains("at work"), "{explained}");
}

fn tokens_of(line: &str) -> u64 {
    let fact = line.split(" · ").find_map(|fact| fact.trim().strip_suffix(" tokens")).expect("tokens");
    fact.replace(',', "").parse().expect("a number")
}

/// Regressions: a stopped start said that nothing was used; the lines that a failing base case prints were most of an explanation;
/// who was sent away by a redirect was listed as failed, and what was used before it was held against the limits after it.
#[test]
fn what_was_used_is_told_since_the_last_agreement_and_who_was_sent_away_has_not_failed() {
    let noisy = "sh -c 'for n in 1 2 3 4 5 6; do echo noise $n; done; cat a.txt b.txt c.txt 2>&1'";
    let home = home("delay_ms: 600000\n      repeat: forever");
    let file = home.path().join("objective.md");
    fs::write(&file, OBJECTIVE.replace("cat a.txt b.txt c.txt", noisy)).expect("written");
    let task = from_file(&home);
    let mut started = home.windlass(&["start"]).start();
    started.wait_for(|line| line.contains("✔ It is there."));
    // The second time that the whole is looked at: it comes to the same as the first.
    started.wait_for(|line| line.contains("✘ check `sh -c"));
    home.windlass(&["stop", &task]).run().expect(0);
    let stopped = started.end().expect(4).stdout;
    let paused = stopped.lines().find(|line| line.starts_with("PAUSED")).expect("how it stands");
    let explained = home.windlass(&["explain"]).run().expect(0).stdout;
    let used = |explained: &str| explained.lines().find(|line| line.contains("used  ")).expect("a line").to_owned();
    // Two have ended; what the third asked when it was stopped may have cost something too.
    let tokens = tokens_of(paused);
    assert!(tokens >= 3_700, "{paused}");
    assert_eq!((tokens_of(&used(&explained)), used(&explained).contains("3 attempts")), (tokens, true), "{explained}");
    assert!(!explained.contains("noise 6"), "{explained}");
    let said = explained.lines().filter(|line| line.contains("check `sh -c"));
    let said: Vec<&str> = said.collect();
    assert!(said.len() == 1 && said[0].contains("failed · the command exited with 1, expected 0 · cat: "), "{said:?}");

    home.windlass(&["redirect", &task, "--max-passes", "9", "--yes"]).run().expect(0);
    let mut started = home.windlass(&["start"]).start();
    started.wait_for(|line| line.contains("so far; going on from here"));
    started.wait_for(|line| line.contains("a          ▸ Write the first file."));
    let explained = home.windlass(&["explain"]).run().expect(0).stdout;
    let since = used(&explained);
    assert!(since.contains("1 attempt · 0 tokens") && since.contains("since your last change"), "{explained}");
    // Nine passes, of which one was made before the change, in three places.
    assert!(explained.contains("at most  24 attempts"), "{explained}");
    let failed = explained.split("left to try").next().expect("what is before it");
    assert!(failed.contains("✘ wrong ") && !failed.contains("✘ a "), "{explained}");
    let tried = home.windlass(&["explain", &task, "a"]).run().expect(0).stdout;
    assert!(tried.contains("⊘ called off"), "{tried}");
}

/// Regression: it was called queued, though no worker takes it, and `resume` was named, which does not begin it.
#[test]
fn what_is_agreed_on_and_not_started_says_so_and_how_to_begin_it() {
    let home = home("");
    let task = from_file(&home);
    stands(&home, &task, "agreed on, not started", "start");
    let all = home.windlass(&["status"]).run().expect(0).stdout;
    assert!(all.contains("to begin: windlass start "), "{all}");
    let unnamed = home.windlass(&["stop"]).run().expect(2).stderr;
    assert!(unnamed.contains("no task is worked on that could be stopped"), "{unnamed}");
    let named = home.windlass(&["stop", &task]).run().expect(2).stderr;
    assert!(named.contains("is not started: there is nothing to stop") && named.contains("windlass cancel"), "{named}");
}

/// Regression: atoms were shown as being worked on after whoever did was gone.
#[test]
fn after_a_kill_nobody_is_called_at_work() {
    let home = home("delay_ms: 600000");
    let task = from_file(&home);
    let mut started = home.windlass(&["start"]).start();
    started.wait_for(|line| line.contains("✔ It is there."));
    let graph = home.windlass(&["graph"]).run().expect(0).stdout;
    assert!(graph.contains("▶ a ") && graph.contains("at work"), "{graph}");
    started.signal(Signal::KILL);
    started.end();
    stands(&home, &task, "interrupted", "resume");
}

/// The one who would think for ten minutes is interrupted at once, and nobody waits for them.
#[test]
fn a_redirect_interrupts_who_is_at_work_and_they_go_on_with_what_is_wanted() {
    let home = home("delay_ms: 600000");
    let task = from_file(&home);
    let mut started = home.windlass(&["start"]).start();
    started.wait_for(|line| line.contains("✔ It is there."));
    let asked = home.windlass(&["redirect", &task, "--drop", "a"]).run().expect(2).stderr;
    assert!(asked.contains("`c` waits for `a`"), "{asked}");
    let unsaid = home.windlass(&["redirect", &task, "--max-atoms", "50"]).run().expect(2).stderr;
    assert!(unsaid.contains("add --yes"), "{unsaid}");
    let said = home
        .windlass(&["redirect", &task, "--base-case", "file: b.txt", "--goal", "One file", "--yes"])
        .run()
        .expect(0)
        .stdout;
    for words in ["the objective is now: One file", "done again where it is still wanted: right", "REDIRECTED"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let ended = started.end().expect(0);
    assert!(ended.stdout.contains("↪ redirected · the objective is now: One file"), "{}", ended.stdout);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
    assert_eq!(home.read("b.txt"), "b\n");
    assert!(!home.workspace().join("a.txt").exists(), "nobody waited for it");
}

#[test]
fn what_cannot_be_agreed_on_is_said_with_what_to_do() {
    let home = home("");
    let refused = |document: &str, words: &str| {
        let file = home.path().join("bad.md");
        fs::write(&file, document).expect("written");
        let said = align(&home, &["--from", file.to_str().expect("plain")]).run().expect(2).stderr;
        assert!(said.contains(words), "{words}: {said}");
        assert!(said.contains("bad.md:"), "with its line: {said}");
    };
    refused(&OBJECTIVE.replace("[{command: cat a.txt b.txt c.txt}]", "[]"), "add a check");
    refused(&OBJECTIVE.replace("[{command: cat a.txt b.txt c.txt}]", "[{command: \"true\"}]"), "cannot fail");
    refused(&OBJECTIVE.replace("depends_on: [a, how]", "depends_on: [c]"), "cannot wait for itself");
    refused(&OBJECTIVE.replace("depends_on: [a, how]", "depends_on: [nowhere]"), "nowhere");
    refused(&OBJECTIVE.replace("choices: [wrong, right]", "choices: [right]"), "leaves no choice");
    refused(
        &OBJECTIVE.replace("choices: [wrong, right]", "choices: [wrong, right], selected: right, failed: [right]"),
        "is selected in `how`, and has failed",
    );
    refused(
        &OBJECTIVE.replace(
            "or_groups:",
            "decompositions:\n  - {parent: a, children: [c]}\n  - {parent: c, children: [a]}\nor_groups:",
        ),
        "is a part of itself",
    );
    refused(
        "---\nobjective: {goal: G, base_case: [{file: a}]}\natoms: [{id: a, description: A, or_group: g}]\n---\n",
        "`g` leaves no choice",
    );
    let unchecked = align(&home, &["--goal", "Anything"]).run().expect(2).stderr;
    assert!(unchecked.contains("a machine must be able to tell"), "{unchecked}");
    let both = align(&home, &["A request", "--goal", "Anything"]).run().expect(2).stderr;
    assert!(both.contains("cannot be used with"), "{both}");
    let nothing = home.windlass(&["status", "--json"]).run().expect(0).objects();
    assert!(nothing.is_empty(), "nothing was begun: {nothing:?}");
}

#[test]
fn a_check_whose_program_is_missing_stops_it_before_anything_is_spent() {
    let home = home("");
    align(&home, &["--goal", "Write the first file.", "--base-case", "command: nosuchprogram --check"]).run().expect(0);
    let stopped = home.windlass(&["start"]).run().expect(5);
    let said = format!("{}{}", stopped.stdout, stopped.stderr);
    assert!(said.contains("there is no program `nosuchprogram`"), "{said}");
    assert!(said.contains("0 model calls"), "{said}");
    let task = newest(&home);
    home.windlass(&["redirect", &task, "--base-case", "file: a.txt", "--yes"]).run().expect(0);
    let ended = home.windlass(&["start"]).run().expect(0);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
    assert_eq!(home.read("a.txt"), "a\n");
}

#[test]
fn an_objective_stands_in_its_file_while_it_is_driven_and_when_it_rests() {
    let home = home("delay_ms: 600000");
    let task = from_file(&home);
    let path = home.data().join("traces").join(&task).join("objective.md");
    let text = || fs::read_to_string(&path).expect("the file is there");
    assert!(text().contains("status: pending\n"), "{}", text());
    let mut started = home.windlass(&["start"]).start();
    started.wait_for(|line| line.contains("✔ It is there."));
    home.windlass(&["stop", &task, "--reason", "not today"]).run().expect(0);
    started.end().expect(4);
    let rests = text();
    for words in ["status: stopped\n", "stop_requested: true\n", "stop_reason: not today\n", "As agreed."] {
        assert!(rests.contains(words), "{words}: {rests}");
    }
    let page = parse_objective(&rests).unwrap_or_else(|problems| panic!("{problems}\n{rests}"));
    let names = |pairs: &[(AtomId, AtomId)]| {
        pairs.iter().map(|(group, choice)| format!("{group}:{choice}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((names(&page.selected), names(&page.failed)), ("how:right".to_owned(), "how:wrong".to_owned()));
    let status = home.windlass(&["status", &task]).run().expect(0).stdout;
    for expected in ["done when cat a.txt b.txt c.txt", "of 20", &*path.to_string_lossy()] {
        assert!(status.contains(expected), "{expected}: {status}");
    }
    // What it says can be begun from, by anybody.
    let again = align(&home, &["--from", path.to_str().expect("plain"), "--json"]).run().expect(0);
    assert!(again.stderr.contains("`right` is taken as done, as the file says"), "{}", again.stderr);
}
