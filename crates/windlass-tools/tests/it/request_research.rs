//! `request_research`: a question for somebody else, which the host takes.

use serde_json::json;
use windlass_domain::research::ResearchQuestion;
use windlass_domain::{CallStatus, Effect, HostWork, Reach};
use windlass_tools::{Kit, Toolset};

use crate::support::Bench;

fn planners(bench: &Bench) -> Toolset {
    Toolset::new(bench.context(), Kit::planner())
}

#[test]
fn the_host_is_asked_with_five_hundred_tokens_unless_told_otherwise() {
    let bench = Bench::new();
    let asked = |arguments| {
        let ran = bench.call_with(&planners(&bench), "request_research", &arguments);
        assert_eq!(ran.status, CallStatus::Ok, "{}", ran.content);
        match ran.request.unwrap().work {
            HostWork::Research(ResearchQuestion { task, return_format, max_tokens }) => {
                (task, return_format, max_tokens)
            }
            other => panic!("{other:?}"),
        }
    };
    let question = json!({ "task": "Is there a cache?", "return_format": "yes/no" });
    assert_eq!(asked(question), ("Is there a cache?".to_owned(), "yes/no".to_owned(), 500));
    assert_eq!(asked(json!({ "task": "a", "return_format": "b", "max_tokens": 50 })).2, 50);
}

/// After a crash it is asked again, and the host knows the question.
#[test]
fn it_may_be_asked_again_and_reaches_nothing_by_itself() {
    let bench = Bench::new();
    let arguments = json!({ "task": "a", "return_format": "b" }).to_string();
    let prepared = bench.prepare_with(&planners(&bench), "request_research", &arguments).unwrap();
    assert_eq!((prepared.effect, prepared.reach, prepared.program), (Effect::Read, Reach::Context, None));
}

#[test]
fn a_question_that_is_none_or_too_much_is_refused() {
    let bench = Bench::new();
    let told = |arguments| bench.error_with(&planners(&bench), "request_research", &arguments);
    assert!(told(json!({ "task": "a" })).contains("`return_format`: missing"));
    assert!(told(json!({ "task": "", "return_format": "b" })).contains("must not be empty"));
    assert!(told(json!({ "task": "a", "return_format": "b", "max_tokens": 0 })).contains("from 1 to 4000"));
    assert!(told(json!({ "task": "a".repeat(4_001), "return_format": "b" })).contains("`task`: has 4001 letters"));
    assert!(told(json!({ "task": "a", "return_format": "b".repeat(1_001) })).contains("ask for less"));
}
