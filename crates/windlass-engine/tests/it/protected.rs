//! What a check of a plan protects, nobody who works under that plan can weaken: neither the item itself nor another.

use windlass_domain::TaskResultStatus;
use windlass_domain::plan::AtomId;

use crate::court::{Ask, Court, write};
use crate::planned::{approve_and_drive, given, text};

/// `a` comes before `b`, whose check relies on `tests`, as does the check of the whole.
fn plan(touches: &str, relied_on: &str) -> String {
    format!(
        "---
id: guarded
type: project
title: Two files and a test
verify: [{{ file: {relied_on}, protect: [tests] }}]
tasks:
  - {{ id: a, type: task, title: Write a, touches: {{ paths: [{touches}] }}, verify: [{{ file: a.txt }}] }}
  - {{ id: b, type: task, title: Write b, depends_on: [a], verify: [{{ file: b.txt }}, {{ file: {relied_on}, protect: [tests] }}] }}
---
# What to do
Write the files.
"
    )
}

fn attempt(paths: &[(&str, &str)]) -> Vec<Vec<Ask>> {
    vec![paths.iter().map(|(path, words)| write(path, words)).collect()]
}

#[test]
fn an_item_cannot_change_the_tests_of_another_and_hears_why() {
    let court = Court::new(vec![]);
    court.put("tests/t.txt", "strict");
    let attempts = vec![attempt(&[("a.txt", "a"), ("tests/t.txt", "lax")]), attempt(&[("a.txt", "a")])];
    court.things.cast("Write a", attempts, "written");
    court.things.cast("Write b", vec![attempt(&[("b.txt", "b")])], "written");
    let engine = court.process();
    let task = given(&court, &engine, &plan("a.txt", "tests/t.txt"));
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(text(&court, "tests/t.txt").as_deref(), Some("strict"));
    let graph = court.wait(engine.graph(task)).unwrap();
    let run = graph.atoms[&AtomId::parse("a").unwrap()].runs[0].task;
    let state = court.wait(engine.task(run)).unwrap();
    assert_eq!(state.attempts.len(), 2, "the first was refused");
    let told = state.attempts[0].conflicts.join("\n");
    assert!(told.contains("tests/t.txt is protected by a check of `") && told.contains("`touches`"), "{told}");
}

/// The control: a person has read that `a` changes it, so what `a` made of it is what the checks of the others see.
#[test]
fn what_the_approved_plan_lets_an_item_change_counts_as_it_is_now() {
    let court = Court::new(vec![]);
    court.put("tests/t.txt", "strict");
    let of_a = [("a.txt", "a"), ("tests/t.txt", "stricter"), ("tests/new.txt", "another")];
    court.things.cast("Write a", vec![attempt(&of_a)], "written");
    court.things.cast("Write b", vec![attempt(&[("b.txt", "b")])], "written");
    let engine = court.process();
    let task = given(&court, &engine, &plan("a.txt, tests/t.txt, tests/new.txt", "tests/new.txt"));
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(text(&court, "tests/t.txt").as_deref(), Some("stricter"));
    let graph = court.wait(engine.graph(task)).unwrap();
    for (atom, progress) in &graph.atoms {
        for run in &progress.runs {
            let state = court.wait(engine.task(run.task)).unwrap();
            let checks = state.attempts.iter().filter_map(|attempt| attempt.checks.as_ref()).flatten();
            assert!(checks.clone().all(|check| check.tampered.is_empty()), "{atom}: nobody did what was not agreed on");
        }
    }
}
