//! `docs/states.md` says what can follow what. Here it is compared with the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use windlass_domain::approval::{self, ApprovalState, CardId, Stage};
use windlass_domain::execution::{CallPhase, Lifecycle};
use windlass_domain::goal::{self, GoalAction, GoalState, GoalStatus};
use windlass_domain::graph::{
    self, GraphAction, GraphState, PlanAnswer, PlanAnswered, PlanAsked, PlanProposed, PlanStanding, PlannerStarted,
    Proposer, Remembered,
};
use windlass_domain::monitor::{self, MonitorAction, MonitorState, MonitoringSchedule, SetBy, TimeoutAction};
use windlass_domain::role_output::RouteDecision;
use windlass_domain::session::{
    self, SessionAction, SessionOpened, SessionState, TurnDone, TurnEnded, TurnStarted, UserSaid,
};
use windlass_domain::task::{TaskAction, TaskEvent, TaskState, TaskStatus, decide};
use windlass_domain::{
    CallStatus, ErrorCode, ErrorDetails, ExecutionId, MessageId, QuestionAnswered, QuestionAsked, QuestionEvent,
    QuestionState, QuestionWithdrawn, RequestId, Taint, TaskId, TaskResult, TaskResultStatus, UserQuestion,
};

use crate::approval_notation::{CARD_ENDS, COMMANDS, NOW, command, told as approval};
use crate::goal::{every_goal_action, hourly_goal};
use crate::graph::{plan, task, tree};
use crate::notation::{START, Story, id, word_of};
use crate::task_notation::{awaited, ended, result, told};

const PAGE: &str = include_str!("../../../../docs/states.md");

type Table = BTreeMap<String, BTreeSet<String>>;

/// A column of the table below a heading: first column to the words of this one.
fn column(heading: &str, column: usize) -> Table {
    let section = PAGE.split("\n## ").find(|section| section.starts_with(heading)).expect("a section");
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let words = cells[column].split(',').map(str::trim).filter(|word| !word.is_empty());
        (cells[0].to_owned(), words.map(str::to_owned).collect())
    };
    rows.map(row).collect()
}

/// What may follow what.
fn table(heading: &str) -> Table {
    column(heading, 1)
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
        (
            TaskStatus::Paused,
            vec![
                "task start paused",
                "task start done paused",
                "task[until=1] start done paused up:fail",
                "task[until=2] start done paused up:complete_partial",
            ],
        ),
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
        TaskAction::Finish(Box::new(TaskResult { partial: true, ..result(TaskResultStatus::Completed) })),
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

/// What was seen to follow what, and by which records each was entered.
#[derive(Default)]
struct Seen {
    next: Table,
    entered_by: Table,
}

impl Seen {
    fn begins(&mut self, with: &str, record: &str) {
        self.next.entry(with.to_owned()).or_default();
        self.entered_by.entry(with.to_owned()).or_default().insert(record.to_owned());
    }

    fn follows(&mut self, from: &str, to: &str, record: &str) {
        self.next.entry(from.to_owned()).or_default().insert(to.to_owned());
        self.begins(to, record);
    }

    #[track_caller]
    fn are_on_the_page(self, heading: &str) {
        assert_eq!(table(heading), self.next);
        assert_eq!(column(heading, 2), self.entered_by);
    }
}

#[test]
fn attempts() {
    let mut seen = Seen::default();
    seen.begins("worked on", "attempt.started");
    for history in ["task start", "task start waiting:1", "task start waiting:1 woken", "task start done"] {
        let before = told(history);
        let actions = [
            TaskAction::Park { waits_for: awaited("1,2") },
            TaskAction::Wake,
            TaskAction::EndAttempt(ended(1, None, &BTreeMap::new())),
            TaskAction::Pause { reason: "enough".into() },
        ];
        for event in actions.into_iter().filter_map(|action| decide(&before, action).ok()) {
            let mut after = before.clone();
            after.apply(&event, START);
            let (from, to) = (attempt_of(&before), attempt_of(&after));
            match event {
                TaskEvent::Changed(_) => assert_eq!(from, to, "a pause changes nothing about an attempt"),
                event => seen.follows(from, to, event.kind()),
            }
        }
    }
    seen.are_on_the_page("An attempt");
}

fn attempt_of(task: &TaskState) -> &'static str {
    match task.open_attempt() {
        None => "ended",
        Some(_) if task.is_parked() => "parked",
        Some(_) => "worked on",
    }
}

#[test]
fn the_way_of_a_call() {
    let histories = [
        "",
        "rewrite:a",
        "wait:a=1",
        "wait:a=1 approve:a=1",
        "question:a",
        "start:a=read",
        "start:a=once",
        "denied:a",
        "risk:a=high",
    ];
    let words = ["rewrite:a", "wait:a=1", "question:a", "approve:a=1", "start:a=read", "start:a=once", "denied:a"];
    let mut seen = Seen::default();
    seen.begins("asked", "model.responded");
    for history in histories {
        let before = Story::told(&format!("create launching running ask call:a {history}"));
        for word in words {
            if let Ok(event) = before.tell(word) {
                let mut after = before.clone();
                after.goes_on(word);
                seen.follows(call_of(&before), call_of(&after), event.kind());
            }
        }
    }
    seen.are_on_the_page("The way of a tool call");
}

fn call_of(story: &Story) -> &'static str {
    match story.state.open_call(&id("a")).map(|open| &open.phase) {
        None => "finished",
        Some(CallPhase::Asked) => "asked",
        Some(CallPhase::Rewritten) => "rewritten",
        Some(CallPhase::Waiting(_)) => "waiting",
        Some(CallPhase::Approved(_)) => "approved",
        Some(CallPhase::Started { .. }) => "started",
    }
}

#[test]
fn the_ends_of_calls() {
    use CallStatus::{Cancelled, Denied, Error, Interrupted, Ok, TimedOut};
    let rows: BTreeSet<String> = table("A tool call's end").into_keys().collect();
    assert_eq!(rows, words([Ok, Error, Denied, TimedOut, Cancelled, Interrupted]));
}

#[test]
fn questions() {
    let (asked, answered, withdrawn) = question_events();
    let mut seen = Seen::default();
    seen.begins("open", "question.asked");
    for history in [vec![&asked], vec![&asked, &answered], vec![&asked, &withdrawn]] {
        let mut before = QuestionState::default();
        history.into_iter().for_each(|event| before.apply(event));
        for event in [&asked, &answered, &withdrawn].into_iter().filter(|event| before.allows(event).is_ok()) {
            let mut after = before.clone();
            after.apply(event);
            seen.follows(question_of(&before), question_of(&after), event.kind());
        }
    }
    seen.are_on_the_page("A question");
}

#[test]
fn monitors() {
    let until = |seconds| MonitoringSchedule {
        interval_seconds: 60,
        check_prompt: "Is it there?".into(),
        timeout_at: START + Duration::from_secs(seconds),
        timeout_action: TimeoutAction::Fail,
    };
    let set = || MonitorAction::Set { schedule: until(600), by: SetBy::Agent, taint: Taint::Auth, now: START };
    let late = START + Duration::from_secs(600);
    let mut seen = Seen::default();
    seen.begins("active", "monitor.set");
    for history in [vec![set()], vec![set(), MonitorAction::Remove]] {
        let mut before = MonitorState::default();
        for action in history {
            before.apply(&monitor::decide(&before, action).expect("allowed"));
        }
        let due = START + Duration::from_secs(60);
        let actions = [
            set(),
            MonitorAction::Fire { message_id: MessageId::new(START, 1), now: due },
            MonitorAction::TimeOut { now: late },
            MonitorAction::Remove,
            MonitorAction::Close,
        ];
        for event in actions.into_iter().filter_map(|action| monitor::decide(&before, action).ok()) {
            let mut after = before.clone();
            after.apply(&event);
            let word = |state: &MonitorState| if state.active().is_some() { "active" } else { "over" };
            seen.follows(word(&before), word(&after), event.kind());
        }
    }
    seen.are_on_the_page("A monitor");
}

fn question_events() -> (QuestionEvent, QuestionEvent, QuestionEvent) {
    let asked = QuestionAsked {
        request_id: RequestId::new(START, 1),
        task_id: TaskId::new(START, 2),
        execution_id: ExecutionId::new(START, 3),
        call_id: id("a"),
        asked: UserQuestion { question: "Which?".into(), options: Vec::new(), context: None },
    };
    let answered = QuestionAnswered { answer: "This.".into(), by: "ada".into() };
    let withdrawn = QuestionWithdrawn { reason: "the run has ended".into() };
    (QuestionEvent::Asked(asked), QuestionEvent::Answered(answered), QuestionEvent::Withdrawn(withdrawn))
}

fn question_of(question: &QuestionState) -> &'static str {
    match question {
        QuestionState::Absent => "absent",
        QuestionState::Open(_) => "open",
        QuestionState::Answered(_) => "answered",
        QuestionState::Withdrawn(_) => "withdrawn",
    }
}

#[test]
fn approvals() {
    let histories = [
        "request",
        "request decline",
        "request edit",
        "request expire",
        "request withdraw",
        "request approve",
        "request approve issue",
        "request approve issue verify",
        "request approve issue verify attach",
        "request approve issue verify attach check",
        "request approve issue verify attach check execute",
        "request approve issue verify attach check_failed",
    ];
    let mut seen = Seen::default();
    seen.begins("requested", "approval.requested");
    for (history, now) in histories.into_iter().flat_map(|history| [(history, NOW), (history, CARD_ENDS)]) {
        let before = approval(history);
        for event in COMMANDS.into_iter().filter_map(|word| approval::decide(&before, command(word, &before), now).ok())
        {
            let mut after = before.clone();
            after.apply(&event);
            match event.kind() {
                "approval.verify_failed" => assert_eq!(before, after, "it takes nothing from what was issued"),
                kind => seen.follows(approval_of(&before), approval_of(&after), kind),
            }
        }
    }
    seen.are_on_the_page("An approval");
}

fn approval_of(approval: &ApprovalState) -> &'static str {
    match approval {
        ApprovalState::Absent => "absent",
        ApprovalState::Requested { .. } => "requested",
        ApprovalState::Decided { .. } => "decided",
        ApprovalState::Refused { .. } => "refused",
        ApprovalState::Expired { .. } => "expired",
        ApprovalState::Withdrawn { .. } => "withdrawn",
        ApprovalState::Issued { uses, .. } => match uses.last().map(|used| &used.stage) {
            None => "issued",
            Some(Stage::Verified) => "verified",
            Some(Stage::Attached) => "attached",
            Some(Stage::Checked) => "checked",
            Some(Stage::Executed) => "executed",
            Some(Stage::Blocked { .. }) => "blocked",
        },
    }
}

impl Seen {
    /// What stays what it is has not become anything.
    fn changes(&mut self, from: &str, to: &str, record: &str) {
        if from != to {
            self.follows(from, to, record);
        }
    }
}

/// Everything that may be done about the plan itself.
fn about_the_plan(graph: &GraphState) -> Vec<GraphAction> {
    let revision = graph.revision;
    let starts = [false, true].map(|is_replan| {
        let started = PlannerStarted { revision: revision + 1, run: task(1), because: None, is_replan };
        GraphAction::StartPlanner(started)
    });
    let proposals = [Proposer::User, Proposer::Planner(task(1))].into_iter().flat_map(|by| {
        let none = ErrorDetails::new(ErrorCode::AnswerIncomplete, "there is no way");
        // A user who has no plan does not propose one.
        let found = if by == Proposer::User { vec![Ok(plan("a"))] } else { vec![Ok(plan("a")), Err(none)] };
        found.into_iter().map(move |plan| {
            let (revision, base, taint) = (revision.max(1), tree(0), Taint::Auth);
            GraphAction::Propose(Box::new(PlanProposed {
                revision,
                by,
                base,
                plan,
                document: None,
                taint,
                remembered: Remembered::default(),
            }))
        })
    });
    let card = CardId::new(START, 7);
    let answers = [
        PlanAnswer::Approved,
        PlanAnswer::Declined { reason: "no".to_owned() },
        PlanAnswer::EditRequested { note: "smaller".to_owned() },
    ];
    let answers = answers.map(|answer| GraphAction::Answer(PlanAnswered { revision, answer }));
    let ask = GraphAction::Ask(PlanAsked { revision, card });
    starts.into_iter().chain(proposals).chain([ask]).chain(answers).collect()
}

#[test]
fn plans() {
    let mut seen = Seen::default();
    seen.next.entry("wanted".to_owned()).or_default();
    seen.entered_by.entry("wanted".to_owned()).or_default();
    let mut known = BTreeSet::new();
    let mut open = vec![GraphState::default()];
    while let Some(before) = open.pop() {
        if !known.insert(standing_of(&before)) {
            continue;
        }
        for event in about_the_plan(&before).into_iter().filter_map(|action| graph::decide(&before, action).ok()) {
            let mut after = before.clone();
            after.apply(&event);
            seen.changes(standing_of(&before), standing_of(&after), event.kind());
            open.push(after);
        }
    }
    seen.are_on_the_page("A plan");
}

fn standing_of(graph: &GraphState) -> &'static str {
    match graph.standing {
        PlanStanding::Wanted => "wanted",
        PlanStanding::BeingWritten(_) => "being written",
        PlanStanding::Proposed => "proposed",
        PlanStanding::Asked(_) => "asked",
        PlanStanding::Approved => "approved",
        PlanStanding::SentBack { .. } => "sent back",
        PlanStanding::Declined { .. } => "declined",
        PlanStanding::Impossible(_) => "impossible",
    }
}

/// Whatever may happen in a session in which three things are said at most.
fn in_a_session(session: &SessionState) -> Vec<SessionAction> {
    let message = |number: usize| MessageId::new(START, number as u128);
    let said = session.unheard.len() + session.said.len() + usize::from(session.turn.is_some());
    let (message_id, words) = (message(said), "hello".to_owned());
    let say = UserSaid { message_id, words, taint: Taint::Auth, template: None, by: None };
    let first = session.unheard.first().map(|said| said.message_id);
    let (decision, done) = (RouteDecision::of("hello"), TurnDone::Answered);
    [
        Some(SessionAction::Open(SessionOpened::local("/home/you".to_owned()))),
        (said < 3).then_some(SessionAction::Say(say)),
        first.map(|message_id| SessionAction::Start(TurnStarted { message_id, run: task(1) })),
        Some(SessionAction::End(Box::new(TurnEnded { run: task(1), decision, done, taint: Taint::Auth }))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn sessions() {
    let mut seen = Seen::default();
    seen.begins("quiet", "session.opened");
    let mut open = vec![(SessionState::default(), 0)];
    while let Some((before, steps)) = open.pop() {
        for event in in_a_session(&before).into_iter().filter_map(|action| session::decide(&before, action).ok()) {
            let mut after = before.clone();
            after.apply(&event);
            if before.workspace.is_some() {
                seen.changes(session_of(&before), session_of(&after), event.kind());
            }
            if steps < 6 {
                open.push((after, steps + 1));
            }
        }
    }
    seen.are_on_the_page("A session");
}

fn session_of(session: &SessionState) -> &'static str {
    match (&session.turn, session.unheard.is_empty()) {
        (Some(_), _) => "in a turn",
        (None, false) => "addressed",
        (None, true) => "quiet",
    }
}

#[test]
fn goals() {
    let mut seen = Seen::default();
    seen.begins("active", "goal.added");
    let mut known = BTreeSet::new();
    let mut open = vec![hourly_goal()];
    while let Some(before) = open.pop() {
        if !known.insert(goal_of(&before)) {
            continue;
        }
        let mut actions = every_goal_action(&before);
        actions.extend([GoalAction::Pause, GoalAction::Resume { due: START }, GoalAction::Remove]);
        for event in actions.into_iter().filter_map(|action| goal::decide(&before, action).ok()) {
            let mut after = before.clone();
            after.apply(&event);
            seen.changes(goal_of(&before), goal_of(&after), event.kind());
            open.push(after);
        }
    }
    seen.are_on_the_page("A goal");
}

fn goal_of(goal: &GoalState) -> &'static str {
    match (goal.status, goal.open) {
        (GoalStatus::Absent, _) => "absent",
        (GoalStatus::Active, None) => "active",
        (GoalStatus::Active, Some(_)) => "looked at",
        (GoalStatus::Paused, _) => "paused",
        (GoalStatus::Removed, _) => "removed",
    }
}
