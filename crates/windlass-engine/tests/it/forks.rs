//! Forks in the engine: what was read travels with the conversation (INV-05), the issuer signs for what is gone on with, and another
//! tenant's executions are not there.

use windlass_domain::execution::{AgentInjection, CannotFork, ExecutionEvent, InjectionType};
use windlass_domain::task::TaskEvent;
use windlass_domain::{ErrorCode, ExecutionId, Taint, TaskId, Tenant};
use windlass_engine::{Dispatch, Driven, Engine, Error, Fork};

use crate::court::{Ask, Court, fetch, owner_key, read};

fn execution(court: &Court, engine: &Engine, task: TaskId) -> ExecutionId {
    court.wait(engine.newest_execution(task)).unwrap().expect("it was begun")
}

fn fork_of(court: &Court, engine: &Engine, task: TaskId) -> Fork {
    court.wait(engine.fork_of(execution(court, engine, task), None)).expect("it can be forked")
}

/// A task that hears something of this label, ended; and its fork, which is about to make this call.
fn forked(heard: Taint, then: Ask) -> (Court, Engine, TaskId) {
    let court = Court::new(vec![vec![read("notes")]]);
    court.put("notes", "plain");
    let engine = court.process();
    let old = court.submit(&engine);
    let content = "a page says".to_owned();
    let event = AgentInjection { injection_type: InjectionType::ExternalEvent, content, metadata: None };
    court.wait(engine.inject(old, event, heard)).unwrap();
    court.drive(&engine, old);
    let fork = fork_of(&court, &engine, old);
    // What the old one fetched would be heard of, too.
    court.things.play(vec![vec![then]]);
    let task = court.wait(engine.submit_fork(court.submission(), fork, Dispatch::Here, None)).unwrap();
    (court, engine, task)
}

#[test]
fn what_was_read_before_a_fork_is_read_after_it() {
    for (heard, is_asked) in [(Taint::External, true), (Taint::Auth, false)] {
        let (court, engine, task) = forked(heard, fetch("example.org"));
        let driven = court.drive(&engine, task);
        assert_eq!(matches!(driven, Driven::Waiting(_)), is_asked, "{heard:?}: {driven:?}");
        let events = court.execution_events(&engine, task);
        let Some(ExecutionEvent::Forked(from)) = events.get(1) else { panic!("behind the header: {events:?}") };
        assert_eq!(from.from.taint, heard.join(Taint::Auth));
    }
}

/// The attack puts another conversation into a signed task; the twin leaves it as it is.
#[test]
fn the_issuer_signs_for_the_conversation_that_is_gone_on_with() {
    for is_edited in [true, false] {
        let court = Court::new(vec![vec![read("notes")]]);
        court.put("notes", "plain");
        let engine = court.process();
        let old = court.submit(&engine);
        court.drive(&engine, old);
        let fork = fork_of(&court, &engine, old);
        let key = owner_key();
        let issued = engine.submit_fork(court.submission(), fork, Dispatch::Here, Some(&key));
        let task = court.wait(issued).unwrap();
        if is_edited {
            let mut edited = court.wait(engine.task(task)).unwrap().created.unwrap();
            edited.forked.as_mut().expect("a fork").turn = 7;
            court.forge_task(task, TaskEvent::Created(edited));
        }
        let result = court.drive(&engine, task).result().clone();
        let refused = result.error_details.map(|error| error.error_code);
        assert_eq!(refused, is_edited.then_some(ErrorCode::ApprovalDenied));
        assert_eq!(court.performed().len(), if is_edited { 1 } else { 2 });
        let audited = court.decisions(&engine);
        assert_eq!(audited.iter().filter(|decision| decision.contains("forked")).count(), 1, "{audited:?}");
    }
}

#[test]
fn what_is_another_tenants_or_nobodys_is_not_there() {
    let court = Court::new(vec![vec![read("notes")]]);
    court.put("notes", "plain");
    let engine = court.process();
    let old = court.submit(&engine);
    court.drive(&engine, old);
    let execution = execution(&court, &engine, old);
    let elsewhere = court.process_with(|parts| parts.tenant = Tenant::new("another"));
    for (engine, execution) in [(&elsewhere, execution), (&engine, ExecutionId::new(court.wall(), 77))] {
        let refused = court.wait(engine.fork_of(execution, None)).expect_err("not there");
        assert!(matches!(refused, Error::NoSuchExecution(named) if named == execution), "{refused}");
    }
    let refused = court.wait(engine.fork_of(execution, Some(2))).expect_err("no such turn");
    assert!(
        matches!(refused, Error::CannotFork { why: CannotFork::NoSuchTurn { turn: 2, turns: 1 }, .. }),
        "{refused}"
    );
}
