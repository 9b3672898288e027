//! What is tried when an item fails: another way without the work of the first, a look before that, the whole once more.

use std::process::Command;

use windlass_domain::approval::{Answer, Verdict};
use windlass_domain::graph::GraphState;
use windlass_domain::plan::AtomId;
use windlass_domain::{Role, TaskResultStatus};
use windlass_engine::Engine;

use crate::court::{Court, write, yes};
use crate::planned::{approve_and_drive, given, text};

fn writes(court: &Court, title: &str, path: &str, content: &str) {
    court.things.cast(title, vec![vec![vec![write(path, content)]]], &format!("{path} is there"));
}

fn runs(graph: &GraphState, atom: &str) -> usize {
    graph.progress(&AtomId::parse(atom).unwrap()).map_or(0, |progress| progress.runs.len())
}

/// What those who write plans were told.
fn planners(court: &Court, engine: &Engine) -> Vec<String> {
    let tasks = court.wait(engine.task_ids(100)).unwrap().into_iter();
    let created = tasks.filter_map(|task| court.wait(engine.task(task)).unwrap().created);
    created.filter(|created| created.role == Role::Planner).map(|created| created.command.goal).collect()
}

const TWO_WAYS: &str = "---
id: ways
type: project
title: One of two ways
tasks:
  - { id: side, type: task, title: Beside it, verify: [{ file: side.txt }] }
  - id: first
    type: project
    title: The first way
    any_of: way
    tasks:
      - { id: half, type: task, title: Its first half, verify: [{ file: half.txt }] }
      - { id: other, type: task, title: Its other half, depends_on: [half], budget: { max_attempts: 1 }, verify: [{ file: other.txt }] }
  - { id: second, type: task, title: The second way, any_of: way, verify: [{ not_file: half.txt }, { file: second.txt }] }
  - { id: rest, type: task, title: The rest, depends_on: [way], verify: [{ file: second.txt }, { file: rest.txt }] }
---
# What to do
It.
";

#[test]
fn a_way_that_fails_takes_its_work_with_it_and_leaves_the_rest() {
    let court = Court::new(vec![]);
    court.put("mine.txt", "mine");
    writes(&court, "Beside it", "side.txt", "side");
    writes(&court, "Its first half", "half.txt", "half");
    writes(&court, "Its other half", "wrong.txt", "wrong");
    writes(&court, "The second way", "second.txt", "second");
    writes(&court, "The rest", "rest.txt", "rest");
    let engine = court.process();
    let task = given(&court, &engine, TWO_WAYS);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    for (path, expected) in [
        ("mine.txt", Some("mine")),
        ("side.txt", Some("side")),
        ("second.txt", Some("second")),
        ("rest.txt", Some("rest")),
        ("half.txt", None),
        ("wrong.txt", None),
    ] {
        assert_eq!(text(&court, path).as_deref(), expected, "{path}");
    }
    let graph = court.wait(engine.graph(task)).unwrap();
    let done = |atom| runs(&graph, atom);
    assert_eq!((done("side"), done("half"), done("other"), done("second"), done("rest")), (1, 1, 1, 1, 1));
    let [turn] = graph.work.trail() else { panic!("{:?}", graph.work.trail()) };
    assert_eq!((turn.group.as_str(), turn.choice.as_str()), ("way", "second"));
}

const AGAIN_AFTER: &str = "---
id: after
type: project
title: After a way
tasks:
  - { id: a, type: task, title: One way, any_of: way, budget: { max_attempts: 1 }, verify: [{ file: way.txt }] }
  - { id: b, type: task, title: Another way, any_of: way, budget: { max_attempts: 1 }, verify: [{ file: way.txt }] }
  - { id: fin, type: task, title: The end of it, depends_on: [way], budget: { max_attempts: 1 }, verify: [{ file: fin.txt }, { file: other.txt }] }
---
# What to do
It.
";

/// It regressed: the approval was for an attempt of each, and the one that had to begin anew found it used up.
#[test]
fn an_approval_lasts_for_what_is_done_again_after_another_way() {
    let court = Court::new(vec![]);
    writes(&court, "One way", "way.txt", "one");
    let both = vec![vec![vec![write("way.txt", "another"), write("other.txt", "other")]]];
    court.things.cast("Another way", both, "done");
    writes(&court, "The end of it", "fin.txt", "fin");
    let engine = court.process();
    let task = given(&court, &engine, AGAIN_AFTER);
    court.drive(&engine, task);
    let card = court.only_card(&engine).card;
    assert_eq!((card.worst_case.map(|worst| worst.attempts), card.binds.max_executions), (Some(4), 4));
    court.approve(&engine, card.card_id);
    let result = crate::planned::finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    let graph = court.wait(engine.graph(task)).unwrap();
    assert_eq!((runs(&graph, "a"), runs(&graph, "b"), runs(&graph, "fin"), graph.revision), (1, 1, 2, 1));
}

/// Both change the same file, so that one waits for the other; the second cannot be had without the first.
#[test]
fn what_cannot_be_had_without_a_way_that_failed_is_done_again() {
    let court = Court::new(vec![]);
    let plan = TWO_WAYS
        .replace("title: Beside it,", "title: Beside it, touches: { paths: [shared.txt] },")
        .replace("title: Its first half,", "title: Its first half, touches: { paths: [shared.txt] },");
    // It comes after the first half, and writes over what that wrote.
    let (side, way) = plan.split_once("  - id: first").map(|(head, tail)| (head.to_owned(), tail.to_owned())).unwrap();
    let (head, side) =
        side.split_once("  - { id: side").map(|(head, side)| (head.to_owned(), side.to_owned())).unwrap();
    let plan = format!(
        "{head}  - id: first{}",
        way.replace("  - { id: rest", &format!("  - {{ id: side{side}  - {{ id: rest"))
    );
    let both = |path: &str, word: &str| vec![vec![vec![write(path, word), write("shared.txt", word)]]];
    court.things.cast("Beside it", both("side.txt", "side"), "done");
    court.things.cast("Its first half", both("half.txt", "half"), "done");
    writes(&court, "Its other half", "wrong.txt", "wrong");
    writes(&court, "The second way", "second.txt", "second");
    writes(&court, "The rest", "rest.txt", "rest");
    let engine = court.process();
    let task = given(&court, &engine, &plan);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    let graph = court.wait(engine.graph(task)).unwrap();
    assert_eq!(text(&court, "shared.txt").as_deref(), Some("side"));
    assert_eq!(text(&court, "half.txt"), None);
    assert!((1..=2).contains(&runs(&graph, "side")), "again, if it came in before the way was given up");
}

const LOOKED_AT: &str = "---
id: looks
type: project
title: Look first
tasks:
  - { id: hard, type: task, title: The hard way, any_of: way, probe: true, verify: [{ file: hard.txt }] }
  - { id: easy, type: task, title: The easy way, any_of: way, verify: [{ file: easy.txt }] }
---
# What to do
It.
";

#[test]
fn what_cannot_be_done_is_not_tried() {
    let court = Court::new(vec![]);
    let no = r#"{"feasible": false, "findings": "There is no compiler.", "cost_estimate": "large"}"#;
    court.things.cast("Before anybody works on the following item", vec![vec![]], no);
    writes(&court, "The easy way", "easy.txt", "easy");
    let engine = court.process();
    let task = given(&court, &engine, LOOKED_AT);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    let graph = court.wait(engine.graph(task)).unwrap();
    assert_eq!((runs(&graph, "hard"), runs(&graph, "easy")), (0, 1));
    assert_eq!(court.performed().len(), 1);
}

#[test]
fn whoever_does_it_is_told_what_was_found() {
    let court = Court::new(vec![]);
    let yes = r#"{"feasible": true, "findings": "The parser is in src/read.rs."}"#;
    court.things.cast("Before anybody works on the following item", vec![vec![]], yes);
    writes(&court, "The hard way", "hard.txt", "hard");
    let engine = court.process();
    let task = given(&court, &engine, LOOKED_AT);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    let graph = court.wait(engine.graph(task)).unwrap();
    assert_eq!((runs(&graph, "hard"), runs(&graph, "easy")), (1, 0));
    let progress = graph.progress(&AtomId::parse("hard").unwrap()).unwrap();
    assert_eq!(
        progress.findings.as_ref().map(|report| report.findings.as_str()),
        Some("The parser is in src/read.rs.")
    );
}

const RACE: &str = "---
id: race
type: project
title: A race
tasks:
  - { id: hare, type: task, title: The hare, any_of: way, speculative: true, verify: [{ file: hare.txt }] }
  - { id: tortoise, type: task, title: The tortoise, any_of: way, speculative: true, verify: [{ file: tortoise.txt }] }
  - { id: rest, type: task, title: The rest, depends_on: [way], verify: [{ file: rest.txt }] }
---
# What to do
It.
";

#[test]
fn of_several_ways_that_are_tried_at_once_one_is_taken() {
    let court = Court::new(vec![]);
    writes(&court, "The hare", "hare.txt", "hare");
    writes(&court, "The tortoise", "tortoise.txt", "tortoise");
    writes(&court, "The rest", "rest.txt", "rest");
    let engine = court.process();
    let task = given(&court, &engine, RACE);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    let graph = court.wait(engine.graph(task)).unwrap();
    assert_eq!((runs(&graph, "hare"), runs(&graph, "tortoise"), runs(&graph, "rest")), (1, 1, 1), "both began");
    let there = [text(&court, "hare.txt"), text(&court, "tortoise.txt")];
    assert_eq!(there.iter().flatten().count(), 1, "one of them is in the work: {there:?}");
    assert!(graph.leaving.is_empty(), "the other has left before the end");
}

/// The first to end has failed: whoever is still at it may win.
#[test]
fn a_way_that_fails_while_another_is_tried_leaves_it_the_field() {
    let court = Court::new(vec![]);
    writes(&court, "The hare", "asleep.txt", "zzz");
    writes(&court, "The tortoise", "tortoise.txt", "tortoise");
    writes(&court, "The rest", "rest.txt", "rest");
    let engine = court.process();
    let task =
        given(&court, &engine, &RACE.replace("title: The hare,", "title: The hare, budget: { max_attempts: 1 },"));
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!((text(&court, "tortoise.txt").as_deref(), text(&court, "asleep.txt")), (Some("tortoise"), None));
}

const WHOLE: &str = "---
id: whole
type: project
title: The whole
verify: [{ file: whole.txt }]
tasks:
  - { id: a, type: task, title: Write a, budget: { max_attempts: 2 }, verify: [{ file: a.txt }] }
  - { id: b, type: task, title: Write b, depends_on: [a], budget: { max_attempts: 2 }, verify: [{ file: b.txt }] }
---
# What to do
It.
";

/// `b` decides what the whole comes to; when it has nothing left to try, there is another plan.
#[test]
fn when_the_whole_fails_what_decides_it_goes_on() {
    let court = Court::new(vec![]);
    writes(&court, "Write a", "a.txt", "a");
    writes(&court, "Write b", "b.txt", "b");
    writes(&court, "Write c", "whole.txt", "c");
    let last = "---\nid: last\ntype: task\ntitle: Write c\nverify: [{ file: whole.txt }]\n---\n# What to do\nIt.\n";
    court.things.cast("", vec![vec![]], last);
    let engine = court.process();
    let task = given(&court, &engine, WHOLE);
    let before = court.wait(engine.graph(task)).unwrap();
    assert_eq!(before.revision, 1);
    court.drive(&engine, task);
    let first = court.only_card(&engine).card.card_id;
    court.approve(&engine, first);
    court.drive(&engine, task);
    let graph = court.wait(engine.graph(task)).unwrap();
    assert_eq!(graph.revision, 2, "another plan is asked about");
    let written = court.performed().len();
    assert_eq!(written, 3, "a once, b twice");
    let told = planners(&court, &engine);
    let [told] = told.as_slice() else { panic!("{told:?}") };
    for expected in [
        "- b: Write b\n    after: a\n    what to do: Write b\n    check: b.txt exists\n",
        "- whole.txt exists: ",
        "did not work out",
    ] {
        assert!(told.contains(expected), "{expected:?} is not in {told}");
    }
    let second = court.only_card(&engine).card.card_id;
    court.approve(&engine, second);
    let result = crate::planned::finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(text(&court, "whole.txt").as_deref(), Some("c"));
}

#[expect(clippy::disallowed_methods, reason = "git, as the user of the folder runs it")]
fn git(court: &Court, words: &[&str]) -> String {
    let ended = Command::new("git")
        .current_dir(court.workspace())
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(words)
        .output()
        .expect("git");
    assert!(ended.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8_lossy(&ended.stdout).trim_end().to_owned()
}

/// A repository, and what nobody has committed.
fn repository(court: &Court) {
    court.put("mine.txt", "mine");
    git(court, &["init", "-q"]);
    git(court, &["add", "."]);
    git(court, &["commit", "-qm", "mine"]);
    court.put("novel.txt", "untracked");
}

#[test]
fn what_was_done_before_a_plan_failed_is_found_in_git() {
    let court = Court::new(vec![]);
    repository(&court);
    let engine = court.process();
    writes(&court, "Write a", "a.txt", "a");
    court.things.cast("Write b", vec![vec![]], "I cannot.");
    court.things.cast("", vec![vec![]], r#"{"message": "There is no other way."}"#);
    let task = given(&court, &engine, &WHOLE.replace("max_attempts: 2", "max_attempts: 1"));
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Failed, "{result:?}");
    assert_eq!(text(&court, "a.txt"), None, "the folder is as it was");
    let work = format!("refs/windlass/{task}/work");
    assert!(result.error_details.expect("a reason").message.contains(&work));
    assert_eq!(git(&court, &["show", &format!("{work}:a.txt")]), "a");
}

#[test]
fn a_way_that_is_given_up_and_the_folder_as_it_was_are_found_in_git() {
    let court = Court::new(vec![]);
    repository(&court);
    writes(&court, "Beside it", "side.txt", "side");
    writes(&court, "Its first half", "half.txt", "half");
    writes(&court, "Its other half", "wrong.txt", "wrong");
    writes(&court, "The second way", "second.txt", "second");
    writes(&court, "The rest", "rest.txt", "rest");
    let engine = court.process();
    let task = given(&court, &engine, TWO_WAYS);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    let there = |name: &str, path: &str| git(&court, &["show", &format!("refs/windlass/{task}/{name}:{path}")]);
    assert_eq!(there("before-first-was-given-up", "half.txt"), "half");
    assert_eq!(there("before", "novel.txt"), "untracked");
    assert_eq!(there("work", "second.txt"), "second");
}

/// Whoever is to change a plan is told which, and not that it failed.
#[test]
fn a_plan_that_is_sent_back_is_told_to_whoever_changes_it() {
    let court = Court::new(vec![]);
    court.things.cast("", vec![vec![]], WHOLE);
    let engine = court.process();
    let task = given(&court, &engine, WHOLE);
    court.drive(&engine, task);
    let first = court.only_card(&engine).card.card_id;
    let edit = Answer { verdict: Verdict::EditRequested, note: "name it {{plan}}".to_owned(), ..yes() };
    court.answer(&engine, first, edit).unwrap();
    court.drive(&engine, task);
    let told = planners(&court, &engine);
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert!(told.contains("- b: Write b\n    after: a\n    what to do: Write b\n    check: b.txt exists\n"), "{told}");
    assert!(told.contains("The user says:\n\nname it {{plan}}\n") && !told.contains("did not work out"), "{told}");
}
