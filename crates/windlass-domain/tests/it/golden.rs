//! Journals as Windlass 0.1 wrote them. They are never regenerated: a change that cannot read them, or reads something
//! else out of them, has broken what users have on disk. New versions get new files beside these.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use windlass_domain::execution::{ExecutionEvent, ExecutionState};
use windlass_domain::task::{Move, TaskEvent, TaskState, next_move};
use windlass_domain::{Effect, Labels, Message, Reach, Taint, Wall};

use crate::notation::word_of;

const EXECUTION: &str = include_str!("../golden/fix_a_test.execution.ndjson");
const TASK: &str = include_str!("../golden/fix_a_test.task.ndjson");

#[derive(Deserialize)]
struct Line {
    kind: String,
    version: u16,
    at: Wall,
    data: Box<RawValue>,
}

fn lines(file: &str) -> Vec<Line> {
    file.lines().map(|line| serde_json::from_str(line).expect("a line of a golden journal")).collect()
}

fn execution() -> Vec<(ExecutionEvent, Wall)> {
    let read = |line: &Line| {
        let event = ExecutionEvent::decode(&line.kind, line.version, line.data.get());
        (event.expect("what was written is readable"), line.at)
    };
    lines(EXECUTION).iter().map(read).collect()
}

fn task() -> Vec<(TaskEvent, Wall)> {
    let read = |line: &Line| {
        let event = TaskEvent::decode(&line.kind, line.version, line.data.get());
        (event.expect("what was written is readable"), line.at)
    };
    lines(TASK).iter().map(read).collect()
}

/// Records that joined the format later have golden files of their own.
#[test]
fn the_golden_journals_hold_every_kind_that_version_one_had() {
    let execution: BTreeSet<_> = execution().iter().map(|(event, _)| event.kind()).collect();
    let task: BTreeSet<_> = task().iter().map(|(event, _)| event.kind()).collect();
    assert_eq!((execution.len(), task.len()), (9, 6));
}

#[test]
fn the_golden_execution_folds_to_what_it_always_meant() {
    let mut state = ExecutionState::default();
    let mut milestones = Vec::new();
    for (event, at) in execution() {
        state.apply(&event, at);
        milestones.push(summary(&event, &state));
    }
    let expected = "
        journal.header         created    0 messages, 0 open, 0 tokens, 0 nanos, owner
        message.accepted       created    1 messages, 0 open, 0 tokens, 0 nanos, auth
        state.changed          launching  1 messages, 0 open, 0 tokens, 0 nanos, auth
        state.changed          running    1 messages, 0 open, 0 tokens, 0 nanos, auth
        model.requested        running    1 messages, 0 open, 0 tokens, 0 nanos, auth
        model.responded        running    2 messages, 2 open, 990 tokens, 1230000 nanos, auth
        tool.started           running    2 messages, 2 open, 990 tokens, 1230000 nanos, auth
        tool.started           running    2 messages, 2 open, 990 tokens, 1230000 nanos, auth
        tool.finished          running    3 messages, 1 open, 990 tokens, 1230000 nanos, auth
        state.changed          lost       3 messages, 1 open, 990 tokens, 1230000 nanos, auth
        state.changed          launching  3 messages, 1 open, 990 tokens, 1230000 nanos, auth
        tool.finished          launching  4 messages, 0 open, 990 tokens, 1230000 nanos, external
        state.changed          running    4 messages, 0 open, 990 tokens, 1230000 nanos, external
        model.requested        running    4 messages, 0 open, 990 tokens, 1230000 nanos, external
        state.changed          paused     4 messages, 0 open, 2090 tokens, 1230000 nanos, external
        injection.received     paused     5 messages, 0 open, 2090 tokens, 1230000 nanos, external
        state.changed          running    5 messages, 0 open, 2090 tokens, 1230000 nanos, external
        model.requested        running    5 messages, 0 open, 2090 tokens, 1230000 nanos, external
        model.responded        running    6 messages, 1 open, 3300 tokens, 3240000 nanos, external
        tool.started           running    6 messages, 1 open, 3300 tokens, 3240000 nanos, external
        tool.finished          running    7 messages, 0 open, 3300 tokens, 3240000 nanos, external
        owner-effect.recorded  running    7 messages, 0 open, 3300 tokens, 3240000 nanos, external
        model.requested        running    7 messages, 0 open, 3300 tokens, 3240000 nanos, external
        model.responded        running    8 messages, 0 open, 4620 tokens, 5040000 nanos, external
        state.changed          completed  8 messages, 0 open, 4620 tokens, 5040000 nanos, external
    ";
    let expected: Vec<_> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(milestones, expected);

    assert_eq!((state.spent.iterations, state.answers, state.tool_calls), (4, 3, 3));
    assert_eq!(state.deliverables[0].filepath, "output/report.md");
    let Message::Assistant { calls, .. } = &*state.transcript[1] else { panic!("the first answer") };
    assert_eq!(calls[0].arguments.get(), r#"{"path" : "src/lib.rs"}"#);
    assert_eq!(calls[1].arguments.get(), r#"{"command":"echo \"\ud83d\ude00\"","timeout":1.0}"#);
    let Message::User { text, .. } = &*state.transcript[4] else { panic!("the injection") };
    assert_eq!(text, "[system] Task resumed by user");
}

/// A resumed run finds its conversation by name, and what a request says stood before it is what is folded there.
#[test]
fn the_golden_requests_name_the_transcripts_that_stand_before_them() {
    let mut state = ExecutionState::default();
    for (event, at) in execution() {
        if let ExecutionEvent::ModelRequested(request) = &event {
            let folded = (state.prompt, state.transcript.len());
            assert_eq!(folded, (request.prompt, request.messages), "request {}", request.iteration);
        }
        state.apply(&event, at);
    }
}

/// 1,040 ms until the crash's record, 500 until the pause, 2,060 to the end; the 90 seconds in between are nobody's.
#[test]
fn the_golden_execution_ran_for_as_long_as_it_ran() {
    let mut state = ExecutionState::default();
    execution().iter().for_each(|(event, at)| state.apply(event, *at));
    let uncertain = 1_760_000_001_060 - 1_760_000_001_050;
    assert!((3_600 - uncertain..=3_600).contains(&state.spent.active_ms), "{}", state.spent.active_ms);
}

#[test]
fn the_golden_execution_knows_how_to_recover_each_call() {
    let effects: Vec<_> = execution()
        .into_iter()
        .filter_map(|(event, _)| match event {
            ExecutionEvent::ToolStarted(started) => Some(started.effect),
            _ => None,
        })
        .collect();
    let [Effect::Read, Effect::Once, Effect::Probe(probe)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((probe.path.as_str(), probe.result.as_str()), ("src/lib.rs", "Edited src/lib.rs"));
    assert!(probe.before.is_some_and(|before| before != probe.after));
}

/// 0.1 did not write down what a call reaches. So the command that was cut off may have changed any file, and everything
/// in the workspace is as trustworthy as what it said.
#[test]
fn the_golden_calls_may_have_reached_anything() {
    let mut state = ExecutionState::default();
    let mut reached = Vec::new();
    for (event, at) in execution() {
        state.apply(&event, at);
        if let ExecutionEvent::ToolStarted(started) = event {
            reached.push(started.reach);
        }
    }
    assert_eq!(reached, vec![Reach::Outside(None); 3]);
    assert_eq!(state.labels.under("anything"), Taint::External);
}

/// Nor what an attempt had read, of which the next one is told.
#[test]
fn the_golden_attempts_are_external_for_want_of_a_label() {
    let mut state = TaskState::default();
    task().iter().for_each(|(event, at)| state.apply(event, *at));
    assert_eq!(state.inherited(), (Taint::External, Labels::default()));
    assert!(!state.is_parked());
}

#[test]
fn the_golden_task_leads_to_the_same_moves() {
    let mut state = TaskState::default();
    let mut moves = Vec::new();
    for (event, at) in task() {
        state.apply(&event, at);
        moves.push(match next_move(&state) {
            Move::Start { attempt, limits } => {
                format!("start {attempt} with {} tokens", limits.max_tokens)
            }
            Move::Run { attempt, .. } => format!("run {attempt}"),
            Move::Verify { attempt } => format!("verify {attempt}"),
            Move::Finish { status, verified, .. } => format!("finish {} {verified}", word_of(&status)),
            Move::Consult { attempt, .. } => format!("consult {attempt}"),
            Move::Wait => "wait".to_owned(),
            Move::AskHelp { attempt, .. } => format!("ask {attempt}"),
            Move::Nothing => "nothing".to_owned(),
        });
    }
    assert_eq!(
        moves,
        [
            "start 1 with 200000 tokens",
            "run 1",
            "nothing",
            "run 1",
            "verify 1",
            "start 2 with 199000 tokens",
            "run 2",
            "verify 2",
            "finish COMPLETED true",
            "nothing",
        ]
    );
    let result = state.result.expect("a result");
    assert_eq!((result.cost_usd.expect("known prices").as_nanos(), result.usage.total_tokens), (7_200_000, 3_520));
    assert!(state.created.is_some_and(|created| created.base_case.0.len() == 2));
}

fn summary(event: &ExecutionEvent, state: &ExecutionState) -> String {
    format!(
        "{:<22} {:<10} {} messages, {} open, {} tokens, {} nanos, {}",
        event.kind(),
        word_of(&state.lifecycle),
        state.transcript.len(),
        state.open_calls.len(),
        state.spent.usage.total(),
        state.spent.cost.as_nanos(),
        state.taint.as_str(),
    )
}
