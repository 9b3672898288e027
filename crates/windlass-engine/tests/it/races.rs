//! Two things at once: an answer, a cancel, an expiry or another worker at the worst moment. One of them wins, and nothing is
//! slept through, lost or done twice.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use windlass_domain::approval::{ApprovalState, CardId, Rejected};
use windlass_domain::task::TaskStatus;
use windlass_domain::{CancelSignal, Canceller, OwnerId, Stop, TaskResultStatus, Tenant};
use windlass_engine::{Driven, Engine, Error, NobodyWatches, TripwirePoint, Until, Watcher, WorkerOptions};
use windlass_store::owner::{NewOwner, register};
use windlass_store::queue::{Consumer, Desk, Queue, Silent};

use crate::court::{Court, Deed, bash, no, owner_key, yes};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn one_risky_call() -> Court {
    Court::new(vec![vec![bash("rm notes")]])
}

/// A process at whose first `point` others do something.
fn interrupted_at(court: &Court) -> (Engine, Arc<Deed>) {
    let deed = Deed::new();
    let tripwire = Arc::<Deed>::clone(&deed);
    (court.process_with(|parts| parts.tripwire = Some(tripwire)), deed)
}

async fn open_card(engine: &Engine) -> CardId {
    engine.cards().await.unwrap()[0].card.card_id
}

#[test]
fn an_answer_between_the_card_and_the_sleep_is_heard_at_once() {
    for (answer, performed) in [(yes(), 1), (no("no"), 0)] {
        let court = one_risky_call();
        let (engine, deed) = interrupted_at(&court);
        let other = court.process();
        let task = court.submit(&engine);
        deed.at(TripwirePoint::RunEnded, move || {
            let (other, answer) = (other.clone(), answer.clone());
            Box::pin(async move {
                other.answer(open_card(&other).await, answer, &owner_key()).await.unwrap();
            })
        });
        let driven = court.drive(&engine, task);
        assert_eq!(driven.result().status, TaskResultStatus::Completed);
        assert_eq!(court.performed().len(), performed);
        assert_eq!(court.interruptions(&engine, task), 0, "nothing was cut off");
        assert_eq!((court.is_held(task), court.work_for(task)), (false, vec![]));
    }
}

/// Somebody looks at a task that waits, finds no answer, and one comes before it is left alone again.
#[test]
fn an_answer_while_a_parked_task_is_looked_at_is_heard_at_once() {
    let court = one_risky_call();
    let (task, asked) = court.park(&court.process());
    let (engine, deed) = interrupted_at(&court);
    let (other, card) = (court.process(), asked.card.card_id);
    deed.at(TripwirePoint::RunEnded, move || {
        let other = other.clone();
        Box::pin(async move {
            other.answer(card, yes(), &owner_key()).await.unwrap();
        })
    });
    assert_eq!(court.drive(&engine, task).result().status, TaskResultStatus::Completed);
    assert_eq!((court.performed().len(), court.interruptions(&engine, task)), (1, 0));
    // The answer had woken it as well: whoever comes for that finds it done.
    court.work(&court.process());
    assert_eq!((court.work_for(task), court.performed().len()), (vec![], 1));
}

/// Whether the one who goes to sleep has heard of it already, or not yet.
#[test]
fn a_cancel_between_the_card_and_the_sleep_is_heeded_at_once() {
    for is_heard in [true, false] {
        let court = one_risky_call();
        let (engine, deed) = interrupted_at(&court);
        let (other, things) = (court.process(), Arc::clone(&court.things));
        let task = court.submit(&engine);
        if !is_heard {
            windlass_store::Store::notifier(court.store.as_ref()).drop_hints();
        }
        deed.at(TripwirePoint::RunEnded, move || {
            let (other, things) = (other.clone(), Arc::clone(&things));
            Box::pin(async move {
                other.ask_to_cancel(task, "enough").await.unwrap();
                if is_heard {
                    things.stop_signal().wait().await;
                }
            })
        });
        let driven = court.drive(&engine, task);
        assert_eq!(driven.result().status, TaskResultStatus::Cancelled, "heard: {is_heard}");
        assert!(court.wait(engine.cards()).unwrap().is_empty());
        assert_eq!((court.performed().len(), court.work_for(task)), (0, vec![]));
    }
}

#[test]
fn a_pause_between_the_card_and_the_sleep_is_heeded_and_the_card_stays_open() {
    let court = one_risky_call();
    let (engine, deed) = interrupted_at(&court);
    let (other, things) = (court.process(), Arc::clone(&court.things));
    let task = court.submit(&engine);
    deed.at(TripwirePoint::RunEnded, move || {
        let (other, things) = (other.clone(), Arc::clone(&things));
        Box::pin(async move {
            other.ask_to_pause(task, "later").await.unwrap();
            things.stop_signal().wait().await;
        })
    });
    assert!(matches!(court.drive(&engine, task), Driven::Paused(_)));
    let card = court.only_card(&engine).card.card_id;
    court.approve(&engine, card);
    assert_eq!(court.work_for(task), [], "who is paused is not woken by an answer");
    assert_eq!(court.drive(&engine, task).result().status, TaskResultStatus::Completed);
    assert_eq!(court.performed().len(), 1);
}

/// Regression: whoever asked for a pause, and looked after it just when it had been heeded, had somebody sent to go on with the task.
#[test]
fn whoever_sees_to_a_pause_that_is_heeded_already_sends_nobody() {
    let court = one_risky_call();
    let (engine, deed) = interrupted_at(&court);
    let (other, things) = (court.process(), Arc::clone(&court.things));
    let task = court.submit(&engine);
    deed.at(TripwirePoint::RunEnded, move || {
        let (other, things) = (other.clone(), Arc::clone(&things));
        Box::pin(async move {
            other.ask_to_pause(task, "later").await.unwrap();
            things.stop_signal().wait().await;
        })
    });
    assert!(matches!(court.drive(&engine, task), Driven::Paused(_)));
    let other = court.process();
    let seen_to = court.wait(other.drive_to_heed(task, Arc::new(NobodyWatches)));
    assert!(matches!(seen_to, Err(Error::LeaseLost(_))), "{seen_to:?}");
    court.work(&other);
    assert_eq!(court.wait(other.task(task)).unwrap().status, Some(TaskStatus::Paused));
    assert_eq!(court.work_for(task), []);
}

/// The same where nobody works on it: whoever asks sees to it.
#[test]
fn a_pause_that_nobody_else_heeds_is_heeded_by_whoever_asks() {
    let court = one_risky_call();
    let engine = court.process();
    let task = court.submit(&engine);
    court.wait(engine.ask_to_pause(task, "later")).unwrap();
    let seen_to = court.wait(engine.drive_to_heed(task, Arc::new(NobodyWatches))).unwrap();
    assert!(matches!(seen_to, Driven::Paused(_)), "{seen_to:?}");
    assert_eq!(court.work_for(task), []);
}

/// Nor does it go on with a task in the place of whoever is about to.
#[test]
fn whoever_sees_to_a_pause_does_not_go_on_for_another() {
    let court = one_risky_call();
    let engine = court.process();
    let task = court.submit(&engine);
    court.wait(engine.ask_to_pause(task, "later")).unwrap();
    assert!(matches!(court.drive(&engine, task), Driven::Paused(_)));
    court.wait(engine.ask_to_go_on(task)).unwrap();
    let (runtime, place) = (court.runtime(), court.wait(engine.task(task)).unwrap().created.unwrap().placement);
    let taken = court.wait(async {
        let id = OwnerId::new(runtime.wall(), runtime.random());
        let (host, boot_id) = ("elsewhere".to_owned(), "a boot".to_owned());
        let new = NewOwner { id, host, boot_id, pid: 7, level: windlass_domain::JOURNAL_LEVEL };
        register(court.store.as_ref(), new, runtime.wall()).await.unwrap();
        let desk = Desk::new(court.store.as_ref(), runtime.as_ref(), &Silent);
        desk.lease(&mut Consumer::new(Queue::Executor, id).at(&place.unwrap())).await.unwrap()
    });
    assert_eq!(taken.and_then(|taken| taken.message.task_id), Some(task));
    let seen_to = court.wait(engine.drive_to_heed(task, Arc::new(NobodyWatches)));
    assert!(matches!(seen_to, Err(Error::LeaseLost(_))), "{seen_to:?}");
    assert_eq!(court.wait(engine.task(task)).unwrap().status, Some(TaskStatus::Paused));
}

/// The answer was in time when it was thought of, and late when it was written: the card has lapsed.
#[test]
fn of_an_answer_and_an_expiry_at_once_the_one_that_is_written_first_wins() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    let card = asked.card.card_id;
    let (answering, deed) = interrupted_at(&court);
    let (other, time) = (court.process(), Arc::clone(&court.time));
    deed.at(TripwirePoint::BeforeCommit, move || {
        let (other, time) = (other.clone(), Arc::clone(&time));
        Box::pin(async move {
            time.jump(DAY);
            other.lapse(card).await.unwrap();
        })
    });
    let answered = court.answer(&answering, card, yes());
    assert!(matches!(answered, Err(Error::Card(Rejected::CardExpired))), "{answered:?}");
    court.drive(&engine, task);
    assert_eq!((court.stations(card), court.performed().len()), (vec!["requested".into(), "expired".into()], 0));
}

/// The other way round: it lapses when the answer is there already, which then stands.
#[test]
fn an_expiry_that_comes_after_an_answer_changes_nothing() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    let card = asked.card.card_id;
    court.approve(&engine, card);
    court.jump(DAY - Duration::from_secs(60));
    court.wait(engine.lapse(card)).unwrap();
    assert!(matches!(court.approval(&engine, card), ApprovalState::Issued { .. }));
    court.drive(&engine, task);
    assert_eq!(court.performed().len(), 1);
}

/// Sixty-four processes, half of them for it: one answer counts, and every other is told which.
#[test]
fn of_many_answers_at_once_one_wins() {
    const RACERS: usize = 64;
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    let card = asked.card.card_id;
    let (runtime, finish) = (court.runtime(), Canceller::default());
    let (won, left) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(RACERS)));
    for racer in 0..RACERS {
        let (engine, finish) = (court.process(), finish.clone());
        let (won, left) = (Arc::clone(&won), Arc::clone(&left));
        runtime.spawn(Box::pin(async move {
            let answer = if racer % 2 == 0 { yes() } else { no("no") };
            match engine.answer(card, answer, &owner_key()).await {
                Ok(answered) => won.lock().unwrap().push(answered.verdict),
                Err(Error::Card(Rejected::AlreadyAnswered(_))) => {}
                Err(other) => panic!("{other}"),
            }
            if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                finish.stop(Stop::Cancel);
            }
        }));
    }
    court.wait(finish.signal().wait());
    let won = won.lock().unwrap().clone();
    assert_eq!(won.len(), 1, "{won:?}");
    let refused = court.decisions(&engine).iter().filter(|decision| *decision == "approval refused").count();
    assert_eq!(refused, RACERS - 1, "and every other is in the audit");
    court.drive(&engine, task);
    assert_eq!(court.performed().len(), usize::from(won[0].allows()));
}

fn watchers() -> windlass_engine::Watchers {
    windlass_engine::Watchers::new(|_: &Tenant, _| Arc::new(NobodyWatches) as Arc<dyn Watcher>)
}

#[test]
fn of_many_workers_on_one_woken_task_one_drives_it() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    court.approve(&engine, asked.card.card_id);
    let workers: Vec<Engine> = (0..8).map(|_| court.process()).collect();
    let options = WorkerOptions { concurrency: 2, until: Until::Idle, ..WorkerOptions::default() };
    let working = workers.iter().map(|worker| worker.work(options, watchers(), CancelSignal::never()));
    for worked in court.wait(join_all(working)) {
        worked.unwrap();
    }
    assert_eq!(court.performed().len(), 1);
    assert_eq!(court.drive(&engine, task).result().status, TaskResultStatus::Completed);
    assert_eq!((court.work_for(task), court.interruptions(&engine, task)), (vec![], 0));
}

/// Somebody drives by hand what a worker was woken for.
#[test]
fn a_worker_and_a_person_who_resumes_do_not_both_perform() {
    for _ in 0..8 {
        let court = one_risky_call();
        let (engine, worker) = (court.process(), court.process());
        let (task, asked) = court.park(&engine);
        court.approve(&engine, asked.card.card_id);
        let options = WorkerOptions { concurrency: 2, until: Until::Idle, ..WorkerOptions::default() };
        let (driven, worked) = court.wait(futures_util::future::join(
            engine.drive(task, Arc::new(NobodyWatches)),
            worker.work(options, watchers(), CancelSignal::never()),
        ));
        worked.unwrap();
        assert!(matches!(driven, Ok(_) | Err(Error::HeldElsewhere { .. } | Error::LeaseLost(_))), "{driven:?}");
        assert_eq!(court.performed().len(), 1);
    }
}
