//! What the roles of seed 001 ask of the host, and what becomes of a last word that a program has to read: it is handed back
//! once, and a planner ends with a plan or with a failure that says why.

use serde_json::json;
use windlass_domain::execution::{ExecutionEvent, OwnerEffect};
use windlass_domain::task::{TaskCreated, TaskEvent};
use windlass_domain::{CallStatus, ErrorCode, Role, Secret, TaskId, TaskResultStatus};
use windlass_engine::{Driven, Engine, TripwirePoint};
use windlass_policy::Redactor;
use windlass_policy::gate::read_gates;

use crate::court::{Ask, At, Court, call};

const PLAN: &str = "---\nid: a\ntype: task\ntitle: A\nverify: [{command: make}]\n---\n# What to do\nIt.\n";

fn tell(message: &str) -> Ask {
    call("tell_user", json!({ "message": message }))
}

/// A task whose agent has this role. Nobody can submit one, so that the record is written as the runtime would write it.
fn submit(court: &Court, engine: &Engine, role: Role) -> TaskId {
    let task = court.submit(engine);
    let created = court.wait(engine.task(task)).unwrap().created.unwrap();
    court.forge_task(task, TaskEvent::Created(TaskCreated { role, ..created }));
    task
}

fn run(steps: Vec<Vec<Ask>>, gates: &str) -> (Court, Engine, TaskId) {
    let court = Court::new(steps);
    let gates = if gates.is_empty() { Vec::new() } else { read_gates(gates).unwrap() };
    let engine = court.process_with(|parts| {
        parts.law.gates = gates;
        parts.redactor = Redactor::new([&Secret::new("hunter2hunter2")]);
    });
    let task = court.submit(&engine);
    assert_eq!(court.drive(&engine, task).result().status, TaskResultStatus::Completed);
    (court, engine, task)
}

fn told(court: &Court, engine: &Engine, task: TaskId) -> Vec<String> {
    let message = |event| match event {
        ExecutionEvent::OwnerEffect(OwnerEffect::Told { message, .. }) => Some(message),
        _ => None,
    };
    court.execution_events(engine, task).into_iter().filter_map(message).collect()
}

fn handed_back(court: &Court, engine: &Engine, task: TaskId) -> Vec<String> {
    let words = |event| match event {
        ExecutionEvent::InjectionReceived(received) if received.injection.is_repair() => {
            Some(received.injection.content)
        }
        _ => None,
    };
    court.execution_events(engine, task).into_iter().filter_map(words).collect()
}

#[test]
fn what_the_user_is_told_is_a_record_of_its_own_without_secrets() {
    let (court, engine, task) = run(vec![vec![tell("Looking."), tell("It is hunter2hunter2.")]], "");
    assert_eq!(told(&court, &engine, task), ["Looking.", "It is [REDACTED]."]);
    let results = court.results(&engine, task);
    assert!(results.iter().all(|result| result.content == "The user has been told."), "{results:?}");
}

#[test]
fn what_the_user_is_told_passes_the_gates_for_what_agents_say() {
    let gate = "- {name: no, on: every_agent_response, type: string_match, config: {field: response, any_of: [forbidden]}}\n\
                - {name: out, on: every_agent_response, type: regex, config: {field: response, pattern: rude, replace: kind}}";
    let steps = || vec![vec![tell("a forbidden word"), tell("a rude word"), tell("a plain word")]];
    let (court, engine, task) = run(steps(), gate);
    assert_eq!(told(&court, &engine, task), ["a kind word", "a plain word"]);
    let refused = &court.results(&engine, task)[0];
    assert_eq!(refused.status, CallStatus::Error);
    assert!(refused.content.starts_with("not told: the gate `no`"), "{}", refused.content);
    assert_eq!(court.decisions(&engine)[..2], ["gateblock block", "gateblock rewrite"]);
    let (court, engine, task) = run(steps(), "");
    assert_eq!(told(&court, &engine, task).len(), 3, "the control");
}

/// A process that dies anywhere around the call tells the user once, neither never nor twice.
#[test]
fn the_user_is_told_once_whoever_dies() {
    let mut deaths = 0;
    for point in [TripwirePoint::Permitted, TripwirePoint::BeforeCommit, TripwirePoint::AfterCommit] {
        for time in 1..=12 {
            let court = Court::new(vec![vec![tell("Looking.")]]);
            let engine = court.process();
            let task = court.submit(&engine);
            drop(engine);
            let lived = court.die(At(point, time), async |engine| {
                engine.drive(task, std::sync::Arc::new(windlass_engine::NobodyWatches)).await
            });
            let engine = court.process();
            if lived.is_none() {
                deaths += 1;
                court.drive(&engine, task);
            }
            assert_eq!(told(&court, &engine, task), ["Looking."], "{point:?} {time}");
        }
    }
    assert!(deaths > 5, "{deaths}");
}

#[test]
fn a_plan_is_read_as_it_will_be_when_it_is_proposed() {
    let check = |plan: &str| call("validate_plan", json!({ "plan_markdown": plan }));
    let broken = PLAN.replace("title: A", "titel: A");
    let (court, engine, task) = run(vec![vec![check(PLAN), check(&broken), check("no plan")]], "");
    let results = court.results(&engine, task);
    assert!(results.iter().all(|result| result.status == CallStatus::Ok));
    assert_eq!(results[0].content, "valid: 1 item\n- a: A (1 check)");
    assert!(results[1].content.starts_with("not valid: 1 problem, by line:column\n- 4:1: "), "{}", results[1].content);
    assert!(results[2].content.starts_with("not valid: 1 problem"), "{}", results[2].content);
}

#[test]
fn an_agent_can_look_at_its_own_context() {
    let inspect = |zone: Option<&str>| call("context_inspect", json!({ "zone": zone }));
    let steps =
        vec![vec![inspect(None)], vec![inspect(Some("errors")), inspect(Some("plan")), inspect(Some("messages"))]];
    let (court, engine, task) = run(steps, "");
    let results = court.results(&engine, task);
    assert!(
        results[0].content.starts_with("messages: 2 (1 to you, 1 of yours, 0 results of tools)\n"),
        "{}",
        results[0].content
    );
    assert!(results[0].content.contains("open questions: 0") && results[0].content.contains("taint: auth"));
    assert_eq!(
        (results[1].content.as_str(), results[2].content.as_str()),
        ("Nothing went wrong.", "There is no plan.")
    );
    assert!(results[3].content.contains("Said by people after the task message:"), "{}", results[3].content);
}

#[test]
fn research_that_nobody_does_is_declined() {
    let ask = call("request_research", json!({ "task": "a", "return_format": "b" }));
    let (court, engine, task) = run(vec![vec![ask]], "");
    let result = &court.results(&engine, task)[0];
    assert_eq!(
        (result.status, result.content.as_str()),
        (CallStatus::Error, "nobody looks into anything for this task; go on with what you have")
    );
}

fn planned(words: &[&str]) -> (Court, Engine, TaskId, Driven) {
    let court = Court::new(Vec::new());
    court.things.say_at_last_in_turn(words);
    let engine = court.process();
    let task = submit(&court, &engine, Role::Planner);
    let driven = court.drive(&engine, task);
    (court, engine, task, driven)
}

#[test]
fn a_planner_that_answers_prose_is_asked_once_more_and_heard() {
    let (court, engine, task, driven) = planned(&["First I look, then I write.", PLAN]);
    assert_eq!(driven.result().final_message.as_deref(), Some(PLAN));
    let told = handed_back(&court, &engine, task);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("there is no JSON object in the answer"), "{}", told[0]);
}

#[test]
fn a_planner_that_never_answers_a_plan_fails_and_says_why() {
    let broken = PLAN.replace("id: a", "id: A A");
    let (court, engine, task, driven) = planned(&["prose", &broken, PLAN]);
    let result = driven.result();
    assert_eq!((result.status, &result.final_message), (TaskResultStatus::Failed, &None));
    let error = result.error_details.clone().unwrap();
    assert_eq!(error.error_code, ErrorCode::AnswerIncomplete);
    assert!(
        error.message.contains("the planner's answer is no plan") && error.message.contains("2:5: "),
        "{}",
        error.message
    );
    let attempts = court.wait(engine.task(task)).unwrap().attempts.len();
    assert_eq!(handed_back(&court, &engine, task).len(), attempts, "once in each execution");
}

#[test]
fn a_plan_at_once_is_handed_back_to_nobody() {
    let (court, engine, task, driven) = planned(&[PLAN]);
    assert_eq!(driven.result().status, TaskResultStatus::Completed);
    assert_eq!(handed_back(&court, &engine, task), [""; 0]);
    let none = r#"{"message": "It cannot be done."}"#;
    let (court, engine, task, driven) = planned(&[none]);
    assert_eq!(driven.result().final_message.as_deref(), Some(none));
    assert_eq!(handed_back(&court, &engine, task), [""; 0]);
}

#[test]
fn an_executor_s_words_are_its_own() {
    let court = Court::new(Vec::new());
    court.things.say_at_last("prose");
    let engine = court.process();
    let task = submit(&court, &engine, Role::Executor);
    assert_eq!(court.drive(&engine, task).result().final_message.as_deref(), Some("prose"));
    assert_eq!(handed_back(&court, &engine, task), [""; 0]);
}

/// A process that dies at any commit leaves a planner that is asked once more in all, and heard.
#[test]
fn the_one_repair_survives_whoever_dies() {
    let mut deaths = 0;
    for point in [TripwirePoint::BeforeCommit, TripwirePoint::AfterCommit, TripwirePoint::RunEnded] {
        for time in 1..=12 {
            let court = Court::new(Vec::new());
            court.things.say_at_last_in_turn(&["prose", PLAN]);
            let engine = court.process();
            let task = submit(&court, &engine, Role::Planner);
            drop(engine);
            let lived = court.die(At(point, time), async |engine| {
                engine.drive(task, std::sync::Arc::new(windlass_engine::NobodyWatches)).await
            });
            let engine = court.process();
            if lived.is_none() {
                deaths += 1;
                court.drive(&engine, task);
            }
            let result = court.wait(engine.task(task)).unwrap().result.unwrap();
            assert_eq!(result.final_message.as_deref(), Some(PLAN), "{point:?} {time}");
            assert_eq!(handed_back(&court, &engine, task).len(), 1, "{point:?} {time}");
        }
    }
    assert!(deaths > 5, "{deaths}");
}
