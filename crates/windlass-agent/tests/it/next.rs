//! `next` over journals written as a line of words: `prompt answer:a,b start:a finish:a` and so on. The last answer
//! without calls ends the run.

use std::sync::Arc;

use windlass_agent::{Circumstances, Compacting, Flushes, Form, Next, Room, Settings};
use windlass_domain::approval::CardId;
use windlass_domain::execution::{
    Answer, CallDecision, Carrier, Compaction, CompactionCleared, CompactionFlushed, CompactionFlushing,
    CompactionReason, ContextRef, DecisionOutcome, ExecutionCommand, ExecutionState, Extent, Header, Lifecycle,
    MessageAccepted, MessageKind, NoAnswer, Outcome, Purpose, Question, decide,
};
use windlass_domain::pattern::{Around, Pattern};
use windlass_domain::task::CompactionConfig;
use windlass_domain::{
    CallId, CallOutcome, CallStatus, Digest, Effect, ErrorCode, ExecutionId, Labels, Limits, MessageId, Reach, Role,
    Scope, ScopeKind, StopReason, Taint, ToolCall, Usage, Usd, Wall,
};

const NOW: Wall = Wall::from_millis(1_000_000);

fn limits() -> Limits {
    Limits { max_iterations: 3, timeout_ms: 60_000, max_tokens: 100, max_cost_usd: Usd::from_nanos(100) }
}

fn command(word: &str) -> ExecutionCommand {
    let (verb, rest) = word.split_once(':').unwrap_or((word, ""));
    match verb {
        "prompt" => ExecutionCommand::Accept(MessageAccepted {
            message_id: MessageId::new(NOW, 1),
            kind: MessageKind::Prompt,
            content: "go".into(),
            images: vec![],
            taint: Taint::Owner,
        }),
        "ask" => {
            let context = ContextRef { system: Digest::of(b"s"), tools: Digest::of(b"t") };
            ExecutionCommand::Ask(Question {
                purpose: Purpose::Turn,
                context,
                estimated_input: 1,
                estimated_cost: Usd::ZERO,
            })
        }
        "answer" | "costly" => ExecutionCommand::Answer(Answer {
            text: "words".into(),
            calls: rest.split(',').filter(|id| !id.is_empty()).map(|id| ToolCall::new(id, "read", "{}")).collect(),
            reasoning: vec![],
            stop: StopReason::EndTurn,
            usage: Usage { input: if verb == "costly" { 100 } else { 1 }, ..Usage::default() },
            lost: Usage::default(),
            cost: Some(Usd::ZERO),
            retries: 0,
            duration_ms: 0,
        }),
        "start" => {
            let (effect, reach) = (Effect::Read, Reach::Context);
            ExecutionCommand::StartCall { call_id: CallId(rest.into()), effect, reach }
        }
        "wait" | "approve" => {
            let card_id = CardId::new(NOW, 7);
            let outcome = match verb {
                "wait" => DecisionOutcome::Waiting { card_id },
                _ => DecisionOutcome::Approved { card_id },
            };
            ExecutionCommand::Decide(CallDecision { call_id: CallId(rest.into()), outcome })
        }
        "finish" => ExecutionCommand::FinishCall {
            outcome: CallOutcome {
                call_id: CallId(rest.into()),
                status: CallStatus::Error,
                content: "no".into(),
                full_output: None,
                images: vec![],
                duration_ms: 0,
            },
            taint: Taint::Owner,
        },
        "summarise" => {
            let (from, to) = rest.split_once('-').expect("from-to");
            let number = |text: &str| text.parse().expect("the number of a message");
            let context = ContextRef { system: Digest::of(b"s"), tools: Digest::of(b"t") };
            let purpose = Purpose::Summary { from: number(from), to: number(to) };
            ExecutionCommand::Ask(Question { purpose, context, estimated_input: 1, estimated_cost: Usd::ZERO })
        }
        "refused" => {
            let no_answer = NoAnswer { reason: "no".into(), usage: Usage::default(), cost: Usd::ZERO, told: None };
            ExecutionCommand::GiveUp(no_answer)
        }
        "compact" => {
            ExecutionCommand::Compact(Compaction::Start { reason: CompactionReason::Threshold, tokens_before: 9_000 })
        }
        "clear" | "clear-all" => {
            let extent = if verb == "clear" { Extent::Old } else { Extent::All };
            ExecutionCommand::Compact(Compaction::Clear(CompactionCleared { extent, results: Vec::new() }))
        }
        "flush" => ExecutionCommand::Compact(Compaction::Flush(CompactionFlushing { message: "save".into() })),
        "flushed" => ExecutionCommand::Compact(Compaction::EndFlush(CompactionFlushed { files_written: 0 })),
        "fail" => ExecutionCommand::Compact(Compaction::Fail { tokens_after: 9_000, reason: "too long".into() }),
        other => panic!("no such word: {other}"),
    }
}

pub fn state(words: &str) -> ExecutionState {
    limited(words, limits())
}

pub fn limited(words: &str, limits: Limits) -> ExecutionState {
    begun(words, limits, None)
}

/// An execution that a pattern leads.
pub fn led(pattern: Arc<Pattern>, limits: Limits) -> ExecutionState {
    begun("", limits, Some(pattern))
}

fn begun(words: &str, limits: Limits, pattern: Option<Arc<Pattern>>) -> ExecutionState {
    let header = Header {
        execution_id: ExecutionId::new(NOW, 1),
        agent_id: "executor".into(),
        role: Role::Executor,
        scope: Scope { kind: ScopeKind::Task, id: "t".into() },
        agent_version: "0".into(),
        model: "m".into(),
        configuration_digest: Digest::of(b""),
        limits,
        labels: Labels::default(),
        parent: None,
        carrier: Carrier::Native,
        pattern,
    };
    let launched = [
        ExecutionCommand::Create(Box::new(header)),
        ExecutionCommand::Move { to: Lifecycle::Launching, reason: String::new() },
        ExecutionCommand::Move { to: Lifecycle::Running, reason: String::new() },
    ];
    let mut state = ExecutionState::default();
    for command in launched.into_iter().chain(words.split_whitespace().map(command)) {
        let event = decide(&state, command, NOW).expect("the words are a legal history");
        state.apply(&event, NOW);
    }
    state
}

/// With a short conversation.
fn next(state: &ExecutionState, now: Wall) -> Next {
    let settings = Settings::default();
    let room = Room::new(&settings.compaction, Flushes::No, None);
    let compacting = Compacting { room, flushes: Flushes::No, preserved: 6, tokens: 100 };
    let (form, around) = (Form::Native, &Around::default());
    windlass_agent::next(state, &Circumstances { now, settings: &settings, compacting, form, around })
}

fn shown(next: Next) -> String {
    let ids = |calls: Vec<windlass_domain::execution::OpenCall>| {
        calls.into_iter().map(|open| open.call.call_id.0).collect::<Vec<_>>().join(",")
    };
    match next {
        Next::CallModel => "ask".into(),
        Next::RunTools(calls) => format!("run {}", ids(calls)),
        Next::Recover(calls) => format!("recover {}", ids(calls)),
        Next::Compact(step) => format!("compact: {step:?}"),
        Next::Warn(detected) => format!("warn: {}", detected.intervention),
        Next::Step(stepped) => format!("step: {}", stepped.from),
        Next::Nudge(nudged) => format!("nudge: {}", nudged.message),
        Next::Wait | Next::Finish(Outcome::Waiting) => "wait".into(),
        Next::Finish(Outcome::Completed { message }) => format!("completed: {message}"),
        Next::Finish(Outcome::Failed(error)) => format!("failed: {:?}", error.error_code),
        Next::Finish(Outcome::Stopped(stop)) => format!("stopped: {stop:?}"),
    }
}

fn check(words: &str, expected: &str) {
    assert_eq!(shown(next(&state(words), NOW)), expected, "after {words}");
}

#[test]
fn the_loop_goes_from_question_to_calls_to_question_until_an_answer_has_no_calls() {
    check("prompt", "ask");
    check("prompt ask answer:a,b", "run a,b");
    check("prompt ask answer:a,b start:a", "recover a");
    check("prompt ask answer:a,b start:a finish:a", "run b");
    check("prompt ask answer:a,b start:a finish:a finish:b", "ask");
    check("prompt ask answer:a finish:a ask answer", "completed: words");
}

#[test]
fn calls_in_flight_are_settled_before_new_ones_begin() {
    check("prompt ask answer:a,b,c start:b", "recover b");
}

#[test]
fn a_call_that_waits_for_a_person_holds_up_what_comes_after_it_and_nothing_before() {
    check("prompt ask answer:a,b,c wait:b", "run a");
    check("prompt ask answer:a,b,c wait:b finish:a", "wait");
    check("prompt ask answer:a,b,c wait:b finish:a approve:b", "run b,c");
    check("prompt ask answer:a,b,c wait:b finish:a finish:b", "run c");
    check("prompt ask answer:a,b wait:a start:b", "recover b");
}

#[test]
fn a_limit_ends_the_run_before_the_next_question_and_not_after_the_last_answer() {
    check("prompt ask answer:a finish:a ask answer:b finish:b ask answer:c finish:c", "failed: MaxIterationsExceeded");
    check("prompt ask costly:a", "run a");
    check("prompt ask costly:a finish:a", "failed: BudgetExceeded");
    check("prompt ask costly", "completed: words");
}

/// In a window of 10,000: 7,500 with room for the answer, a compaction above 6,375, enough below 4,778.
#[track_caller]
fn check_long(words: &str, flushes: Flushes, tokens: u64, expected: &str) {
    let compaction = CompactionConfig { context_window_tokens: Some(10_000), ..CompactionConfig::default() };
    let settings = Settings { compaction, ..Settings::default() };
    // The room for the flush is not what this is about.
    let room = Room::new(&compaction, Flushes::No, None);
    let compacting = Compacting { room, flushes, preserved: 1, tokens };
    let (form, around) = (Form::Native, &Around::default());
    let circumstances = Circumstances { now: NOW, settings: &settings, compacting, form, around };
    let found = shown(windlass_agent::next(&limited(words, crate::compaction::wide()), &circumstances));
    assert!(found.starts_with(expected), "after {words} with {tokens} tokens: {found}, not {expected}");
}

#[test]
fn a_conversation_that_grows_too_long_is_compacted_step_by_step() {
    const TWO_TURNS: &str = "prompt ask answer:a finish:a ask answer:b finish:b";
    let check = |words: &str, tokens, expected: &str| {
        check_long(&format!("{TWO_TURNS} {words}"), Flushes::No, tokens, expected);
    };
    check("", 6_375, "ask");
    check("", 6_376, "compact: Start(Threshold)");
    check("compact", 7_000, "compact: Clear(Old)");
    check("compact clear", 4_700, "compact: Finish");
    check("compact clear", 4_800, "compact: Summarise(Segment { from: 1, to: 3");
    check("compact clear summarise:1-3 answer", 6_000, "compact: Finish");
    // Too little: harder, once.
    check("compact clear summarise:1-3 answer", 6_400, "compact: Clear(All)");
    check("compact clear summarise:1-3 answer clear-all", 6_000, "compact: Finish");
    check("compact clear summarise:1-3 answer clear-all", 7_500, "compact: Finish");
    check("compact clear summarise:1-3 answer clear-all", 7_501, "compact: Fail");
    check("compact clear fail", 9_000, "failed: ContextOverflow");
    // What cannot be summarised is tried thrice, and then done without.
    check("compact clear summarise:1-3 refused summarise:1-3 refused", 5_000, "compact: Summarise");
    check("compact clear summarise:1-3 refused summarise:1-3 refused summarise:1-3 refused", 5_000, "compact: Skip");
}

#[test]
fn an_agent_that_can_save_is_given_three_turns_for_it_and_only_before_a_summary() {
    const CLEARED: &str = "prompt ask answer:a finish:a ask answer:b finish:b compact clear";
    let check = |words: &str, tokens, expected: &str| {
        check_long(&format!("{CLEARED} {words}"), Flushes::Yes, tokens, expected);
    };
    check("", 4_700, "compact: Finish");
    check("", 5_000, "compact: Flush");
    // No room to ask in: the recent results go first, and then it is asked whatever room there is.
    check("", 10_000, "compact: Clear(All)");
    check("clear-all", 10_000, "compact: Flush");
    check("clear-all flush ask refused", 10_000, "compact: EndFlush");
    check("clear-all flush ask refused flushed", 10_000, "compact: Summarise(Segment { from: 1, to: 3");
    check("flush", 5_000, "compact: AskAgent");
    check("flush ask answer:c finish:c", 5_000, "compact: AskAgent");
    check("flush ask answer:c", 5_000, "run c");
    check("flush ask answer", 5_000, "compact: EndFlush");
    check("flush ask refused", 5_000, "compact: EndFlush");
    check("flush ask answer:c finish:c ask answer:d finish:d ask answer:e finish:e", 5_000, "compact: EndFlush");
    check("flush ask answer flushed", 5_000, "compact: Summarise(Segment { from: 1, to: 3");
}

#[test]
fn time_runs_out_by_the_clock() {
    let late = NOW + std::time::Duration::from_secs(60);
    assert_eq!(shown(next(&state("prompt"), late)), "failed: Timeout");
    let Next::Finish(Outcome::Failed(error)) = next(&state("prompt"), late) else { panic!("time is up") };
    assert_eq!(error.error_code, ErrorCode::Timeout);
    assert!(error.hint.is_some_and(|hint| hint.contains("--timeout")));
}
