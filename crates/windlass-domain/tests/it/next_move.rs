//! What a task does next, over histories written in the words of `task_notation`.

use std::collections::BTreeMap;

use windlass_domain::plan::{AtomId, Handling, OnStuck};
use windlass_domain::task::{Move, Part, PartOf, TaskEvent, has_a_hearer, next_move};
use windlass_domain::{TaskId, TaskResultStatus};

use crate::notation::{START, word_of};
use crate::task_notation::{ended, execution, recorded, told};

#[track_caller]
fn check(history: &str, expected: &str) {
    assert_eq!(shown(&next_move(&told(history))), expected, "after `{history}`");
}

#[test]
fn without_a_base_case_the_agents_word_stands_and_is_called_unverified() {
    check("task", "start 1");
    check("task start", "run 1");
    check("task start done", "COMPLETED unverified");
    check("task start error:timeout", "FAILED unverified timeout");
    check("task start error:max_iterations_exceeded", "FAILED unverified max_iterations_exceeded");
    check("task start error:model_unavailable", "FAILED unverified model_unavailable");
}

/// Whether what is said now is heard by an agent before the task can end as completed.
#[test]
fn whoever_has_said_its_last_word_hears_nothing_more() {
    let check = |history: &str, expected: bool| assert_eq!(has_a_hearer(&told(history)), expected, "after `{history}`");
    check("task", true);
    check("task start", true);
    check("task start paused", true);
    check("task start done", false);
    check("task start error:timeout", false);
    check("task[checks=1] start done", false);
    check("task[checks=1] start done paused", false);
    check("task[checks=1] start done pass", false);
    check("task[checks=1] start done fail", true);
    check("task[checks=1] start done fail start", true);
    check("task[checks=1,attempts=1] start done fail", false);
}

#[test]
fn with_a_base_case_nothing_is_done_before_the_checks_say_so() {
    check("task[checks=1]", "start 1");
    check("task[checks=1] start", "run 1");
    check("task[checks=1] start done", "verify 1");
    check("task[checks=1] start done pass", "COMPLETED verified");
    check("task[checks=1] start done fail", "start 2");
    check("task[checks=2] start done mixed", "start 2");
}

#[test]
fn at_its_deadline_a_task_is_over_as_was_said_also_where_it_rests() {
    for rests in ["", " paused"] {
        check(&format!("task[until=1]{rests} up:fail"), "FAILED unverified deadline_exceeded");
        check(&format!("task[until=1] start{rests} up:fail"), "run 1");
        check(&format!("task[until=1] start done{rests} up:fail"), "FAILED unverified deadline_exceeded");
        check(&format!("task[until=1,checks=1] start done pass{rests} up:fail"), "FAILED unverified deadline_exceeded");
        check(&format!("task[until=2]{rests} up:complete_partial"), "COMPLETED unverified");
        check(&format!("task[until=2,checks=1] start{rests} up:complete_partial"), "run 1");
        check(&format!("task[until=2] start error:cancelled{rests} up:complete_partial"), "COMPLETED unverified");
        let late = format!("task[until=2,checks=1] start error:deadline_exceeded{rests} up:complete_partial");
        check(&late, "verify 1");
        check(&format!("{late} pass"), "COMPLETED verified");
        check(&format!("{late} fail"), "COMPLETED unverified");
    }
    check("task[until=3] start up:pause_and_notify paused", "nothing");
    check("task[until=3] start up:pause_and_notify paused running", "run 1");
}

#[test]
fn a_failed_check_leads_to_another_attempt_which_may_pass() {
    check("task[checks=1] start done fail start", "run 2");
    check("task[checks=1] start done fail start done", "verify 2");
    check("task[checks=1] start done fail start done pass", "COMPLETED verified");
    check("task[checks=1] start done fail start done fail", "start 3");
}

#[test]
fn attempts_are_spent_when_they_start_and_run_out() {
    check("task[checks=1,attempts=1] start done fail", "FAILED unverified checks_failed");
    check("task[checks=1,attempts=2] start done fail", "start 2");
    check("task[checks=1,attempts=2] start done fail start", "run 2");
    check("task[checks=1,attempts=2] start done fail start done fail", "FAILED unverified checks_failed");
    check("task[checks=1,attempts=2] start done fail start done pass", "COMPLETED verified");
    check("task[checks=1,attempts=0]", "FAILED unverified checks_failed");
}

/// Seed 003's ESCALATE: nobody tries the same once more before somebody has thought about it.
#[test]
fn who_says_it_is_stuck_has_the_planner_asked_at_once() {
    let of_a_plan = |history: &str| {
        let (mut state, root) = (told(history), TaskId::new(START, 3));
        let (atom, on_stuck) = (AtomId::parse("a").expect("an id"), OnStuck::ConsultPlanner);
        let part = Part::Atom { atom, on_stuck, gates: Vec::new(), handling: Handling::default(), pattern: None };
        state.created.as_mut().expect("created").part_of = Some(PartOf { task: root, root, part });
        shown(&next_move(&state))
    };
    assert_eq!(of_a_plan("task[checks=1] start error:stuck fail"), "consult 1");
    assert_eq!(of_a_plan("task[checks=1] start error:timeout fail"), "start 2");
    check("task[checks=1] start error:stuck fail", "start 2");
}

#[test]
fn the_checks_are_asked_even_when_the_attempt_ended_badly() {
    for code in ["timeout", "budget_exceeded", "max_iterations_exceeded", "internal", "model_unavailable"] {
        check(&format!("task[checks=1] start error:{code}"), "verify 1");
        check(&format!("task[checks=1] start error:{code} pass"), "COMPLETED verified");
    }
}

#[test]
fn what_the_agent_ran_into_may_be_tried_again() {
    for code in ["timeout", "max_iterations_exceeded", "budget_exceeded"] {
        check(&format!("task[checks=1] start error:{code} fail"), "start 2");
    }
}

#[test]
fn what_no_new_attempt_would_change_ends_the_task() {
    for code in [
        "internal",
        "model_rejected",
        "model_unavailable",
        "sandbox_unavailable",
        "runner_unavailable",
        "interrupted",
        "cancelled",
    ] {
        check(&format!("task[checks=1] start error:{code} fail"), &format!("FAILED unverified {code}"));
    }
}

#[test]
fn attempts_share_the_tasks_budget() {
    let spent = |used: &str| format!("task[checks=1,tokens=100,nanos=50,seconds=10,each=4] start done[{used}] fail");
    check_limits("task[tokens=100,nanos=50,seconds=10,each=4]", "100 tokens, 50 nanos, 4000 ms");
    check_limits(&spent("tokens=60"), "40 tokens, 50 nanos, 4000 ms");
    check_limits(&spent("nanos=49"), "100 tokens, 1 nanos, 4000 ms");
    check_limits(&spent("ms=6001"), "100 tokens, 50 nanos, 3999 ms");
    check_limits(&format!("{} start done[tokens=39] fail", spent("tokens=60")), "1 tokens, 50 nanos, 4000 ms");
}

#[test]
fn a_spent_budget_ends_the_task_however_many_attempts_are_left() {
    let first = "task[checks=1,tokens=100,nanos=50,seconds=10,attempts=9] start";
    for used in ["tokens=100", "tokens=101", "nanos=50", "nanos=900", "ms=10000", "ms=99999"] {
        check(&format!("{first} done[{used}] fail"), "FAILED unverified budget_exceeded");
        check(&format!("{first} done[{used}] pass"), "COMPLETED verified");
        check(&format!("{first} error:timeout[{used}] fail"), "FAILED unverified timeout");
    }
    check(&format!("{first} done[tokens=60] fail start done[tokens=40] fail"), "FAILED unverified budget_exceeded");
    check(&format!("{first} done[tokens=60] fail start done[tokens=39] fail"), "start 3");
}

#[test]
fn a_paused_task_does_nothing_until_it_goes_on() {
    for (history, then) in [
        ("task", "start 1"),
        ("task start", "run 1"),
        ("task[checks=1] start done", "verify 1"),
        ("task[checks=1] start done fail", "start 2"),
        ("task start done", "COMPLETED unverified"),
    ] {
        check(&format!("{history} paused"), "nothing");
        check(&format!("{history} paused running"), then);
    }
}

#[test]
fn a_task_that_is_over_does_nothing() {
    for end in ["COMPLETED", "FAILED", "CANCELLED"] {
        check(&format!("task start done finished:{end}"), "nothing");
        check(&format!("task finished:{end}"), "nothing");
        assert!(told(&format!("task finished:{end}")).is_over());
    }
    assert!(!told("task").is_over());
    assert!(!told("task paused").is_over());
}

#[test]
fn a_task_that_was_never_created_does_nothing() {
    check("", "nothing");
    check("start done", "nothing");
    check("running", "nothing");
}

#[test]
fn an_attempt_that_does_not_exist_cannot_end_or_pass() {
    let mut task = told("task[checks=1] start");
    task.apply(&TaskEvent::AttemptEnded(ended(7, None, &BTreeMap::new())), START);
    task.apply(&TaskEvent::ChecksRecorded(recorded(7, &[true])), START);
    assert_eq!(shown(&next_move(&task)), "run 1");
}

#[test]
fn the_next_attempt_is_told_what_the_earlier_ones_ran_into() {
    let task = told("task[checks=2] start error:timeout mixed start done pass start done fail");
    assert_eq!(
        task.failures(),
        [
            "Attempt 1:\n- ended with an error: it went wrong\n- the check `check 1` failed: exit code 1\nassertion failed",
            "Attempt 3:\n- the check `check 0` failed: exit code 1\nassertion failed",
        ]
    );
    assert!(told("task start").failures().is_empty());
}

/// Whatever attempts report, asking and doing what is said comes to an end: the halting rule for a task of one atom.
#[test]
fn a_task_halts_within_its_attempts_however_they_end() {
    for end in ["done", "error:timeout", "error:budget_exceeded", "done[tokens=30]", "done[ms=1]"] {
        for attempts in 1..=6 {
            let mut history = format!("task[checks=1,attempts={attempts},tokens=100]");
            let mut moves = 0;
            loop {
                moves += 1;
                assert!(moves <= 3 * attempts + 1, "`{history}` does not end");
                match next_move(&told(&history)) {
                    Move::Start { .. } => history.push_str(" start"),
                    Move::Run { .. } => history.push_str(&format!(" {end}")),
                    Move::Verify { .. } => history.push_str(" fail"),
                    Move::Finish { status, .. } => {
                        assert_eq!(status, TaskResultStatus::Failed);
                        break;
                    }
                    Move::Consult { .. } | Move::AskHelp { .. } | Move::Wait | Move::Nothing => {
                        panic!("`{history}` is stuck")
                    }
                }
            }
        }
    }
}

#[track_caller]
fn check_limits(history: &str, expected: &str) {
    let Move::Start { limits, .. } = next_move(&told(history)) else { panic!("`{history}` starts nothing") };
    let left =
        format!("{} tokens, {} nanos, {} ms", limits.max_tokens, limits.max_cost_usd.as_nanos(), limits.timeout_ms);
    assert_eq!(left, expected, "after `{history}`");
}

fn shown(next: &Move) -> String {
    match next {
        Move::Start { attempt, .. } => format!("start {attempt}"),
        Move::Run { attempt, execution_id } => {
            assert_eq!(*execution_id, execution(*attempt), "the execution that was started is the one carried on");
            format!("run {attempt}")
        }
        Move::Verify { attempt } => format!("verify {attempt}"),
        Move::Finish { status, verified, error } => {
            let verified = if *verified { "verified" } else { "unverified" };
            let error = error.as_ref().map(|error| format!(" {}", word_of(&error.error_code)));
            format!("{} {verified}{}", word_of(status), error.unwrap_or_default())
        }
        Move::Consult { attempt, .. } => format!("consult {attempt}"),
        Move::Wait => "wait".into(),
        Move::AskHelp { attempt, .. } => format!("ask {attempt}"),
        Move::Nothing => "nothing".into(),
    }
}
