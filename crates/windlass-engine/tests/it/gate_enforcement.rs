//! The operator's gates at seed 001 §6.4's four places, around an agent that is not ours. Each block stands beside its
//! control, the same without the gate, and its twin, which the gate lets pass.

use serde_json::json;
use windlass_domain::execution::{AgentInjection, DecisionOutcome, ExecutionEvent, InjectionType, RiskChecked};
use windlass_domain::risk::{Level, Ruling};
use windlass_domain::task::TaskStatus;
use windlass_domain::{CallStatus, ErrorCode, Secret, Taint, TaskId, TaskResultStatus, Tenant};
use windlass_engine::{Dispatch, Driven, Engine, Error, Submission};
use windlass_policy::Redactor;
use windlass_policy::gate::read_gates;
use windlass_store::{Position, Store as _};

use crate::court::{Ask, Court, ask, bash, call, read};

fn process(court: &Court, gates: &str) -> Engine {
    let gates = if gates.is_empty() { Vec::new() } else { read_gates(gates).unwrap() };
    court.process_with(|parts| parts.law.gates = gates)
}

/// A run of one script under gates, to its end or to its card.
fn run(steps: Vec<Vec<Ask>>, gates: &str) -> (Court, Engine, TaskId, Driven) {
    let court = Court::new(steps);
    court.put("page", "forbidden");
    court.put("notes", "plain");
    let engine = process(&court, gates);
    let task = court.submit(&engine);
    let driven = court.drive(&engine, task);
    (court, engine, task, driven)
}

fn absent(on: &str, field: &str) -> String {
    format!("- {{name: no, on: {on}, type: string_match, config: {{field: {field}, any_of: [forbidden]}}}}")
}

#[test]
fn gate_enforcement_all_trigger_points() {
    every_user_message();
    on_tool_call();
    after_step();
    every_agent_response();
}

fn every_user_message() {
    let gate = absent("every_user_message", "message");
    let submit = |gates: &str, goal: &str| {
        let court = Court::new(vec![vec![read("notes")]]);
        let engine = process(&court, gates);
        let submission = Submission { goal: goal.to_owned(), ..court.submission() };
        let submitted = court.wait(engine.submit(submission, Dispatch::Here, None));
        let tasks = court.wait(engine.task_ids(10)).unwrap().len();
        (submitted, tasks, court.decisions(&engine))
    };
    let (submitted, tasks, noted) = submit(&gate, "a forbidden thing");
    assert!(matches!(submitted, Err(Error::Blocked(_))), "{submitted:?}");
    assert_eq!((tasks, noted), (0, vec!["gateblock block".to_owned()]));
    assert!(submit("", "a forbidden thing").0.is_ok(), "the control");
    assert!(submit(&gate, "a plain thing").0.is_ok(), "the twin");
}

fn on_tool_call() {
    let gate = absent("on_tool_call", "tool_args.command");
    let steps = || vec![vec![bash("echo forbidden"), bash("echo plain")]];
    let (court, engine, task, driven) = run(steps(), &gate);
    assert_eq!(driven.result().status, TaskResultStatus::Completed, "the agent goes on without it");
    assert_eq!(court.performed(), [r#"bash {"command":"echo plain"}"#], "the twin runs");
    let told = &court.results(&engine, task)[0];
    assert_eq!(told.status, CallStatus::Denied);
    assert!(told.content.starts_with("not done: the gate `no`:"), "{}", told.content);
    assert_eq!(court.decisions(&engine), ["gateblock block"]);
    assert_eq!(run(steps(), "").0.performed().len(), 2, "the control");
}

/// What a step came to is judged before the next: all of it, in whatever pieces it was recorded, and also at the end.
fn after_step() {
    let gate = absent("after_step", "step.content");
    for steps in [
        vec![vec![read("page")], vec![bash("echo next")]],
        vec![vec![read("page"), read("notes")], vec![bash("echo next")]],
        vec![vec![read("notes"), read("page")], vec![bash("echo next")]],
        vec![vec![read("notes")], vec![read("page")]],
    ] {
        let (court, engine, _, driven) = run(steps.clone(), &gate);
        let error = driven.result().error_details.clone();
        assert_eq!(error.map(|error| error.error_code), Some(ErrorCode::GateBlocked), "{steps:?}");
        assert!(court.performed().iter().all(|line| !line.contains("next")), "{steps:?}");
        assert!(court.decisions(&engine).contains(&"gateblock block".to_owned()));
        let (_, _, _, driven) = run(steps, "");
        assert_eq!(driven.result().status, TaskResultStatus::Completed, "the control");
    }
    let (_, _, _, driven) = run(vec![vec![read("notes")]], &gate);
    assert_eq!(driven.result().status, TaskResultStatus::Completed, "the twin");
}

fn every_agent_response() {
    let say = |gates: &str, word: &str| {
        let court = Court::new(vec![]);
        court.things.say_at_last(word);
        let engine = process(&court, gates);
        let task = court.submit(&engine);
        let result = court.drive(&engine, task).result().clone();
        (result.status, result.final_message, court.decisions(&engine))
    };
    let gate = absent("every_agent_response", "response");
    let (status, message, noted) = say(&gate, "a forbidden word");
    assert_eq!((status, message), (TaskResultStatus::Failed, None));
    assert!(noted.contains(&"gateblock block".to_owned()), "{noted:?}");
    assert_eq!(say("", "a forbidden word").0, TaskResultStatus::Completed, "the control");
    assert_eq!(say(&gate, "a plain word").1.as_deref(), Some("a plain word"), "the twin");
}

/// What somebody says to a running agent passes the same gate as what began it.
#[test]
fn an_injected_message_that_a_gate_blocks_is_never_heard() {
    let heard = |gates: &str, words: &str| {
        let court = Court::new(vec![vec![bash("rm notes")], vec![read("notes")]]);
        let engine = process(&court, gates);
        let (task, asked) = court.park(&engine);
        let injection =
            AgentInjection { injection_type: InjectionType::UserMessage, content: words.to_owned(), metadata: None };
        court.wait(engine.inject(task, injection, Taint::Auth)).unwrap();
        court.approve(&engine, asked.card.card_id);
        court.drive(&engine, task);
        let injected = |event: &ExecutionEvent| matches!(event, ExecutionEvent::InjectionReceived(_));
        court.execution_events(&engine, task).iter().any(injected)
    };
    let gate = absent("every_user_message", "message");
    assert!(!heard(&gate, "a forbidden word"));
    assert!(heard("", "a forbidden word"), "the control");
    assert!(heard(&gate, "a plain word"), "the twin");
}

#[test]
fn a_gate_that_wants_an_approval_puts_a_card() {
    let gate = "- {name: ask, on: on_tool_call, type: approval_always, config: {tools: [bash]}}";
    let (court, engine, task, driven) = run(vec![vec![read("notes"), bash("ls")]], gate);
    assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
    assert_eq!(court.performed().len(), 1, "of other tools it does not speak");
    let card = court.only_card(&engine).card;
    assert!(card.details["reasons"][0].as_str().unwrap().contains("the gate `ask`"), "{}", card.details);
    court.approve(&engine, card.card_id);
    court.drive(&engine, task);
    assert_eq!(court.performed().len(), 2);
}

fn rewrite(name: &str, pattern: &str, replace: &str) -> String {
    format!(
        "- {{name: {name}, on: on_tool_call, type: regex, config: {{field: tool_args.command, pattern: '{pattern}', \
         replace: '{replace}'}}}}\n"
    )
}

/// Risk, taint and a person look at what will run, and what they saw runs. Both versions are kept.
#[test]
fn what_a_gate_rewrote_is_what_is_judged_shown_and_run() {
    let (court, engine, task, driven) = run(vec![vec![bash("rm notes")]], &rewrite("soften", "^rm ", "ls "));
    assert_eq!(driven.result().status, TaskResultStatus::Completed, "what is left needs nobody");
    assert_eq!(court.performed(), [r#"bash {"command":"ls notes"}"#]);
    let events = court.execution_events(&engine, task);
    let asked = events.iter().find_map(|event| match event {
        ExecutionEvent::ModelResponded(said) => Some(said.calls[0].arguments.get().to_owned()),
        _ => None,
    });
    let rewritten = events.iter().find_map(|event| match event {
        ExecutionEvent::DecisionRecorded(decision) => match &decision.outcome {
            DecisionOutcome::Rewritten { gates, arguments } => Some((gates.clone(), arguments.get().to_owned())),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(asked.as_deref(), Some(r#"{"command":"rm notes"}"#));
    assert_eq!(rewritten, Some((vec!["soften".to_owned()], r#"{"command":"ls notes"}"#.to_owned())));

    let (court, engine, task, driven) = run(vec![vec![bash("ls notes")]], &rewrite("harden", "^ls ", "rm "));
    assert!(matches!(driven, Driven::Waiting(_)), "what it became needs a person");
    let card = court.only_card(&engine).card;
    assert_eq!(card.intent, "run rm notes");
    court.approve(&engine, card.card_id);
    court.drive(&engine, task);
    assert_eq!(court.performed(), [r#"bash {"command":"rm notes"}"#]);
}

#[test]
fn gates_rewrite_in_the_order_of_the_file_and_a_rewrite_without_end_is_refused() {
    let both = rewrite("first", "^one$", "two") + &rewrite("second", "^two$", "three");
    let (court, _, _, _) = run(vec![vec![bash("one")]], &both);
    assert_eq!(court.performed(), [r#"bash {"command":"three"}"#]);
    let other_way = rewrite("second", "^two$", "three") + &rewrite("first", "^one$", "two");
    let (court, engine, task, _) = run(vec![vec![bash("one")]], &other_way);
    assert_eq!(court.performed(), Vec::<String>::new(), "what was rewritten once is not rewritten again");
    let told = &court.results(&engine, task)[0].content;
    assert!(told.contains("rewrites what gates have rewritten"), "{told}");
    let (court, engine, task, driven) = run(vec![vec![bash("a")]], &rewrite("grow", "a", "aa"));
    assert_eq!((driven.result().status, court.performed().len()), (TaskResultStatus::Completed, 0));
    assert_eq!(court.results(&engine, task)[0].status, CallStatus::Denied);
}

/// Words on their way in and out are rewritten as well, and the audit has both versions.
#[test]
fn what_a_gate_rewrote_of_words_is_what_goes_on() {
    let gates = "- {name: in, on: every_user_message, type: regex, config: {field: message, pattern: it, replace: that}}\n\
                 - {name: out, on: every_agent_response, type: regex, config: {field: response, pattern: done, replace: ok}}";
    let (court, engine, task, driven) = run(vec![vec![read("notes")]], gates);
    assert_eq!(driven.result().final_message.as_deref(), Some("ok"));
    let created = court.wait(engine.task(task)).unwrap().created.unwrap();
    assert_eq!(created.command.goal, "do that");
    assert_eq!(court.decisions(&engine), ["gateblock rewrite", "gateblock rewrite"]);
}

fn checked(court: &Court, engine: &Engine, task: TaskId) -> RiskChecked {
    let found = court.execution_events(engine, task).into_iter().find_map(|event| match event {
        ExecutionEvent::RiskChecked(checked) => Some(checked),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn the_first_block_decides_the_rest_is_recorded_and_an_unknown_provider_blocks() {
    let gates = "- {name: fine, on: on_tool_call, type: string_match, config: {field: tool, any_of: [nothing]}}\n\
                 - {name: odd, on: on_tool_call, provider: oracle, type: custom_check}\n\
                 - {name: late, on: on_tool_call, type: string_match, config: {field: tool, any_of: [bash]}}";
    let (court, engine, task, _) = run(vec![vec![bash("ls")]], gates);
    assert_eq!(court.performed(), Vec::<String>::new());
    let said = checked(&court, &engine, task).gates;
    let said: Vec<(&str, Ruling)> = said.iter().map(|said| (said.gate.as_str(), said.ruling)).collect();
    assert_eq!(said, [("fine", Ruling::Continue), ("odd", Ruling::Block), ("late", Ruling::Block)]);
    let why = court.audit(&engine)[0].reason.clone();
    assert_eq!(why, "the gate `odd`: the provider `oracle` is not known");
}

/// Seed 000's levels: low and medium pass, medium is told, high asks, critical is refused.
#[test]
fn each_level_of_risk_has_its_own_consequence() {
    let check = |ask: Ask, level: Option<Level>, performed: usize, cards: usize, noted: &[&str]| {
        let (court, engine, task, _) = run(vec![vec![ask.clone()]], "");
        assert_eq!(court.performed().len(), performed, "{ask:?}");
        assert_eq!(court.wait(engine.cards()).unwrap().len(), cards, "{ask:?}");
        assert_eq!(court.decisions(&engine), noted, "{ask:?}");
        let events = court.execution_events(&engine, task);
        let told = events.iter().find_map(|event| match event {
            ExecutionEvent::RiskChecked(checked) => Some(checked.level),
            _ => None,
        });
        assert_eq!(told, level, "{ask:?}");
    };
    check(read("notes"), None, 1, 0, &[]);
    check(bash("ls"), Some(Level::Medium), 1, 0, &[]);
    check(bash("rm notes"), Some(Level::High), 0, 1, &[]);
    check(call("a_tool_nobody_knows", json!({})), Some(Level::High), 0, 1, &[]);
    check(bash("rm -rf ."), Some(Level::Critical), 0, 0, &["gateblock block"]);
    check(bash("sudo ls"), Some(Level::Critical), 0, 0, &["gateblock block"]);
}

/// No gate makes anything easier: what says yes leaves the card and the refusal where they are.
#[test]
fn a_gate_that_lets_pass_does_not_lower_the_risk() {
    let gates = "- {name: all, on: on_tool_call, type: risk, config: {approve_at: critical, block_at: critical}}";
    let (court, engine, ..) = run(vec![vec![bash("rm notes")]], gates);
    assert_eq!((court.performed().len(), court.wait(engine.cards()).unwrap().len()), (0, 1));
}

#[test]
fn gate_enforcement_policy_and_quality_lane_separation() {
    let score = |promote: bool, judgement: &str, command: &str| {
        let gate = format!(
            "- {{name: taste, on: on_tool_call, provider: llm, type: custom_check, promote_to_policy: {promote}, \
             config: {{criteria: is it kind, tools: [bash]}}}}"
        );
        let court = Court::new(vec![vec![bash(command)]]);
        court.things.judge(judgement);
        let engine = process(&court, &gate);
        let task = court.submit(&engine);
        court.drive(&engine, task);
        let said = checked(&court, &engine, task).gates[0].clone();
        (court.performed().len(), court.wait(engine.cards()).unwrap().len(), said.ruling, said.score)
    };
    let (good, bad) = (r#"{"score": 0.9}"#, r#"{"score": 0.1, "reason": "rude"}"#);
    assert_eq!(score(false, bad, "ls"), (1, 0, Ruling::Continue, Some(0.1)), "it only scores");
    assert_eq!(score(false, "no idea", "ls"), (1, 0, Ruling::Continue, None));
    assert_eq!(score(true, bad, "ls"), (0, 0, Ruling::Block, Some(0.1)), "promoted it tightens");
    assert_eq!(score(true, "no idea", "ls"), (0, 0, Ruling::Block, None));
    assert_eq!(score(true, good, "ls"), (1, 0, Ruling::Continue, Some(0.9)));
    assert_eq!(score(true, good, "rm notes"), (0, 1, Ruling::Continue, Some(0.9)), "and never loosens");
    assert_eq!(score(true, good, "rm -rf ."), (0, 0, Ruling::Continue, Some(0.9)));
}

/// The agent hears that it was refused and by what; of the gate's rule it hears nothing.
#[test]
fn an_agent_never_sees_a_gates_configuration() {
    let gate =
        "- {name: no, on: on_tool_call, type: string_match, config: {field: tool_args.command, any_of: [hush-hush]}}";
    let (court, engine, task, _) = run(vec![vec![bash("echo hush-hush")]], gate);
    let execution = court.wait(engine.task(task)).unwrap().attempts[0].execution_id;
    let rows = court.rows(&windlass_store::StreamId::new("execution", execution));
    let told = rows.iter().filter(|row| row.kind == "tool.finished").any(|row| row.data.contains("hush-hush"));
    assert!(!told);
}

/// The audit keeps both versions of what a gate rewrote, and a secret in neither.
#[test]
fn a_secret_in_rewritten_words_is_kept_nowhere() {
    const SECRET: &str = "hunter2hunter2secret";
    let court = Court::new(vec![]);
    let gate =
        "- {name: in, on: every_user_message, type: regex, config: {field: message, pattern: it, replace: that}}";
    let engine = court.process_with(|parts| {
        parts.law.gates = read_gates(gate).unwrap();
        parts.redactor = Redactor::new([&Secret::new(SECRET)]);
    });
    let submission = Submission { goal: format!("do it now: {SECRET}"), ..court.submission() };
    court.wait(engine.submit(submission, Dispatch::Here, None)).unwrap();
    let rows = court.wait(court.store.events(&Tenant::local(), Position(0), 1_000)).unwrap();
    assert!(rows.iter().any(|row| row.data.contains("do that now")));
    assert!(rows.iter().all(|row| !row.data.contains(SECRET)), "{rows:?}");
}

/// A script that cannot be run has not said yes.
#[test]
fn a_script_that_cannot_be_run_blocks() {
    let gate = "- {name: script, on: on_tool_call, provider: script, type: custom_check, config: {run: [./check]}}";
    let (court, engine, ..) = run(vec![vec![bash("ls")]], gate);
    assert_eq!((court.performed().len(), court.decisions(&engine)), (0, vec!["gateblock block".to_owned()]));
}

/// What a gate hands over names the task, and is no errand: a worker that took it for one would go on with what a person paused.
#[test]
fn what_a_gate_hands_over_is_put_before_a_person_and_drives_nothing() {
    let gate =
        absent("on_tool_call", "tool_args.command").replace("{name: no,", "{name: no, on_block: transfer_to_queue,");
    let (court, engine, task, driven) = run(vec![vec![bash("echo forbidden")], vec![ask("Which?")]], &gate);
    assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
    court.wait(engine.ask_to_pause(task, "later")).unwrap();
    assert!(matches!(court.drive(&engine, task), Driven::Paused(_)));
    court.work(&engine);
    assert_eq!(court.wait(engine.task(task)).unwrap().status, Some(TaskStatus::Paused));
    let dead = court.wait(court.store.dead_letters(&Tenant::local(), None, 10)).unwrap();
    assert_eq!(dead.len(), 1, "{dead:?}");
}
