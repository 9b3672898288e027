//! Workers over one store, in a time that moves only when it is told to: whose heart has stopped is taken over from within a
//! second of expiry and whose heart beats never is; whoever wakes too late commits nothing.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass_domain::graph::GraphEvent;
use windlass_domain::{
    CallStatus, CancelSignal, Canceller, Encoded, Stop, Taint, TaskId, TaskResultStatus, Tenant, WorkspaceError,
};
use windlass_engine::{Dispatch, Driven, Engine, Error, NobodyWatches, Until, Watcher, Watchers, WorkerOptions};
use windlass_store::{
    Commit, LeaseName, NewEvent, NewTimer, Store as _, StoredEvent, StreamId, TimerChange, TimerName,
};

use crate::between::Between;
use crate::clock::Clock;
use crate::court::{Court, bash};
use crate::planned::{THREE, finished, given, three};
use crate::support::Work;

/// The engine's own: how often a worker looks, how often a heart beats, and how long a silent one counts as alive.
const LOOK: Duration = Duration::from_millis(900);
const BEAT: Duration = Duration::from_secs(3);
const TIME_TO_LIVE: Duration = Duration::from_secs(9);
const STEP: Duration = Duration::from_millis(100);

fn watchers(order: Arc<Mutex<Vec<String>>>) -> Watchers {
    Watchers::new(move |tenant: &Tenant, _| {
        order.lock().unwrap().push(tenant.as_str().to_owned());
        Arc::new(NobodyWatches) as Arc<dyn Watcher>
    })
}

#[test]
fn a_worker_serves_tenants_in_turn() {
    let court = Court::new(vec![vec![bash("ls")]]);
    let engine = court.process();
    for (tenant, tasks) in [("a", 3), ("b", 2), ("c", 1)] {
        let engine = engine.for_tenant(Tenant::new(tenant));
        for _ in 0..tasks {
            court.wait(engine.submit(court.submission(), Dispatch::ToWorkers, None)).unwrap();
        }
    }
    let order = Arc::new(Mutex::new(Vec::new()));
    let options = WorkerOptions { concurrency: 1, until: Until::Idle, ..WorkerOptions::default() };
    court.wait(engine.work(options, watchers(Arc::clone(&order)), CancelSignal::never())).unwrap();
    assert_eq!(*order.lock().unwrap(), ["a", "b", "c", "a", "b", "a"]);
    assert_eq!(court.performed().len(), 6);
}

/// Regression: one timer that could not be seen to ended every worker, and a hundred of a kind that nobody knows kept all others waiting.
#[test]
fn timers_that_nobody_here_can_see_to_hold_up_no_others() {
    let court = Court::new(vec![vec![bash("rm")]]);
    let engine = court.process();
    let (task, _) = court.park(&engine);
    let newer = TaskId::new(court.wall(), 7);
    let mut commit = Commit::unfenced(Tenant::new("other"), court.wall());
    // What a newer version writes, and a timer that is about it.
    let record = || Encoded {
        kind: "task.of_tomorrow",
        version: 1,
        data: serde_json::value::to_raw_value(&()).unwrap(),
        since: 1,
        older: &[],
    };
    commit.events.push(NewEvent {
        stream: StreamId::new("task", newer),
        encoded: record(),
        at: court.wall(),
        taint: Taint::Owner,
    });
    let names = (0..150).map(|number| format!("of-tomorrow/{number}")).chain([format!("consult/{newer}")]);
    let set = |name| NewTimer {
        name: TimerName(name),
        due: court.wall(),
        queue: "runtime_queue".to_owned(),
        encoded: record(),
        taint: Taint::Owner,
    };
    commit.timers.extend(names.map(set).map(TimerChange::Set));
    court.wait(court.store.commit(commit)).unwrap();
    court.jump(Duration::from_secs(24 * 3_600));
    // It looks more than once: what it sets aside makes room.
    court.work(&engine);
    court.work(&engine);
    let result = court.wait(engine.task(task)).unwrap().result.expect("its card has lapsed, and it went on");
    assert_eq!(result.status, TaskResultStatus::Completed);
}

/// Who fills a folder is told so, and goes on filling it until it may stop.
fn told_while_a_folder_is_filled(court: &Court, told: impl Fn() + Send + Sync + 'static) {
    court.things.meddle(Arc::new(move |work, should_stop| {
        if work != Work::Materialise {
            return Ok(());
        }
        told();
        while !should_stop() {
            std::thread::yield_now();
        }
        Err(WorkspaceError::Stopped)
    }));
}

/// Regression: told to leave its work to others while it filled an item's folder, a worker had the item rest as after an outage, and nobody
/// went on with it.
#[test]
fn an_item_whose_folder_is_being_filled_is_left_to_others() {
    let court = Court::new(vec![]);
    three(&court);
    let engine = court.process();
    let task = given(&court, &engine, THREE);
    court.drive(&engine, task);
    court.approve(&engine, court.only_card(&engine).card.card_id);
    let canceller = Canceller::default();
    let signal = canceller.signal();
    told_while_a_folder_is_filled(&court, move || canceller.stop(Stop::LeaseLost));
    let options = WorkerOptions { concurrency: 2, ..WorkerOptions::default() };
    court.wait(engine.work(options, watchers(Arc::default()), signal)).unwrap();
    court.things.leave_alone();
    // The process ends, and with it what it held.
    court.wait(engine.close()).unwrap();
    let other = court.process();
    // What was given back is taken again in a moment.
    court.jump(Duration::from_secs(60));
    court.work(&other);
    let result = court.wait(other.task(task)).unwrap().result.expect("it goes on by itself");
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
}

fn runs(court: &Court, engine: &Engine, task: TaskId) -> Vec<TaskId> {
    let started = |event| match event {
        GraphEvent::AtomStarted(started) => Some(started.run),
        _ => None,
    };
    court.graph_events(engine, task).into_iter().filter_map(started).collect()
}

/// Regression: that it was told to rest was called an outage.
#[test]
fn an_item_that_is_to_rest_while_its_folder_is_filled_rests_by_that_word() {
    let court = Court::new(vec![]);
    three(&court);
    let engine = court.process();
    let task = given(&court, &engine, THREE);
    court.drive(&engine, task);
    court.approve(&engine, court.only_card(&engine).card.card_id);
    let stopping = engine.clone();
    told_while_a_folder_is_filled(&court, move || stopping.stop(task, Stop::Pause));
    let driven = court.drive(&engine, task);
    assert!(matches!(driven, Driven::Paused(_)), "{driven:?}");
    for run in runs(&court, &engine, task) {
        let kinds = court.task_kinds(&engine, run);
        assert!(!kinds.iter().any(|kind| kind == "attempt.interrupted"), "{kinds:?}");
    }
    court.things.leave_alone();
    let result = finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
}

/// Regression: a task of another machine was driven here, in whatever folder had the name of its own.
#[test]
fn what_is_another_machines_is_left_to_it() {
    let court = Court::new(vec![vec![bash("ls")]]);
    let task = court.submit(&court.process());
    let stranger = court.process_with(|parts| parts.machine.host = "another-machine".to_owned());
    let refused = court.wait(stranger.drive(task, Arc::new(NobodyWatches))).unwrap_err();
    assert!(matches!(refused, Error::Elsewhere { .. }), "{refused}");
    assert_eq!(court.performed(), Vec::<String>::new());
    court.drive(&court.process(), task);
    assert_eq!(court.performed().len(), 1);
}

/// Regression: a worker that was told to end while the store was gone for a moment gave up, and what it held stayed held.
#[test]
fn a_worker_that_is_told_to_end_during_an_outage_asks_once_more() {
    let court = Court::new(vec![]);
    let told = Canceller::default();
    told.stop(Stop::Pause);
    let store = Between::new(&court.store);
    let between = Arc::clone(&store);
    let engine = court.process_with(|parts| parts.store = between);
    store.be_gone(usize::MAX);
    court.wait(engine.work(WorkerOptions::default(), watchers(Arc::default()), told.signal())).unwrap();
}

/// A process that performs a call and is held there, and a worker that has nothing else to do than to watch it.
struct Watch {
    court: Court,
    task: TaskId,
    holder: Arc<Clock>,
    /// Lets the call be performed.
    hold: Canceller,
    driven: Arc<Mutex<Option<Result<Driven, Error>>>>,
    stop_worker: Canceller,
    engine: Engine,
}

impl Watch {
    fn new() -> Self {
        let court = Court::in_still_time(vec![vec![bash("ls")]]);
        let (hold, stop_worker) = (Canceller::default(), Canceller::default());
        court.things.hold(hold.signal());
        let holder = Clock::new(&court.time);
        let engine = by_heartbeat(&court, &holder);
        let task = court.submit(&engine);
        let driven = Arc::new(Mutex::new(None));
        let (runtime, in_the_call) = (court.runtime(), court.things.begun_to_perform());
        let (driving, outcome) = (engine.clone(), Arc::clone(&driven));
        runtime.spawn(Box::pin(async move {
            let end = driving.drive(task, Arc::new(NobodyWatches)).await;
            *outcome.lock().unwrap() = Some(end);
        }));
        court.wait(in_the_call.wait());
        let (worker, stop) = (by_heartbeat(&court, &Clock::new(&court.time)), stop_worker.signal());
        runtime.spawn(Box::pin(async move {
            let options = WorkerOptions { concurrency: 1, ..WorkerOptions::default() };
            worker.work(options, watchers(Arc::default()), stop).await.unwrap();
        }));
        Self { court, task, holder, hold, driven, stop_worker, engine }
    }

    /// Lets time go on, giving everybody who woke the chance to do what they woke for; `beating` hearts beat.
    fn go_on(&self, length: Duration, beating: usize) {
        let steps = length.as_millis() / STEP.as_millis();
        for _ in 0..steps {
            self.settle(beating);
            self.court.jump(STEP);
        }
        self.settle(beating);
    }

    /// Until the worker has looked and every heart has beaten that should have.
    fn settle(&self, beating: usize) {
        while self.court.time.asleep(LOOK) == 0 || self.court.time.asleep(BEAT) < beating {
            std::thread::yield_now();
        }
    }

    fn holder_of_the_lease(&self) -> Option<windlass_domain::OwnerId> {
        let name = LeaseName::new("task", self.task);
        let lease = self.court.wait(self.court.store.lease(&Tenant::local(), &name)).unwrap();
        lease.and_then(|lease| lease.holder).map(|holder| holder.id)
    }

    /// Until somebody has ended the task.
    fn result(&self) -> TaskResultStatus {
        loop {
            if let Some(result) = self.court.wait(self.engine.task(self.task)).unwrap().result {
                return result.status;
            }
            std::thread::yield_now();
        }
    }

    fn how_the_holder_ended(&self) -> Result<Driven, Error> {
        loop {
            if let Some(end) = self.driven.lock().unwrap().take() {
                return end;
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop_worker.stop(Stop::Cancel);
        self.court.jump(LOOK);
    }
}

/// No lock tells of it: only its heart.
fn by_heartbeat(court: &Court, clock: &Arc<Clock>) -> Engine {
    court.process_with(|parts| {
        parts.machine.locks = None;
        parts.runtime = Arc::<Clock>::clone(clock);
    })
}

#[test]
fn whose_heart_beats_keeps_its_task_however_long_it_takes() {
    let watch = Watch::new();
    let holder = watch.holder_of_the_lease();
    watch.go_on(7 * TIME_TO_LIVE, 2);
    assert_eq!(watch.holder_of_the_lease(), holder);
    watch.hold.stop(Stop::Pause);
    assert!(matches!(watch.how_the_holder_ended(), Ok(Driven::Finished(_))));
    assert_eq!(watch.court.performed().len(), 1);
}

#[test]
fn whose_heart_has_stopped_is_taken_over_from_within_a_second_of_expiry_and_commits_nothing_when_it_wakes() {
    let watch = Watch::new();
    let Watch { court, task, .. } = &watch;
    watch.go_on(BEAT, 2);
    let holder = watch.holder_of_the_lease();
    watch.holder.stop();
    // Its last beat is at most one look old when it is first seen; from then on silence counts.
    watch.go_on(TIME_TO_LIVE - BEAT, 1);
    assert_eq!(watch.holder_of_the_lease(), holder, "not before it has expired");
    watch.go_on(BEAT + LOOK + Duration::from_secs(1), 1);
    assert_eq!(watch.result(), TaskResultStatus::Completed, "the worker has ended it");
    assert_eq!(court.results(&watch.engine, *task)[0].status, CallStatus::Interrupted);

    let written = court.wait(court.store.chain_head(&Tenant::local())).unwrap();
    watch.hold.stop(Stop::Pause);
    watch.holder.wake();
    let end = watch.how_the_holder_ended();
    assert!(matches!(end, Err(Error::LeaseLost(_))), "{end:?}");
    let after = court.wait(court.store.events(&Tenant::local(), written.unwrap().position, 10)).unwrap();
    // But for the audit, which has that it tried.
    let is_refusal = |row: &StoredEvent| row.stream.kind() == "audit" && row.data.contains(r#""decision":"refused""#);
    assert!(after.iter().all(is_refusal), "{after:?}");
}

/// The control: stopped for less than that, it goes on and its work counts.
#[test]
fn who_wakes_in_time_goes_on() {
    let watch = Watch::new();
    watch.go_on(BEAT, 2);
    watch.holder.stop();
    watch.go_on(TIME_TO_LIVE - BEAT, 1);
    watch.holder.wake();
    watch.go_on(2 * TIME_TO_LIVE, 2);
    watch.hold.stop(Stop::Pause);
    assert!(matches!(watch.how_the_holder_ended(), Ok(Driven::Finished(_))));
    assert_eq!(watch.court.results(&watch.engine, watch.task)[0].status, CallStatus::Ok);
}
