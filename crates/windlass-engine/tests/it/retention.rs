//! What tasks weigh goes a while after they ended; what others still name, what is not over, and what happened, stays.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass_domain::{Digest, ErrorDetails, ExecutionId, Runner, TaskId, Tenant, Workspace};
use windlass_engine::{Driven, Equipment, JournalRecord, Order, PruneRun, Pruned};
use windlass_sandbox::{Policy, Provider};
use windlass_store::Store as _;
use windlass_store::chain::{Verified, verify};

use crate::counted::Counted;
use crate::court::{Court, read};
use crate::support::House;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// As every submission here has it.
const SCRIPT: &str = "nobody plays it";

fn long(word: &str) -> String {
    word.repeat(20_000)
}

/// A task whose check prints this at length.
fn ended(house: &House, word: &'static str) -> TaskId {
    house.shell(move |_| long(word));
    let task = house.submit("command: say", 1);
    assert!(matches!(house.drive(task), Driven::Finished(_)));
    task
}

fn has(house: &House, text: &str) -> bool {
    house.has_blob(Digest::of(text.as_bytes()))
}

fn prune(house: &House, run: PruneRun) -> Pruned {
    house.wait(house.engine.prune(30 * DAY, run)).expect("no trouble")
}

#[test]
fn blobs_that_only_expired_tasks_name_go_and_no_others() {
    let house = House::new(|_, _| {});
    ended(&house, "old ");
    ended(&house, "both ");
    house.time_machine()(40 * DAY);
    ended(&house, "both ");
    let young = ended(&house, "young ");
    let all = ["old ", "both ", "young "];
    let there = || all.map(|word| has(&house, &long(word)));
    assert_eq!((there(), has(&house, SCRIPT)), ([true; 3], true));

    let would = prune(&house, PruneRun::Dry);
    assert_eq!((would.tasks, would.blobs), (2, 1), "{would:?}");
    assert_eq!(there(), [true; 3], "nothing went");
    let went = prune(&house, PruneRun::Real);
    assert_eq!((went.tasks, went.blobs), (would.tasks, would.blobs));
    assert_eq!(there(), [false, true, true], "what a younger one names stays");
    assert!(has(&house, SCRIPT));
    assert_eq!(prune(&house, PruneRun::Real).tasks, 0, "it is done once");

    let walked = house.wait(verify(&*house.store, &Tenant::local(), None, None)).expect("a walk");
    assert!(matches!(walked, Verified::Intact { .. }), "{walked:?}");
    assert!(house.wait(house.engine.story(young)).expect("it can be told").len() > 1);
}

#[test]
fn nothing_of_a_task_that_is_not_over_goes_however_old_it_is() {
    let house = House::new(|_, _| {});
    let task = house.submit("command: say", 1);
    house.time_machine()(400 * DAY);
    assert_eq!(prune(&house, PruneRun::Real), Pruned::default());
    assert!(has(&house, SCRIPT));
    house.shell(|_| long("late "));
    assert!(matches!(house.drive(task), Driven::Finished(_)), "it goes on");
}

#[test]
fn every_tenant_is_seen_to() {
    let house = House::new(|_, _| {});
    ended(&house, "old ");
    house.time_machine()(40 * DAY);
    let other = house.engine.for_tenant(Tenant::new("other"));
    let gone = house.wait(other.prune(30 * DAY, PruneRun::Real)).expect("no trouble");
    assert_eq!(gone.tasks, 1, "whoever asks");
    assert_eq!(house.wait(house.store.tenants()), Ok(vec![Tenant::local()]));
}

/// Blobs that were put within a day are not taken away: somebody may be about to name them.
#[test]
fn what_cannot_go_yet_goes_later_and_is_not_said_to_have_gone() {
    let house = House::new(|_, _| {});
    ended(&house, "old ");
    let at_once = |house: &House| house.wait(house.engine.prune(Duration::ZERO, PruneRun::Real)).expect("no trouble");
    house.time_machine()(Duration::from_secs(60));
    assert_eq!(at_once(&house).blobs, 0);
    assert!(has(&house, &long("old ")));
    house.time_machine()(2 * DAY);
    assert!(at_once(&house).blobs > 0 && !has(&house, &long("old ")));
}

/// Whoever prunes elsewhere has none of its files, and leaves all of it to the machine that has them.
#[test]
fn each_machine_sees_to_what_it_worked_on() {
    let court = Court::in_still_time(vec![]);
    let engine = court.process();
    let task = court.submit(&engine);
    court.drive(&engine, task);
    let trace = court.data_dir().join("traces").join(format!("{task}.jsonl"));
    crate::support::put(&trace, "what it did");
    court.jump(40 * DAY);
    let other = court.process_with(|parts| {
        parts.machine.host = "another".to_owned();
        parts.data_dir = court.data_dir().join("another");
    });
    assert_eq!(court.wait(other.prune(30 * DAY, PruneRun::Real)).expect("no trouble"), Pruned::default());
    assert!(trace.exists());
    assert_eq!(court.wait(engine.prune(30 * DAY, PruneRun::Real)).expect("no trouble").tasks, 1);
    assert!(!trace.exists());
}

/// Regression: each blob was read, whatever it weighs, to see what it weighs.
#[test]
fn nobody_reads_what_goes_to_see_what_it_weighs() {
    let court = Court::in_still_time(vec![vec![read("notes")]]);
    court.put("notes", "plain");
    let engine = court.process();
    let task = court.submit(&engine);
    court.drive(&engine, task);
    court.jump(40 * DAY);
    let mut store = None;
    let pruner = court.process_with(|parts| {
        let counted = Counted::new(Arc::clone(&parts.store));
        store = Some(Arc::clone(&counted));
        parts.store = counted;
    });
    let store = store.expect("it was made");
    let gone = court.wait(pruner.prune(30 * DAY, PruneRun::Dry)).expect("no trouble");
    assert!(gone.blobs > 0 && gone.bytes > 0, "{gone:?}");
    assert_eq!(store.read().blobs, 0);
    assert_eq!(court.wait(pruner.prune(30 * DAY, PruneRun::Real)).expect("no trouble"), gone);
    assert_eq!(store.read().blobs, 0);
}

/// Homes in which nobody was for long.
struct Homes {
    inner: Arc<dyn Equipment>,
    unused: Mutex<Vec<ExecutionId>>,
    removed: Mutex<Vec<ExecutionId>>,
}

impl Equipment for Homes {
    fn sandboxes(&self, name: &str) -> Result<Arc<dyn Provider>, ErrorDetails> {
        self.inner.sandboxes(name)
    }

    fn policy(&self, folder: &Path) -> Policy {
        self.inner.policy(folder)
    }

    fn workspace(&self, folder: &Path) -> Result<Arc<dyn Workspace>, ErrorDetails> {
        self.inner.workspace(folder)
    }

    fn homes_unused_for(&self, _: Duration) -> Vec<ExecutionId> {
        self.unused.lock().unwrap().clone()
    }

    fn remove_home(&self, execution: ExecutionId) {
        self.unused.lock().unwrap().retain(|unused| *unused != execution);
        self.removed.lock().unwrap().push(execution);
    }

    fn runner(&self, order: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        self.inner.runner(order)
    }
}

/// Regression: once in the life of a process, which may last for months.
#[test]
fn homes_are_looked_for_every_hour_by_whoever_lives_for_long() {
    let court = Court::in_still_time(vec![]);
    let mut homes = None;
    let engine = court.process_with(|parts| {
        let (unused, removed) = Default::default();
        let found = Arc::new(Homes { inner: Arc::clone(&parts.equipment), unused, removed });
        homes = Some(Arc::clone(&found));
        parts.equipment = found;
    });
    let homes = homes.expect("they were made");
    // Of another tenant than the one that the process began with.
    let other = engine.for_tenant(Tenant::new("other"));
    let task = court.submit(&other);
    court.drive(&other, task);
    let of_execution = |record| match record {
        JournalRecord::Execution { execution, .. } => Some(execution),
        _ => None,
    };
    let over = court.story(&other, task).into_iter().find_map(of_execution).expect("it had one");
    let unknown = ExecutionId::new(court.wall(), 7);
    let an_hour = Duration::from_secs(60 * 60);
    let rests = || {
        while court.time.asleep(an_hour) == 0 {
            std::thread::yield_now();
        }
    };
    engine.keep_pruning(None, Arc::new(|what: &str| panic!("{what}")));
    rests();
    assert_eq!(*homes.removed.lock().unwrap(), [], "nobody has been gone for long");
    *homes.unused.lock().unwrap() = vec![over, unknown];
    court.jump(an_hour);
    rests();
    assert_eq!(*homes.removed.lock().unwrap(), [over], "one of which nobody knows stays");
    assert_eq!(*homes.unused.lock().unwrap(), [unknown]);
}
