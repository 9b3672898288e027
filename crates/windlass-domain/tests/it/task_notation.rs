//! A task's history in a line of text, one word for each record:
//!
//! ```text
//! task[until=1,…]                                               with a deadline, at which it fails; 2: completes partially; 3: rests
//! task[checks=1,attempts=5,tokens=…,nanos=…,seconds=…,each=…]   the task; `each` is one attempt's own limit in seconds
//! start                                                         the next attempt starts
//! done[tokens=5,nanos=5,ms=5]   error:timeout[…]                it ends, with what it used
//! pass  fail  mixed                                             its checks are recorded
//! interrupted                                                   a crash or an outage cuts the work off
//! waiting:1,2  woken                                            it is parked for these cards, and worked on again
//! help:next  help:more  goon:next  giveup:more                        a person is asked about it, and answers
//! up:fail  up:complete_partial                                     its deadline has come, and this is done about it
//! paused  running                                               the task is paused and goes on
//! finished:FAILED                                               the end
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use windlass_domain::approval::CardId;
use windlass_domain::task::{
    AttemptEnded, AttemptInterrupted, AttemptStarted, AttemptWaiting, AttemptWoken, ChecksRecorded, DeadlineAction,
    ExecutionConfig, HelpAbout, HelpAnswer, HelpAnswered, HelpAsked, ModelChoice, TaskChanged, TaskCommand,
    TaskCreated, TaskEvent, TaskFinished, TaskState, TaskStatus, TimeLimit, TimeUp,
};
use windlass_domain::{
    Awaited, BaseCase, Budget, Check, CheckProbe, CheckResult, CommandId, Digest, ErrorCode, ErrorDetails, ExecutionId,
    Expectation, Labels, Role, SessionId, Taint, TaskId, TaskResult, TaskResultStatus, TreeId, UsageMetrics, Usd, Wall,
};

use crate::notation::START;

pub fn told(history: &str) -> TaskState {
    let mut task = TaskState::default();
    for word in history.split_whitespace() {
        let event = event(word, u32::try_from(task.attempts.len()).expect("few"));
        task.apply(&event, START);
    }
    task
}

fn event(word: &str, attempt: u32) -> TaskEvent {
    let (head, numbers) = word.split_once('[').unwrap_or((word, ""));
    let numbers: BTreeMap<&str, u64> = numbers
        .trim_end_matches(']')
        .split(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key, value.parse().expect("a number")))
        .collect();
    let (name, subject) = head.split_once(':').unwrap_or((head, ""));
    match name {
        "task" => TaskEvent::Created(created(&numbers)),
        "start" => TaskEvent::AttemptStarted(AttemptStarted {
            attempt: attempt + 1,
            execution_id: execution(attempt + 1),
            base: None,
        }),
        "done" => TaskEvent::AttemptEnded(ended(attempt, None, &numbers)),
        "error" => TaskEvent::AttemptEnded(ended(attempt, Some(read(subject)), &numbers)),
        "pass" => TaskEvent::ChecksRecorded(recorded(attempt, &[true])),
        "fail" => TaskEvent::ChecksRecorded(recorded(attempt, &[false])),
        "mixed" => TaskEvent::ChecksRecorded(recorded(attempt, &[true, false])),
        "interrupted" => TaskEvent::AttemptInterrupted(AttemptInterrupted {
            attempt,
            error: ErrorDetails::new(ErrorCode::Interrupted, "the process is gone"),
        }),
        "waiting" => TaskEvent::AttemptWaiting(AttemptWaiting {
            attempt,
            cards: cards(subject),
            questions: Vec::new(),
            research: Vec::new(),
            monitor: None,
        }),
        "woken" => TaskEvent::AttemptWoken(AttemptWoken { attempt }),
        "help" => {
            let about = if subject == "more" { HelpAbout::OneMore } else { HelpAbout::NextAttempt };
            TaskEvent::HelpAsked(HelpAsked { attempt, card: help_card(attempt, about), about })
        }
        "goon" => answered(attempt, subject, HelpAnswer::GoOn { said: "look twice".into() }),
        "giveup" => answered(attempt, subject, HelpAnswer::GiveUp { why: "enough".into() }),
        "paused" => changed(TaskStatus::Paused),
        "running" => changed(TaskStatus::Running),
        "up" => TaskEvent::TimeUp(time_up(read(subject))),
        "finished" => TaskEvent::Finished(TaskFinished { result: result(read(subject)) }),
        other => panic!("`{other}` is no word of a task's history"),
    }
}

fn read<T: serde::de::DeserializeOwned>(word: &str) -> T {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).expect("a stored word")
}

pub fn execution(attempt: u32) -> ExecutionId {
    ExecutionId::new(START, u128::from(attempt) << 64)
}

/// The same, as what a task waits for.
pub fn awaited(numbers: &str) -> Vec<Awaited> {
    cards(numbers).into_iter().map(Awaited::Card).collect()
}

/// `1,2` are two cards; nothing is none.
pub fn cards(numbers: &str) -> Vec<CardId> {
    let numbers = numbers.split(',').filter(|number| !number.is_empty());
    numbers.map(|number| CardId::new(START, number.parse::<u128>().expect("a number") << 64)).collect()
}

/// Each question has a card of its own.
pub fn help_card(attempt: u32, about: HelpAbout) -> CardId {
    CardId::new(START, u128::from(attempt * 2 + u32::from(about == HelpAbout::OneMore)) << 64)
}

fn answered(attempt: u32, subject: &str, answer: HelpAnswer) -> TaskEvent {
    let about = if subject == "more" { HelpAbout::OneMore } else { HelpAbout::NextAttempt };
    TaskEvent::HelpAnswered(HelpAnswered { card: help_card(attempt, about), answer })
}

/// An hour after the start.
pub fn time_up(action: DeadlineAction) -> TimeUp {
    TimeUp { limit: TimeLimit::Deadline, at: START + Duration::from_secs(3_600), action }
}

fn changed(status: TaskStatus) -> TaskEvent {
    TaskEvent::Changed(TaskChanged { status, reason: "told so".into(), stopped: false })
}

pub fn created(numbers: &BTreeMap<&str, u64>) -> TaskCreated {
    let number = |key, otherwise| numbers.get(key).copied().unwrap_or(otherwise);
    let budget = Budget {
        max_tokens: number("tokens", 200_000),
        max_cost_usd: Usd::from_nanos(number("nanos", 2_000_000_000)),
        max_wall_time_seconds: number("seconds", 1_800),
        max_attempts: u32::try_from(number("attempts", 5)).expect("few"),
        ..Budget::default()
    };
    let command = TaskCommand {
        command_id: CommandId::new(START, 1),
        session_id: SessionId::new(START, 2),
        task_id: TaskId::new(START, 3),
        goal: "Fix the test".into(),
        constraints: vec![],
        execution_config: ExecutionConfig {
            timeout_seconds: number("each", 600),
            deadline: numbers.contains_key("until").then_some(time_up(DeadlineAction::Fail).at),
            deadline_action: match number("until", 0) {
                2 => DeadlineAction::CompletePartial,
                3 => DeadlineAction::PauseAndNotify,
                _ => DeadlineAction::Fail,
            },
            ..ExecutionConfig::default()
        },
        resume_context: None,
    };
    TaskCreated {
        command,
        agent_id: "executor".into(),
        role: Role::Executor,
        model: ModelChoice::OpenAi { model: "gpt-4o".into(), base_url: "http://localhost:4000".into() },
        workspace: "/home/you/project".into(),
        base_case: BaseCase((0..number("checks", 0)).map(a_check).collect()),
        budget,
        sandbox: "bubblewrap".into(),
        baseline: Some(TreeId(Digest::of(b"tree"))),
        placement: None,
        attachments: vec![],
        approval: None,
        skills: Box::default(),
        planned: false,
        aligns: false,
        part_of: None,
        turn: None,
        goal: None,
        forked: None,
    }
}

fn a_check(index: u64) -> Check {
    Check {
        name: format!("check {index}"),
        probe: CheckProbe::Run { run: "cargo test".into(), expect: Expectation::ExitCode(0) },
        timeout_seconds: 600,
        network: false,
        protect: vec!["tests".into()],
    }
}

pub fn ended(attempt: u32, error: Option<ErrorCode>, numbers: &BTreeMap<&str, u64>) -> AttemptEnded {
    let number = |key| numbers.get(key).copied().unwrap_or(0);
    AttemptEnded {
        attempt,
        final_message: Some("Done.".into()),
        report: None,
        error: error.map(|code| ErrorDetails::new(code, "it went wrong")),
        deliverables: vec![],
        interrupted: Vec::new(),
        usage: UsageMetrics { total_tokens: number("tokens"), duration_ms: number("ms"), ..UsageMetrics::default() },
        cost: Usd::from_nanos(number("nanos")),
        unpriced: number("unpriced") > 0,
        taint: Taint::Auth,
        labels: Labels::default(),
    }
}

pub fn recorded(attempt: u32, passed: &[bool]) -> ChecksRecorded {
    let result = |(index, &passed): (usize, &bool)| CheckResult {
        name: format!("check {index}"),
        passed,
        reason: if passed { "exit code 0".into() } else { "exit code 1".into() },
        exit_code: Some(i32::from(!passed)),
        output: if passed { String::new() } else { "assertion failed\n".into() },
        full_output: None,
        tampered: vec![],
    };
    let results = passed.iter().enumerate().map(result).collect();
    ChecksRecorded {
        attempt,
        tree: TreeId(Digest::of(b"tree")),
        results,
        onto: None,
        conflicts: Vec::new(),
        report: None,
    }
}

pub fn result(status: TaskResultStatus) -> TaskResult {
    TaskResult {
        task_id: TaskId::new(Wall::default(), 1),
        session_id: SessionId::new(Wall::default(), 2),
        command_id: CommandId::new(Wall::default(), 3),
        status,
        verified: false,
        partial: false,
        checks: vec![],
        deliverables: vec![],
        final_message: None,
        evidence_refs: vec![],
        usage: UsageMetrics::default(),
        cost_usd: Some(Usd::ZERO),
        error_details: None,
        hitl_request: None,
    }
}
