//! `docs/states.md` says what can follow what. Here it is compared with the rules.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use windlass_domain::execution::Lifecycle;
use windlass_domain::task::{TaskAction, TaskEvent, TaskState, TaskStatus, decide};
use windlass_domain::{CallStatus, TaskResult, TaskResultStatus};

use crate::notation::{START, word_of};
use crate::task_notation::{result, told};

const PAGE: &str = include_str!("../../../../docs/states.md");

/// The table below a heading: first column to the words of the second.
fn table(heading: &str) -> BTreeMap<String, BTreeSet<String>> {
    let section = PAGE.split("\n## ").find(|section| section.starts_with(heading)).expect("a section");
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let words = cells[1].split(',').map(str::trim).filter(|word| !word.is_empty());
        (cells[0].to_owned(), words.map(str::to_owned).collect())
    };
    rows.map(row).collect()
}

fn words<T: Serialize>(values: impl IntoIterator<Item = T>) -> BTreeSet<String> {
    values.into_iter().map(|value| word_of(&value)).collect()
}

#[test]
fn executions() {
    let rules = Lifecycle::ALL.map(|from| {
        let next = Lifecycle::ALL.into_iter().filter(|next| from.may_become(*next));
        (word_of(&from), words(next))
    });
    assert_eq!(table("An execution"), rules.into());
}

#[test]
fn tasks() {
    let histories = [
        (TaskStatus::Running, vec!["task start done", "task[checks=1] start done pass"]),
        (TaskStatus::Paused, vec!["task start paused", "task start done paused"]),
        (TaskStatus::Completed, vec!["task start done finished:COMPLETED"]),
        (TaskStatus::Failed, vec!["task start done finished:FAILED"]),
        (TaskStatus::Cancelled, vec!["task start done finished:CANCELLED"]),
    ];
    let rules = histories.map(|(from, histories)| {
        let reached = histories.iter().flat_map(|history| reachable(&told(history)));
        (word_of(&from), words(reached))
    });
    assert_eq!(table("A task"), rules.into());
}

fn reachable(task: &TaskState) -> Vec<TaskStatus> {
    let finish = |status, verified| TaskAction::Finish(Box::new(TaskResult { verified, ..result(status) }));
    let actions = [
        TaskAction::Pause { reason: "enough".into() },
        TaskAction::Resume,
        finish(TaskResultStatus::Completed, false),
        finish(TaskResultStatus::Completed, true),
        finish(TaskResultStatus::Failed, false),
        finish(TaskResultStatus::Cancelled, false),
    ];
    let events = actions.into_iter().filter_map(|action| decide(task, action).ok());
    events.filter_map(|event: TaskEvent| applied(task, &event)).collect()
}

fn applied(task: &TaskState, event: &TaskEvent) -> Option<TaskStatus> {
    let mut task = task.clone();
    task.apply(event, START);
    task.status
}

#[test]
fn calls() {
    use CallStatus::{Cancelled, Denied, Error, Interrupted, Ok, TimedOut};
    let rows: BTreeSet<String> = table("A tool call").into_keys().collect();
    assert_eq!(rows, words([Ok, Error, Denied, TimedOut, Cancelled, Interrupted]));
}
