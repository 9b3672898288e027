//! The tactician form: one decision at a time, from `context.md`, within the token budget, through the same gates.

use windlass_agent::Settings;
use windlass_domain::execution::{ExecutionEvent, Outcome};
use windlass_domain::{ErrorCode, Host as _, Role};

use crate::next::led;
use crate::patterns::{course, made, script, shipped};
use crate::speaker::speakers;
use crate::support::{Judgement, Stage};

fn stage(pattern: &str, lines: &[&str]) -> Stage {
    let state = led(shipped(pattern), crate::compaction::wide());
    let tools = speakers(&["web_search", "create_skill", "read"]);
    let script = script(lines);
    let mut stage =
        Stage::with(&script, "Keep how it is done.", tools, |_| Judgement::Grant, state, Settings::default());
    stage.role = Role::Tactician;
    stage
}

fn call(tool: &str, say: &str) -> String {
    let decision = format!(
        r#"{{"_type": "EXECUTOR_DECISION", "action": "CALL_TOOL", "tool": {{"name": "{tool}", "args": {{"say": "{say}"}}}}, "state": {{"step": 9}}, "reasoning": "because"}}"#
    );
    format!("reply: '{decision}'")
}

const DONE: &str = r#"reply: '{"_type": "EXECUTOR_DECISION", "action": "DONE", "reasoning": "The skill is there."}'"#;

/// Seed 003's first criterion.
#[test]
fn skill_build_completes_in_at_most_three_executor_iterations() {
    let stage = stage("skill_build", &[&call("web_search", "how"), &call("create_skill", "made"), DONE]);
    assert_eq!(stage.run(), Outcome::Completed { message: "The skill is there.".to_owned() });
    assert_eq!(stage.host.state().answers, 3);
    assert_eq!(course(&stage), ["research done synthesize", "synthesize passed generate", "generate done complete"]);
    assert_eq!((made(&stage, "web_search"), made(&stage, "create_skill")), (1, 1));
}

/// Spoken only where the question has this in it.
fn when(request: &str, reply: &str) -> String {
    format!("{{when: {{request: '{request}'}}, {reply}}}")
}

#[test]
fn each_question_shows_where_the_task_stands_and_what_can_be_called() {
    let search = when("(?s)- web_search .*Keep how it is done.*Current step: research", &call("web_search", "how"));
    let create = when("(?s)- create_skill .*\\[done\\] research.*→ ok.> how", &call("create_skill", "made"));
    let done = when("(?s)None: say DONE.*The pattern is over: complete", DONE);
    let stage = stage("skill_build", &[&search, &create, &done]);
    assert_eq!(stage.run(), Outcome::Completed { message: "The skill is there.".to_owned() });
}

#[test]
fn its_own_account_of_where_it_stands_counts_for_nothing() {
    let claims = r#"reply: '{"action": "DONE", "state": {"step": 3, "completed": ["research", "generate"]}, "reasoning": "All done."}'"#;
    let stage = stage("skill_build", &[claims, claims]);
    let Outcome::Failed(error) = stage.run() else { panic!("nothing was done") };
    assert_eq!(error.error_code, ErrorCode::Stuck);
    assert_eq!(course(&stage), ["too early research"]);
}

#[test]
fn an_answer_that_is_no_decision_is_handed_back_once() {
    let unusable = |stage: &Stage| {
        let journal = stage.host.journal.lock().expect("one thread");
        journal.iter().filter(|event| matches!(event, ExecutionEvent::ModelFailed(_))).count()
    };
    let listens = stage(
        "skill_build",
        &[
            &when("could not be used: there is no JSON object", &call("web_search", "how")),
            &when("Current step: research", "reply: I would search."),
            &when("Current step: synthesize", &call("create_skill", "made")),
            DONE,
        ],
    );
    assert_eq!(listens.run(), Outcome::Completed { message: "The skill is there.".to_owned() });
    assert_eq!(unusable(&listens), 1);
    let prattles = stage("skill_build", &["{reply: I would search., repeat: forever}"]);
    let Outcome::Failed(error) = prattles.run() else { panic!("it never decides") };
    assert_eq!(error.error_code, ErrorCode::AnswerIncomplete);
    assert_eq!(unusable(&prattles), 2, "told once, and given up at the second");
}

#[test]
fn who_cannot_go_on_says_so() {
    let stage = stage("skill_build", &[r#"reply: '{"action": "ESCALATE", "reasoning": "there is no network"}'"#]);
    let Outcome::Failed(error) = stage.run() else { panic!("it is stuck") };
    assert_eq!(
        (error.error_code, error.message.as_str()),
        (ErrorCode::Stuck, "the agent cannot go on: there is no network")
    );
}

/// Seed 003's recipe: 3,500 tokens in all, of which 500 are the answer's.
#[test]
fn a_question_keeps_to_the_token_budget_however_much_was_found() {
    let long = "a very long page ".repeat(2_000);
    let search = call("web_search", &long);
    let stage = stage("skill_build", &[&search, &call("create_skill", "made"), DONE]);
    assert!(matches!(stage.run(), Outcome::Completed { .. }));
    let journal = stage.host.journal.lock().expect("one thread");
    let asked: Vec<u64> = journal
        .iter()
        .filter_map(|event| match event {
            ExecutionEvent::ModelRequested(request) => Some(request.estimated_input),
            _ => None,
        })
        .collect();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|tokens| *tokens <= 3_000), "{asked:?}");
    assert!(asked[1] > 1_500, "the result is in it, as far as it fits: {asked:?}");
}

#[test]
fn without_steps_it_has_all_its_tools() {
    let stage = stage("generic", &[&call("read", "x"), DONE]);
    assert_eq!(stage.run(), Outcome::Completed { message: "The skill is there.".to_owned() });
    assert_eq!((made(&stage, "read"), course(&stage).len()), (1, 0));
}
