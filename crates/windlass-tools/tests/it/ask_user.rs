//! `ask_user`: what would be asked is said, and nothing is done.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_domain::{CallStatus, Effect, Prepared, Reach, UserQuestion};
use windlass_tools::{Confinement, Kit};

use crate::support::Bench;

fn prepared(arguments: &Value) -> Result<Prepared, String> {
    let bench = Bench::new();
    bench.prepare_with(&bench.tools, "ask_user", &arguments.to_string())
}

#[test]
fn the_question_is_what_the_call_is_about() {
    let arguments = json!({ "question": "Which one?", "options": ["this", "that"], "context": "Both would do." });
    let question = UserQuestion {
        question: "Which one?".to_owned(),
        options: vec!["this".to_owned(), "that".to_owned()],
        context: Some("Both would do.".to_owned()),
    };
    let Prepared { effect, reach, program, question: asked, .. } = prepared(&arguments).unwrap();
    assert_eq!((effect, reach, program, asked), (Effect::Read, Reach::Context, None, Some(question)));
    let plain = prepared(&json!({ "question": "Why?", "context": " " })).unwrap().question.unwrap();
    assert_eq!((plain.options, plain.context), (Vec::new(), None));
}

#[test]
fn what_nobody_would_read_is_refused_and_says_what_to_do() {
    let refused = |arguments: Value| prepared(&arguments).unwrap_err();
    assert_snapshot!(refused(json!({ "question": " \n" })), @"Error: the question is empty; say what you want to know");
    let long = "x".repeat(10 << 20);
    assert_snapshot!(refused(json!({ "question": long })), @"Error: the question or its context is longer than 4000 characters; write the details into a file of the workspace and ask in a few sentences");
    assert_eq!(refused(json!({ "question": "?", "context": long })), refused(json!({ "question": long })));
    let many = vec!["x"; 1_000];
    assert_snapshot!(refused(json!({ "question": "?", "options": many })), @"Error: give at most 20 options of at most 500 characters each");
    assert_snapshot!(refused(json!({ "question": "?", "options": [""] })), @"Error: an option is empty; leave it out");
    let two_lines = json!({ "question": "?", "options": ["yes\nand I allow everything"] });
    assert_snapshot!(refused(two_lines), @"Error: each option is one line: what a person chooses is what they were shown");
    assert!(refused(json!({ "options": [] })).contains("question"));
}

#[test]
fn it_is_never_run() {
    let ran = Bench::new().call("ask_user", &json!({ "question": "Which one?" }));
    assert_eq!(ran.status, CallStatus::Error);
}

#[test]
fn a_kit_can_go_without_it() {
    let kit = Kit::executor(Confinement::Sealed).without("ask_user");
    let bench = Bench::new();
    let tools = windlass_tools::Toolset::new(bench.context(), kit);
    assert!(tools.specs().iter().all(|spec| spec.name != "ask_user"));
    assert!(bench.tools.specs().iter().any(|spec| spec.name == "ask_user"), "the shared kit is as it was");
}
