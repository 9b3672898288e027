//! Monitors (seed 000 §13): an agent waits, holds nothing meanwhile, is told to look once for each time that comes, and is ended when the
//! time for it is over.

use std::time::Duration;

use futures_util::future::join;
use serde_json::json;
use windlass_domain::coordinate::{Channel, Origin};
use windlass_domain::execution::{ExecutionEvent, InjectionType};
use windlass_domain::monitor::{MonitorRejected, MonitoringSchedule, TimeoutAction, Unfit};
use windlass_domain::task::TaskStatus;
use windlass_domain::{CallStatus, CancelSignal, ErrorCode, Taint, TaskId, TaskResultStatus, Tenant, Wall};
use windlass_engine::{
    Dispatch, Engine, Error, Message, Outgoing, Published, ScheduledKind, Submission, TaskOrder, TripwirePoint, Until,
};
use windlass_plan::parse_base_case;

use crate::court::{Ask, At, Court, ask, call, fetch, owner_key, read, work, write};
use crate::long_histories::counted;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
const PROMPT: &str = "Is it there?";

/// A call that watches for an hour from the beginning, minute by minute.
fn watch(begin: Wall, action: &str) -> Ask {
    call(
        "monitor",
        json!({
            "interval_seconds": 60,
            "check_prompt": PROMPT,
            "timeout_at": (begin + HOUR).to_rfc3339(),
            "timeout_action": action,
        }),
    )
}

/// A court whose agent makes these calls, and a task that a worker has come to rest with.
fn watching(steps: impl FnOnce(Wall) -> Vec<Vec<Ask>>) -> (Court, Engine, TaskId) {
    let court = Court::in_still_time(vec![]);
    court.put("notes", "plain");
    court.things.cast("do it", vec![steps(court.wall())], "it is there");
    let engine = court.process();
    let task = court.wait(engine.submit(court.submission(), Dispatch::ToWorkers, None)).unwrap();
    court.work(&engine);
    (court, engine, task)
}

/// One that looks twice, and then is done.
fn twice() -> (Court, Engine, TaskId) {
    watching(|begin| {
        vec![vec![watch(begin, "fail")], vec![write("a", "1")], vec![watch(begin, "fail")], vec![write("b", "2")]]
    })
}

fn heard(court: &Court, engine: &Engine, task: TaskId) -> Vec<(InjectionType, String, Taint)> {
    let events = court.execution_events(engine, task).into_iter();
    let said = events.filter_map(|event| match event {
        ExecutionEvent::InjectionReceived(received) => {
            Some((received.injection.injection_type, received.injection.content, received.taint))
        }
        _ => None,
    });
    said.collect()
}

fn looks(court: &Court, engine: &Engine, task: TaskId) -> usize {
    heard(court, engine, task).iter().filter(|(_, words, _)| words == PROMPT).count()
}

fn pass(court: &Court, engine: &Engine, length: Duration) {
    court.jump(length);
    court.work(engine);
}

fn is_over(court: &Court, engine: &Engine, task: TaskId) -> bool {
    court.wait(engine.task(task)).unwrap().is_over()
}

#[test]
fn an_agent_waits_looks_and_waits_again_and_holds_nothing_meanwhile() {
    let (court, engine, task) = twice();
    let state = court.wait(engine.task(task)).unwrap();
    assert!(state.status == Some(TaskStatus::Running) && state.is_monitoring());
    assert!(!court.is_held(task) && court.work_for(task).is_empty() && court.things.open_sandboxes() == 0);
    pass(&court, &engine, MINUTE / 2);
    assert_eq!(looks(&court, &engine, task), 0, "its time has not come");
    pass(&court, &engine, MINUTE / 2);
    assert_eq!((looks(&court, &engine, task), court.performed().len()), (1, 1));
    assert!(court.wait(engine.task(task)).unwrap().is_monitoring(), "it waits again");
    pass(&court, &engine, MINUTE);
    assert!(is_over(&court, &engine, task));
    let heard = heard(&court, &engine, task);
    assert_eq!(heard, vec![(InjectionType::SystemControl, PROMPT.to_owned(), Taint::Auth); 2]);
    let result = court.wait(engine.task(task)).unwrap().result.expect("it is over");
    assert_eq!((result.status, result.partial), (TaskResultStatus::Completed, false));
    assert!(court.wait(engine.schedules()).unwrap().is_empty(), "nothing is due any more");
    pass(&court, &engine, HOUR);
    assert_eq!(looks(&court, &engine, task), 2);
}

/// What is waited for is not what the work may take.
#[test]
fn waiting_is_no_time_of_the_works() {
    let (court, engine, task) = twice();
    pass(&court, &engine, MINUTE * 30);
    pass(&court, &engine, MINUTE);
    let result = court.wait(engine.task(task)).unwrap().result.expect("it is over");
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    assert!(result.usage.duration_ms < 60_000, "{:?}", result.usage);
}

#[test]
fn all_that_is_missed_is_one_look() {
    let (court, engine, task) = twice();
    pass(&court, &engine, MINUTE * 17);
    assert_eq!(looks(&court, &engine, task), 1);
    court.work(&engine);
    assert_eq!(looks(&court, &engine, task), 1, "the next one is a minute away");
    // While it rests it is told once, whatever comes.
    court.wait(engine.ask_to_pause(task, "enough")).unwrap();
    court.work(&engine);
    for _ in 0..5 {
        pass(&court, &engine, MINUTE);
    }
    assert_eq!(court.wait(engine.monitor(task)).unwrap().firings, 2);
    court.drive(&engine, task);
    assert!(is_over(&court, &engine, task));
    assert_eq!(looks(&court, &engine, task), 2);
}

#[test]
fn people_and_events_wake_it_too() {
    let (court, engine, task) = twice();
    let message = Message { text: "look now".to_owned(), question: None, by: "a person".to_owned() };
    court.wait(engine.send(task, &message)).unwrap();
    court.work(&engine);
    assert_eq!(heard(&court, &engine, task)[0].1, "User says: look now");
    assert_eq!((looks(&court, &engine, task), court.performed().len()), (0, 1), "it went on at once");
    assert!(court.wait(engine.task(task)).unwrap().is_monitoring());
}

#[test]
fn when_its_time_is_over_the_task_ends_as_was_said() {
    for (action, status) in [("fail", TaskResultStatus::Failed), ("complete", TaskResultStatus::Completed)] {
        let (court, engine, task) = watching(|begin| vec![vec![watch(begin, action)]]);
        pass(&court, &engine, HOUR);
        let result = court.wait(engine.task(task)).unwrap().result.expect("it is over");
        assert_eq!(result.status, status);
        match result.error_details {
            Some(error) => assert_eq!(error.error_code, ErrorCode::DeadlineExceeded),
            None => assert!(result.partial && result.final_message.expect("it says so").contains("watched")),
        }
        let kinds = court.task_kinds(&engine, task);
        assert_eq!(kinds.iter().filter(|kind| *kind == "task.time_up").count(), 1, "{kinds:?}");
        assert_eq!(looks(&court, &engine, task), 0);
    }
}

#[test]
fn what_is_there_when_its_time_is_over_is_checked() {
    let court = Court::in_still_time(vec![]);
    court.put("notes", "plain");
    court.things.cast("do it", vec![vec![vec![watch(court.wall(), "complete")]]], "done");
    let engine = court.process();
    for (check, verified) in [("[{ file: notes }]", true), ("[{ file: other }]", false)] {
        let order = Submission { base_case: parse_base_case(check).unwrap(), ..court.submission() };
        let task = court.wait(engine.submit(order, Dispatch::ToWorkers, None)).unwrap();
        court.work(&engine);
        court.wait(engine.add_monitor(task, &schedule(&court))).unwrap();
        pass(&court, &engine, HOUR);
        let result = court.wait(engine.task(task)).unwrap().result.expect("it is over");
        assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, verified));
        court.time.put_back(HOUR);
    }
}

fn schedule(court: &Court) -> MonitoringSchedule {
    MonitoringSchedule {
        interval_seconds: 60,
        check_prompt: PROMPT.to_owned(),
        timeout_at: court.wall() + HOUR,
        timeout_action: TimeoutAction::Complete,
    }
}

/// What cannot be gone by is the call's result, with what to do about it.
#[test]
fn an_agent_is_told_why_it_cannot_wait() {
    let far = |begin: Wall| watch(begin + HOUR * 24 * 365, "fail");
    let (court, engine, task) = watching(|begin| vec![vec![far(begin)], vec![watch(begin, "fail")]]);
    let refused = &court.results(&engine, task)[0];
    assert_eq!(refused.status, CallStatus::Denied);
    assert!(refused.content.contains("within 90 days") && refused.content.contains("now"), "{}", refused.content);
    assert!(court.wait(engine.task(task)).unwrap().is_monitoring(), "and does better");
    let (court, engine, task) =
        watching(|begin| vec![vec![watch(begin, "fail")], vec![watch(begin + HOUR, "fail")], vec![read("notes")]]);
    pass(&court, &engine, MINUTE);
    let refused = &court.results(&engine, task)[1];
    assert!(refused.content.contains("brought nearer and not put off"), "{}", refused.content);
}

#[test]
fn somebody_else_has_it_look_and_not_look() {
    let court = Court::in_still_time(vec![vec![ask("Which?")], vec![read("notes")]]);
    court.put("notes", "plain");
    let engine = court.process();
    let task = court.submit(&engine);
    court.drive(&engine, task);
    let unfit = MonitoringSchedule { interval_seconds: 1, ..schedule(&court) };
    let refused = court.wait(engine.add_monitor(task, &unfit));
    assert!(matches!(refused, Err(Error::Monitor(MonitorRejected::Unfit(Unfit::TooOften)))), "{refused:?}");
    court.wait(engine.add_monitor(task, &schedule(&court))).unwrap();
    let listed = court.wait(engine.schedules()).unwrap();
    assert!(
        matches!(listed[..], [ref one] if one.due == Some(court.wall() + MINUTE)
        && matches!(one.kind, ScheduledKind::Monitor { .. })),
        "{listed:?}"
    );
    for _ in 0..3 {
        pass(&court, &engine, MINUTE);
    }
    assert_eq!(court.wait(engine.monitor(task)).unwrap().firings, 1, "who waits for a person could not listen yet");
    court.wait(engine.remove_monitor(task)).unwrap();
    assert!(court.wait(engine.schedules()).unwrap().is_empty());
    let (beside, store) = counted(&court);
    let _before = store.read();
    assert!(court.wait(beside.monitors()).unwrap().is_empty());
    assert_eq!(store.read().rows, 0, "nobody reads of those that there were");
    let again = court.wait(engine.remove_monitor(task));
    assert!(matches!(again, Err(Error::Monitor(MonitorRejected::Absent))), "{again:?}");
    pass(&court, &engine, HOUR * 2);
    assert!(!is_over(&court, &engine, task), "nobody waits for its end any more");
    let answer = Message { text: "this".to_owned(), question: None, by: "a person".to_owned() };
    court.wait(engine.send(task, &answer)).unwrap();
    court.work(&engine);
    assert!(is_over(&court, &engine, task));
    assert_eq!(looks(&court, &engine, task), 1, "with the answer it hears what was said before");
    let over = court.wait(engine.add_monitor(task, &schedule(&court)));
    assert!(matches!(over, Err(Error::Over(_))), "{over:?}");
}

/// An agent whose schedule is taken away does not wait for ever.
#[test]
fn who_waits_for_what_is_removed_goes_on() {
    let (court, engine, task) = twice();
    court.wait(engine.remove_monitor(task)).unwrap();
    court.work(&engine);
    let told = &court.results(&engine, task)[0];
    assert!(told.content.contains("the schedule was removed"), "{}", told.content);
    assert_eq!(court.performed().len(), 1);
}

/// An agent that has read from outside writes what it is told later: that is as little to be trusted.
#[test]
fn what_it_is_told_is_trusted_as_far_as_whoever_wrote_it() {
    let (court, engine, task) =
        watching(|begin| vec![vec![fetch("example.com")], vec![watch(begin, "fail")], vec![read("notes")]]);
    pass(&court, &engine, MINUTE);
    let heard = heard(&court, &engine, task);
    assert_eq!(heard, vec![(InjectionType::SystemControl, PROMPT.to_owned(), Taint::External)]);
}

#[test]
fn of_two_workers_one_tells_it() {
    for _ in 0..3 {
        let (court, one, task) = twice();
        let other = court.process();
        court.jump(MINUTE);
        let never = CancelSignal::never;
        court.wait(join(work(&one, Until::Idle, never()), work(&other, Until::Idle, never())));
        court.work(&one);
        assert_eq!((looks(&court, &one, task), court.wait(one.monitor(task)).unwrap().firings), (1, 1));
    }
}

/// A worker dies before or after each of its commits, until one gets through: each time it was told once, and looked once.
#[test]
fn whoever_dies_around_a_look_is_followed_by_another() {
    for point in [TripwirePoint::BeforeCommit, TripwirePoint::AfterCommit] {
        for n in 1.. {
            let (court, engine, task) = twice();
            court.jump(MINUTE);
            let died = court
                .die(At(point, n), |engine| async move { work(&engine, Until::Idle, CancelSignal::never()).await });
            court.work(&engine);
            assert_eq!(looks(&court, &engine, task), 1, "{point:?} {n}");
            assert_eq!(court.wait(engine.monitor(task)).unwrap().firings, 1, "{point:?} {n}");
            pass(&court, &engine, MINUTE);
            assert!(is_over(&court, &engine, task), "{point:?} {n}");
            assert_eq!((looks(&court, &engine, task), court.performed().len()), (2, 2), "{point:?} {n}");
            if died.is_some() {
                assert!(n > 3, "it never came that far");
                break;
            }
        }
    }
}

/// The same from the beginning: the call waits or was never made.
#[test]
fn whoever_dies_around_the_call_itself_is_followed_by_another() {
    for point in [TripwirePoint::BeforeCommit, TripwirePoint::AfterCommit] {
        for n in 1.. {
            let court = Court::in_still_time(vec![]);
            court.put("notes", "plain");
            court.things.cast("do it", vec![vec![vec![watch(court.wall(), "fail")], vec![write("a", "1")]]], "there");
            let engine = court.process();
            let task = court.wait(engine.submit(court.submission(), Dispatch::ToWorkers, None)).unwrap();
            let died = court
                .die(At(point, n), |engine| async move { work(&engine, Until::Idle, CancelSignal::never()).await });
            court.work(&engine);
            assert!(court.wait(engine.task(task)).unwrap().is_monitoring(), "{point:?} {n}");
            pass(&court, &engine, MINUTE);
            assert!(is_over(&court, &engine, task), "{point:?} {n}");
            assert_eq!((looks(&court, &engine, task), court.performed().len()), (1, 1), "{point:?} {n}");
            if died.is_some() {
                assert!(n > 3, "it never came that far");
                break;
            }
        }
    }
}

/// The clock on the wall was ahead when the schedule was set, and is put right while a worker runs, or before one starts.
#[test]
fn clocks_are_put_back_and_no_look_is_lost_or_comes_twice() {
    let (court, engine, task) = twice();
    court.time.put_back(MINUTE * 20);
    court.work(&engine);
    assert_eq!(looks(&court, &engine, task), 1, "it would not have come for twenty minutes");
    court.work(&engine);
    assert_eq!(looks(&court, &engine, task), 1);
    court.jump(MINUTE / 2);
    court.work(&engine);
    assert_eq!(looks(&court, &engine, task), 1);
    pass(&court, &engine, MINUTE / 2);
    assert_eq!(looks(&court, &engine, task), 2);
}

/// Seed 000 §19.2: BLOCKED_USER is for a person. Regression: whoever ordered the task was told so at every interval, without anything to answer.
#[test]
fn whoever_ordered_it_is_told_of_a_question_and_not_of_a_monitor() {
    let court = Court::in_still_time(vec![]);
    court.put("notes", "plain");
    let steps = vec![vec![watch(court.wall(), "fail")], vec![write("a", "1")], vec![ask("Which?")]];
    court.things.cast("do it", vec![steps], "it is there");
    let engine = court.process();
    let name = |text: &str| text.parse().unwrap();
    let order = TaskOrder {
        command_id: name("command"),
        session_id: name("talk"),
        task_id: name("watch"),
        origin: Origin { by: "ada".to_owned(), channel: Channel::Redis, taint: Taint::Auth },
        submission: court.submission(),
        resume_context: None,
    };
    court.wait(engine.command(&order, Some(&owner_key()))).unwrap();
    court.work(&engine);
    let results = || {
        let page = court.wait(engine.outgoing(Channel::Redis, 0)).unwrap();
        let result = |outgoing: Outgoing| match outgoing.what {
            Published::Result { result, .. } => Some((result.status, result.hitl_request.map(|asked| asked.question))),
            _ => None,
        };
        page.entries.into_iter().filter_map(result).collect::<Vec<_>>()
    };
    let task = TaskId::called(&Tenant::local(), &order.task_id);
    assert!(court.wait(engine.task(task)).unwrap().is_monitoring());
    assert_eq!(results(), []);
    pass(&court, &engine, MINUTE);
    assert_eq!(results(), [(TaskResultStatus::BlockedUser, Some("Which?".to_owned()))]);
}
