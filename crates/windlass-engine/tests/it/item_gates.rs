//! Gates that a plan sets for one of its items: at all four triggers they hold for that item and for no other, and for what holds
//! it where that set them. The item beside it, which does the same without the gate, is each test's control.

use windlass_domain::execution::{AgentInjection, ExecutionEvent, InjectionType};
use windlass_domain::plan::AtomId;
use windlass_domain::{ErrorCode, Taint, TaskId};
use windlass_engine::{Driven, Engine};
use windlass_policy::gate::read_gates;

use crate::court::{Ask, Court, bash, read, write};
use crate::planned::{approve_and_drive, finished, given, text};

fn absent(on: &str, field: &str) -> String {
    format!("{{name: no, on: {on}, type: string_match, config: {{field: {field}, any_of: [forbidden]}}}}")
}

/// `gated` has the gate, and `free` has none.
fn two(gate: &str) -> String {
    format!(
        "---\nid: two\ntype: project\ntitle: Two\ntasks:\n  - {{id: gated, type: task, title: Gated, gates: [{gate}], \
         budget: {{max_attempts: 1}}}}\n  - {{id: free, type: task, title: Free, budget: {{max_attempts: 1}}}}\n---\n# What to \
         do\nBoth.\n"
    )
}

fn cast(court: &Court, steps: &[Vec<Ask>], last_word: &str) {
    for title in ["Gated", "Free"] {
        court.things.cast(title, vec![steps.to_vec()], last_word);
    }
}

fn run_of(court: &Court, engine: &Engine, task: TaskId, atom: &str) -> TaskId {
    let graph = court.wait(engine.graph(task)).unwrap();
    graph.progress(&AtomId::parse(atom).unwrap()).unwrap().runs[0].task
}

/// How the attempt of each of the two ended: the code of its error.
fn ends(court: &Court, engine: &Engine, task: TaskId) -> (Option<ErrorCode>, Option<ErrorCode>) {
    let end = |atom| {
        let run = run_of(court, engine, task, atom);
        let state = court.wait(engine.task(run)).unwrap();
        let ended = state.attempts[0].ended.clone().expect("it has ended");
        ended.error.map(|error| error.error_code)
    };
    (end("gated"), end("free"))
}

#[test]
fn an_items_gate_blocks_its_call_and_not_another_items() {
    let court = Court::new(vec![]);
    court.things.cast("Gated", vec![vec![vec![write("a.txt", "forbidden")], vec![write("a.txt", "plain")]]], "done");
    court.things.cast("Free", vec![vec![vec![write("b.txt", "forbidden")]]], "done");
    let engine = court.process();
    let task = given(&court, &engine, &two(&absent("on_tool_call", "tool_args.content")));
    approve_and_drive(&court, &engine, task);
    assert_eq!(text(&court, "a.txt").as_deref(), Some("plain"));
    assert_eq!(text(&court, "b.txt").as_deref(), Some("forbidden"));
    assert_eq!(court.performed().len(), 2, "what was blocked was not done");
    let told = &court.results(&engine, run_of(&court, &engine, task, "gated"))[0];
    assert!(told.content.starts_with("not done: the gate `no`:"), "{}", told.content);
}

#[test]
fn what_a_step_came_to_is_judged_by_the_items_gate() {
    let court = Court::new(vec![]);
    court.put("page", "forbidden");
    cast(&court, &[vec![read("page")]], "done");
    let engine = court.process();
    let task = given(&court, &engine, &two(&absent("after_step", "step.content")));
    approve_and_drive(&court, &engine, task);
    assert_eq!(ends(&court, &engine, task), (Some(ErrorCode::GateBlocked), None));
}

#[test]
fn an_agents_last_word_is_judged_by_the_items_gate() {
    let court = Court::new(vec![]);
    cast(&court, &[], "a forbidden word");
    let engine = court.process();
    let task = given(&court, &engine, &two(&absent("every_agent_response", "response")));
    approve_and_drive(&court, &engine, task);
    assert_eq!(ends(&court, &engine, task), (Some(ErrorCode::GateBlocked), None));
}

#[test]
fn what_a_user_says_is_judged_by_the_gate_of_the_item_it_is_said_to() {
    let court = Court::new(vec![]);
    cast(&court, &[vec![bash("rm notes")], vec![read("notes")]], "done");
    let engine = court.process();
    let task = given(&court, &engine, &two(&absent("every_user_message", "message")));
    court.drive(&engine, task);
    court.approve(&engine, court.only_card(&engine).card.card_id);
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)), "both ask about their call");
    let runs = ["gated", "free"].map(|atom| run_of(&court, &engine, task, atom));
    for run in runs {
        let content = "a forbidden word".to_owned();
        let said = AgentInjection { injection_type: InjectionType::UserMessage, content, metadata: None };
        court.wait(engine.inject(run, said, Taint::Auth)).unwrap();
    }
    for asked in court.wait(engine.cards()).unwrap() {
        court.approve(&engine, asked.card.card_id);
    }
    finished(court.drive(&engine, task));
    let heard = runs.map(|run| {
        let is_injected = |event: &ExecutionEvent| matches!(event, ExecutionEvent::InjectionReceived(_));
        court.execution_events(&engine, run).iter().any(is_injected)
    });
    assert_eq!(heard, [false, true]);
}

const HELD: &str = "---
id: held
type: project
title: Held
gates: [{name: no, on: on_tool_call, type: string_match, config: {field: tool_args.content, any_of: [forbidden]}}]
tasks: [{id: inner, type: task, title: Inner, budget: {max_attempts: 1}}]
---
# What to do
It.
";

#[test]
fn a_projects_gate_holds_for_all_that_it_holds() {
    let court = Court::new(vec![]);
    court.things.cast("Inner", vec![vec![vec![write("a.txt", "forbidden")]]], "done");
    let engine = court.process();
    let task = given(&court, &engine, HELD);
    approve_and_drive(&court, &engine, task);
    assert!(court.performed().is_empty());
}

/// An item's gate may change words; what it makes of them is held against the operator's once more.
#[test]
fn an_item_cannot_write_past_the_operators_gate() {
    let court = Court::new(vec![]);
    cast(&court, &[], "a plain word");
    let operators = read_gates(&format!("- {}", absent("every_agent_response", "response"))).unwrap();
    let engine = court.process_with(|parts| parts.law.gates = operators);
    let gate = "{name: change, on: every_agent_response, type: regex, config: {field: response, pattern: plain, replace: \
                forbidden}}";
    let task = given(&court, &engine, &two(gate));
    approve_and_drive(&court, &engine, task);
    assert_eq!(ends(&court, &engine, task), (Some(ErrorCode::GateBlocked), None));
}
