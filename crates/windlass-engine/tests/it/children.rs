//! Agents that an agent spawns, around a runner that is not ours: a child never has more than its parent, and what it has read
//! and made is known above it.

use windlass_domain::execution::{AgentInjection, ExecutionEvent, InjectionType, Lifecycle};
use windlass_domain::{CallStatus, Finished, Taint, TaskId};
use windlass_engine::{Dispatch, Driven, Engine, NobodyWatches, TripwirePoint};

use crate::court::{Ask, At, Court, bash, call, fetch, no, read, spawn, write};

/// Driven as far as it goes, having heard something of this label.
fn run(taint: Taint, steps: Vec<Vec<Ask>>) -> (Court, Engine, TaskId, Driven) {
    let court = Court::new(steps);
    court.put("notes", "plain");
    let engine = court.process();
    let task = court.submit(&engine);
    let content = "a page says".to_owned();
    let event = AgentInjection { injection_type: InjectionType::ExternalEvent, content, metadata: None };
    court.wait(engine.inject(task, event, taint)).unwrap();
    let driven = court.drive(&engine, task);
    (court, engine, task, driven)
}

fn result(court: &Court, engine: &Engine, task: TaskId, tool: &str) -> Finished {
    let mut results = court.results(engine, task).into_iter().filter(|finished| finished.tool == tool);
    let first = results.next().expect("the call has its result");
    assert!(results.next().is_none());
    first
}

#[test]
fn what_a_child_has_read_taints_its_parent() {
    let check = |ask: Ask, expected| {
        let (court, engine, task, driven) =
            run(Taint::Auth, vec![vec![spawn(&[vec![ask]])], vec![fetch("example.org")]]);
        assert_eq!(result(&court, &engine, task, "spawn_agent").taint, expected);
        let is_asked = matches!(driven, Driven::Waiting(_));
        assert_eq!(is_asked, expected == Taint::External, "what it could carry out");
    };
    check(fetch("example.org"), Taint::External);
    check(read("notes"), Taint::Auth);
}

#[test]
fn what_its_parent_has_read_taints_a_child() {
    let child = spawn(&[vec![fetch("example.org")]]);
    let (court, engine, task, driven) = run(Taint::External, vec![vec![child.clone()]]);
    assert!(matches!(driven, Driven::Waiting(_)), "a child carries out no more than its parent: {driven:?}");
    assert!(court.performed().is_empty());
    court.approve(&engine, court.only_card(&engine).card.card_id);
    assert!(matches!(court.drive(&engine, task), Driven::Finished(_)));
    assert_eq!(court.performed().len(), 1);
    let (court, _, _, driven) = run(Taint::Auth, vec![vec![child]]);
    assert!(matches!(driven, Driven::Finished(_)) && court.performed().len() == 1, "the twin: {driven:?}");
}

#[test]
fn a_file_that_a_tainted_child_made_is_external_to_its_parent_and_to_its_siblings() {
    let check = |first: Ask, expected| {
        let maker = spawn(&[vec![first], vec![write("made", "text")]]);
        let reader = spawn(&[vec![read("made")]]);
        let (court, engine, task, _) = run(Taint::Auth, vec![vec![maker], vec![reader], vec![read("made")]]);
        let results = court.results(&engine, task);
        let reads: Vec<Taint> =
            results.iter().filter(|it| it.tool == "read" && it.content == "text").map(|it| it.taint).collect();
        assert_eq!(reads, [expected, expected]);
    };
    check(fetch("example.org"), Taint::External);
    check(bash("ls"), Taint::Auth);
}

#[test]
fn a_childs_card_can_be_refused_and_both_go_on() {
    let (court, engine, task, driven) =
        run(Taint::Auth, vec![vec![spawn(&[vec![bash("rm notes")], vec![read("notes")]])]]);
    assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
    assert!(!court.is_held(task) && court.things.open_sandboxes() == 0, "nothing is held meanwhile");
    court.answer(&engine, court.only_card(&engine).card.card_id, no("keep it")).unwrap();
    drop(engine);
    let engine = court.process();
    court.work(&engine);
    assert_eq!(court.wait(engine.task(task)).unwrap().result.map(|result| result.usage.sub_agents_spawned), Some(1));
    assert_eq!(court.performed(), ["read {\"path\":\"notes\"}"]);
    assert_eq!(result(&court, &engine, task, "bash").status, CallStatus::Denied);
    assert_eq!(result(&court, &engine, task, "spawn_agent").status, CallStatus::Ok);
}

#[test]
fn a_card_in_a_child_that_nobody_answers_in_time_wakes_it() {
    let court = Court::in_still_time(vec![vec![spawn(&[vec![bash("rm notes")]])]]);
    court.put("notes", "plain");
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    court.time.jump(std::time::Duration::from_millis(asked.card.expires_at.as_millis()));
    assert!(matches!(court.drive(&engine, task), Driven::Finished(_)));
    assert!(court.performed().is_empty());
}

#[test]
fn depth_is_the_engines_to_decide_whatever_the_runner_offers() {
    let deepest = spawn(&[vec![spawn(&[vec![read("notes")]])]]);
    let (court, engine, task, _) = run(Taint::Auth, vec![vec![deepest.clone()]]);
    assert_eq!(court.performed().len(), 1, "a grandchild is as deep as it goes");
    let (court, engine_of_deeper, deeper, _) = run(Taint::Auth, vec![vec![spawn(&[vec![deepest]])]]);
    assert!(court.performed().is_empty());
    let results = court.results(&engine_of_deeper, deeper);
    assert!(results.iter().any(|finished| finished.content.contains("spawns nobody")), "{results:?}");
    drop((engine, task));
}

#[test]
fn a_parent_that_is_cancelled_while_a_child_waits_ends_it_and_pays_for_it() {
    let (court, engine, task, driven) = run(Taint::Auth, vec![vec![spawn(&[vec![bash("rm notes")]])]]);
    assert!(matches!(driven, Driven::Waiting(_)));
    court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
    assert!(matches!(court.drive(&engine, task), Driven::Finished(_)));
    let events = court.execution_events(&engine, task);
    let ends = events
        .iter()
        .filter(|event| matches!(event, ExecutionEvent::StateChanged(change) if change.to == Lifecycle::Cancelled));
    let bills = events.iter().filter(|event| matches!(event, ExecutionEvent::SubagentFinished(_)));
    assert_eq!((ends.count(), bills.count()), (2, 1));
    assert!(court.wait(engine.cards()).unwrap().is_empty(), "nobody is asked any more");
    assert_eq!(result(&court, &engine, task, "spawn_agent").status, CallStatus::Cancelled, "the call has its result");
}

/// Regression: whoever went on after a crash wrote an agent's words again, over what had become of the file.
#[test]
fn an_agents_words_are_written_once_whenever_its_parent_dies() {
    let steps = || {
        let (_, mut arguments) = spawn(&[vec![read("notes")]]);
        arguments["write_output_to"] = "out".into();
        vec![vec![call("spawn_agent", arguments)], vec![read("notes")]]
    };
    let mut found_written = 0;
    for commit in 1.. {
        let court = Court::new(steps());
        court.put("notes", "plain");
        let died = court.die(At(TripwirePoint::AfterCommit, commit), |engine| async {
            let engine = engine;
            let task = engine.submit(court.submission(), Dispatch::Here, None).await.unwrap();
            engine.drive(task, std::sync::Arc::new(NobodyWatches)).await.unwrap();
        });
        let out = court.workspace().join("out");
        let is_written = out.exists();
        if is_written {
            assert_eq!(std::fs::read_to_string(&out).unwrap(), "step 0");
            court.put("out", "changed since");
        }
        if died.is_some() {
            break;
        }
        let engine = court.process();
        court.work(&engine);
        let expected = if is_written { "changed since" } else { "step 0" };
        let now = std::fs::read_to_string(&out).ok();
        assert!(now.is_none() || now.as_deref() == Some(expected), "dead after commit {commit}: {now:?}");
        found_written += usize::from(is_written);
    }
    assert!(found_written > 0, "some deaths came after the file was written");
}
