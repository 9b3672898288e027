//! What may happen to a task, over histories written in the words of `task_notation`: whoever drives it, and whatever it
//! believes, the end says no more than the checks did.

use windlass_domain::task::{TaskAction, TaskRejected, decide};
use windlass_domain::{ErrorCode, ErrorDetails, TaskResult, TaskResultStatus};

use crate::task_notation::{created, ended, execution, recorded, result, told};

fn start() -> TaskAction {
    TaskAction::StartAttempt { execution_id: execution(9) }
}

fn end(attempt: u32) -> TaskAction {
    TaskAction::EndAttempt(ended(attempt, None, &Default::default()))
}

fn checks(attempt: u32, passed: &[bool]) -> TaskAction {
    TaskAction::RecordChecks(recorded(attempt, passed))
}

fn finish(status: TaskResultStatus, verified: bool) -> TaskAction {
    TaskAction::Finish(Box::new(TaskResult { verified, ..result(status) }))
}

fn outage() -> TaskAction {
    TaskAction::Interrupt(ErrorDetails::new(ErrorCode::ModelUnavailable, "nobody answers"))
}

#[track_caller]
fn allows(history: &str, action: TaskAction) {
    if let Err(refused) = decide(&told(history), action) {
        panic!("after `{history}`: {refused}");
    }
}

#[track_caller]
fn refuses(history: &str, action: TaskAction, expected: TaskRejected) {
    assert_eq!(decide(&told(history), action).err(), Some(expected), "after `{history}`");
}

#[test]
fn a_task_is_created_once_and_first() {
    let create = || TaskAction::Create(Box::new(created(&Default::default())));
    allows("", create());
    refuses("task", create(), TaskRejected::AlreadyCreated);
    for action in [start(), end(1), checks(1, &[true]), outage(), finish(TaskResultStatus::Failed, false)] {
        refuses("", action, TaskRejected::NotCreated);
    }
}

#[test]
fn nothing_happens_after_the_end() {
    for status in ["COMPLETED", "FAILED", "CANCELLED"] {
        let over = format!("task start done finished:{status}");
        for action in [start(), end(1), outage(), TaskAction::Resume, finish(TaskResultStatus::Completed, false)] {
            refuses(&over, action, TaskRejected::Over);
        }
    }
}

#[test]
fn one_attempt_at_a_time_and_no_more_than_there_are() {
    allows("task[attempts=2]", start());
    refuses("task[attempts=2] start", start(), TaskRejected::AttemptOpen);
    allows("task[attempts=2,checks=1] start done fail", start());
    refuses("task[attempts=2,checks=1] start done fail start done fail", start(), TaskRejected::NoAttemptsLeft);
    refuses("task paused", start(), TaskRejected::Paused);
}

#[test]
fn only_the_open_attempt_ends() {
    allows("task start", end(1));
    refuses("task start", end(2), TaskRejected::NoOpenAttempt);
    refuses("task start done", end(1), TaskRejected::NoOpenAttempt);
    refuses("task", end(1), TaskRejected::NoOpenAttempt);
}

#[test]
fn checks_belong_to_the_attempt_that_ended_last_and_are_all_there() {
    allows("task[checks=1] start done", checks(1, &[true]));
    refuses("task[checks=1] start", checks(1, &[true]), TaskRejected::OtherChecks);
    refuses("task[checks=1] start done pass", checks(1, &[true]), TaskRejected::OtherChecks);
    refuses("task[checks=1] start done fail start done", checks(1, &[true]), TaskRejected::OtherChecks);
    refuses("task[checks=2] start done", checks(1, &[true]), TaskRejected::OtherChecks);
    refuses("task[checks=1] start done", checks(1, &[]), TaskRejected::OtherChecks);
}

#[test]
fn a_result_never_says_more_than_the_checks() {
    let completed = |verified| finish(TaskResultStatus::Completed, verified);
    allows("task[checks=1] start done pass", completed(true));
    refuses("task[checks=1] start done fail", completed(true), TaskRejected::Unproven);
    refuses("task[checks=1] start done", completed(true), TaskRejected::Unproven);
    refuses("task[checks=1] start done", completed(false), TaskRejected::Unproven);
    refuses("task[checks=1] start done pass start done", completed(true), TaskRejected::Unproven);
    allows("task start done", completed(false));
    refuses("task start done", completed(true), TaskRejected::Unproven);
    refuses("task start done", finish(TaskResultStatus::Failed, true), TaskRejected::Unproven);
    refuses("task start", completed(false), TaskRejected::AttemptOpen);
}

#[test]
fn a_pause_is_no_end() {
    for status in [TaskResultStatus::Paused, TaskResultStatus::BlockedUser] {
        refuses("task start done", finish(status, false), TaskRejected::NoEnd);
    }
    allows("task start", TaskAction::Pause { reason: "enough".into() });
    refuses("task start paused", TaskAction::Pause { reason: "enough".into() }, TaskRejected::Paused);
    allows("task start paused", TaskAction::Resume);
    refuses("task start", TaskAction::Resume, TaskRejected::NotPaused);
    allows("task paused", finish(TaskResultStatus::Cancelled, false));
}

#[test]
fn work_can_be_cut_off_only_so_often() {
    let cut_off = |times| format!("task start{}", " interrupted".repeat(times));
    allows(&cut_off(0), outage());
    allows(&cut_off(19), outage());
    refuses(&cut_off(20), outage(), TaskRejected::NoInterruptionsLeft);
    refuses(&cut_off(400), outage(), TaskRejected::NoInterruptionsLeft);
    refuses("task", outage(), TaskRejected::NoOpenAttempt);
    allows("task[checks=1] start done", outage());
}
