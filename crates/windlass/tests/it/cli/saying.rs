//! Conversations: a message is answered at once; work that it begins is shown, asked about and carried out as that of `run`; and tasks of the
//! conversation are told, stopped, paused and gone on with by words.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use super::cards::{approve, card, is_there, open_cards, standing};
use super::served::serve;
use super::through_openai;
use crate::support::{Ended, Home, Program, none_left};

/// The proxy goes by what is said last. Whose id begins with `01` is any task of this age.
const EVERYBODY: &str = r#"
version: 1
tracks:
  proxy:
    - when: { last_result: 'has been told' }
      reply: '{"route": "direct", "response": "An empty folder."}'
      repeat: forever
    - when: { request: 'The user says\s+hello' }
      reply: '{"route": "small_talk", "response": "Hello yourself."}'
    - when: { request: 'The user says\s+what is this' }
      calls: [ { tool: tell_user, args: { message: "Let me look." } } ]
    - when: { request: 'The user says\s+write the notes' }
      reply: '{"route": "new_task", "response": "On it."}'
    - when: { request: 'The user says\s+make a shop' }
      reply: '{"route": "planner", "response": "A planner thinks about it."}'
    - when: { request: 'The user says\s+and make it green' }
      reply: '{"route": "inject_into_active", "task_id": "01", "response": "I pass it on."}'
    - when: { request: 'The user says\s+stop it' }
      reply: '{"route": "cancel_task", "task_id": "01", "response": "Stopping."}'
    - when: { request: 'The user says\s+hold on' }
      reply: '{"route": "pause_task", "task_id": "01", "response": "Pausing."}'
    - when: { request: 'The user says\s+go on' }
      reply: '{"route": "resume_task", "task_id": "01", "response": "Going on."}'
  planner:
    - reply: |
        {"message": "One item.", "plan_action": {"plan_markdown": "---\nid: shop\ntype: task\ntitle: A shop for books\nverify: [{file: books.json}]\n---\n# What to do\nThree books.\n"}}
  executor:
    - when: { last_result: "bytes" }
      reply: Done.
      repeat: forever
    - when: { request: "make it green", last_result: "Exit code" }
      calls: [ { tool: write, args: { path: green.txt, content: "green\n" } } ]
      repeat: forever
    - when: { last_result: "Exit code" }
      calls: [ { tool: write, args: { path: notes.txt, content: "notes\n" } } ]
      repeat: forever
    - when: { request: "Three books" }
      calls: [ { tool: write, args: { path: books.json, content: "[]\n" } } ]
    - calls: [ { tool: bash, args: { command: "rm -f old.txt" } } ]
"#;

fn saying(home: &Home, words: &str, more: &[&str]) -> Program {
    home.windlass(&[&["say", words, "--rehearsal", "../script.yaml"], more].concat())
}

fn say(home: &Home, words: &str) -> Ended {
    saying(home, words, &[]).run()
}

fn kinds(ended: &Ended) -> Vec<String> {
    ended.objects().iter().map(|line| line["type"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn small_talk_is_answered_and_leaves_nothing_behind() {
    let home = Home::playing(EVERYBODY);
    let ended = say(&home, "hello").expect(0);
    assert_eq!(ended.stdout, "│ Hello yourself.\n");
    let ended = saying(&home, "hello", &["--json"]).run().expect(0);
    assert_eq!(kinds(&ended), ["answer", "result"]);
    let answer = &ended.objects()[0];
    assert_eq!((&answer["route"], &answer["response"]), (&"small_talk".into(), &"Hello yourself.".into()));
    assert!(home.windlass(&["status"]).run().expect(0).stdout.starts_with("No tasks yet."));
    none_left(&home);
}

#[test]
fn what_the_proxy_says_while_it_looks_is_shown_at_once() {
    let home = Home::playing(EVERYBODY);
    assert_eq!(say(&home, "what is this").expect(0).stdout, "│ Let me look.\n│ An empty folder.\n");
}

#[test]
fn a_direct_request_is_begun_asked_about_and_carried_out() {
    let home = Home::playing(EVERYBODY);
    home.write("old.txt", "old\n");
    let ended = say(&home, "write the notes").expect(3);
    assert!(ended.stdout.starts_with("│ On it.\n▸ begun: task "), "{}", ended.stdout);
    assert!(ended.stdout.contains("write the notes") && ended.stdout.contains("the plan  needs approval"));
    assert!(!is_there(&home, "notes.txt"), "nobody has agreed yet");
    approve(&home);
    home.windlass(&["resume"]).run().expect(3);
    let asked = &open_cards(&home)[0];
    assert_eq!(asked["details"]["item"]["title"], "write the notes", "the risky command is asked about by its item");
    let shown = home.windlass(&["inbox"]).run().expect(0).stdout;
    assert!(shown.contains("  item      request · write the notes"), "{shown}");
    approve(&home);
    home.windlass(&["resume"]).run().expect(0);
    assert_eq!(home.read("notes.txt"), "notes\n");
}

#[test]
fn a_request_that_needs_a_plan_goes_to_the_planner_and_ends_in_a_card() {
    let home = Home::playing(EVERYBODY);
    let ended = saying(&home, "make a shop", &["--json"]).run().expect(3);
    let lines = ended.objects();
    assert_eq!((lines[0]["type"].as_str(), lines[0]["done"]["kind"].as_str()), (Some("answer"), Some("began")));
    assert_eq!(ended.result()["status"], "BLOCKED_USER");
    assert_eq!(open_cards(&home)[0]["intent"], "A shop for books");
    approve(&home);
    home.windlass(&["resume"]).run().expect(0);
    assert!(is_there(&home, "books.json"));
}

#[test]
fn what_is_said_about_a_task_under_way_is_heard_by_whoever_works_on_it() {
    let home = Home::playing(EVERYBODY);
    let early = {
        say(&home, "write the notes").expect(3);
        say(&home, "and make it green").expect(0)
    };
    assert!(early.stdout.contains("Nobody works on that task yet"), "{}", early.stdout);
    approve(&home);
    home.windlass(&["resume"]).run().expect(3);
    let told = say(&home, "and make it green").expect(0);
    assert!(told.stdout.starts_with("│ I pass it on.\n▸ task "), "{}", told.stdout);
    approve(&home);
    home.windlass(&["resume"]).run().expect(0);
    assert_eq!(home.read("green.txt"), "green\n");
}

#[test]
fn a_task_is_stopped_by_a_word_in_its_own_conversation_and_in_no_other() {
    let home = Home::playing(EVERYBODY);
    say(&home, "write the notes").expect(3);
    let other = saying(&home, "stop it", &["--session", "other"]).run().expect(0);
    assert!(other.stdout.contains("No task of this conversation"), "{}", other.stdout);
    assert_eq!(standing(&home), "waiting");
    let stopped = say(&home, "stop it").expect(0);
    assert!(stopped.stdout.contains("is asked to stop for good"), "{}", stopped.stdout);
    assert_eq!(standing(&home), "cancelled");
    assert!(open_cards(&home).is_empty());
}

#[test]
fn a_task_is_paused_and_gone_on_with_by_words() {
    let home = Home::playing(EVERYBODY);
    say(&home, "make a shop").expect(3);
    say(&home, "hold on").expect(0);
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    assert_eq!(tasks[0]["status"], "PAUSED");
    approve(&home);
    let on = say(&home, "go on").expect(0);
    assert!(on.stdout.contains("Going on.") && on.stdout.contains("COMPLETED, verified"), "{}", on.stdout);
    assert!(is_there(&home, "books.json"));
}

#[test]
fn work_that_a_message_begins_can_be_left_to_workers() {
    let home = Home::playing(EVERYBODY);
    let ended = saying(&home, "make a shop", &["--detach", "--json"]).run().expect(0);
    assert_eq!(kinds(&ended), ["answer", "result"]);
    assert!(open_cards(&home).is_empty());
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    home.windlass(&["approve", &card(&home)]).run().expect(0);
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    assert!(is_there(&home, "books.json"));
}

#[test]
fn nothing_said_is_a_mistake() {
    let home = Home::playing(EVERYBODY);
    let ended = say(&home, " ").expect(2);
    assert_eq!(ended.stderr, "error: the message is empty\nhint: say something: windlass say \"…\"\n");
}

#[test]
fn proxy_planner_and_executor_ask_the_models_that_the_operator_chose_for_them() {
    let home = Home::playing(EVERYBODY);
    fs::create_dir_all(home.data()).expect("a folder");
    let chosen =
        "[models]\nproxy = \"rehearsal/proxy\"\nplanner = \"rehearsal/planner\"\nexecutor = \"rehearsal/executor\"\n";
    fs::write(home.data().join("windlass.toml"), chosen).expect("written");
    let (server, url) = serve(&home);
    let through =
        |words: &[&str]| through_openai(home.windlass(words), &url, "sk-loopback-0123456789").without("LITELLM_MODEL");
    through(&["say", "make a shop"]).run().expect(3);
    let details: &Value = &open_cards(&home)[0]["details"];
    assert_eq!(
        (&details["model"], &details["planner_model"]),
        (&"rehearsal/executor".into(), &"rehearsal/planner".into())
    );
    approve(&home);
    through(&["resume"]).run().expect(0);
    assert!(is_there(&home, "books.json"));
    server.signal(Signal::INT);
    server.end().expect(0);
}
