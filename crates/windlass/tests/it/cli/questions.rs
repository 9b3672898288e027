//! `ask_user` and `windlass send`: what an agent asks, who answers from where, and what it hears.

use serde_json::Value;

use super::assert_shown;
use super::cards::{short, standing};
use crate::support::{Home, Terminal, none_left, wait_for_process};

/// Asks which database, and writes down what it heard.
const ASKER: &str = r#"
version: 1
tracks:
  default:
    - reply: I need to know something.
      calls:
        - tool: ask_user
          args: { question: "Which database?", options: [PostgreSQL, SQLite], context: "Both would do." }
      usage: { input: 900, output: 40 }
    - when: { request: "User responded to your question: SQLite" }
      calls: [ { tool: write, args: { path: answer.txt, content: "sqlite\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "User responded to your question: a pencil" }
      calls: [ { tool: write, args: { path: answer.txt, content: "pencil\n" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      repeat: forever
      usage: { input: 900, output: 10 }
"#;

const PROMPT: &str = "a number, or your own answer (Ctrl-C: later): ";

fn asked() -> Home {
    let home = Home::playing(ASKER);
    home.run(&[]).run().expect(3);
    home
}

fn task(home: &Home) -> String {
    short(&home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"])
}

fn open_questions(home: &Home) -> Vec<Value> {
    let mut objects = home.windlass(&["inbox", "--json"]).run().expect(0).objects();
    let result = objects.pop().expect("a result");
    assert_eq!(result["questions"].as_u64(), Some(objects.len() as u64));
    objects
}

#[test]
fn without_a_terminal_a_question_parks_the_task_and_is_shown_everywhere() {
    let home = Home::playing(ASKER);
    assert_shown!(home, home.run(&[]).run(), @r#"
    exit code 3
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ I need to know something.
    ? ask_user Which database?  question [SHORT]
    waiting for an answer · question [SHORT]

    WAITING FOR YOU  1 model call · 0 tool calls · 940 tokens · $0.0000 · [TIME]
    to see it whole: windlass inbox; to answer: windlass send [SHORT] "…"; then: windlass resume [SHORT]
    "#);
    none_left(&home);
    assert_shown!(home, home.windlass(&["inbox"]).run(), @r#"
    exit code 0
    --- stdout
    question [SHORT]  task [SHORT] · asked [TIME] ago
    │ Which database?
      why
      │ Both would do.
       1  PostgreSQL
       2  SQLite

    to answer: windlass send [SHORT] "…"
    "#);
    assert_shown!(home, home.windlass(&["status"]).run(), @"
    exit code 0
    --- stdout
    [SHORT]  waits for you · question [SHORT] [TIME] ago  Do it
    ");
    let result = home.windlass(&["resume", "--json"]).run().expect(3).result();
    assert_eq!(result["status"], "BLOCKED_USER");
    let request = &result["hitl_request"];
    assert_eq!(request["question"], "Which database?");
    assert_eq!(request["options"], serde_json::json!(["PostgreSQL", "SQLite"]));
    assert_eq!(request["context"], "Both would do.");
    let questions = open_questions(&home);
    assert_eq!(questions[0]["request_id"], request["request_id"], "and it is asked once");
    assert_eq!(questions[0]["type"], "question");
}

#[test]
fn an_answer_from_another_process_is_heard_in_the_same_conversation() {
    let home = asked();
    assert_shown!(home, home.windlass(&["send", &task(&home), "SQLite"]).run(), @"
    exit code 0
    --- stdout
    ANSWERED  question [SHORT] · task [SHORT]
    to go on: windlass resume [SHORT]; a worker does so by itself
    ");
    assert_eq!(standing(&home), "answered");
    assert_shown!(home, home.windlass(&["resume"]).run(), @"
    exit code 0
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ I need to know something.
    ? ask_user Which database?  question [SHORT]
    waiting for an answer · question [SHORT]
    ── so far; going on from here ──
    ← User responded to your question: SQLite …
    ▸ write answer.txt  Created (7 bytes). · [TIME]

    │ Done.

    COMPLETED, not verified  3 model calls · 2 tool calls · 2,790 tokens · $0.0000 · [TIME]
    ");
    assert_eq!(home.read("answer.txt"), "sqlite\n");
    assert!(open_questions(&home).is_empty());
    let log = home.windlass(&["log", "--json"]).run().expect(0).objects();
    let kinds: Vec<&str> = log.iter().filter_map(|record| record["type"].as_str()).collect();
    let ended = kinds.iter().position(|kind| *kind == "tool.finished").expect("the call has its result");
    assert_eq!(kinds[ended + 1], "injection.received", "{kinds:?}");
    assert_eq!(log[ended + 1]["data"]["injection_type"], "hitl_response");
    assert_eq!(log[ended + 1]["data"]["taint"], "auth");
}

#[test]
fn a_worker_picks_up_what_was_answered() {
    let home = asked();
    home.windlass(&["send", &task(&home), "SQLite"]).run().expect(0);
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    assert_eq!((standing(&home).as_str(), home.read("answer.txt").as_str()), ("completed", "sqlite\n"));
}

#[test]
fn at_a_terminal_it_is_asked_right_there() {
    for (typed, written) in [("2\n", "sqlite\n"), ("a pencil\n", "pencil\n")] {
        let home = Home::playing(ASKER);
        let mut terminal = Terminal::start(&home, &format!("run 'Do it' --rehearsal {}", home.script().display()));
        terminal.types("go\n");
        terminal.wait_for("Which database?");
        terminal.wait_for("1  PostgreSQL");
        terminal.wait_for(PROMPT);
        terminal.types("\n");
        terminal.wait_for("type an answer");
        terminal.wait_for(PROMPT);
        terminal.types(typed);
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
        assert_eq!(home.read("answer.txt"), written);
    }
}

#[test]
fn ctrl_c_leaves_the_question_and_an_answer_from_elsewhere_ends_it() {
    let home = Home::playing(ASKER);
    let mut terminal = Terminal::start(&home, &format!("run 'Do it' --rehearsal {}", home.script().display()));
    terminal.types("go\n");
    terminal.wait_for(PROMPT);
    terminal.types("\u{3}");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("windlass send"), "{shown}");
    assert_eq!(standing(&home), "waiting");
    let mut terminal = Terminal::start(&home, "resume");
    terminal.types("go\n");
    terminal.wait_for(PROMPT);
    home.windlass(&["send", &task(&home), "SQLite"]).run().expect(0);
    terminal.wait_for("answered elsewhere");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(home.read("answer.txt"), "sqlite\n");
}

#[test]
fn the_second_of_two_answers_is_a_message_and_says_so() {
    let home = asked();
    let question = open_questions(&home)[0]["request_id"].as_str().expect("an id").to_owned();
    home.windlass(&["send", &task(&home), "SQLite", "--question", &question]).run().expect(0);
    assert_shown!(home, home.windlass(&["send", &task(&home), "no, PostgreSQL", "--question", &question]).run(), @"
    exit code 0
    --- stdout
    SENT  question [SHORT] has its answer, so that this is a message · task [SHORT]
    the agent hears it when it goes on: windlass resume [SHORT]
    ");
    home.windlass(&["resume"]).run().expect(0);
    let log = home.windlass(&["log"]).run().expect(0).stdout;
    assert!(log.contains("← User says: no, PostgreSQL"), "{log}");
    assert_eq!(home.read("answer.txt"), "sqlite\n");
}

/// Two questions in one answer, a call behind them, and what was heard.
const TWICE: &str = r#"
version: 1
tracks:
  default:
    - calls:
        - { tool: ask_user, args: { question: "Which database?" } }
        - { tool: ask_user, args: { question: "Which port?" } }
        - { tool: write, args: { path: after.txt, content: "after\n" } }
      usage: { input: 900, output: 40 }
    - when: { request: "question: five(?s:.*)Which port(?s:.*)question: SQLite(?s:.*)Which database" }
      reply: Heard both.
      usage: { input: 900, output: 10 }
"#;

#[test]
fn several_questions_are_all_put_and_answered_one_by_one() {
    let home = Home::playing(TWICE);
    home.run(&[]).run().expect(3);
    let questions = open_questions(&home);
    assert_eq!(questions.len(), 2);
    let port = short(&questions[1]["request_id"]);
    let refused = home.windlass(&["send", &task(&home), "SQLite"]).run().expect(2).stderr;
    for told in ["has asked 2 questions", "Which database", "Which port", port.as_str(), "--question ID"] {
        assert!(refused.contains(told), "{told}: {refused}");
    }
    assert_eq!(open_questions(&home).len(), 2, "nothing was answered");
    home.windlass(&["send", &task(&home), "five", "--question", &port]).run().expect(0);
    home.windlass(&["resume"]).run().expect(3);
    assert!(!home.workspace().join("after.txt").exists(), "what comes after waits for both");
    assert_eq!(open_questions(&home).len(), 1);
    home.windlass(&["send", &task(&home), "SQLite"]).run().expect(0);
    let ended = home.windlass(&["resume"]).run().expect(0);
    assert!(ended.stdout.contains("│ Heard both."), "{}", ended.stdout);
    assert_eq!(home.read("after.txt"), "after\n");
}

const LISTENER: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "while [ ! -e go ]; do sleep 0.2; done" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "User says: hurry" }
      reply: I hurry.
      repeat: forever
      usage: { input: 90, output: 10 }
    - calls: [ { tool: bash, args: { command: "sleep 0.1" } } ]
      repeat: forever
      usage: { input: 90, output: 10 }
"#;

#[test]
fn words_to_a_running_task_are_heard_before_its_next_step() {
    let home = Home::playing(LISTENER);
    let running = home.run(&[]).start();
    wait_for_process(&home, "sleep 0.2");
    let told = home.windlass(&["send", &task(&home), "hurry"]).run().expect(0).stdout;
    assert!(told.contains("hears it before its next step"), "{told}");
    home.write("go", "");
    let ended = running.end().expect(0);
    assert!(ended.stdout.contains("│ I hurry."), "{}", ended.stdout);
}

#[test]
fn words_that_cannot_be_sent_are_wrong_use_and_change_nothing() {
    let home = asked();
    let other = Home::playing(ASKER);
    other.run(&[]).run().expect(3);
    let task = task(&home);
    assert_shown!(home, home.windlass(&["send", &task, " "]).run(), @r#"
    exit code 2
    --- stderr
    error: the message is empty
    hint: say something between the quotes
    "#);
    let long = "x".repeat(1 << 20);
    assert_shown!(home, home.windlass(&["send", &task, "-"]).hearing(&long).run(), @"
    exit code 2
    --- stderr
    error: the message is longer than 65536 bytes: put it into a file of the workspace, and name the file
    ");
    let foreign = open_questions(&other)[0]["request_id"].as_str().expect("an id").to_owned();
    assert_shown!(home, home.windlass(&["send", &task, "SQLite", "--question", &foreign]).run(), @"
    exit code 2
    --- stderr
    error: task [ID] has asked no question [ID]
    hint: `windlass inbox` shows the questions
    ");
    assert_eq!(standing(&home), "waiting");
    home.windlass(&["cancel", &task]).run().expect(0);
    assert!(open_questions(&home).is_empty(), "taken back");
    assert_shown!(home, home.windlass(&["send", &task, "SQLite"]).run(), @"
    exit code 2
    --- stderr
    error: task [ID] has already ended
    hint: `windlass status` lists the tasks
    ");
}

const RUDE: &str = r#"
version: 1
tracks:
  default:
    - calls:
        - tool: ask_user
          args: { question: "Really?\u001b[2J\u202e", options: ["y\u0007es"] }
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#;

#[test]
fn control_characters_are_shown_and_not_obeyed() {
    let home = Home::playing(RUDE);
    let run = home.run(&[]).run().expect(3).stdout;
    let inbox = home.windlass(&["inbox"]).run().expect(0).stdout;
    home.windlass(&["send", &task(&home), "no\u{1b}[2J"]).run().expect(0);
    let resumed = home.windlass(&["resume"]).run().expect(0).stdout;
    for shown in [run, inbox, resumed] {
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{shown}");
    }
}
