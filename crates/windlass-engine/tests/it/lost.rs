//! Machines that are lost for good: what they had is ended by whoever says so, and nothing is looked at, run or signed for it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass_domain::{CallStatus, CancelSignal, ErrorCode, TaskId, TaskResult, TaskResultStatus};
use windlass_engine::{Dispatch, Engine, Error, NobodyWatches, TripwirePoint};

use crate::court::{At, Court, bash, write};
use crate::planned::given;

/// How far apart looks at a silent heart are.
const BEAT: Duration = Duration::from_secs(3);
const PLACE: &str = "house";

fn elsewhere(court: &Court) -> Engine {
    court.process_with(|parts| {
        parts.machine.host = "shore".to_owned();
        parts.machine.locks = None;
        parts.keyring = None;
    })
}

/// In a time that goes on for as long as it is waited for.
fn end(court: &Court, engine: &Engine, task: TaskId) -> TaskResult {
    let ended = Arc::new(Mutex::new(None));
    let (engine, told) = (engine.clone(), Arc::clone(&ended));
    court.runtime().spawn(Box::pin(async move {
        let end = engine.end_lost(task, PLACE).await;
        *told.lock().unwrap() = Some(end);
    }));
    loop {
        if let Some(ended) = ended.lock().unwrap().take() {
            return ended.unwrap();
        }
        if court.time.asleep(BEAT) > 0 {
            court.jump(BEAT);
        }
        std::thread::yield_now();
    }
}

/// A process of that machine dies in the middle of a call.
fn dies_in_a_call(court: &Court, task: TaskId) {
    court.things.hold(CancelSignal::never());
    let in_the_call = court.things.begun_to_perform();
    let lives = At(TripwirePoint::Permitted, usize::MAX);
    let died = court.die(lives, |engine| async move {
        let driving = std::pin::pin!(engine.drive(task, Arc::new(NobodyWatches)));
        let waiting = std::pin::pin!(in_the_call.wait());
        matches!(futures_util::future::select(driving, waiting).await, futures_util::future::Either::Right(_))
    });
    assert_eq!(died, Some(true));
    court.things.let_go();
}

fn is_ended_as_lost(result: &TaskResult) {
    assert_eq!(result.status, TaskResultStatus::Cancelled, "{result:?}");
    let error = result.error_details.as_ref().unwrap();
    assert_eq!(error.error_code, ErrorCode::Cancelled);
    assert!(error.message.contains("its machine house is lost"), "{error:?}");
}

#[test]
fn what_was_cut_off_in_the_middle_is_ended_and_said_to_be_interrupted() {
    let court = Court::in_still_time(vec![vec![bash("ls")]]);
    let task = court.wait(court.process().submit(court.submission(), Dispatch::ToWorkers, None)).unwrap();
    dies_in_a_call(&court, task);
    let shore = elsewhere(&court);
    // The control: nobody but that machine goes on with it.
    let refused = court.wait(shore.drive(task, Arc::new(NobodyWatches)));
    assert!(matches!(refused, Err(Error::Elsewhere { .. })), "{refused:?}");
    assert_eq!(court.wait(shore.tasks_left_to(PLACE)).unwrap(), [task]);
    let performed = court.performed();
    is_ended_as_lost(&end(&court, &shore, task));
    assert_eq!(court.results(&shore, task)[0].status, CallStatus::Interrupted);
    assert_eq!(court.performed(), performed, "nothing was run for it");
    assert_eq!((court.is_held(task), court.work_for(task)), (false, vec![]));
    assert_eq!(court.wait(shore.tasks_left_to(PLACE)).unwrap(), []);
}

#[test]
fn what_waits_for_a_person_is_ended_with_its_card() {
    let court = Court::new(vec![vec![bash("rm notes")]]);
    let home = court.process();
    let (task, _) = court.park(&home);
    drop(home);
    let shore = elsewhere(&court);
    is_ended_as_lost(&end(&court, &shore, task));
    assert!(court.wait(shore.cards()).unwrap().is_empty());
    assert_eq!((court.is_held(task), court.work_for(task)), (false, vec![]));
}

#[test]
fn a_plan_ends_with_all_who_work_for_it() {
    let court = Court::in_still_time(vec![]);
    court.things.cast("Write it right", vec![vec![vec![write("it.txt", "it")]]], "written");
    let home = court.process();
    let document =
        "---\nid: it\ntype: task\ntitle: Write it right\nverify: [{ file: it.txt }]\n---\n# What to do\nWrite it.\n";
    let task = given(&court, &home, document);
    court.drive(&home, task);
    court.approve(&home, court.only_card(&home).card.card_id);
    drop(home);
    dies_in_a_call(&court, task);
    let shore = elsewhere(&court);
    let parts = court.wait(shore.members(task)).unwrap().split_off(1);
    assert_eq!(parts.len(), 1);
    is_ended_as_lost(&end(&court, &shore, task));
    let part = court.wait(shore.task(parts[0])).unwrap().result.expect("it has ended");
    assert_eq!(part.status, TaskResultStatus::Cancelled);
    for member in [task, parts[0]] {
        assert_eq!((court.is_held(member), court.work_for(member)), (false, vec![]), "{member}");
    }
}
