//! What may happen to a task, over histories written in the words of `task_notation`: whoever drives it, and whatever it
//! believes, the end says no more than the checks did.

use windlass_domain::task::{
    AttemptEnded, Deadline, DeadlineAction, TaskAction, TaskEvent, TaskRejected, TimeLimit, TimeUp, decide,
};
use windlass_domain::{ErrorCode, ErrorDetails, Labels, Taint, TaskResult, TaskResultStatus};

use crate::notation::START;
use crate::task_notation::{awaited, cards, created, ended, execution, recorded, result, time_up, told};

fn start() -> TaskAction {
    TaskAction::StartAttempt { execution_id: execution(9), base: None }
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

fn park(numbers: &str) -> TaskAction {
    TaskAction::Park { waits_for: awaited(numbers) }
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
    refuses("", park("1"), TaskRejected::NotCreated);
    refuses("", TaskAction::Wake, TaskRejected::NotCreated);
}

#[test]
fn nothing_happens_after_the_end() {
    for status in ["COMPLETED", "FAILED", "CANCELLED"] {
        let over = format!("task start done finished:{status}");
        for action in [start(), end(1), outage(), TaskAction::Resume, finish(TaskResultStatus::Completed, false)] {
            refuses(&over, action, TaskRejected::Over);
        }
        refuses(&over, park("1"), TaskRejected::Over);
        refuses(&over, TaskAction::Wake, TaskRejected::Over);
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

/// Seed 000 §3.4, and its correction: what rests is ended by its deadline or by somebody who gives it up.
#[test]
fn only_a_deadline_completes_or_fails_what_rests() {
    for status in [TaskResultStatus::Completed, TaskResultStatus::Failed] {
        refuses("task start done paused", finish(status, false), TaskRejected::Paused);
    }
    allows("task[until=1] start done paused up:fail", finish(TaskResultStatus::Failed, false));
    allows("task[until=2] start done paused up:complete_partial", partial(false));
}

fn partial(verified: bool) -> TaskAction {
    let result = TaskResult { verified, partial: true, ..result(TaskResultStatus::Completed) };
    TaskAction::Finish(Box::new(result))
}

#[test]
fn a_deadline_comes_once_and_as_it_was_set() {
    let up = |action| TaskAction::TimeUp(time_up(action));
    for history in
        ["task[until=1]", "task[until=1] start", "task[until=1] start waiting:1", "task[until=1] start paused"]
    {
        allows(history, up(DeadlineAction::Fail));
        refuses(history, up(DeadlineAction::CompletePartial), TaskRejected::NotUp);
        refuses(&format!("{history} up:fail"), up(DeadlineAction::Fail), TaskRejected::NotUp);
    }
    refuses("task", up(DeadlineAction::Fail), TaskRejected::NotUp);
    refuses("task[until=1] start done finished:COMPLETED", up(DeadlineAction::Fail), TaskRejected::Over);
    refuses(
        "task[until=3] start up:pause_and_notify paused running",
        up(DeadlineAction::PauseAndNotify),
        TaskRejected::NotUp,
    );
    let until =
        || TaskAction::SetDeadline(Deadline { at: time_up(DeadlineAction::Fail).at, action: DeadlineAction::Fail });
    allows("task", until());
    refuses("task[until=1]", until(), TaskRejected::DeadlineIsSet);
    let watched = TimeUp { limit: TimeLimit::Monitor, ..time_up(DeadlineAction::Fail) };
    allows("task start waiting:1", TaskAction::TimeUp(watched));
    allows("task[until=3] start up:pause_and_notify", TaskAction::TimeUp(watched));
}

#[test]
fn what_its_time_ended_begins_nothing_and_says_that_it_is_partial() {
    refuses("task[until=1,checks=1] start done fail up:fail", start(), TaskRejected::TimeIsUp);
    let late = "task[until=2,checks=1] start done up:complete_partial";
    allows(late, checks(1, &[false]));
    allows(&format!("{late} paused"), checks(1, &[true]));
    allows(&format!("{late} fail"), partial(false));
    allows(&format!("{late} pass"), partial(true));
    refuses(&format!("{late} fail"), partial(true), TaskRejected::Unproven);
    refuses(&format!("{late} pass"), finish(TaskResultStatus::Completed, true), TaskRejected::Unproven);
    refuses("task[until=1] start done up:fail", partial(false), TaskRejected::Unproven);
    refuses("task[until=1] start done up:fail", finish(TaskResultStatus::Completed, false), TaskRejected::Unproven);
    refuses("task start done", partial(false), TaskRejected::Unproven);
    allows(&format!("{late} fail"), finish(TaskResultStatus::Cancelled, false));
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

#[test]
fn an_attempt_is_parked_while_it_runs_and_for_something() {
    allows("task start", park("1"));
    allows("task start", park("1,2"));
    refuses("task start", park(""), TaskRejected::NotParked);
    refuses("task", park("1"), TaskRejected::NoOpenAttempt);
    refuses("task start done", park("1"), TaskRejected::NoOpenAttempt);
    refuses("task start paused", park("1"), TaskRejected::Paused);
    allows("task start interrupted", park("1"));
    allows("task start waiting:1 woken", park("2"));
}

#[test]
fn only_what_is_parked_wakes() {
    allows("task start waiting:1", TaskAction::Wake);
    allows("task start waiting:1 interrupted", TaskAction::Wake);
    for history in ["task", "task start", "task start waiting:1 woken", "task start waiting:1 done"] {
        refuses(history, TaskAction::Wake, TaskRejected::NotParked);
    }
}

/// What the table says of each history: the numbers of the cards that the task is parked for.
#[rustfmt::skip]
const PARKED: &[(&str, &str)] = &[
    ("task start", ""),
    ("task start waiting:1", "1"),
    ("task start waiting:1,2", "1,2"),
    // Whoever parks it again knows all that is asked by then.
    ("task start waiting:1 waiting:1,2", "1,2"),
    ("task start waiting:1 woken", ""),
    ("task start waiting:1 woken waiting:2", "2"),
    // Nobody needs to work on it because it was paused, or because a process went away.
    ("task start waiting:1 paused", "1"),
    ("task start waiting:1 paused running", "1"),
    ("task start waiting:1 interrupted", "1"),
    // An attempt that is over waits for nothing.
    ("task start waiting:1 done", ""),
    ("task start waiting:1 error:timeout", ""),
    ("task[checks=1] start waiting:1 done fail start", ""),
];

#[test]
fn a_task_is_parked_until_it_is_woken_or_its_attempt_ends() {
    for (history, numbers) in PARKED {
        let task = told(history);
        assert_eq!(task.waits_for, awaited(numbers), "after `{history}`");
        assert_eq!(task.is_parked(), !numbers.is_empty(), "after `{history}`");
    }
}

#[test]
fn a_parked_task_can_be_paused_resumed_cut_off_and_ended() {
    allows("task start waiting:1", TaskAction::Pause { reason: "enough".into() });
    allows("task start waiting:1 paused", TaskAction::Resume);
    allows("task start waiting:1", outage());
    allows("task start waiting:1", end(1));
    refuses("task start waiting:1", start(), TaskRejected::AttemptOpen);
}

#[test]
fn parking_names_the_open_attempt_and_its_cards() {
    let parked = decide(&told("task[checks=1] start done fail start"), park("1,2")).expect("allowed");
    let TaskEvent::AttemptWaiting(waiting) = parked else { panic!("{}", parked.kind()) };
    assert_eq!((waiting.attempt, waiting.cards), (2, cards("1,2")));
    let woken = decide(&told("task[checks=1] start done fail start waiting:1"), TaskAction::Wake).expect("allowed");
    let TaskEvent::AttemptWoken(woken) = woken else { panic!("{}", woken.kind()) };
    assert_eq!(woken.attempt, 2);
}

/// Taint is joined over all attempts, for each is told of those before it; labels are as the last one left the files.
#[test]
fn an_attempt_inherits_what_the_earlier_ones_had_read_and_left() {
    let mut task = told("task[checks=1] start");
    assert_eq!(task.inherited(), (Taint::Auth, Labels::default()));
    let mut labels = Labels::default();
    labels.changed("page.html", Taint::External);
    let first = AttemptEnded { taint: Taint::External, labels: labels.clone(), ..ended(1, None, &Default::default()) };
    task.apply(&TaskEvent::AttemptEnded(first), START);
    assert_eq!(task.inherited(), (Taint::External, labels.clone()));
    labels.may_all_have_changed(Taint::External);
    let started = decide(&told("task[checks=1] start done fail"), start()).expect("allowed");
    task.apply(&started, START);
    let second = AttemptEnded { labels: labels.clone(), ..ended(2, None, &Default::default()) };
    task.apply(&TaskEvent::AttemptEnded(second), START);
    assert_eq!(task.inherited(), (Taint::External, labels));
}
