//! Objectives, from what was agreed on to the user's folder: begun on a word, stopped, redirected, killed, and over as soon as the
//! checks of the whole pass.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use windlass_domain::approval::Strength;
use windlass_domain::graph::{Addition, Change, Constraints, GraphEvent, GraphState, Node, PlanStanding, Remembered};
use windlass_domain::plan::AtomId;
use windlass_domain::task::TaskStatus;
use windlass_domain::{BoxFuture, ErrorCode, TaskId, TaskResultStatus};
use windlass_engine::{
    Agreed, Dispatch, Driven, Engine, Error, NobodyWatches, Planning, Started, Submission, Tripwire, TripwirePoint,
    Wanted,
};
use windlass_plan::{ObjectiveFile, parse_atom, parse_base_case, parse_objective};

use crate::court::{At, Court, Deed, owner_key, write};
use crate::planned::{finished, text};

/// `a` beside a group of two ways, the first of which fails, then `c`.
pub const WAYS: &str = "---
objective:
  goal: Three files
  base_case: [{ file: a.txt }, { file: way.txt }, { file: c.txt }]
  constraints: { probe_before_switch: false }
atoms:
  - { id: a, description: Write a, verify: [{ file: a.txt }] }
  - { id: one, description: One way, or_group: way, budget: { max_attempts: 1 }, verify: [{ file: way.txt }] }
  - { id: two, description: Two ways, or_group: way, verify: [{ file: way.txt }] }
  - { id: c, description: Write c, depends_on: [a, way], verify: [{ file: c.txt }] }
or_groups:
  way: { choices: [one, two] }
---
As agreed.
";

fn agreed(document: &str) -> Agreed {
    let ObjectiveFile { objective, plan, resolved, selected, failed, .. } =
        parse_objective(document).unwrap_or_else(|problems| panic!("{problems}"));
    Agreed { objective, plan, remembered: Remembered { resolved, selected, failed } }
}

pub fn align(court: &Court, engine: &Engine, document: &str) -> TaskId {
    let planning = Planning::Aligned(Box::new(agreed(document)));
    let submission = Submission { planning, ..court.submission() };
    let task = court.wait(engine.submit(submission, Dispatch::Here, Some(&owner_key()))).unwrap();
    let driven = court.drive(engine, task);
    assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
    task
}

pub fn start(court: &Court, engine: &Engine, task: TaskId) -> Result<Started, Error> {
    court.wait(engine.start(task, &owner_key(), None, (Strength::Explicit, None)))
}

fn redirect(court: &Court, engine: &Engine, task: TaskId, change: Change) -> Result<Vec<String>, Error> {
    let redirected = court.wait(engine.redirect(
        task,
        Wanted { change, description: "it is wanted so", taint: None },
        None,
        (&owner_key(), Strength::Confirmed),
    ))?;
    Ok(redirected.undone.iter().map(ToString::to_string).collect())
}

pub fn graph(court: &Court, engine: &Engine, task: TaskId) -> GraphState {
    court.wait(engine.graph(task)).unwrap()
}

pub fn id(name: &str) -> AtomId {
    AtomId::parse(name).unwrap()
}

fn runs(graph: &GraphState, atom: &str) -> usize {
    graph.progress(&id(atom)).map_or(0, |progress| progress.runs.len())
}

fn writes(court: &Court, title: &str, path: &str) {
    court.things.cast(title, vec![vec![vec![write(path, path)]]], &format!("{path} is there"));
}

fn cast(court: &Court) {
    writes(court, "Write a", "a.txt");
    writes(court, "One way", "wrong.txt");
    writes(court, "Two ways", "way.txt");
    writes(court, "Write c", "c.txt");
}

/// How it comes out, wherever it was cut short.
#[track_caller]
fn assert_reached(court: &Court, engine: &Engine, task: TaskId, when: &str) {
    let result = court.wait(engine.task(task)).unwrap().result.unwrap_or_else(|| panic!("{when}: it has not ended"));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{when}: {result:?}");
    for (path, expected) in [("a.txt", true), ("way.txt", true), ("c.txt", true), ("wrong.txt", false)] {
        assert_eq!(text(court, path).is_some(), expected, "{when}: {path}");
    }
    let brought = court.wait(engine.graph_records(task)).unwrap().into_iter().find_map(|(_, event)| match event {
        GraphEvent::Applied(applied) => Some(applied.changed),
        _ => None,
    });
    assert!(brought.is_some_and(|changed| changed >= 3), "{when}: so many files changed: {brought:?}");
    let graph = graph(court, engine, task);
    let [turn] = graph.work.trail() else { panic!("{when}: {:?}", graph.work.trail()) };
    assert_eq!((turn.group.as_str(), turn.choice.as_str()), ("way", "two"), "{when}");
    for atom in ["a", "two", "c"] {
        assert!(graph.progress(&id(atom)).unwrap().summary().is_some(), "{when}: {atom} has a binding");
    }
}

#[test]
fn it_begins_when_somebody_says_so_and_ends_when_its_checks_pass() {
    let court = Court::new(vec![]);
    cast(&court);
    let engine = court.process();
    let task = align(&court, &engine, WAYS);
    assert!(court.wait(engine.cards()).unwrap().is_empty(), "nobody is asked");
    let shown = court.wait(engine.agreed(task, None)).unwrap().unwrap();
    assert_eq!(shown.details["objective"]["goal"], "Three files");
    // However often it is driven before that, nothing begins.
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
    assert_eq!(runs(&graph(&court, &engine, task), "a"), 0);
    assert_eq!(start(&court, &engine, task).unwrap(), Started::Now);
    assert_eq!(start(&court, &engine, task).unwrap(), Started::Before);
    finished(court.drive(&engine, task));
    assert_reached(&court, &engine, task, "undisturbed");
    let graph = graph(&court, &engine, task);
    assert_eq!((runs(&graph, "a"), runs(&graph, "one"), runs(&graph, "two"), runs(&graph, "c")), (1, 1, 1, 1));
    assert!(matches!(start(&court, &engine, task), Err(Error::Over(_))));
}

#[test]
fn what_holds_already_is_not_worked_on() {
    let court = Court::new(vec![]);
    ["a.txt", "way.txt", "c.txt"].into_iter().for_each(|path| court.put(path, path));
    let engine = court.process();
    let task = align(&court, &engine, WAYS);
    start(&court, &engine, task).unwrap();
    let result = finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true));
    assert_eq!(result.usage.total_tokens, 0, "nobody was asked anything");
}

/// Regression: it began with the folder as it was when it was agreed on, whatever its user had done since.
#[test]
fn it_begins_with_the_folder_as_it_is_at_the_start() {
    let court = Court::new(vec![]);
    cast(&court);
    let engine = court.process();
    let reached = align(&court, &engine, WAYS);
    ["a.txt", "way.txt", "c.txt"].into_iter().for_each(|path| court.put(path, path));
    start(&court, &engine, reached).unwrap();
    let result = finished(court.drive(&engine, reached));
    assert_eq!((result.verified, result.usage.total_tokens), (true, 0), "it holds already: {result:?}");
    let half = align(&court, &engine, &WAYS.replace("file: c.txt }]", "file: c.txt }, { file: d.txt }]"));
    let document_needs = "nobody makes it but its user";
    court.put("d.txt", document_needs);
    std::fs::remove_file(court.workspace().join("c.txt")).unwrap();
    start(&court, &engine, half).unwrap();
    let result = finished(court.drive(&engine, half));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(text(&court, "d.txt").as_deref(), Some(document_needs));
}

#[test]
fn what_a_file_says_is_done_is_not_done_again() {
    let court = Court::new(vec![]);
    cast(&court);
    court.put("a.txt", "from before");
    court.put("way.txt", "from before");
    let document = WAYS
        .replace("id: a, ", "id: a, status: resolved, ")
        .replace("id: two, ", "id: two, status: resolved, ")
        .replace("choices: [one, two]", "choices: [one, two], selected: two, failed: [one]");
    let engine = court.process();
    let task = align(&court, &engine, &document);
    start(&court, &engine, task).unwrap();
    finished(court.drive(&engine, task));
    let graph = graph(&court, &engine, task);
    assert_eq!((runs(&graph, "a"), runs(&graph, "one"), runs(&graph, "two"), runs(&graph, "c")), (0, 0, 0, 1));
    assert_eq!(text(&court, "a.txt").as_deref(), Some("from before"));
    assert_eq!(graph.progress(&id("a")).unwrap().summary(), Some("done before"));
}

#[test]
fn what_is_missing_is_said() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let plain = court.submit_signed(&engine);
    let refused = start(&court, &engine, plain).unwrap_err().to_string();
    assert!(refused.contains("has no objective"), "{refused}");
    let submission = Submission { planning: Planning::Aligning, ..court.submission() };
    let aligning = court.wait(engine.submit(submission, Dispatch::ToWorkers, Some(&owner_key()))).unwrap();
    let refused = start(&court, &engine, aligning).unwrap_err().to_string();
    assert!(refused.contains("not agreed on yet"), "{refused}");
    let task = align(&court, &engine, WAYS);
    let drop = Change::Graph { add: vec![], drop: vec![id("c")], select: vec![] };
    let refused = redirect(&court, &engine, task, drop).unwrap_err().to_string();
    assert!(refused.contains("not begun"), "{refused}");
}

/// It failed the task.
#[test]
fn a_change_that_comes_to_nothing_leaves_what_was_agreed_on() {
    let court = Court::new(vec![]);
    cast(&court);
    court.things.say_at_last("I would rather not.");
    let engine = court.process();
    let task = align(&court, &engine, WAYS);
    let before = graph(&court, &engine, task);
    court.wait(engine.send_back(task, "with less".to_owned())).unwrap();
    assert!(start(&court, &engine, task).is_err(), "it is being changed");
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
    let after = graph(&court, &engine, task);
    assert_eq!((&after.standing, after.revision), (&PlanStanding::Proposed, before.revision + 1));
    assert_eq!((&after.plan, &after.objective), (&before.plan, &before.objective));
    let why = after.unchanged.unwrap().message;
    assert!(why.contains("the planner's answer is no plan"), "{why}");
    assert_eq!(start(&court, &engine, task).unwrap(), Started::Now);
    finished(court.drive(&engine, task));
    assert_reached(&court, &engine, task, "as agreed before");
}

#[test]
fn a_stop_keeps_everything_and_start_goes_on() {
    let court = Court::new(vec![]);
    cast(&court);
    let engine = court.process();
    let task = align(&court, &engine, WAYS);
    start(&court, &engine, task).unwrap();
    court.wait(engine.ask_to_stop(task, "not today")).unwrap();
    let Driven::Paused(_) = court.drive(&engine, task) else { panic!("it goes on") };
    let state = court.wait(engine.task(task)).unwrap();
    assert_eq!((state.status, state.is_stopped), (Some(TaskStatus::Paused), true));
    assert_eq!(state.rests_for.as_deref(), Some("not today"));
    assert_eq!(start(&court, &engine, task).unwrap(), Started::Before);
    finished(court.drive(&engine, task));
    assert!(!court.wait(engine.task(task)).unwrap().is_stopped);
    assert_reached(&court, &engine, task, "after a stop");
}

#[test]
fn a_redirect_undoes_what_it_touches_and_nothing_else() {
    let court = Court::new(vec![]);
    cast(&court);
    writes(&court, "Write d", "d.txt");
    // Nothing is called done before `d.txt` is there, which nobody was asked for.
    let document = WAYS
        .replacen("{ file: c.txt }]", "{ file: c.txt }, { file: d.txt }]", 1)
        .replace("probe_before_switch: false", "probe_before_switch: false, max_replan_depth: 0");
    let engine = court.process();
    let task = align(&court, &engine, &document);
    start(&court, &engine, task).unwrap();
    let Driven::Waiting(_) = court.drive(&engine, task) else { panic!("it is reached") };
    let before = graph(&court, &engine, task);
    assert!(before.open_review().is_some(), "a person is asked");
    let tip = before.tip;
    let no_such = Change::Graph { add: vec![], drop: vec![id("nowhere")], select: vec![] };
    let refused = redirect(&court, &engine, task, no_such).unwrap_err();
    assert!(matches!(refused, Error::CannotCorrect(_)), "{refused}");
    assert_eq!(graph(&court, &engine, task).tip, tip, "nothing was changed");

    // After `c`: with `d` beside it the objective may be reached before `c` has ended, which is then called off.
    let item = parse_atom("{id: d, description: Write d, depends_on: [c], verify: [{file: d.txt}]}").unwrap();
    let add = Change::Graph { add: vec![Addition { to: None, item }], drop: vec![], select: vec![] };
    let preview = court.wait(engine.preview_redirect(task, &add)).unwrap();
    assert!(preview.undone.is_empty() && !preview.trail_cleared, "{preview:?}");
    assert_eq!(redirect(&court, &engine, task, add).unwrap(), Vec::<String>::new());
    assert!(court.wait(engine.cards()).unwrap().is_empty(), "nobody is asked any more");
    finished(court.drive(&engine, task));
    assert_reached(&court, &engine, task, "redirected");
    let after = graph(&court, &engine, task);
    assert_eq!((runs(&after, "a"), runs(&after, "two"), runs(&after, "d")), (1, 1, 1), "what was done stays done");
    assert_eq!(after.corrections.len(), 1);
}

#[test]
fn what_an_atom_came_to_may_be_said_otherwise() {
    let court = Court::new(vec![]);
    cast(&court);
    let document = WAYS
        .replacen("{ file: c.txt }]", "{ file: c.txt }, { file: d.txt }]", 1)
        .replace("probe_before_switch: false", "probe_before_switch: false, max_replan_depth: 0, max_split_depth: 0")
        .replace("depends_on: [a, way],", "depends_on: [a, way], budget: { max_attempts: 1 },");
    let engine = court.process();
    let task = align(&court, &engine, &document);
    start(&court, &engine, task).unwrap();
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
    let bind = |atom: &str| Change::Binding { atom: id(atom), summary: "it is in b.txt".to_owned() };
    let refused = redirect(&court, &engine, task, bind("one")).unwrap_err().to_string();
    assert!(refused.contains("is not done"), "{refused}");
    assert_eq!(redirect(&court, &engine, task, bind("a")).unwrap(), ["c"], "only what rests on it");
    let graph = graph(&court, &engine, task);
    assert_eq!(graph.progress(&id("a")).unwrap().summary(), Some("it is in b.txt"));
    assert!(!graph.work.find(&id("c")).unwrap().is_resolved());
}

#[test]
fn limits_hold_for_retries_too() {
    let court = Court::new(vec![]);
    court.things.cast("Write a", vec![vec![vec![write("no.txt", "no")]]; 9], "done");
    let document = "---
objective:
  goal: One file
  base_case: [{ file: a.txt }]
  constraints: { max_iterations: 3, max_parallel_agents: 1 }
atoms:
  - { id: a, description: Write a, budget: { max_attempts: 9, max_planner_calls: 0 }, verify: [{ file: a.txt }] }
---
";
    let engine = court.process();
    let task = align(&court, &engine, document);
    let worst = court.wait(engine.agreed(task, None)).unwrap().unwrap().worst_case.unwrap();
    assert_eq!(worst.attempts, 3, "as many passes as it may make");
    start(&court, &engine, task).unwrap();
    let result = finished(court.drive(&engine, task));
    assert_eq!(result.status, TaskResultStatus::Failed);
    assert_eq!(result.error_details.unwrap().error_code, ErrorCode::MaxIterationsExceeded);
    let graph = graph(&court, &engine, task);
    let (attempts, ..) = graph.progress(&id("a")).unwrap().used();
    assert_eq!((attempts, graph.passes.iteration), (3, 3));
}

#[test]
fn more_may_be_allowed_on_the_way() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let task = align(&court, &engine, WAYS);
    start(&court, &engine, task).unwrap();
    let constraints = Constraints { max_atoms: 7, ..graph(&court, &engine, task).work.constraints().clone() };
    redirect(&court, &engine, task, Change::Constraints { constraints }).unwrap();
    let graph = graph(&court, &engine, task);
    assert_eq!(graph.work.constraints().max_atoms, 7);
    assert_eq!(graph.standing, PlanStanding::Approved);
}

/// The review found it: `start` signed what had become another since it was shown.
#[test]
fn what_was_changed_since_it_was_shown_is_not_begun() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let (one, other) = (align(&court, &engine, WAYS), align(&court, &engine, &WAYS.replace("Three", "Four")));
    let shown = court.wait(engine.agreed(other, None)).unwrap().unwrap();
    let begun = court.wait(engine.start(one, &owner_key(), Some(&shown), (Strength::Explicit, None)));
    assert!(begun.unwrap_err().to_string().contains("changed since it was shown"));
    let shown = court.wait(engine.agreed(one, None)).unwrap().unwrap();
    court.wait(engine.start(one, &owner_key(), Some(&shown), (Strength::Explicit, None))).unwrap();
    // The same of what is to be changed.
    let change = || Change::Constraints { constraints: Constraints::default() };
    let preview = court.wait(engine.preview_redirect(one, &change())).unwrap();
    let another = Constraints { max_atoms: 7, ..Constraints::default() };
    redirect(&court, &engine, one, Change::Constraints { constraints: another }).unwrap();
    let signed = (&owner_key(), Strength::Confirmed);
    let late = court.wait(engine.redirect(
        one,
        Wanted { change: change(), description: "late", taint: None },
        Some(&preview),
        signed,
    ));
    assert!(late.unwrap_err().to_string().contains("something happened since"));
}

/// Six at once spent twice what there was for planning.
#[test]
fn planners_who_look_for_changes_share_what_there_is_for_planning() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let task = align(&court, &engine, WAYS);
    start(&court, &engine, task).unwrap();
    let whole = graph(&court, &engine, task).plan.unwrap().0.plan_budget.max_tokens;
    let asked: Vec<u64> = (0..6)
        .map(|number| {
            let planner = court.wait(engine.ask_for_change(task, &format!("change {number}"))).unwrap();
            court.wait(engine.task(planner)).unwrap().created.unwrap().budget.max_tokens
        })
        .collect();
    assert!(asked.iter().sum::<u64>() <= whole, "{asked:?} of {whole}");
    assert!(asked.is_sorted_by(|one, next| one > next), "{asked:?}");
}

/// So did it that whoever worked on after a redirect was told of the old goal, and that a whole that was done stayed so.
#[test]
fn another_objective_is_what_everybody_is_told_and_held_to() {
    let court = Court::new(vec![]);
    cast(&court);
    let engine = court.process();
    let task = align(&court, &engine, WAYS);
    start(&court, &engine, task).unwrap();
    let mut objective = graph(&court, &engine, task).objective.unwrap();
    objective.goal = "Another goal".to_owned();
    objective.background_intent = "for a reason".to_owned();
    redirect(&court, &engine, task, Change::Objective { objective: Box::new(objective.clone()) }).unwrap();
    let told = graph(&court, &engine, task).work.told(&id("a")).unwrap();
    assert!(told.contains("Another goal") && told.contains("for a reason"), "{told}");
    // What looks like a credential would be another check once it is kept.
    let secret = r#"{ command: "grep -q ghp_0123456789abcdefghijABCDEFGHIJ456789 a.txt" }"#;
    objective.base_case = parse_base_case(secret).unwrap();
    let refused = redirect(&court, &engine, task, Change::Objective { objective: Box::new(objective) });
    assert!(matches!(refused, Err(Error::SecretInCheck)), "{refused:?}");
    for (atom, why) in [
        ("{id: d, description: Write d, agent: wizard}", "is for the agent `wizard`"),
        ("{id: d, description: Write d, or_group: alone}", "leaves no choice"),
        (
            "{id: d, description: Write d, depends_on: [objective]}",
            "wait for each other for ever: `d` → `objective` → `d`",
        ),
    ] {
        let item = parse_atom(atom).unwrap();
        let add = Change::Graph { add: vec![Addition { to: None, item }], drop: vec![], select: vec![] };
        let refused = redirect(&court, &engine, task, add);
        // Of agents nobody knows here.
        let said = refused.map_or_else(|error| error.to_string(), |_| "is for the agent `wizard`".to_owned());
        assert!(said.contains(why), "{atom}: {said}");
    }
}

#[test]
fn a_graph_that_is_larger_than_was_agreed_on_is_refused() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let document = WAYS.replace("probe_before_switch: false", "probe_before_switch: false, max_atoms: 3");
    let planning = Planning::Aligned(Box::new(agreed(&document)));
    let submission = Submission { planning, ..court.submission() };
    let refused = court.wait(engine.submit(submission, Dispatch::Here, Some(&owner_key())));
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("it has 5 atoms with what holds them all, and `max_atoms` is 3"), "{said}");
}

/// What smaller parts a planner finds is done as the whole would have been: by its agent, with what is left of its budget, and asked about
/// as it says.
#[test]
fn what_does_not_go_at_once_is_done_in_smaller_parts() {
    let court = Court::new(vec![]);
    court.things.cast("Write both", vec![vec![vec![write("one.txt", "one")]]], "done");
    let parts = "---
id: parts
type: project
title: Both, one by one
tasks:
  - { id: one, type: task, title: The one, on_stuck: escalate_human, verify: [{ file: one.txt }] }
  - { id: two, type: task, title: The two, depends_on: [one], verify: [{ file: two.txt }] }
---
# What to do
## one
The one.

## two
The two.
";
    court.things.cast("An item of your plan failed", vec![vec![]], parts);
    writes(&court, "The one", "one.txt");
    writes(&court, "The two", "two.txt");
    let document = "---
objective: { goal: Both files, base_case: [{ file: one.txt }, { file: two.txt }] }
atoms: [{ id: both, description: Write both, budget: { max_attempts: 1 }, verify: [{ file: one.txt }, { file: two.txt }] }]
---
";
    let engine = court.process();
    let task = align(&court, &engine, document);
    start(&court, &engine, task).unwrap();
    let result = finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    let graph = graph(&court, &engine, task);
    assert_eq!((runs(&graph, "both"), runs(&graph, "one"), runs(&graph, "two")), (1, 1, 1));
    let (both, one) = (graph.work.item(&id("both")).unwrap(), graph.work.item(&id("one")).unwrap());
    assert_eq!((one.on_stuck, one.on_failure, &one.agent), (both.on_stuck, both.on_failure, &both.agent));
    assert!(one.budget.max_tokens <= both.budget.max_tokens / 2);
}

/// It died of it: what was seen of the work of one that nobody waits for any more was refused, and that was taken for a broken
/// journal.
#[test]
fn who_is_called_off_while_its_checks_fail_ends_quietly() {
    let court = Court::new(vec![]);
    court.things.cast("Write a", vec![vec![vec![write("no.txt", "no")]], vec![vec![write("a.txt", "a")]]], "done");
    let document = "---
objective: { goal: One file, base_case: [{ file: a.txt }] }
atoms: [{ id: a, description: Write a, verify: [{ file: a.txt }] }]
---
";
    let deed = Deed::new();
    let tripwire = Arc::clone(&deed);
    let engine = court.process_with(|parts| parts.tripwire = Some(tripwire));
    let task = align(&court, &engine, document);
    start(&court, &engine, task).unwrap();
    let (next, other) = (Arc::clone(&deed), court.process());
    deed.at(TripwirePoint::RunEnded, move || {
        let other = other.clone();
        let redirect = move || -> BoxFuture<'static, ()> {
            let other = other.clone();
            Box::pin(async move {
                let constraints = Constraints { max_atoms: 7, ..Constraints::default() };
                let change = Change::Constraints { constraints };
                let signed = (&owner_key(), Strength::Explicit);
                other
                    .redirect(task, Wanted { change, description: "once more", taint: None }, None, signed)
                    .await
                    .unwrap();
            })
        };
        next.at(TripwirePoint::CheckRan, redirect);
        Box::pin(std::future::ready(()))
    });
    finished(court.drive(&engine, task));
    assert_eq!(graph(&court, &engine, task).corrections.len(), 1);
    assert_eq!(text(&court, "a.txt").as_deref(), Some("a"));
}

async fn see_through(engine: Engine, task: TaskId) -> Result<Driven, Error> {
    engine.start(task, &owner_key(), None, (Strength::Explicit, None)).await?;
    engine.drive(task, Arc::new(NobodyWatches)).await
}

/// Kills whoever works at the first, second, third … commit, until one runs clean.
fn wherever_it_dies(point: TripwirePoint, disturb: impl Fn(&Court, &Engine, TaskId)) {
    let dies = |time: &usize| {
        let at = At(point, *time);
        let court = Court::new(vec![]);
        cast(&court);
        let task = align(&court, &court.process(), WAYS);
        let is_dead = court.die(at, |engine| see_through(engine, task)).is_none();
        let engine = court.process();
        if !court.wait(engine.task(task)).unwrap().is_over() {
            disturb(&court, &engine, task);
            let driven = court.wait(see_through(engine.clone(), task)).unwrap();
            assert!(matches!(driven, Driven::Finished(_)), "{at:?}: {driven:?}");
        }
        assert_reached(&court, &engine, task, &format!("{at:?}"));
        is_dead
    };
    let deaths = (1..).take_while(dies).count();
    assert!(deaths > 20, "{point:?}: it died {deaths} times");
}

#[test]
fn it_comes_to_the_same_end_wherever_its_process_dies() {
    wherever_it_dies(TripwirePoint::BeforeCommit, |_, _, _| {});
    wherever_it_dies(TripwirePoint::AfterCommit, |_, _, _| {});
}

#[test]
fn a_stop_after_any_death_keeps_graph_bindings_and_trail() {
    wherever_it_dies(TripwirePoint::AfterCommit, |court, engine, task| {
        court.wait(engine.ask_to_stop(task, "not today")).unwrap();
        let before = graph(court, engine, task);
        match court.drive(engine, task) {
            Driven::Paused(_) => {}
            // It was about to end.
            Driven::Finished(_) => return,
            other @ Driven::Waiting(_) => panic!("{other:?}"),
        }
        let after = graph(court, engine, task);
        assert_eq!(after.work.trail(), before.work.trail());
        assert_eq!(after.tip, before.tip);
        let bindings = |graph: &GraphState| -> Vec<_> {
            graph.atoms.iter().map(|(atom, progress)| (atom.clone(), progress.binding().cloned())).collect()
        };
        assert_eq!(bindings(&after), bindings(&before));
    });
}

#[test]
fn a_redirect_after_any_death_keeps_what_it_does_not_touch() {
    wherever_it_dies(TripwirePoint::AfterCommit, |court, engine, task| {
        let before = graph(court, engine, task);
        // It is not begun, or about to end.
        if before.card.is_none() || before.bringing.is_some() || before.applied.is_some() {
            return;
        }
        let done = |graph: &GraphState| -> Vec<AtomId> {
            let nodes = graph.work.nodes().iter().filter(|node| node.is_leaf() && node.is_resolved());
            nodes.map(|node| node.id().clone()).collect()
        };
        let constraints = Constraints { max_atoms: 50, ..before.work.constraints().clone() };
        match redirect(court, engine, task, Change::Constraints { constraints }) {
            Ok(undone) => assert_eq!(undone, Vec::<String>::new()),
            Err(error) => panic!("{error}"),
        }
        let after = graph(court, engine, task);
        assert_eq!(done(&after), done(&before));
        assert_eq!((after.tip, after.work.trail()), (before.tip, before.work.trail()));
    });
}

/// What others found and did while a commit was about to be made.
struct Interference {
    /// The commit was to end an atom whose work had been merged and checked.
    is_of_a_merge: bool,
    is_redirected: bool,
    /// What was done then and stays done, with how often it had been begun.
    done: Vec<(AtomId, usize)>,
}

/// A redirect, and on top of it a stop.
async fn interfere(other: &Engine, task: TaskId) -> Interference {
    let mut is_of_a_merge = false;
    for run in other.graph(task).await.unwrap().running() {
        let state = other.task(run).await.unwrap();
        is_of_a_merge |= !state.is_over() && state.attempts.last().is_some_and(|attempt| attempt.merged.is_some());
    }
    let change = Change::Graph { add: vec![], drop: vec![], select: vec![(id("way"), id("two"))] };
    let wanted = Wanted { change, description: "two ways, then", taint: None };
    let is_redirected = match other.redirect(task, wanted, None, (&owner_key(), Strength::Confirmed)).await {
        Ok(_) => true,
        // It is about to end.
        Err(Error::NotAligned(_) | Error::Over(_)) => false,
        Err(error) => panic!("{error}"),
    };
    match other.ask_to_stop(task, "not today").await {
        Ok(()) | Err(Error::Over(_)) => {}
        Err(error) => panic!("{error}"),
    }
    let graph = other.graph(task).await.unwrap();
    let done = graph.work.nodes().iter().filter(|node| node.is_leaf() && node.is_resolved());
    let done = done.map(|node| (node.id().clone(), runs(&graph, node.id().as_str()))).collect();
    Interference { is_of_a_merge, is_redirected, done }
}

/// Has them interfere before its n-th commit.
struct Before {
    left: AtomicUsize,
    other: Engine,
    task: TaskId,
    seen: Mutex<Option<Interference>>,
}

impl Tripwire for Before {
    fn pass(&self, point: TripwirePoint) -> BoxFuture<'_, ()> {
        let is_it = point == TripwirePoint::BeforeCommit && self.left.fetch_sub(1, Ordering::SeqCst) == 1;
        Box::pin(async move {
            if is_it {
                let seen = interfere(&self.other, self.task).await;
                *self.seen.lock().unwrap() = Some(seen);
            }
        })
    }
}

/// Before every commit that there is, those that end an atom whose work has just been merged among them.
#[test]
fn a_stop_during_a_redirect_during_a_merge_loses_nothing_and_does_nothing_twice() {
    let mut merges = 0;
    for nth in 1.. {
        let court = Court::new(vec![]);
        cast(&court);
        let other = court.process();
        let task = align(&court, &other, WAYS);
        start(&court, &other, task).unwrap();
        let (left, seen) = (AtomicUsize::new(nth), Mutex::new(None));
        let before = Arc::new(Before { left, other, task, seen });
        let tripwire = Arc::clone(&before);
        let engine = court.process_with(|parts| parts.tripwire = Some(tripwire));
        let driven = court.drive(&engine, task);
        let Some(Interference { is_of_a_merge, is_redirected, done }) = before.seen.lock().unwrap().take() else {
            break;
        };
        let when = format!("before commit {nth}");
        merges += usize::from(is_of_a_merge && is_redirected);
        match driven {
            Driven::Paused(_) => {
                let state = court.wait(engine.task(task)).unwrap();
                assert_eq!((state.is_stopped, state.rests_for.as_deref()), (true, Some("not today")), "{when}");
                let rests = graph(&court, &engine, task);
                let kept = done.iter().all(|(atom, _)| rests.work.find(atom).is_some_and(Node::is_resolved));
                assert!(kept, "{when}: what was done is done");
                assert!(
                    matches!(court.wait(see_through(engine.clone(), task)).unwrap(), Driven::Finished(_)),
                    "{when}"
                );
            }
            Driven::Finished(_) => assert!(!is_redirected, "{when}: the stop was not heard"),
            Driven::Waiting(result) => panic!("{when}: {result:?}"),
        }
        assert_reached(&court, &engine, task, &when);
        let graph = graph(&court, &engine, task);
        assert_eq!(graph.corrections.len(), usize::from(is_redirected), "{when}");
        for (atom, begun) in &done {
            assert_eq!(runs(&graph, atom.as_str()), *begun, "{when}: {atom} is not done twice");
        }
        let merged: Vec<&AtomId> = graph.merged().collect();
        let unique: std::collections::BTreeSet<&AtomId> = merged.iter().copied().collect();
        assert_eq!(merged.len(), unique.len(), "{when}: {merged:?}");
    }
    assert!(merges > 0, "no redirect came into a merge");
}
