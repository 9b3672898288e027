//! What an agent is told that is known about its task: gathered once, before anybody works on it, with the label of where it came from,
//! the same after every crash; and a task that fails where a context service does not answer.

use std::sync::{Arc, Mutex};

use futures_util::future::join;
use windlass_domain::known::{ContextItem, ContextWanted, TaskContext};
use windlass_domain::task::TaskEvent;
use windlass_domain::{
    BoxFuture, Canceller, ContextService, ErrorCode, ErrorDetails, Secret, Stop, Taint, TaskId, TaskResultStatus,
};
use windlass_engine::{Dispatch, Driven, Engine, NobodyWatches, Submission, TripwirePoint};
use windlass_policy::Redactor;

use crate::court::{At, Court, fetch, read};

const GOAL: &str = "Mend the comma of the parser";

/// Says something else each time, so that whoever asks twice is told apart; fails, or is silent, where it is told to.
#[derive(Default)]
struct Archive {
    asked: Mutex<Vec<ContextWanted>>,
    trouble: Mutex<Option<ErrorDetails>>,
    is_silent: Mutex<bool>,
    /// Raised when it is asked.
    heard: Canceller,
    says: Mutex<Option<String>>,
}

impl Archive {
    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl ContextService for Archive {
    fn context(&self, wanted: ContextWanted) -> BoxFuture<'_, Result<TaskContext, ErrorDetails>> {
        self.asked.lock().unwrap().push(wanted);
        self.heard.stop(Stop::Pause);
        let text = self.says.lock().unwrap().clone().unwrap_or_else(|| format!("answer {}", self.asked()));
        // It claims what it may not.
        let item = |text: &str| ContextItem { text: text.to_owned(), source: "wiki".to_owned(), taint: Taint::Owner };
        let context =
            TaskContext { memories: vec![item(&text)], preferences: vec![item("Tabs.")], attachments: vec![] };
        let answered = self.trouble.lock().unwrap().clone().map_or(Ok(context), Err);
        let is_silent = *self.is_silent.lock().unwrap();
        Box::pin(async move { if is_silent { std::future::pending().await } else { answered } })
    }
}

fn employed(court: &Court) -> Arc<Archive> {
    let archive = Arc::new(Archive::default());
    court.things.consult(archive.clone());
    archive
}

fn submitted(court: &Court, engine: &Engine, goal: &str) -> TaskId {
    let submission = Submission { goal: goal.to_owned(), ..court.submission() };
    court.wait(engine.submit(submission, Dispatch::Here, None)).unwrap()
}

/// A task that comes to its end, saying these words.
fn run(court: &Court, engine: &Engine, goal: &str, words: &str) -> TaskId {
    court.things.play(vec![vec![read("notes")]]);
    court.things.say_at_last(words);
    let task = submitted(court, engine, goal);
    assert!(matches!(court.drive(engine, task), Driven::Finished(_)));
    task
}

fn gathered(court: &Court, engine: &Engine, task: TaskId) -> usize {
    court.task_kinds(engine, task).iter().filter(|kind| *kind == "context.gathered").count()
}

#[test]
fn without_memories_nothing_is_told_and_nothing_written() {
    let court = Court::new(vec![vec![read("notes")]]);
    let engine = court.process();
    let task = run(&court, &engine, GOAL, "Done.");
    assert_eq!((court.things.known(GOAL), gathered(&court, &engine, task)), ((vec![], vec![]), 0));
}

#[test]
fn an_agent_is_told_what_a_task_like_its_own_came_to_in_the_same_folder() {
    let court = Court::new(Vec::new());
    let engine = court.process();
    let first = run(&court, &engine, "Repair the parser: a comma is lost", "It was the lexer.");
    run(&court, &engine, "Paint the house", "It is white.");
    let second = run(&court, &engine, GOAL, "Done.");
    let (memories, kept) = court.things.known(GOAL);
    assert_eq!((memories.len(), kept.len(), gathered(&court, &engine, second)), (1, 0, 1), "{memories:?}");
    assert!(memories[0].starts_with(&format!("outcome of task {first}, ")), "{memories:?}");
    assert!(memories[0].ends_with("It was the lexer."), "{memories:?}");
    let folder = court.data_dir().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let elsewhere = Submission { goal: GOAL.to_owned(), workspace: folder, ..court.submission() };
    let third = court.wait(engine.submit(elsewhere, Dispatch::Here, None)).unwrap();
    court.drive(&engine, third);
    assert_eq!(gathered(&court, &engine, third), 0, "in another folder that is nobody's business");
}

/// What it did not ask for must not make its calls wait for people.
#[test]
fn a_memory_made_of_what_came_from_outside_is_told_to_nobody_who_did_not_ask() {
    let court = Court::new(Vec::new());
    let engine = court.process();
    court.things.play(vec![vec![fetch("example.org")]]);
    court.things.say_at_last("The page says so.");
    let first = submitted(&court, &engine, GOAL);
    court.drive(&engine, first);
    assert_eq!(court.wait(engine.memories()).unwrap()[0].taint, Taint::External, "the control");
    let second = run(&court, &engine, GOAL, "Done.");
    assert_eq!(gathered(&court, &engine, second), 0);
}

#[test]
fn what_a_context_service_says_is_external_whatever_it_says_of_itself() {
    for is_there in [true, false] {
        let court = Court::new(vec![vec![fetch("example.org")]]);
        let archive = is_there.then(|| employed(&court));
        let engine = court.process();
        let task = submitted(&court, &engine, GOAL);
        let driven = court.drive(&engine, task);
        if let Some(archive) = archive {
            let asked = archive.asked.lock().unwrap().remove(0);
            assert_eq!((asked.task_id, asked.tenant.as_str(), asked.goal.as_str()), (task, "local", GOAL));
            let (memories, kept) = court.things.known(GOAL);
            assert_eq!((memories, kept), (vec!["wiki:\nanswer 1".to_owned()], vec!["wiki:\nTabs.".to_owned()]));
        }
        assert_eq!(matches!(driven, Driven::Waiting(_)), is_there, "it may carry nothing out unasked");
    }
}

#[test]
fn what_it_says_is_redacted_before_it_is_cut_and_so_is_what_it_is_told() {
    const SECRET: &str = "hunter2-hunter2-hunter2-hunter2";
    let court = Court::new(vec![vec![read("notes")]]);
    let archive = employed(&court);
    *archive.says.lock().unwrap() = Some(format!("{}{SECRET}", "x".repeat(2_000 - SECRET.len() / 2)));
    let engine = court.process_with(|parts| parts.redactor = Redactor::new([&Secret::new(SECRET)]));
    let goal = format!("Use {SECRET}");
    let task = run(&court, &engine, &goal, "Done.");
    assert!(!archive.asked.lock().unwrap()[0].goal.contains("hunter"));
    let told = court.things.known("Use ").0.remove(0);
    assert!(told.contains("xxx") && !told.contains("hunter"), "{told}");
    let story = format!("{:?}", court.wait(engine.task(task)).unwrap().context);
    assert!(story.contains("xxx") && !story.contains("hunter"), "{story}");
}

/// Seed 000 §19.1.
#[test]
fn a_task_fails_before_it_begins_where_the_service_does_not_answer() {
    let court = Court::new(vec![vec![read("notes")]]);
    let archive = employed(&court);
    let error = ErrorDetails::new(ErrorCode::ContextUnavailable, "the context service could not be asked");
    *archive.trouble.lock().unwrap() = Some(error.clone());
    let engine = court.process();
    let task = submitted(&court, &engine, GOAL);
    let driven = court.drive(&engine, task);
    let result = driven.result();
    assert_eq!((result.status, result.error_details.as_ref()), (TaskResultStatus::Failed, Some(&error)));
    assert!(court.things.performed().is_empty() && court.wait(engine.task(task)).unwrap().attempts.is_empty());
}

#[test]
fn a_cancel_is_heard_while_the_service_is_silent() {
    let court = Court::new(vec![vec![read("notes")]]);
    let archive = employed(&court);
    *archive.is_silent.lock().unwrap() = true;
    let engine = court.process();
    let task = submitted(&court, &engine, GOAL);
    let asked = archive.heard.signal();
    let giving_up = async {
        asked.wait().await;
        engine.ask_to_cancel(task, "enough").await.unwrap();
    };
    let (driven, ()) = court.wait(join(engine.drive(task, Arc::new(NobodyWatches)), giving_up));
    assert_eq!(driven.unwrap().result().status, TaskResultStatus::Cancelled);
}

/// Another attempt is told what the first one was, and the service is not asked again.
#[test]
fn every_attempt_is_told_the_same() {
    let court = Court::new(vec![vec![read("notes")]]);
    let archive = employed(&court);
    let engine = court.process();
    let task = court.submit_checked(&engine, "- file: never");
    let result = court.drive(&engine, task).result().clone();
    assert_eq!(result.status, TaskResultStatus::Failed);
    assert!(court.wait(engine.task(task)).unwrap().attempts.len() > 1);
    assert_eq!((archive.asked(), gathered(&court, &engine, task)), (1, 1));
}

/// Whichever commit is the last thing that a process does: what an agent is told first is what it is told ever after, and it stands in the
/// journal before anything follows from it.
#[test]
fn after_a_crash_at_any_point_the_agent_is_told_what_stands_in_the_journal() {
    let points = [TripwirePoint::BeforeCommit, TripwirePoint::AfterCommit, TripwirePoint::SandboxOpened];
    for point in points {
        for time in 1.. {
            let court = Court::new(vec![vec![read("notes")]]);
            let archive = employed(&court);
            let submission = Submission { goal: GOAL.to_owned(), ..court.submission() };
            let task = court.wait(court.process().submit(submission, Dispatch::ToWorkers, None)).unwrap();
            let drive = |engine: Engine| async move { engine.drive(task, Arc::new(NobodyWatches)).await.map(drop) };
            let done = court.die(At(point, time), drive).is_some();
            let written = gathered(&court, &court.process(), task);
            let asked = archive.asked();
            let engine = court.process();
            court.work(&engine);
            let state = court.wait(engine.task(task)).unwrap();
            assert!(state.is_over() && gathered(&court, &engine, task) == 1, "{point:?} {time}");
            let again = usize::from(written == 0);
            assert_eq!(archive.asked(), asked + again, "{point:?} {time}: asked again only if nothing was written");
            let known = state.context.unwrap();
            let told: Vec<String> = known.context.memories.iter().map(ContextItem::told).collect();
            for heard in court.things.all_known(GOAL) {
                assert_eq!(heard.0, told, "{point:?} {time}");
            }
            if done {
                break;
            }
        }
    }
}

#[test]
fn it_stands_in_the_commit_that_begins_the_first_attempt() {
    let court = Court::new(vec![vec![read("notes")]]);
    employed(&court);
    let engine = court.process();
    let task = run(&court, &engine, GOAL, "Done.");
    let kinds = court.task_kinds(&engine, task);
    let place = kinds.iter().position(|kind| kind == "context.gathered").unwrap();
    assert_eq!(kinds[place + 1], "attempt.started", "{kinds:?}");
    let rows = court.rows(&windlass_store::StreamId::new("task", task));
    assert_eq!(rows[place].taint, Taint::External);
    let event = TaskEvent::decode(&rows[place].kind, rows[place].version, &rows[place].data).unwrap();
    assert!(matches!(event, TaskEvent::ContextGathered(_)));
}
