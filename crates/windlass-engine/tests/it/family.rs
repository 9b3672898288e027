//! A planned task and all who work for it, when something comes between: they pause and go on together, stop together, and whoever
//! waits for a person does not hold up the others.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::execution::{AgentInjection, ExecutionEvent};
use windlass_domain::task::{TaskEvent, TaskStatus};
use windlass_domain::{
    Canceller, Delta, Encoded, ErrorCode, ExecutionId, Stop, Taint, TaskId, TaskResultStatus, Tenant, Wall,
};
use windlass_engine::{Driven, Engine, Error, NobodyWatches, Sending, TripwirePoint, Watcher};
use windlass_store::sqlite::SqliteStore;
use windlass_store::{Commit, NewEvent, Store as _, StreamId};

use crate::court::{At, Court, Deed, bash, call, write};
use crate::planned::{STUCK, THREE, approve_and_drive, finished, given, text, three};
use crate::research::{WAITS, ask, drive_until, planner, wanted};

/// Approved, and not driven since.
fn approved(court: &Court, engine: &Engine) -> TaskId {
    let task = given(court, engine, THREE);
    court.drive(engine, task);
    let card = court.only_card(engine).card.card_id;
    court.approve(engine, card);
    task
}

fn status(court: &Court, engine: &Engine, task: TaskId) -> Option<TaskStatus> {
    court.wait(engine.task(task)).unwrap().status
}

fn runs(court: &Court, engine: &Engine, task: TaskId) -> Vec<TaskId> {
    let graph = court.wait(engine.graph(task)).unwrap();
    graph.atoms.values().flat_map(|progress| &progress.runs).map(|run| run.task).collect()
}

/// Drives, and does something else once somebody is in the middle of a call, which then goes on.
fn drive_and(court: &Court, engine: &Engine, task: TaskId, doing: impl AsyncFnOnce(Engine)) -> Driven {
    let held = Canceller::default();
    court.things.hold(held.signal());
    let holding = court.things.holding();
    let other = engine.clone();
    court.wait(async {
        let driving = engine.drive(task, Arc::new(NobodyWatches));
        let meanwhile = async {
            holding.wait().await;
            // Whoever began last.
            let stop = court.things.stop_signal();
            doing(other).await;
            stop.wait().await;
            held.stop(windlass_domain::Stop::Pause);
        };
        futures_util::future::join(driving, meanwhile).await.0.unwrap()
    })
}

#[test]
fn a_plan_and_its_items_pause_together_and_go_on_together() {
    let court = Court::new(vec![]);
    three(&court);
    let engine = court.process();
    let task = approved(&court, &engine);
    let driven = drive_and(&court, &engine, task, async |engine| engine.ask_to_pause(task, "lunch").await.unwrap());
    assert!(matches!(driven, Driven::Paused(_)), "{driven:?}");
    assert_eq!(status(&court, &engine, task), Some(TaskStatus::Paused));
    for run in runs(&court, &engine, task) {
        let stands = status(&court, &engine, run);
        assert!(stands != Some(TaskStatus::Running), "{run} {stands:?}");
        assert!(!court.is_held(run));
    }
    assert_eq!(text(&court, "c.txt"), None);
    // It is heeded: whoever asked for it, and looks only now, leaves them all at rest.
    let seen_to = court.wait(engine.drive_to_heed(task, Arc::new(NobodyWatches)));
    assert!(matches!(seen_to, Err(Error::LeaseLost(_))), "{seen_to:?}");
    assert_eq!((status(&court, &engine, task), court.work_for(task)), (Some(TaskStatus::Paused), vec![]));
    let result = finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(court.performed().len(), 3, "nothing was done twice");
}

#[test]
fn a_plan_that_is_cancelled_while_items_run_leaves_nobody_at_work_and_nothing_behind() {
    let court = Court::new(vec![]);
    three(&court);
    let engine = court.process();
    let task = approved(&court, &engine);
    let driven = drive_and(&court, &engine, task, async |engine| engine.ask_to_cancel(task, "enough").await.unwrap());
    assert_eq!(finished(driven).status, TaskResultStatus::Cancelled);
    for run in runs(&court, &engine, task) {
        assert!(court.wait(engine.task(run)).unwrap().is_over(), "{run}");
        assert!(!court.data_dir().join("worktrees").join(run.to_string()).exists());
    }
    assert_eq!((text(&court, "a.txt"), court.things.open_sandboxes()), (None, 0));
}

/// Regression: who rested never heard that the whole was cancelled, and it was paused for ever.
#[test]
fn a_plan_that_is_cancelled_while_all_rest_ends() {
    let court = Court::new(vec![]);
    three(&court);
    let engine = court.process();
    let task = approved(&court, &engine);
    drive_and(&court, &engine, task, async |engine| engine.ask_to_pause(task, "lunch").await.unwrap());
    court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
    assert_eq!(finished(court.drive(&engine, task)).status, TaskResultStatus::Cancelled);
    for run in runs(&court, &engine, task) {
        assert!(court.wait(engine.task(run)).unwrap().is_over(), "{run}");
        assert!(!court.data_dir().join("worktrees").join(run.to_string()).exists());
    }
    assert_eq!((text(&court, "c.txt"), court.things.open_sandboxes()), (None, 0));
}

/// The same where nobody waits for it at a terminal: whoever takes what lies in the queues ends it.
#[test]
fn workers_end_what_is_cancelled_while_it_rests() {
    let court = Court::new(vec![]);
    three(&court);
    let engine = court.process();
    let task = approved(&court, &engine);
    drive_and(&court, &engine, task, async |engine| engine.ask_to_pause(task, "lunch").await.unwrap());
    court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
    court.work(&engine);
    assert_eq!(status(&court, &engine, task), Some(TaskStatus::Cancelled));
}

/// A process that dies while it cancels what rests leaves it to be cancelled.
#[test]
fn a_resting_plan_that_is_cancelled_by_a_process_that_dies_is_cancelled_by_the_next() {
    let mut deaths = 0;
    for time in 1..=8 {
        let court = Court::new(vec![]);
        three(&court);
        let engine = court.process();
        let task = approved(&court, &engine);
        drive_and(&court, &engine, task, async |engine| engine.ask_to_pause(task, "lunch").await.unwrap());
        court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
        drop(engine);
        let at = At(TripwirePoint::AfterCommit, time);
        let lived = court.die(at, async |engine| engine.drive(task, Arc::new(NobodyWatches)).await);
        deaths += usize::from(lived.is_none());
        let engine = court.process();
        assert_eq!(finished(court.drive(&engine, task)).status, TaskResultStatus::Cancelled, "{time}");
    }
    assert!(deaths > 3, "{deaths}");
}

#[test]
fn an_outage_of_one_item_pauses_the_whole_and_resuming_goes_on_with_all() {
    let court = Court::new(vec![]);
    three(&court);
    court.things.cut_off("Write b");
    let engine = court.process();
    let task = approved(&court, &engine);
    let Driven::Paused(result) = court.drive(&engine, task) else { panic!("it should rest") };
    assert_eq!(status(&court, &engine, task), Some(TaskStatus::Paused));
    assert_eq!(text(&court, "a.txt"), None, "{result:?}");
    // Regression: it said that the user had paused it.
    let why = court.wait(engine.task(task)).unwrap().rests_for;
    assert_eq!(why.as_deref(), Some("a part of it is paused: the model cannot be reached"));
    let result = finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(court.performed().len(), 3);
}

/// Regression: it went on resting, and the whole waited for its end for ever.
#[test]
fn a_helper_that_rests_when_nobody_waits_for_it_any_more_ends_and_so_does_the_whole() {
    let court = Court::new(vec![]);
    let attempt = |path: &str| vec![vec![write(path, "it")]];
    let attempts = vec![attempt("wrong.txt"), attempt("wrong_again.txt"), attempt("right.txt")];
    court.things.cast("Write it right", attempts, "written");
    court.things.cast("An item of your plan is stuck", vec![], "too late");
    court.things.cut_off("An item of your plan is stuck");
    let engine = court.process();
    let task = given(&court, &engine, STUCK);
    court.drive(&engine, task);
    court.approve(&engine, court.only_card(&engine).card.card_id);
    assert_eq!(court.wait(engine.sending(task)).unwrap(), Some(Sending::Waits));
    court.work(&engine);
    let item = court.wait(engine.task(runs(&court, &engine, task)[0])).unwrap();
    let helper = item.open_consult().expect("it asked a planner").run;
    assert_eq!(status(&court, &engine, helper), Some(TaskStatus::Paused));
    court.jump(Duration::from_secs(91));
    court.work(&engine);
    assert_eq!(status(&court, &engine, helper), Some(TaskStatus::Cancelled));
    assert_eq!(status(&court, &engine, task), Some(TaskStatus::Completed));
}

#[test]
fn an_item_that_asks_a_person_parks_and_the_others_go_on() {
    let court = Court::new(vec![]);
    court.things.cast("Write a", vec![vec![vec![bash("rm notes"), write("a.txt", "a")]]], "a is there");
    for name in ["b", "c"] {
        court.things.cast(
            &format!("Write {name}"),
            vec![vec![vec![write(&format!("{name}.txt"), name)]]],
            &format!("{name} is there"),
        );
    }
    let engine = court.process();
    let task = approved(&court, &engine);
    let driven = court.drive(&engine, task);
    assert!(matches!(&driven, Driven::Waiting(result) if result.hitl_request.is_some()), "{driven:?}");
    assert_eq!(court.performed().len(), 1, "b is done, and c waits for a");
    let asked = court.only_card(&engine);
    court.approve(&engine, asked.card.card_id);
    let result = finished(court.drive(&engine, task));
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
}

/// Whoever looks something up for a planner rests with it, and goes on with it.
#[test]
fn research_pauses_with_its_plan_and_goes_on_with_it() {
    let court = Court::new(vec![]);
    let plan = THREE;
    three(&court);
    court.things.cast_turns("do it", vec![(vec![vec![ask("Slow?")]], WAITS), (vec![], plan)]);
    court.things.cast("Slow?", vec![vec![vec![call("read", serde_json::json!({ "path": "x" }))]]], "At last.");
    let engine = court.process();
    let task = wanted(&court, &engine);
    let driven = drive_and(&court, &engine, task, async |engine| engine.ask_to_pause(task, "lunch").await.unwrap());
    assert!(matches!(driven, Driven::Paused(_)), "{driven:?}");
    let (run, state) = planner(&court, &engine, task);
    assert_eq!(status(&court, &engine, run), Some(TaskStatus::Paused));
    assert_ne!(status(&court, &engine, state.inquiries[0].run), Some(TaskStatus::Running));
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
}

/// A process that dies while a plan is cancelled leaves it to be cancelled.
#[test]
fn a_plan_that_is_cancelled_by_a_process_that_dies_is_cancelled_by_the_next() {
    let mut deaths = 0;
    for time in 1..=12 {
        let court = Court::new(vec![]);
        court.things.cast_turns("do it", vec![(vec![vec![ask("Slow?")]], WAITS), (vec![], WAITS)]);
        court.things.cast("Slow?", vec![vec![vec![call("read", serde_json::json!({ "path": "x" }))]]], "At last.");
        let held = Canceller::default();
        court.things.hold(held.signal());
        let engine = court.process();
        let task = wanted(&court, &engine);
        drive_until(&court, &engine, task, court.things.holding());
        drop(engine);
        court.things.let_go();
        let engine = court.process();
        court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
        drop(engine);
        let at = At(windlass_engine::TripwirePoint::AfterCommit, time);
        let lived = court.die(at, async |engine| engine.drive(task, Arc::new(NobodyWatches)).await);
        deaths += usize::from(lived.is_none());
        let engine = court.process();
        let result = finished(court.drive(&engine, task));
        assert_eq!(result.error_details.map(|error| error.error_code), Some(ErrorCode::Cancelled), "{time}");
        let (_, state) = planner(&court, &engine, task);
        assert!(court.wait(engine.task(state.inquiries[0].run)).unwrap().is_over(), "{time}");
    }
    assert!(deaths > 3, "{deaths}");
}

/// Tells that something went wrong, as soon as it is said.
struct Hears(Canceller);

impl Watcher for Hears {
    fn task(&self, _: TaskId, _: &TaskEvent, _: Wall) {}
    fn execution(&self, _: ExecutionId, _: &ExecutionEvent, _: Wall) {}
    fn delta(&self, _: ExecutionId, _: Delta) {}

    fn trouble(&self, _: &str) {
        self.0.stop(Stop::Pause);
    }
}

/// Writes a record into a task's stream that nobody here can read.
async fn spoil(store: &SqliteStore, task: TaskId) {
    let mut commit = Commit::unfenced(Tenant::local(), Wall::default());
    let data = serde_json::value::to_raw_value(&()).unwrap();
    let encoded = Encoded { kind: "task.of_tomorrow", version: 1, data, since: 1, older: &[] };
    let stream = StreamId::new("task", task);
    commit.events.push(NewEvent { stream, encoded, taint: Taint::Auth, at: Wall::default() });
    store.commit(commit).await.unwrap();
}

/// Regression: whoever was at work was dropped in the middle, with their leases and messages in the hands of a process that lives.
#[test]
fn what_goes_wrong_with_one_is_said_at_once_and_the_others_end_what_they_have_begun() {
    let court = Court::new(vec![]);
    court.things.cast("Write a", vec![vec![vec![bash("ls"), write("a.txt", "a")]]], "a is there");
    court.things.cast("Write b", vec![vec![vec![write("b.txt", "b")]]], "b is there");
    let held = Canceller::default();
    court.things.hold_tool("bash", held.signal());
    let deed = Deed::new();
    let tripwire = Arc::<Deed>::clone(&deed);
    let engine = court.process_with(|parts| parts.tripwire = Some(tripwire));
    let task = approved(&court, &engine);
    // `a` is held, so that the first run that ends is that of `b`.
    let (other, store) = (court.process(), Arc::clone(&court.store));
    deed.at(TripwirePoint::RunEnded, move || {
        let (other, store) = (other.clone(), Arc::clone(&store));
        Box::pin(async move { spoil(&store, part(&other, task, "Write b").await).await })
    });
    let (said, heard) = (Canceller::default(), Canceller::default());
    let watcher = Arc::new(Hears(said.clone()));
    let error = court.wait(async {
        let driving = async {
            let driven = engine.drive(task, watcher).await;
            heard.stop(Stop::Pause);
            driven
        };
        let meanwhile = async {
            said.signal().wait().await;
            assert_eq!(heard.signal().raised(), None, "a is still at work");
            held.stop(Stop::Pause);
        };
        futures_util::future::join(driving, meanwhile).await.0
    });
    assert!(matches!(error, Err(Error::Unreadable(_))), "{error:?}");
    let graph = court.wait(engine.graph(task)).unwrap();
    let run = graph.atoms.iter().find(|(id, _)| id.as_str() == "a").unwrap().1.runs[0].task;
    assert!(court.wait(engine.task(run)).unwrap().is_over());
    assert!(!court.is_held(run));
    assert_eq!(court.things.open_sandboxes(), 0);
}

/// The part whose goal begins so.
async fn part(engine: &Engine, root: TaskId, begins: &str) -> TaskId {
    for member in engine.members(root).await.unwrap() {
        let created = engine.task(member).await.unwrap().created.unwrap();
        if created.command.goal.starts_with(begins) {
            return member;
        }
    }
    panic!("nobody is to {begins}");
}

/// Contracts: a task bears twenty interruptions. A folder that is lost is one, and the agent is told.
#[test]
fn an_attempt_whose_folder_is_lost_was_interrupted_and_one_that_finds_it_was_not() {
    for is_lost in [true, false] {
        let court = Court::new(vec![]);
        three(&court);
        let engine = court.process();
        let task = approved(&court, &engine);
        drive_and(&court, &engine, task, async |engine| engine.ask_to_pause(task, "lunch").await.unwrap());
        let begun: Vec<TaskId> = runs(&court, &engine, task)
            .into_iter()
            .filter(|run| {
                // One whose agent has said its last word does not go on: its work is about to be checked.
                let attempts = court.wait(engine.task(*run)).unwrap().attempts;
                attempts.last().is_some_and(|attempt| attempt.ended.is_none())
            })
            .filter(|run| {
                let folder = court.data_dir().join("worktrees").join(run.to_string());
                folder.exists() && (!is_lost || std::fs::remove_dir_all(folder).is_ok())
            })
            .collect();
        assert!(!begun.is_empty());
        let result = finished(court.drive(&engine, task));
        assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
        let told = |run: &TaskId| {
            let events = court.execution_events(&engine, *run);
            let lost = AgentInjection::folder_lost();
            events.iter().any(|event| match event {
                ExecutionEvent::InjectionReceived(received) => received.injection == lost,
                _ => false,
            })
        };
        let interrupted: Vec<(u32, bool)> =
            begun.iter().map(|run| (court.interruptions(&engine, *run), told(run))).collect();
        let expected = (u32::from(is_lost), is_lost);
        assert!(interrupted.iter().all(|found| *found == expected), "{is_lost} {interrupted:?}");
    }
}
