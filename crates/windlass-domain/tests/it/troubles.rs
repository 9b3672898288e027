//! What follows from an item's trouble, as its plan has it: `on_stuck`, `on_failure` and `escalation`, over histories in the words of
//! `task_notation`. And what a gate has stopped, which no check makes good.

use serde_json::{Value, json};
use windlass_domain::task::{HelpAbout, Move, Part, PartOf, TaskAction, TaskRejected, TaskState, decide, next_move};
use windlass_domain::{ErrorCode, TaskId, TaskResultStatus, Usd, Wall};

use crate::task_notation::{execution, help_card, result, told};

/// The history of an item whose plan says this besides.
fn item(plan: &Value, history: &str) -> TaskState {
    let mut part = json!({"kind": "atom", "atom": "page", "on_stuck": "consult_planner"});
    let mut handling = json!({
        "on_failure": "report", "escalation": {}, "interaction_mode": "confirm_only_when_required",
    });
    for (name, value) in plan.as_object().into_iter().flatten() {
        let to = if name == "on_stuck" { &mut part } else { &mut handling };
        to[name] = value.clone();
    }
    part["handling"] = handling;
    let mut task = told(history);
    let root = TaskId::new(Wall::default(), 7);
    let part: Part = serde_json::from_value(part).expect("a part");
    task.created.as_mut().expect("created").part_of = Some(PartOf { task: root, root, part });
    task
}

/// A move in a word.
fn word(next: &Move) -> String {
    match next {
        Move::Start { attempt, .. } => format!("start {attempt}"),
        Move::Run { .. } => "run".to_owned(),
        Move::Verify { .. } => "verify".to_owned(),
        Move::Consult { attempt, .. } => format!("consult {attempt}"),
        Move::AskHelp { attempt, about: HelpAbout::NextAttempt } => format!("ask {attempt}"),
        Move::AskHelp { attempt, about: HelpAbout::OneMore } => format!("one more? {attempt}"),
        Move::Wait => "wait".to_owned(),
        Move::Finish { error: None, .. } => "done".to_owned(),
        Move::Finish { error: Some(error), .. } => format!("fails: {}", error.message),
        Move::Nothing => "nothing".to_owned(),
    }
}

#[track_caller]
fn check(plan: Value, history: &str, expected: &str) {
    let history = format!("task[checks=1,attempts=3,tokens=300] {history}");
    let said = word(&next_move(&item(&plan, &history)));
    assert_eq!(said, expected, "with {plan} after `{history}`");
}

const TWICE: &str = "start done fail start done fail";
const THRICE: &str = "start done fail start done fail start done fail";

#[test]
fn stuck_items_ask_whom_their_plan_names() {
    check(json!({}), TWICE, "consult 2");
    check(json!({"on_stuck": "retry"}), TWICE, "start 3");
    check(json!({"on_stuck": "escalate_human"}), "start done fail", "start 2");
    check(json!({"on_stuck": "escalate_human"}), TWICE, "ask 2");
    check(json!({"on_stuck": "escalate_human"}), &format!("{TWICE} help:next"), "wait");
    check(json!({"on_stuck": "escalate_human"}), &format!("{TWICE} help:next goon:next"), "start 3");
    let gave_up = "fails: a person gave it up after attempt 2: enough";
    check(json!({"on_stuck": "escalate_human"}), &format!("{TWICE} help:next giveup:next"), gave_up);
}

#[test]
fn each_trouble_has_its_own_word_which_goes_before_the_general_one() {
    let says = |trouble: &str, word: &str| json!({"escalation": {trouble: word}});
    check(says("verification_failed", "retry"), TWICE, "start 3");
    check(says("verification_failed", "escalate_human"), "start done fail", "ask 1");
    let reported = "fails: attempt 1 was not good enough: check 0";
    check(says("verification_failed", "report"), "start done fail", reported);
    check(says("failed", "report"), "start done fail", "start 2");
    check(says("failed", "report"), "start error:timeout fail", "fails: it went wrong");
    check(says("blocked", "report"), "start error:gate_blocked", "fails: it went wrong");
    check(says("blocked", "escalate_human"), "start error:gate_blocked", "ask 1");
    check(says("blocked", "report"), "start done fail", "start 2");
}

#[test]
fn when_nothing_is_left_to_try_a_person_may_allow_one_more() {
    let still = "fails: the checks still fail after 3 attempts";
    check(json!({"on_stuck": "retry"}), THRICE, still);
    for plan in [json!({"on_failure": "escalate_human"}), json!({"escalation": {"stuck": "escalate_human"}})] {
        check(plan.clone(), THRICE, "one more? 3");
        check(plan.clone(), &format!("{THRICE} help:more goon:more"), "start 4");
        check(
            plan.clone(),
            &format!("{THRICE} help:more giveup:more"),
            "fails: a person gave it up after attempt 3: enough",
        );
        check(plan, &format!("{THRICE} help:more goon:more start done fail"), "one more? 4");
    }
    let both = json!({"on_failure": "escalate_human", "escalation": {"stuck": "report"}});
    check(both, THRICE, still);
}

/// It brings its share of the budget, which may be what was used up.
#[test]
fn an_attempt_that_was_allowed_besides_has_its_share_of_the_budget() {
    let plan = json!({"on_failure": "escalate_human"});
    let spent = "task[checks=1,attempts=3,tokens=300,nanos=90] start done[tokens=310,nanos=20] fail";
    assert_eq!(word(&next_move(&item(&plan, spent))), "one more? 1");
    let allowed = item(&plan, &format!("{spent} help:more goon:more"));
    let Move::Start { limits, .. } = next_move(&allowed) else { panic!("{:?}", next_move(&allowed)) };
    assert_eq!((limits.max_tokens, limits.max_cost_usd), (90, Usd::from_nanos(100)));
}

#[test]
fn nobody_begins_more_attempts_than_the_budget_and_people_allow() {
    let start = || TaskAction::StartAttempt { execution_id: execution(9), base: None };
    let plan = json!({"on_failure": "escalate_human"});
    let after = |more: &str| item(&plan, &format!("task[checks=1,attempts=3] {THRICE} {more}"));
    assert_eq!(decide(&after(""), start()).err(), Some(TaskRejected::NoAttemptsLeft));
    assert_eq!(decide(&after("help:more"), start()).err(), Some(TaskRejected::AttemptOpen));
    assert_eq!(decide(&after("help:more giveup:more"), start()).err(), Some(TaskRejected::NoAttemptsLeft));
    assert!(decide(&after("help:more goon:more"), start()).is_ok());
}

#[test]
fn a_person_is_asked_once_about_each_thing_and_parks_the_task() {
    let asked = |attempt, about| {
        TaskAction::AskHelp(windlass_domain::task::HelpAsked { attempt, card: help_card(attempt, about), about })
    };
    let next = HelpAbout::NextAttempt;
    let after = |more: &str| told(&format!("task[checks=1] start done fail {more}"));
    assert!(decide(&after(""), asked(1, next)).is_ok());
    assert_eq!(decide(&after(""), asked(2, next)).err(), Some(TaskRejected::NoHelp), "there is no such attempt");
    assert_eq!(decide(&after("help:next"), asked(1, HelpAbout::OneMore)).err(), Some(TaskRejected::NoHelp));
    assert_eq!(decide(&after("help:next goon:next"), asked(1, next)).err(), Some(TaskRejected::NoHelp));
    assert!(after("help:next").is_parked() && !after("help:next goon:next").is_parked());
    assert_eq!(after("help:next goon:next").guidance(), ["A person says: look twice"]);
}

/// Contracts §4: the first block decides. Checks judge work; they allow nothing.
#[test]
fn what_a_gate_has_stopped_is_not_done_whatever_checks_say() {
    for plan in [json!({}), json!({"on_stuck": "retry"})] {
        check(plan.clone(), "start error:gate_blocked", "start 2");
        check(plan, "start error:gate_blocked pass", "start 2");
    }
    assert_eq!(word(&next_move(&told("task[checks=1,attempts=2] start error:gate_blocked pass"))), "start 2");
    let blocked = "task[checks=1,attempts=1] start error:gate_blocked pass";
    let Move::Finish { status, error: Some(error), .. } = next_move(&told(blocked)) else { panic!("it goes on") };
    assert_eq!((status, error.error_code), (TaskResultStatus::Failed, ErrorCode::GateBlocked));
    let done = windlass_domain::TaskResult { verified: true, ..result(TaskResultStatus::Completed) };
    assert_eq!(decide(&told(blocked), TaskAction::Finish(Box::new(done))).err(), Some(TaskRejected::Unproven));
    // An attempt that ended early for another reason may have done its work.
    assert_eq!(word(&next_move(&told("task[checks=1] start error:timeout pass"))), "done");
}
