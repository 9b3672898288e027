//! Contracts §6, as far as it is the engine's: whose an execution is, for every way in which one begins, and whom it works for, which is found
//! by the journals. `xtask/tests/it/contracts_6.rs` has all sentences.

use std::collections::BTreeMap;

use serde_json::json;
use windlass_domain::execution::{ExecutionEvent, Header, Lifecycle, Observation, StateChanged};
use windlass_domain::task::Part;
use windlass_domain::{Digest, ExecutionId, Look, Role, Scope, ScopeKind, TaskId, Tenant};
use windlass_engine::{Dispatch, Engine, Error, Saying};
use windlass_policy::gate::read_gates;
use windlass_store::{Position, Store as _, StreamId};

use crate::court::{Ask, Court, bash, call, spawn, write};
use crate::planned::{STUCK, approve_and_drive, finished, given};

const JUDGED: &str = "- {name: taste, on: on_tool_call, provider: llm, type: custom_check, config: {criteria: is it kind, tools: [bash]}}";

/// Every execution that there is, with what its journal begins with.
fn headers(court: &Court, engine: &Engine) -> Vec<Header> {
    let ids = court.wait(engine.execution_ids(1_000)).unwrap();
    ids.into_iter().map(|execution| header(court, execution)).collect()
}

fn header(court: &Court, execution: ExecutionId) -> Header {
    let rows = court.rows(&StreamId::new("execution", execution));
    match ExecutionEvent::decode(&rows[0].kind, rows[0].version, &rows[0].data).unwrap() {
        ExecutionEvent::Header(header) => header,
        other => panic!("{other:?}"),
    }
}

fn task_of(court: &Court, engine: &Engine, header: &Header) -> TaskId {
    court.wait(engine.task_of(header.execution_id)).unwrap()
}

/// Attempts by the task whose journal names them; the rest by whoever began them.
fn named(court: &Court, engine: &Engine) -> BTreeMap<ExecutionId, TaskId> {
    let mut named = BTreeMap::new();
    for task in court.wait(engine.task_ids(1_000)).unwrap() {
        let attempts = court.wait(engine.task(task)).unwrap().attempts;
        named.extend(attempts.iter().map(|attempt| (attempt.execution_id, task)));
    }
    named
}

fn writes(path: &str, steps: &[Vec<Ask>]) -> Ask {
    let (tool, mut arguments) = spawn(steps);
    arguments["write_output_to"] = json!(path);
    call(tool, arguments)
}

#[test]
fn a_direct_run_and_whoever_it_sends_or_has_judge_it_are_the_tasks() {
    let court = Court::new(vec![vec![spawn(&[vec![bash("ls")]])], vec![bash("ls")]]);
    court.things.judge(r#"{"score": 0.9}"#);
    let engine = court.process_with(|parts| parts.law.gates = read_gates(JUDGED).unwrap());
    let task = court.submit(&engine);
    finished(court.drive(&engine, task));
    let headers = headers(&court, &engine);
    let roles: Vec<Role> = headers.iter().map(|header| header.role).collect();
    for role in [Role::Executor, Role::Subagent, Role::Verifier] {
        assert!(roles.contains(&role), "{roles:?}");
    }
    for header in &headers {
        assert_eq!(header.scope, Scope { kind: ScopeKind::Task, id: task.to_string() }, "{:?}", header.role);
        assert_eq!(task_of(&court, &engine, header), task);
    }
}

/// The item itself is its own task's; the planner whom it consults, and a judge of what it does, are the plan's.
#[test]
fn an_atom_is_the_tasks_and_a_planner_who_is_consulted_is_the_missions() {
    let court = Court::new(vec![]);
    let attempt = |path: &str| vec![vec![bash("ls"), write(path, "it")]];
    court.things.cast("Write it right", vec![attempt("a"), attempt("b"), attempt("right.txt")], "written");
    court.things.cast("An item of your plan is stuck", vec![vec![]], "write the word right");
    court.things.judge(r#"{"score": 0.9}"#);
    let engine = court.process_with(|parts| parts.law.gates = read_gates(JUDGED).unwrap());
    let root = given(&court, &engine, STUCK);
    approve_and_drive(&court, &engine, root);
    let named = named(&court, &engine);
    let mission = Scope { kind: ScopeKind::Mission, id: root.to_string() };
    let mut seen = Vec::new();
    for header in headers(&court, &engine) {
        let task = task_of(&court, &engine, &header);
        assert!(named.get(&header.execution_id).is_none_or(|named| *named == task), "{header:?}");
        let created = court.wait(engine.task(task)).unwrap().created.unwrap();
        let part = created.part_of.map(|of| of.part);
        let expected = match (&part, header.role) {
            (Some(Part::Atom { .. }), Role::Executor) => Scope { kind: ScopeKind::Task, id: task.to_string() },
            (Some(Part::Guidance { .. }), _) | (Some(Part::Atom { .. }), Role::Verifier) => mission.clone(),
            other => panic!("nobody else works here: {other:?}"),
        };
        assert_eq!(header.scope, expected);
        seen.push(format!("{} {}", header.role.as_str(), header.scope.kind.as_str()));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen, ["executor task", "planner mission", "verifier mission"]);
}

#[test]
fn a_turn_of_a_conversation_is_the_repositorys() {
    let court = Court::new(vec![]);
    court.things.cast_turn("hello", vec![], &json!({"route": "small_talk", "response": "Hello."}).to_string());
    let engine = court.process();
    let saying = Saying { session: None, words: "hello".to_owned(), template: court.submission() };
    let turn = court.wait(engine.say(saying, Dispatch::ToWorkers)).unwrap().run.unwrap();
    court.work(&engine);
    let headers = headers(&court, &engine);
    assert_eq!(headers.len(), 1);
    assert_eq!((headers[0].role, headers[0].scope.kind), (Role::Proxy, ScopeKind::Repository));
    let folder = court.workspace().to_string_lossy().into_owned();
    assert!(headers[0].scope.id.parse::<Digest>().is_ok() && !headers[0].scope.id.contains(&folder));
    assert_eq!(task_of(&court, &engine, &headers[0]), turn, "its scope names no task, and its task is found");
}

#[test]
fn a_deliverables_producer_is_the_artifacts() {
    let steps =
        vec![vec![writes("out/report.md", &[])], vec![writes("./out/report.md", &[])], vec![writes("b.md", &[])]];
    let court = Court::new(steps);
    let engine = court.process();
    let task = court.submit(&engine);
    finished(court.drive(&engine, task));
    let headers = headers(&court, &engine);
    let producers: Vec<&Header> = headers.iter().filter(|header| header.role == Role::Subagent).collect();
    assert_eq!(producers.len(), 3);
    assert!(producers.iter().all(|header| header.scope.kind == ScopeKind::Artifact), "{producers:?}");
    assert!(producers.iter().all(|header| task_of(&court, &engine, header) == task));
    let mut ids: Vec<&str> = producers.iter().map(|header| header.scope.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 2, "however it is written, one file is one deliverable");
}

/// Of before there were other scopes than `task`, and of before a judge named whom it judges for.
#[test]
fn an_old_journal_is_read_as_it_was_written() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let task = court.submit(&engine);
    finished(court.drive(&engine, task));
    let begun = headers(&court, &engine).remove(0);
    let old = ExecutionId::new(court.wall(), 7);
    let scope = Scope { kind: ScopeKind::Task, id: task.to_string() };
    let judge = Header { execution_id: old, role: Role::Verifier, scope, parent: None, ..begun };
    court.forge(&StreamId::new("execution", old), ExecutionEvent::Header(judge).encode());
    assert_eq!(court.wait(engine.task_of(old)).unwrap(), task);
    let story = court.wait(engine.execution_story(old)).unwrap();
    assert_eq!(story.len(), 1);
}

#[test]
fn whom_nobody_began_works_for_nobody() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let task = court.submit(&engine);
    finished(court.drive(&engine, task));
    let unknown = ExecutionId::new(court.wall(), 7);
    assert!(matches!(court.wait(engine.task_of(unknown)), Err(Error::NoSuchExecution(id)) if id == unknown));
    let begun = headers(&court, &engine).remove(0);
    let scope = Scope { kind: ScopeKind::Mission, id: task.to_string() };
    let stray = Header { execution_id: unknown, scope, parent: None, ..begun };
    court.forge(&StreamId::new("execution", unknown), ExecutionEvent::Header(stray).encode());
    assert!(matches!(court.wait(engine.task_of(unknown)), Err(Error::OfNoTask(id)) if id == unknown));
}

/// Whatever Windlass does on its own account, it does without an agent: nobody's scope is the system's, and one whose is can be read.
#[test]
fn no_duty_of_the_systems_needs_an_execution_and_one_could_be_read() {
    let court = Court::new(vec![vec![bash("ls")]]);
    let engine = court.process();
    let task = court.submit(&engine);
    finished(court.drive(&engine, task));
    let all = headers(&court, &engine);
    assert!(all.iter().all(|header| header.scope.kind != ScopeKind::System));
    let own = ExecutionId::new(court.wall(), 7);
    let scope = Scope::of(windlass_domain::Account::Windlass { duty: "doctor" });
    let header = Header { execution_id: own, scope, parent: None, ..all.into_iter().next().unwrap() };
    court.forge(&StreamId::new("execution", own), ExecutionEvent::Header(header).encode());
    assert_eq!(court.wait(engine.execution_story(own)).unwrap().len(), 1);
    assert!(matches!(court.wait(engine.task_of(own)), Err(Error::OfNoTask(_))));
}

/// The lookup above rests on it.
#[test]
fn an_attempt_and_its_executions_journal_begin_in_one_commit() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let task = court.submit(&engine);
    finished(court.drive(&engine, task));
    let rows = court.wait(court.store.events(&Tenant::local(), Position(0), 1_000)).unwrap();
    let at = |kind: &str| rows.iter().find(|row| row.kind == kind).expect("it is there").position.0;
    assert_eq!(at("attempt.started") + 1, at("journal.header"));
}

/// Contracts §6: every state change has its record in the same commit. What the journal says is all there is, so that whoever reads it
/// knows each state and how it came about.
#[test]
fn the_states_of_an_execution_are_those_of_its_records() {
    let court = Court::new(vec![vec![bash("ls")]]);
    let engine = court.process();
    let task = court.submit(&engine);
    finished(court.drive(&engine, task));
    let changes: Vec<(Lifecycle, Lifecycle)> = court
        .execution_events(&engine, task)
        .into_iter()
        .filter_map(|event| match event {
            ExecutionEvent::StateChanged(StateChanged { from, to, .. }) => Some((from, to)),
            _ => None,
        })
        .collect();
    let expected = [
        (Lifecycle::Created, Lifecycle::Launching),
        (Lifecycle::Launching, Lifecycle::Running),
        (Lifecycle::Running, Lifecycle::Completed),
    ];
    assert_eq!(changes, expected);
    assert!(court.task_kinds(&engine, task).contains(&"attempt.started".to_owned()));
}

const LOOK: &str = "---\nid: look\ntype: task\ntitle: Look around\n---\n# What to do\nLook.\n";

/// What an agent may read is of the work that it is part of, and that it read it stands in its journal.
#[test]
fn semantic_operations_are_scope_bound_and_each_read_is_journaled() {
    let court = Court::new(vec![]);
    court.things.be_foreign();
    let artifact = |name: &str| Look::Artifact { name: name.to_owned(), offset: 0, limit: 10 };
    let looks = [
        Look::Plan,
        Look::Objective,
        Look::Atom { atom: None },
        Look::Bindings,
        Look::Memo { query: "anything".to_owned(), limit: 10 },
        artifact("mine.txt"),
        artifact("../elsewhere.txt"),
        Look::Atom { atom: Some("of another plan".to_owned()) },
    ];
    looks.iter().for_each(|look| court.things.look("Look around", look.clone()));
    court.put("mine.txt", "what is there");
    let engine = court.process();
    let root = given(&court, &engine, LOOK);
    approve_and_drive(&court, &engine, root);
    let found = court.things.looked();
    assert_eq!(found.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, true, true, true, true, false, false]);
    assert_eq!(found[2].as_ref().unwrap()["id"], "look", "its own atom is meant where none is named");
    assert_eq!(found[5].as_ref().unwrap()["text"], "what is th");
    let events = court.execution_events(&engine, root);
    let read = events.iter().filter_map(|event| match event {
        ExecutionEvent::ObservationRecorded(recorded) => Some(&recorded.observation),
        _ => None,
    });
    let read: Vec<_> = read.collect();
    assert_eq!(read.len(), 6, "all that was read, and nothing that was not");
    assert!(
        read.iter().any(|read| matches!(read, Observation::Noticed { text } if text == "read its own atom")),
        "{read:?}"
    );

    let court = Court::new(vec![]);
    court.things.be_foreign();
    court.things.look("", Look::Plan);
    let engine = court.process();
    let task = court.submit(&engine);
    finished(court.drive(&engine, task));
    assert!(court.things.looked()[0].is_err(), "a task that is part of no plan reads none");
}
