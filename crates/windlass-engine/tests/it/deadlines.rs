//! Deadlines of tasks: whatever a task does when its deadline comes, what was said about it is done, once, and nobody goes on.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use windlass_domain::task::{DeadlineAction, ExecutionConfig, TaskStatus};
use windlass_domain::{CancelSignal, Canceller, ErrorCode, Stop, TaskId, TaskResultStatus};
use windlass_engine::TripwirePoint;
use windlass_engine::{
    Dispatch, Driven, Engine, Error, NobodyWatches, Planning, ScheduledKind, Submission, Until, read_plan,
};
use windlass_plan::parse_base_case;

use crate::court::{Ask, At, Court, ask, bash, owner_key, read, work, write};
use crate::planned::{THREE, text, three};

const HOUR: Duration = Duration::from_secs(3_600);
const ACTIONS: [DeadlineAction; 3] =
    [DeadlineAction::Fail, DeadlineAction::CompletePartial, DeadlineAction::PauseAndNotify];

fn order(court: &Court, action: DeadlineAction) -> Submission {
    let config =
        ExecutionConfig { deadline: Some(court.wall() + HOUR), deadline_action: action, ..ExecutionConfig::default() };
    Submission { config, ..court.submission() }
}

fn submit(court: &Court, engine: &Engine, action: DeadlineAction) -> TaskId {
    court.wait(engine.submit(order(court, action), Dispatch::Here, None)).unwrap()
}

/// An agent that has written something and asks a question.
fn asking() -> Vec<Vec<Ask>> {
    vec![vec![write("half.txt", "half")], vec![ask("Which?")], vec![write("whole.txt", "whole")]]
}

#[track_caller]
fn ended_by(court: &Court, engine: &Engine, task: TaskId, action: DeadlineAction) {
    let state = court.wait(engine.task(task)).unwrap();
    let kinds = court.task_kinds(engine, task);
    assert_eq!(kinds.iter().filter(|kind| *kind == "task.time_up").count(), 1, "{action:?}: {kinds:?}");
    match action {
        DeadlineAction::PauseAndNotify => {
            assert_eq!(state.status, Some(TaskStatus::Paused), "{kinds:?}");
        }
        DeadlineAction::Fail => {
            let result = state.result.expect("it is over");
            let error = result.error_details.expect("a reason");
            assert_eq!((result.status, error.error_code), (TaskResultStatus::Failed, ErrorCode::DeadlineExceeded));
            assert!(error.message.contains("its deadline has come (20"), "{error:?}");
        }
        DeadlineAction::CompletePartial => {
            let result = state.result.expect("it is over");
            assert_eq!((result.status, result.verified, result.partial), (TaskResultStatus::Completed, false, true));
            assert!(result.final_message.expect("it says so").contains("this is what was there by then"));
        }
    }
    assert!(court.wait(engine.schedules()).unwrap().is_empty(), "nothing is due any more");
}

#[test]
fn it_comes_while_a_person_is_asked() {
    for action in ACTIONS {
        let court = Court::in_still_time(asking());
        let engine = court.process();
        let task = submit(&court, &engine, action);
        assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
        court.work(&engine);
        assert!(!court.wait(engine.task(task)).unwrap().is_over(), "its time has not come");
        let due = court.wait(engine.schedules()).unwrap();
        assert!(matches!(due[..], [ref one] if matches!(one.kind, ScheduledKind::Deadline { .. })), "{due:?}");
        court.jump(HOUR);
        court.work(&engine);
        ended_by(&court, &engine, task, action);
        assert!(!court.is_held(task));
        assert_eq!(court.performed().len(), 1, "nothing more is done");
        let questions = court.wait(engine.questions()).unwrap();
        assert_eq!(questions.is_empty(), action.ends(), "the question goes with its run");
    }
}

#[test]
fn it_comes_while_it_rests_and_before_anybody_began() {
    for action in ACTIONS {
        for begins in [true, false] {
            let court = Court::in_still_time(asking());
            let engine = court.process();
            let task = submit(&court, &engine, action);
            if begins {
                court.drive(&engine, task);
            }
            court.wait(engine.ask_to_pause(task, "enough")).unwrap();
            court.drive(&engine, task);
            assert_eq!(court.wait(engine.task(task)).unwrap().status, Some(TaskStatus::Paused));
            court.jump(HOUR);
            court.work(&engine);
            ended_by(&court, &engine, task, action);
            assert_eq!(court.performed().len(), usize::from(begins));
        }
    }
}

/// There may be no worker: whoever works on it minds its deadline.
#[test]
fn it_comes_while_somebody_works() {
    for action in ACTIONS {
        let court =
            Court::in_still_time(vec![vec![write("half.txt", "half")], vec![bash("sleep")], vec![bash("more")]]);
        let engine = court.process();
        let held = Canceller::default();
        court.things.hold_tool("bash", held.signal());
        let task = submit(&court, &engine, action);
        let watcher = Arc::new(NobodyWatches);
        court
            .wait(join(engine.drive(task, watcher), async {
                court.things.holding().wait().await;
                court.jump(HOUR);
                // What it does right now is heard to its end.
                court.things.stop_signal().wait().await;
                held.stop(Stop::Pause);
            }))
            .0
            .unwrap();
        ended_by(&court, &engine, task, action);
        assert_eq!(court.performed().len(), 2, "the call in flight, and no other");
    }
}

#[test]
fn what_is_there_by_then_is_checked() {
    for (check, verified) in [("[{ file: half.txt }]", true), ("[{ file: whole.txt }]", false)] {
        let court = Court::in_still_time(asking());
        let engine = court.process();
        let base_case = parse_base_case(check).unwrap();
        let order = Submission { base_case, ..order(&court, DeadlineAction::CompletePartial) };
        let task = court.wait(engine.submit(order, Dispatch::Here, None)).unwrap();
        court.drive(&engine, task);
        court.jump(HOUR);
        court.work(&engine);
        let result = court.wait(engine.task(task)).unwrap().result.expect("it is over");
        assert_eq!((result.status, result.verified, result.partial), (TaskResultStatus::Completed, verified, true));
        assert_eq!(result.checks.len(), 1);
    }
}

/// A pause of the deadline's is one that somebody can end, and the deadline does not come again.
#[test]
fn what_rests_by_its_deadline_can_be_gone_on_with() {
    let court = Court::in_still_time(vec![vec![read("notes")]]);
    let engine = court.process();
    let task = submit(&court, &engine, DeadlineAction::PauseAndNotify);
    court.jump(HOUR);
    assert!(matches!(court.drive(&engine, task), Driven::Paused(_)));
    ended_by(&court, &engine, task, DeadlineAction::PauseAndNotify);
    assert!(court.performed().is_empty());
    court.jump(HOUR);
    assert!(matches!(court.drive(&engine, task), Driven::Finished(_)));
    let result = court.wait(engine.task(task)).unwrap().result.expect("it is over");
    assert_eq!((result.status, result.partial), (TaskResultStatus::Completed, false));
}

#[test]
fn who_is_done_in_time_hears_nothing_of_it() {
    for action in ACTIONS {
        let court = Court::in_still_time(vec![vec![read("notes")]]);
        let engine = court.process();
        let task = submit(&court, &engine, action);
        assert!(matches!(court.drive(&engine, task), Driven::Finished(_)));
        court.jump(HOUR);
        court.work(&engine);
        let kinds = court.task_kinds(&engine, task);
        assert!(!kinds.iter().any(|kind| kind == "task.time_up"), "{kinds:?}");
        assert!(court.wait(engine.schedules()).unwrap().is_empty());
    }
}

#[test]
fn a_deadline_that_has_passed_is_refused() {
    let court = Court::in_still_time(vec![]);
    let engine = court.process();
    let late = order(&court, DeadlineAction::Fail);
    court.jump(HOUR);
    let refused = court.wait(engine.submit(late, Dispatch::Here, None));
    assert!(matches!(refused, Err(Error::LateDeadline(_))), "{refused:?}");
}

/// The clock on the wall is put back after the deadline has come, and before: it comes once.
#[test]
fn clocks_are_put_back_and_it_still_comes_once() {
    for action in ACTIONS {
        let court = Court::in_still_time(asking());
        let engine = court.process();
        let task = submit(&court, &engine, action);
        court.drive(&engine, task);
        court.time.put_back(HOUR / 2);
        court.jump(HOUR);
        court.work(&engine);
        assert!(!court.task_kinds(&engine, task).contains(&"task.time_up".to_owned()), "its time has not come");
        court.jump(HOUR);
        court.work(&engine);
        court.time.put_back(HOUR * 3);
        court.work(&engine);
        court.jump(HOUR * 9);
        court.work(&engine);
        ended_by(&court, &engine, task, action);
    }
}

#[test]
fn of_two_workers_one_sees_to_it() {
    for action in ACTIONS {
        let court = Court::in_still_time(asking());
        let (one, other) = (court.process(), court.process());
        let task = submit(&court, &one, action);
        court.drive(&one, task);
        court.jump(HOUR);
        let never = CancelSignal::never;
        court.wait(join(work(&one, Until::Idle, never()), work(&other, Until::Idle, never())));
        court.work(&one);
        ended_by(&court, &one, task, action);
    }
}

/// A worker dies before or after each of its commits, until one gets through: the next one goes on, and it happened once.
#[test]
fn whoever_dies_while_it_comes_is_followed_by_another() {
    for action in ACTIONS {
        for point in [TripwirePoint::BeforeCommit, TripwirePoint::AfterCommit] {
            for n in 1.. {
                let court = Court::in_still_time(asking());
                let engine = court.process();
                let base_case = parse_base_case("[{ file: whole.txt }]").unwrap();
                let order = Submission { base_case, ..order(&court, action) };
                let task = court.wait(engine.submit(order, Dispatch::Here, None)).unwrap();
                court.drive(&engine, task);
                court.jump(HOUR);
                let died = court.die(At(point, n), |engine| async move {
                    work(&engine, Until::Idle, CancelSignal::never()).await;
                });
                court.work(&engine);
                ended_by(&court, &engine, task, action);
                assert_eq!(court.performed().len(), 1, "{point:?} {n}");
                if died.is_some() {
                    assert!(n > 2, "it never came that far");
                    break;
                }
            }
        }
    }
}

/// Those who work for a planned task end with it, and what was part of the work by then is brought where that was wanted.
#[test]
fn a_planned_task_ends_with_all_its_parts() {
    for action in ACTIONS {
        let court = Court::in_still_time(vec![]);
        court.things.cast("Write c", vec![vec![vec![ask("Which?")], vec![write("c.txt", "c")]]], "written");
        three(&court);
        let engine = court.process();
        let plan = read_plan(THREE).unwrap_or_else(|problems| panic!("{problems}"));
        let order = Submission { planning: Planning::Given(Box::new(plan)), ..order(&court, action) };
        let task = court.wait(engine.submit(order, Dispatch::Here, Some(&owner_key()))).unwrap();
        court.drive(&engine, task);
        court.approve(&engine, court.only_card(&engine).card.card_id);
        assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)), "c asks");
        court.jump(HOUR);
        court.work(&engine);
        court.work(&engine);
        ended_by(&court, &engine, task, action);
        let brought = (text(&court, "a.txt"), text(&court, "c.txt"));
        let expected = (action == DeadlineAction::CompletePartial).then(|| "a".to_owned());
        assert_eq!(brought, (expected, None), "{action:?}");
        for part in court.wait(engine.task_ids(100)).unwrap() {
            let state = court.wait(engine.task(part)).unwrap();
            let is_at_rest = state.is_over() || state.status == Some(TaskStatus::Paused);
            assert!(is_at_rest, "{action:?}: {part} {:?}", state.status);
        }
    }
}
