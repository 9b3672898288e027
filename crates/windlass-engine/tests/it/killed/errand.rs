//! The errand that every process here is killed over: two items beside each other, of which one fails its check twice and hears its
//! planner, a check over the work of both, and a user who goes on editing. What has to be true when it is done is the same
//! whoever died on the way.

use std::sync::Arc;

use windlass_domain::graph::PlanStanding;
use windlass_domain::{TaskId, TaskResultStatus, Tenant, Wall};
use windlass_engine::{Dispatch, Driven, Engine, Error, NobodyWatches, Planning, Submission, read_plan};
use windlass_store::{Store as _, StreamId};

use crate::court::{Court, owner_key, write, yes};

const PLAN: &str = "---
id: both
type: project
title: Both files
verify: [{ file: hard.txt }, { file: easy.txt }]
tasks:
  - { id: hard, type: task, title: Write the hard one, verify: [{ file: hard.txt }] }
  - { id: easy, type: task, title: Write the easy one, verify: [{ file: easy.txt }] }
---
# What to do
Write the files.
";

/// What a file says that both the user and an item change, each elsewhere.
fn letter(first: &str, last: &str) -> String {
    format!("{first}\n\nbetween\n\nthem\n\n{last}\n")
}

/// Who writes the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    User,
    Planner,
}

/// Later than anything is due.
const LATE: Wall = Wall::from_millis(u64::MAX >> 1);

/// A court with everybody in it, and the task. Nobody has worked on it yet; the user has changed something since.
pub fn given(author: Author) -> (Court, TaskId) {
    let court = Court::without_disk();
    court.put("mine.txt", "before");
    court.put("letter.txt", letter("first", "last"));
    let attempt = |path: &str| vec![vec![write(path, "it")]];
    let last = vec![vec![write("letter.txt", &letter("first", "signed"))], vec![write("hard.txt", "hard")]];
    court.things.cast("Write the hard one", vec![attempt("wrong.txt"), attempt("worse.txt"), last], "hard is there");
    court.things.cast("Write the easy one", vec![vec![vec![write("easy.txt", "easy")]]], "easy is there");
    court.things.cast("An item of your plan is stuck", vec![vec![]], "write the hard one");
    court.things.cast("do it", vec![vec![]], PLAN);
    let engine = court.process();
    let planning = match author {
        Author::User => Planning::Given(Box::new(read_plan(PLAN).unwrap_or_else(|problems| panic!("{problems}")))),
        Author::Planner => Planning::Wanted,
    };
    let submission = Submission { planning, ..court.submission() };
    let task = court.wait(engine.submit(submission, Dispatch::ToWorkers, Some(&owner_key()))).unwrap();
    court.put("mine.txt", "after");
    court.put("letter.txt", letter("dear reader", "last"));
    (court, task)
}

/// Drives it to its end, and says yes whenever somebody asks.
pub async fn see_through(engine: Engine, task: TaskId) -> Result<Driven, Error> {
    loop {
        let driven = engine.drive(task, Arc::new(NobodyWatches)).await?;
        if !matches!(driven, Driven::Waiting(_)) {
            return Ok(driven);
        }
        say_yes(&engine).await?;
    }
}

pub async fn say_yes(engine: &Engine) -> Result<(), Error> {
    for asked in engine.cards().await? {
        engine.answer(asked.card.card_id, yes(), &owner_key()).await?;
    }
    Ok(())
}

#[track_caller]
pub fn assert_done(court: &Court, task: TaskId, told: &str) {
    let engine = court.process();
    let state = court.wait(engine.task(task)).unwrap();
    let Some(result) = state.result else { panic!("{told}: it has not ended, {:?}", state.status) };
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{told}: {result:?}");
    assert_files(court, told);
    let mut performed = court.performed();
    performed.sort();
    performed.iter().zip(performed.iter().skip(1)).for_each(|(one, next)| assert_ne!(one, next, "{told}: twice"));
    assert_eq!(performed.len(), 5, "{told}: {performed:?}");
    assert_graph(court, &engine, task, told);
    assert_nothing_left(court, &engine, task, told);
}

#[track_caller]
fn assert_files(court: &Court, told: &str) {
    let text = |path: &str| std::fs::read_to_string(court.workspace().join(path)).ok();
    let expected = [
        ("mine.txt", Some("after".to_owned())),
        ("letter.txt", Some(letter("dear reader", "signed"))),
        ("hard.txt", Some("hard".to_owned())),
        ("easy.txt", Some("easy".to_owned())),
        ("wrong.txt", None),
        ("worse.txt", None),
    ];
    for (path, expected) in expected {
        assert_eq!(text(path), expected, "{told}: {path}");
    }
}

/// One run of each item, three attempts and one, and a use of the approval for each of them.
#[track_caller]
fn assert_graph(court: &Court, engine: &Engine, task: TaskId, told: &str) {
    let graph = court.wait(engine.graph(task)).unwrap();
    assert_eq!(graph.standing, PlanStanding::Approved, "{told}");
    let mut attempts = 0;
    for (atom, expected) in [("hard", 3), ("easy", 1)] {
        let progress = graph.atoms.iter().find(|(id, _)| id.as_str() == atom).map(|(_, progress)| progress);
        let runs = &progress.unwrap_or_else(|| panic!("{told}: {atom} was not worked on")).runs;
        assert_eq!(runs.len(), 1, "{told}: {atom}");
        let state = court.wait(engine.task(runs[0].task)).unwrap();
        assert_eq!(state.attempts.len(), expected, "{told}: {atom}");
        attempts += state.attempts.len();
    }
    let card = graph.card.unwrap_or_else(|| panic!("{told}: nobody was asked"));
    let used = court.stations(card).iter().filter(|station| *station == "verified").count();
    assert_eq!(used, attempts, "{told}: uses of the approval");
}

/// No folder, sandbox, message, card or timer. A lease may be left in dead hands: whoever wants it takes it from them.
#[track_caller]
fn assert_nothing_left(court: &Court, engine: &Engine, task: TaskId, told: &str) {
    let store = &court.store;
    for folder in ["worktrees", "checks"] {
        let left: Vec<_> = std::fs::read_dir(court.data_dir().join(folder)).into_iter().flatten().collect();
        assert!(left.is_empty(), "{told}: {folder}: {left:?}");
    }
    assert_eq!(court.things.open_sandboxes(), 0, "{told}: sandboxes");
    assert!(court.wait(engine.cards()).unwrap().is_empty(), "{told}: cards");
    let timers = court.wait(store.timers_due(None, LATE, 100)).unwrap();
    assert!(timers.is_empty(), "{told}: {timers:?}");
    for member in court.wait(engine.task_ids(100)).unwrap() {
        let state = court.wait(engine.task(member)).unwrap();
        assert!(state.is_over(), "{told}: {member} of {task} is not over");
        for queue in ["runtime_queue", "executor_queue", "planner_queue"] {
            let left = court.wait(store.about(&Tenant::local(), queue, &StreamId::new("task", member))).unwrap();
            assert!(left.is_empty(), "{told}: {queue}: {left:?}");
        }
        let mail = court.wait(store.mailbox(&Tenant::local(), &format!("task/{member}"), LATE, 100)).unwrap();
        assert!(mail.is_empty(), "{told}: {mail:?}");
    }
}
