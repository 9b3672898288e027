//! Processes that die. At whatever place it happens, what a person was asked is still asked, what they said still counts, and
//! what it allows is performed at most once; exactly once where looking can tell that it did not happen.

use std::sync::Arc;

use serde_json::json;
use windlass_domain::queue::QueueMessage;
use windlass_domain::{CallStatus, CancelSignal, EventFamily as _, MessageId, TaskId, TaskResultStatus, Tenant};
use windlass_engine::{Dispatch, Driven, Engine, Error, NobodyWatches, TripwirePoint};
use windlass_store::Commit;
use windlass_store::queue::{Queue, enqueue};

use crate::court::{Ask, At, Court, bash, call, owner_key, yes};

/// What a process is doing when it dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Parking,
    Answering,
    Waking,
}

async fn drive(engine: Engine, task: TaskId) -> Result<Driven, Error> {
    engine.drive(task, Arc::new(NobodyWatches)).await
}

/// One history: a process dies while `doing`, the others do not. Whether it died, and the court afterwards.
fn history(ask: &Ask, doing: Doing, at: At) -> (bool, Court, TaskId) {
    let court = Court::new(vec![vec![ask.clone()]]);
    let task = court.wait(court.process().submit(court.submission(), Dispatch::ToWorkers, None)).unwrap();
    let mut died = false;
    if doing == Doing::Parking {
        died = court.die(at, |engine| drive(engine, task)).is_none();
    }
    let engine = court.process();
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)), "{doing:?} {at:?}");
    let card = court.only_card(&engine).card.card_id;
    if doing == Doing::Answering {
        died = court.die(at, |engine| async move { engine.answer(card, yes(), &owner_key()).await }).is_none();
    }
    if court.wait(engine.cards()).unwrap().iter().any(|asked| asked.card.card_id == card) {
        court.approve(&engine, card);
    }
    if doing == Doing::Waking {
        died = court.die(at, |engine| drive(engine, task)).is_none();
    }
    // Whoever comes next finds it: a worker where there is a message, and there is one.
    drop(engine);
    court.work(&court.process());
    (died, court, task)
}

/// Dies at the first, second, third … time that each place is come to, until it is not come to any more.
fn at_every_place(ask: &Ask, doing: Doing, check: impl Fn(&Court, TaskId, At)) {
    let mut deaths = 0;
    for point in TripwirePoint::ALL {
        for time in 1.. {
            let at = At(point, time);
            let (died, court, task) = history(ask, doing, at);
            check(&court, task, at);
            if !died {
                break;
            }
            deaths += 1;
        }
    }
    assert!(deaths >= 2, "{doing:?}: it died {deaths} times");
}

/// A card whose time is up lapses once, whoever dies over it, and what waited for it goes on.
#[test]
fn a_card_lapses_once_wherever_a_process_dies() {
    let mut deaths = 0;
    for point in TripwirePoint::ALL {
        let court = Court::new(vec![vec![bash("rm notes")]]);
        let engine = court.process();
        let (task, asked) = court.park(&engine);
        let card = asked.card.card_id;
        court.jump(std::time::Duration::from_secs(24 * 60 * 60));
        deaths += usize::from(court.die(At(point, 1), |engine| async move { engine.lapse(card).await }).is_none());
        court.work(&court.process());
        assert_eq!(court.stations(card), ["requested", "expired"], "{point:?}");
        assert_eq!(court.drive(&engine, task).result().status, TaskResultStatus::Completed, "{point:?}");
        assert_eq!(court.decisions(&engine), ["approval timeout", "gateblock denied"], "{point:?}");
    }
    assert_eq!(deaths, 2, "before the commit, and after it");
}

/// Looking at the file tells whether it was written.
#[test]
fn a_call_that_can_be_looked_into_is_performed_exactly_once_wherever_a_process_dies() {
    let ask = call("create_skill", json!({"path": "skill.md", "content": "text"}));
    for doing in [Doing::Parking, Doing::Answering, Doing::Waking] {
        at_every_place(&ask, doing, |court, task, at| {
            assert_eq!(court.performed().len(), 1, "{doing:?} {at:?}");
            let engine = court.process();
            let result = court.drive(&engine, task).result().clone();
            assert_eq!(result.status, TaskResultStatus::Completed, "{doing:?} {at:?}");
            assert_eq!(court.results(&engine, task)[0].status, CallStatus::Ok, "{doing:?} {at:?}");
        });
    }
}

/// Nobody can tell: it is performed, or the agent hears that it was cut off; never twice.
#[test]
fn a_call_that_nobody_can_look_into_is_performed_at_most_once_and_what_is_uncertain_is_said() {
    for doing in [Doing::Parking, Doing::Answering, Doing::Waking] {
        at_every_place(&bash("rm notes"), doing, |court, task, at| {
            let engine = court.process();
            let results = court.results(&engine, task);
            let told: Vec<CallStatus> = results.iter().map(|finished| finished.status).collect();
            match told.as_slice() {
                [CallStatus::Ok] => assert_eq!(court.performed().len(), 1, "{doing:?} {at:?}"),
                [CallStatus::Interrupted] => assert!(court.performed().len() <= 1, "{doing:?} {at:?}"),
                other => panic!("{doing:?} {at:?}: {other:?}"),
            }
            assert_eq!(court.drive(&engine, task).result().status, TaskResultStatus::Completed);
        });
    }
}

/// The issuer's word is spent in the commit that begins the attempt: neither without the other.
#[test]
fn a_signed_run_spends_one_use_for_each_attempt_wherever_a_process_dies() {
    let mut deaths = 0;
    for point in TripwirePoint::ALL {
        for time in 1.. {
            let court = Court::new(vec![vec![bash("ls")]]);
            let (issuer, key) = (court.process(), owner_key());
            let submitted = issuer.submit(court.submission(), Dispatch::ToWorkers, Some(&key));
            let task = court.wait(submitted).unwrap();
            let died = court.die(At(point, time), |engine| drive(engine, task)).is_none();
            let engine = court.process();
            court.work(&engine);
            let state = court.wait(engine.task(task)).unwrap();
            let card = state.created.as_ref().unwrap().approval.unwrap();
            let spent = court.stations(card).iter().filter(|station| *station == "verified").count();
            assert_eq!((spent, state.attempts.len()), (1, 1), "{point:?} {time}");
            assert_eq!(state.result.unwrap().status, TaskResultStatus::Completed, "{point:?} {time}");
            if !died {
                break;
            }
            deaths += 1;
        }
    }
    assert!(deaths > 4, "it died {deaths} times");
}

#[test]
fn crash_executor_mid_tool_call() {
    let court = Court::new(vec![vec![bash("ls")], vec![bash("ls -l")]]);
    court.things.hold(CancelSignal::never());
    let task = court.wait(court.process().submit(court.submission(), Dispatch::ToWorkers, None)).unwrap();
    let lives = At(TripwirePoint::Permitted, usize::MAX);
    let in_the_call = court.things.begun_to_perform();
    let cut_off = court.die(lives, |engine| async move {
        let driving = std::pin::pin!(drive(engine, task));
        let waiting = std::pin::pin!(in_the_call.wait());
        matches!(futures_util::future::select(driving, waiting).await, futures_util::future::Either::Right(_))
    });
    assert_eq!(cut_off, Some(true));
    assert_eq!(court.work_for(task).len(), 1, "the message is still there, in dead hands");
    court.things.let_go();
    let worker = court.process();
    court.work(&worker);
    assert_eq!(court.performed(), [r#"bash {"command":"ls -l"}"#], "the call in flight is not made again");
    assert_eq!(court.results(&worker, task)[0].status, CallStatus::Interrupted);
    assert_eq!((court.interruptions(&worker, task), court.work_for(task)), (1, vec![]));
    assert_eq!(court.drive(&worker, task).result().status, TaskResultStatus::Completed);
}

/// The same work twice in the queue: as another message, and as the very same.
#[test]
fn duplicate_message_delivery() {
    let court = Court::new(vec![vec![bash("ls")]]);
    let engine = court.process();
    let task = court.wait(engine.submit(court.submission(), Dispatch::ToWorkers, None)).unwrap();
    let stored = court.work_for(task).remove(0);
    let message = QueueMessage::decode(&stored.kind, stored.version, &stored.data).unwrap();
    let deliver = |message: &QueueMessage| {
        let mut commit = Commit::unfenced(Tenant::local(), court.wall());
        enqueue(&mut commit, Queue::Executor, message).unwrap();
        court.wait(windlass_store::Store::commit(court.store.as_ref(), commit))
    };
    assert!(deliver(&message).is_err(), "the same message is not taken in again");
    for copy in 0..4 {
        let message_id = MessageId::new(court.wall(), copy << 64);
        deliver(&QueueMessage { message_id, ..message.clone() }).unwrap();
    }
    court.work(&court.process());
    court.work(&court.process());
    assert_eq!(court.performed().len(), 1);
    assert_eq!(court.drive(&engine, task).result().status, TaskResultStatus::Completed);
    // Whoever came while it was driven tries again later, finds it done, and takes the message out.
    for _ in 0..8 {
        court.jump(std::time::Duration::from_secs(600));
        court.work(&court.process());
    }
    assert_eq!((court.work_for(task), court.performed().len()), (vec![], 1));
}
