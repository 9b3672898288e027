//! What stands in a journal stays readable: every kind of record survives being written and read, whatever strings it
//! holds, and a model's arguments survive byte for byte. The list of kinds is part of the format.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use windlass_domain::approval::CardId;
use windlass_domain::execution::{
    AgentInjection, CallDecision, Carrier, ChildLeft, ChildStatus, Claim, ClaimKind, Cleared, CompactionCleared,
    CompactionFailed, CompactionFinished, CompactionFlushed, CompactionFlushing, CompactionReason, CompactionSkipped,
    CompactionStarted, DecisionOutcome, Delivery, DoomLoopDetected, Doubt, EgressRefused, ExchangeClosed,
    ExchangeOpened, ExchangeOutcome, ExecutionEvent, Extent, Failure, Forked, Header, InjectionReceived, InjectionType,
    Lifecycle, MessageAccepted, MessageDelivery, MessageKind, ModelFailed, ModelRequested, ModelResponded,
    ModelSwitched, Observation, ObservationRecorded, OwnerEffect, Parent, Pattern, Purpose, Rewritten, RiskChecked,
    RunnerNoted, Source, StateChanged, SubagentFinished, SubagentSpawned, TakenOver, ToolStarted, TurnEnd,
};
use windlass_domain::known::{ContextGathered, ContextItem, ContextSource, TaskContext};
use windlass_domain::pattern::{Hint, PatternNudged, PatternStepped, PlaceEnd, Why};
use windlass_domain::research::ResearchQuestion;
use windlass_domain::risk::{GateSaid, Level, Ruling};
use windlass_domain::role_output::{VerifierReport, WorkerReport};
use windlass_domain::task::{
    AttemptEnded, AttemptInterrupted, AttemptStarted, AttemptWaiting, AttemptWoken, CandidateOutdated, ChecksRecorded,
    ConsultAnswered, ConsultAsked, Control, DeadlineAction, DeadlineSet, HelpAbout, HelpAnswer, HelpAnswered,
    HelpAsked, ModelChoice, ResearchAnswered, ResearchAsked, ResearchExpired, ResearchTimedOut, TaskChanged, TaskEvent,
    TaskFinished, TaskStatus, Wish,
};
use windlass_domain::{
    Attachment, CallId, CallStatus, Deliverable, DeliverableType, Dialect, Digest, Effect, Encoded, ErrorCode,
    ErrorDetails, ExecutionId, Finished, Image, Labels, Limits, MediaType, Message, MessageId, Probe, Reach, Reasoning,
    RequestId, Role, Scope, ScopeKind, StopReason, Taint, TaskResultStatus, ToolCall, ToolResult, Unreadable, Usage,
    Usd,
};

use crate::notation::{START, context, deliverable};
use crate::runs::{AWKWARD, awkward_text};
use crate::task_notation::{cards, created, ended, execution, recorded, result, time_up};

/// Removing or renaming one of these makes journals that exist unreadable; adding one is fine.
#[test]
fn the_kinds_of_records_are_part_of_the_format() {
    assert_eq!(
        ExecutionEvent::KINDS,
        [
            "journal.header",
            "message.accepted",
            "state.changed",
            "model.requested",
            "model.responded",
            "model.failed",
            "risk.checked",
            "decision.recorded",
            "tool.started",
            "tool.finished",
            "injection.received",
            "subagent.spawned",
            "subagent.finished",
            "owner-effect.recorded",
            "compaction.started",
            "compaction.cleared",
            "compaction.flushing",
            "compaction.flushed",
            "compaction.skipped",
            "compaction.finished",
            "compaction.failed",
            "doom_loop.detected",
            "egress.refused",
            "pattern.stepped",
            "pattern.nudged",
            "runner.noted",
            "observation.recorded",
            "call.proposed",
            "exchange.opened",
            "exchange.closed",
            "message.delivery",
            "execution.forked",
            "model.switched",
        ]
    );
    assert_eq!(
        TaskEvent::KINDS,
        [
            "task.created",
            "task.changed",
            "context.gathered",
            "attempt.started",
            "attempt.interrupted",
            "attempt.waiting",
            "attempt.woken",
            "attempt.ended",
            "checks.recorded",
            "candidate.outdated",
            "consult.asked",
            "consult.answered",
            "help.asked",
            "help.answered",
            "research.asked",
            "research.answered",
            "research.timed_out",
            "research.expired",
            "deadline.set",
            "task.time_up",
            "task.finished"
        ]
    );
    assert_eq!(Control::KINDS, ["task.cancel", "task.pause", "task.stop", "task.inject", "task.time_up"]);
}

#[test]
fn the_samples_leave_out_no_kind() {
    let sampled = |kinds: Vec<&'static str>| {
        let mut kinds = kinds;
        kinds.dedup();
        kinds
    };
    assert_eq!(sampled(execution_records("").iter().map(ExecutionEvent::kind).collect()), ExecutionEvent::KINDS);
    assert_eq!(sampled(task_records("").iter().map(TaskEvent::kind).collect()), TaskEvent::KINDS);
    assert_eq!(sampled(controls("").iter().map(Control::kind).collect()), Control::KINDS);
}

#[test]
fn every_record_survives_the_journal_whatever_strings_it_holds() {
    for text in AWKWARD {
        survives(text);
    }
    survives(&"🏗\"\\\u{0}".repeat(20_000));
}

proptest! {
    #[test]
    fn every_record_survives_any_string(text in awkward_text()) {
        survives(&text);
    }
}

fn survives(text: &str) {
    for event in execution_records(text) {
        let stored = event.encode();
        let read = ExecutionEvent::decode(stored.kind, stored.version, stored.data.get()).expect("readable");
        same(&format!("{event:?}"), &stored, &format!("{read:?}"), &read.encode());
    }
    for event in task_records(text) {
        let stored = event.encode();
        let read = TaskEvent::decode(stored.kind, stored.version, stored.data.get()).expect("readable");
        same(&format!("{event:?}"), &stored, &format!("{read:?}"), &read.encode());
    }
    for control in controls(text) {
        let stored = control.encode();
        let read = Control::decode(stored.kind, stored.version, stored.data.get()).expect("readable");
        same(&format!("{control:?}"), &stored, &format!("{read:?}"), &read.encode());
    }
}

fn same(event: &str, stored: &Encoded, read: &str, again: &Encoded) {
    assert_eq!(read, event, "{} as it was written: {}", stored.kind, stored.data);
    assert_eq!(again.data.get(), stored.data.get(), "{} written again", stored.kind);
    assert_eq!((again.kind, again.version), (stored.kind, stored.version));
}

/// Text that is JSON, in ways that any reading and writing again would change.
const ARGUMENTS: &[&str] = &[
    "{}",
    r#"{"b":1,"a":2}"#,
    r#"{ "spaced" :  [ 1 , 2 ] }"#,
    r#"{"same":1,"same":2}"#,
    r#"{"n":1.0,"m":1e+05,"big":123456789012345678901234567890,"zero":-0}"#,
    r#"{"escape":"\u0041\/\ud83d\ude00"}"#,
    r#"{"lone":"\ud800"}"#,
    r#"{"nul":"\u0000"}"#,
    "{\"lines\":\n  [1,\n\t2]}",
    r#"{"$serde_json::private::RawValue":"1"}"#,
    "null",
    r#""a string""#,
];

#[test]
fn arguments_that_are_json_survive_byte_for_byte() {
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    for arguments in ARGUMENTS.iter().copied().chain([deep.as_str()]) {
        assert_eq!(through_the_journal(arguments), arguments);
    }
}

#[test]
fn arguments_that_are_not_json_arrive_as_a_string_that_says_what_they_were() {
    for text in ["", "{", r#"{"a":1"#, "{'a':1}", "NaN", "{} {}", "\u{0}", "ls -la", r#"{"a":"\x"}"#] {
        let read = through_the_journal(text);
        assert_eq!(serde_json::from_str::<String>(&read).expect("a JSON string"), text);
    }
}

proptest! {
    #[test]
    fn no_arguments_are_lost(text in awkward_text()) {
        let read = through_the_journal(&text);
        let kept = read == text.trim() || serde_json::from_str::<String>(&read).is_ok_and(|kept| kept == text);
        prop_assert!(kept, "{text:?} became {read}");
    }
}

fn through_the_journal(arguments: &str) -> String {
    let stored = responded("", vec![ToolCall::new("a", "bash", arguments)]).encode();
    let read = ExecutionEvent::decode(stored.kind, stored.version, stored.data.get()).expect("readable");
    let ExecutionEvent::ModelResponded(response) = read else { panic!("another kind") };
    response.calls[0].arguments.get().to_owned()
}

#[test]
fn what_cannot_be_read_is_said_and_never_guessed() {
    let newer = |kind: &str, version| {
        let refused = ExecutionEvent::decode(kind, version, "{}").expect_err("unknown");
        assert!(matches!(&refused, Unreadable::Newer { kind: said, .. } if said == kind), "{refused}");
    };
    newer("model.dreamed", 1);
    newer("model.requested", 2);
    newer("model.requested", u16::MAX);
    newer("MODEL.REQUESTED", 1);
    for data in ["", "{}", "null", "[]", r#"{"from":"created","to":"sleeping","reason":""}"#] {
        let refused = ExecutionEvent::decode("state.changed", 1, data).expect_err("malformed");
        assert!(matches!(&refused, Unreadable::Malformed { kind, version: 1, .. } if kind == "state.changed"));
    }
    let torn = r#"{"from":"created","to":"launching","reason":""} {"#;
    assert!(ExecutionEvent::decode("state.changed", 1, torn).is_err());
}

#[test]
fn a_record_without_a_taint_label_is_external() {
    let unlabelled = [
        ("message.accepted", r#"{"message_id":"ID","kind":"prompt","content":""}"#),
        ("injection.received", r#"{"message_id":"ID","injection_type":"user_message","content":""}"#),
        ("tool.finished", r#"{"call_id":"a","tool":"read","status":"ok","content":"","duration_ms":1}"#),
        (
            "tool.finished",
            r#"{"call_id":"a","tool":"read","status":"ok","content":"","taint":"OWNER","duration_ms":1}"#,
        ),
    ];
    for (kind, data) in unlabelled {
        let data = data.replace("ID", "0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11");
        let taint = match ExecutionEvent::decode(kind, 1, &data).expect("readable") {
            ExecutionEvent::MessageAccepted(message) => message.taint,
            ExecutionEvent::InjectionReceived(received) => received.taint,
            ExecutionEvent::ToolFinished(finished) => finished.taint,
            other => panic!("{}", other.kind()),
        };
        assert_eq!(taint, Taint::External, "{kind}");
    }
}

/// What an older version did not write down is read as the worst it may have been.
#[test]
fn a_call_of_which_nobody_wrote_what_it_reaches_may_reach_anything() {
    let data = r#"{"call_id":"a","tool":"bash","effect":"once"}"#;
    let read = ExecutionEvent::decode("tool.started", 1, data).expect("readable");
    let ExecutionEvent::ToolStarted(started) = read else { panic!("{}", read.kind()) };
    assert_eq!((started.effect, started.reach), (Effect::Once, Reach::Outside(None)));
}

#[test]
fn an_attempt_that_ended_without_labels_was_tainted_and_its_files_are_as_they_were() {
    let mut stored: serde_json::Value =
        serde_json::from_str(TaskEvent::AttemptEnded(ended(1, None, &BTreeMap::new())).encode().data.get())
            .expect("JSON");
    stored.as_object_mut().expect("a record").remove("taint").expect("it is written");
    let read = TaskEvent::decode("attempt.ended", 1, &stored.to_string()).expect("readable");
    let TaskEvent::AttemptEnded(read) = read else { panic!("{}", read.kind()) };
    assert_eq!((read.taint, read.labels), (Taint::External, Labels::default()));
}

/// A gate's words run byte for byte as it put them, like a model's.
#[test]
fn rewritten_arguments_survive_byte_for_byte() {
    for arguments in ARGUMENTS {
        let raw = serde_json::value::RawValue::from_string((*arguments).to_owned()).expect("JSON");
        let outcome = DecisionOutcome::Rewritten { gates: vec![], arguments: raw };
        let stored = ExecutionEvent::DecisionRecorded(CallDecision { call_id: CallId("a".into()), outcome }).encode();
        let read = ExecutionEvent::decode(stored.kind, stored.version, stored.data.get()).expect("readable");
        let ExecutionEvent::DecisionRecorded(CallDecision { outcome, .. }) = read else { panic!("another kind") };
        let DecisionOutcome::Rewritten { arguments: read, .. } = outcome else { panic!("another decision") };
        assert_eq!(read.get(), *arguments);
    }
}

/// At least one of each kind, in the order of `KINDS`, with `text` wherever a string may stand.
pub fn execution_records(text: &str) -> Vec<ExecutionEvent> {
    let string = || text.to_owned();
    let mut labels = Labels::default();
    labels.changed(text, Taint::External);
    let mut records = vec![
        ExecutionEvent::Header(Header {
            execution_id: ExecutionId::new(START, 7),
            agent_id: string(),
            role: Role::Tactician,
            scope: Scope { kind: ScopeKind::Artifact, id: string() },
            agent_version: string(),
            model: string(),
            configuration_digest: Digest::of(text.as_bytes()),
            limits: Limits {
                max_iterations: u32::MAX,
                timeout_ms: u64::MAX,
                max_tokens: u64::MAX,
                max_cost_usd: Usd::from_nanos(1),
            },
            labels,
            parent: Some(Parent { execution_id: ExecutionId::new(START, 7), call_id: Some(CallId(text.to_owned())) }),
            carrier: Carrier::Foreign,
            pattern: Some(crate::pattern::pattern("look:read skip=x done=y;act:bash on_fail=look optional", 5)),
        }),
        ExecutionEvent::MessageAccepted(MessageAccepted {
            message_id: MessageId::new(START, 1),
            kind: MessageKind::Checkpoint,
            content: string(),
            images: vec![image(text)],
            taint: Taint::Auth,
        }),
    ];
    records.extend(
        Lifecycle::ALL.map(|to| {
            ExecutionEvent::StateChanged(StateChanged { from: Lifecycle::AwaitingInput, to, reason: string() })
        }),
    );
    records.extend([None, Some(context(1))].map(|context| {
        ExecutionEvent::ModelRequested(ModelRequested {
            iteration: 1,
            purpose: if context.is_some() { Purpose::Turn } else { Purpose::Summary { from: 1, to: 9 } },
            prompt: Digest::of(text.as_bytes()),
            messages: 3,
            context,
            estimated_input: u64::MAX,
            estimated_cost: Usd::from_nanos(u64::from(context.is_some())),
        })
    }));
    records.push(responded(text, vec![]));
    records.push(responded(text, vec![ToolCall::new(text, text, text), ToolCall::new("b", "bash", "{ }")]));
    records.extend([None, Some(string())].map(|told| {
        ExecutionEvent::ModelFailed(ModelFailed {
            iteration: 2,
            reason: string(),
            usage: Usage { input: 7, output: 1, ..Usage::default() },
            cost: Usd::from_nanos(11),
            told,
        })
    }));
    records.extend([Vec::new(), vec![string()]].map(|reasons| risk_checked(text, reasons)));
    records.extend(decisions(text));
    let probe = |before| Effect::Probe(Probe { path: string(), before, after: Digest::of(b"b"), result: string() });
    records.extend([Effect::Read, Effect::Once, probe(None), probe(Some(Digest::of(b"a")))].map(|effect| {
        let reach = Reach::Files(vec![string()]);
        ExecutionEvent::ToolStarted(ToolStarted { call_id: CallId(string()), tool: string(), effect, reach })
    }));
    let reaches =
        [Reach::Context, Reach::Program, Reach::NetworkProgram, Reach::Outside(None), Reach::Outside(Some(string()))];
    records.extend(reaches.map(|reach| {
        let effect = Effect::Once;
        ExecutionEvent::ToolStarted(ToolStarted { call_id: CallId(string()), tool: string(), effect, reach })
    }));
    let all = [
        CallStatus::Ok,
        CallStatus::Error,
        CallStatus::Denied,
        CallStatus::TimedOut,
        CallStatus::Cancelled,
        CallStatus::Interrupted,
    ];
    records.extend(all.map(|status| {
        ExecutionEvent::ToolFinished(Finished {
            call_id: CallId(string()),
            tool: string(),
            status,
            content: string(),
            full_output: status.is_error().then(|| Digest::of(text.as_bytes())),
            images: if status.is_error() { vec![] } else { vec![image(text)] },
            taint: Taint::External,
            duration_ms: u64::MAX,
        })
    }));
    records.extend([false, true].map(|with_metadata| injected(text, with_metadata)));
    records.extend(children(text));
    records.push(ExecutionEvent::OwnerEffect(OwnerEffect::Delivered {
        deliverable: Deliverable {
            filepath: string(),
            description: string(),
            kind: DeliverableType::Other,
            content: Some(string()),
            size_bytes: Some(u64::MAX),
        },
        content: Digest::of(text.as_bytes()),
    }));
    let told = OwnerEffect::Told { call_id: CallId(string()), message: string() };
    records.push(ExecutionEvent::OwnerEffect(told));
    records.extend(compaction(text));
    records.extend(loops(text));
    let refused = EgressRefused { host: string(), port: 443, reason: string(), times: 1 };
    records.push(ExecutionEvent::EgressRefused(refused));
    records.extend([(Some(string()), None), (None, Some(PlaceEnd::Stuck))].map(|(to, end)| {
        let (why, transition) = (Why::Passed, u32::MAX);
        ExecutionEvent::PatternStepped(PatternStepped { from: string(), to, why, end, transition, message: string() })
    }));
    let hints = [Hint::Repeats { step: string(), tool: string() }, Hint::TooEarly { step: string() }];
    records.extend(hints.map(|hint| ExecutionEvent::PatternNudged(PatternNudged { hint, message: string() })));
    records.extend(foreign(text));
    records
}

fn foreign(text: &str) -> Vec<ExecutionEvent> {
    let string = || text.to_owned();
    let usage = Usage { input: u64::MAX, ..Usage::default() };
    let ends = [
        TurnEnd::Completed { message: string() },
        TurnEnd::Interrupted,
        TurnEnd::Failed { reason: string(), why: Failure::Login },
    ];
    let seen = [
        Observation::Session { session_id: string() },
        Observation::Said { text: string() },
        Observation::Called { call: string(), tool: string(), input: serde_json::json!({ "a": text }) },
        Observation::CallEnded { call: string(), is_error: true, output: string() },
        Observation::Used { usage, cost: Some(Usd::from_nanos(7)) },
        Observation::Equipped,
        Observation::Noticed { text: string() },
        Observation::Unheeded { text: string() },
        Observation::Doubted { doubt: Doubt::Version, why: string() },
        Observation::Doubted { doubt: Doubt::Channel, why: string() },
    ];
    let claims = ClaimKind::ALL.map(|kind| Observation::Claimed(Claim { kind, payload: serde_json::json!([text]) }));
    let observed = seen.into_iter().chain(claims).chain(ends.map(|end| Observation::TurnEnded { end }));
    let resumes = Some(string());
    let noted = RunnerNoted { program: string(), version: string(), transport: string(), mcp: true, resumes };
    let mut records = vec![ExecutionEvent::RunnerNoted(noted)];
    records.extend(observed.map(|observation| {
        let (decision, reason) = observation.decided();
        ExecutionEvent::ObservationRecorded(Box::new(ObservationRecorded {
            event_id: string(),
            source: Source::Marker,
            observation,
            decision,
            reason: reason.to_owned(),
            taint: Taint::External,
        }))
    }));
    records.push(ExecutionEvent::CallProposed(ToolCall::new(text, text, text)));
    let opened = ExchangeOpened {
        exchange: u64::MAX,
        model: string(),
        estimated_input: 7,
        estimated_cost: Usd::from_nanos(3),
        reserved_output: 9,
        reserved_cost: Usd::from_nanos(4),
    };
    records.push(ExecutionEvent::ExchangeOpened(opened));
    let outcomes =
        [ExchangeOutcome::Answered, ExchangeOutcome::Abandoned, ExchangeOutcome::Failed { reason: string() }];
    records.extend(outcomes.map(|outcome| {
        ExecutionEvent::ExchangeClosed(ExchangeClosed { exchange: 1, usage, cost: Some(Usd::from_nanos(2)), outcome })
    }));
    let deliveries = [
        Delivery::Attempted,
        Delivery::Delivered,
        Delivery::Deferred { reason: string() },
        Delivery::Undeliverable { reason: string() },
    ];
    records.extend(deliveries.map(|outcome| {
        ExecutionEvent::MessageDelivery(MessageDelivery { message_id: MessageId::new(START, 1), outcome })
    }));
    records.extend(["", "s"].map(|session| ExecutionEvent::Forked(Box::new(forked(text, session)))));
    let message_id = MessageId::new(START, 1);
    records.push(ExecutionEvent::ModelSwitched(ModelSwitched { message_id, from: string(), to: string() }));
    records
}

fn children(text: &str) -> [ExecutionEvent; 3] {
    let usage = Usage { input: u64::MAX, ..Usage::default() };
    let judge = SubagentFinished::bill(ExecutionId::new(START, 8), Role::Verifier, usage, Usd::from_nanos(11));
    let spawned = SubagentSpawned {
        call_id: CallId(text.to_owned()),
        execution_id: ExecutionId::new(START, 9),
        label: text.to_owned(),
    };
    let mut labels = Labels::default();
    labels.changed(text, Taint::External);
    let child = SubagentFinished {
        label: text.to_owned(),
        status: Some(ChildStatus::Timeout),
        duration_ms: u64::MAX,
        left: Some(Box::new(ChildLeft {
            taint: Taint::External,
            labels,
            wrote: Some(text.to_owned()),
            writes: None,
            deliverables: Vec::new(),
            interrupted: vec![text.to_owned()],
            unpriced: true,
            sub_agents: 3,
        })),
        ..SubagentFinished::bill(ExecutionId::new(START, 9), Role::Subagent, usage, Usd::from_nanos(12))
    };
    [
        ExecutionEvent::SubagentSpawned(spawned),
        ExecutionEvent::SubagentFinished(child),
        ExecutionEvent::SubagentFinished(judge),
    ]
}

fn risk_checked(text: &str, reasons: Vec<String>) -> ExecutionEvent {
    let said = |score| GateSaid { gate: text.to_owned(), ruling: Ruling::Block, reason: text.to_owned(), score };
    ExecutionEvent::RiskChecked(RiskChecked {
        call_id: CallId(text.to_owned()),
        tool: text.to_owned(),
        level: Level::Critical,
        gates: reasons.iter().flat_map(|_| [said(None), said(Some(0.25))]).collect(),
        reasons,
        ruling: Ruling::RequireApproval,
    })
}

fn decisions(text: &str) -> [ExecutionEvent; 4] {
    let card_id = CardId::new(START, 1 << 64);
    let arguments = serde_json::value::to_raw_value(text).expect("a string");
    let outcomes = [
        DecisionOutcome::Rewritten { gates: vec![text.to_owned()], arguments },
        DecisionOutcome::Waiting { card_id },
        DecisionOutcome::Question { request_id: RequestId::new(START, 1 << 64) },
        DecisionOutcome::Approved { card_id },
    ];
    outcomes.map(|outcome| ExecutionEvent::DecisionRecorded(CallDecision { call_id: CallId(text.to_owned()), outcome }))
}

fn compaction(text: &str) -> Vec<ExecutionEvent> {
    let string = || text.to_owned();
    let (cycle, tokens_before, tokens_after) = (2, u64::MAX, 7);
    let reasons = [CompactionReason::Threshold, CompactionReason::Overflow];
    let started = reasons.map(|reason| CompactionStarted { cycle, reason, tokens_before });
    let cleared = [(Extent::Old, None), (Extent::All, Some(string()))].map(|(extent, saved_to)| {
        let result = Cleared { call_id: CallId(string()), reference: string(), saved_to };
        CompactionCleared { extent, results: vec![result] }
    });
    let rewritten = [None, Some(Rewritten { keep_from: 3, summary: string(), kept: string() })];
    let finished = rewritten.map(|rewritten| CompactionFinished { cycle, tokens_before, tokens_after, rewritten });
    let mut records: Vec<ExecutionEvent> = started.into_iter().map(ExecutionEvent::CompactionStarted).collect();
    records.extend(cleared.into_iter().map(ExecutionEvent::CompactionCleared));
    records.extend([
        ExecutionEvent::CompactionFlushing(CompactionFlushing { message: string() }),
        ExecutionEvent::CompactionFlushed(CompactionFlushed { files_written: 3 }),
        ExecutionEvent::CompactionSkipped(CompactionSkipped { to: 4, note: string() }),
    ]);
    records.extend(finished.into_iter().map(ExecutionEvent::CompactionFinished));
    let failed = CompactionFailed { cycle, tokens_before, tokens_after, reason: string() };
    records.push(ExecutionEvent::CompactionFailed(failed));
    records
}

fn loops(text: &str) -> [ExecutionEvent; 4] {
    let string = || text.to_owned();
    let patterns = [
        Pattern::IdenticalCalls { call: string(), times: 3 },
        Pattern::Failures { last: string(), times: 5 },
        Pattern::Alternating { steps: vec![string(), string()], times: 3 },
        Pattern::Monologue { words: string(), times: 3 },
    ];
    patterns.map(|pattern| {
        ExecutionEvent::DoomLoopDetected(DoomLoopDetected { pattern, intervention: 1, message: string() })
    })
}

fn responded(text: &str, calls: Vec<ToolCall>) -> ExecutionEvent {
    ExecutionEvent::ModelResponded(ModelResponded {
        iteration: 2,
        purpose: if text.is_empty() { Purpose::Summary { from: 0, to: 1 } } else { Purpose::Turn },
        text: text.to_owned(),
        stop: if calls.is_empty() { StopReason::EndTurn } else { StopReason::Other(text.to_owned()) },
        reasoning: thoughts(text, calls.len()),
        calls,
        usage: Usage { input: u64::MAX, output: 1, cached_input: 5, cache_write: 0 },
        lost: Usage { output: 3, ..Usage::default() },
        cost: (!text.is_empty()).then(|| Usd::from_nanos(150)),
        retries: 2,
        duration_ms: 9,
    })
}

fn image(name: &str) -> Image {
    let digest = Digest::of(name.as_bytes());
    Image { name: name.to_owned(), media_type: MediaType::Jpeg, bytes: u64::MAX, width: 0, height: 7, digest }
}

/// One for each wire, in as many places.
fn thoughts(text: &str, most: usize) -> Vec<Reasoning> {
    let content = || serde_json::value::to_raw_value(&serde_json::json!({ "thinking": text })).expect("JSON");
    let wires = [Dialect::OpenAi, Dialect::OpenAiResponses, Dialect::Anthropic];
    let thought = |(after, wire)| Reasoning { wire, after, content: content() };
    wires.into_iter().take(most).enumerate().map(thought).collect()
}

fn injected(text: &str, with_metadata: bool) -> ExecutionEvent {
    let metadata = serde_json::json!({ text: [text, null, -1, 2.5, { "nested": { text: true } }] });
    ExecutionEvent::InjectionReceived(InjectionReceived {
        message_id: MessageId::new(START, 2),
        injection: AgentInjection {
            injection_type: InjectionType::ExternalEvent,
            content: text.to_owned(),
            metadata: metadata.as_object().cloned().filter(|_| with_metadata),
        },
        taint: Taint::Owner,
    })
}

fn task_records(text: &str) -> Vec<TaskEvent> {
    let string = || text.to_owned();
    let mut named = created(&BTreeMap::from([("checks", 2)]));
    named.agent_id = string();
    named.approval = cards("3").pop();
    named.workspace = string();
    named.attachments = vec![Attachment::Text { name: string(), text: string() }, Attachment::Image(image(text))];
    named.command.goal = string();
    named.command.constraints = vec![string(), string()];
    named.base_case.0[0].name = string();
    named.model = ModelChoice::OpenAi { model: string(), base_url: string() };
    let mut responses = created(&BTreeMap::new());
    responses.model = ModelChoice::OpenAiResponses { model: string(), base_url: string() };
    let mut other = created(&BTreeMap::new());
    other.model = ModelChoice::Anthropic { model: string(), base_url: string() };
    let mut rehearsed = created(&BTreeMap::new());
    rehearsed.model = ModelChoice::Rehearsal { script: Digest::of(text.as_bytes()) };
    rehearsed.baseline = None;

    let mut failed = ended(1, Some(ErrorCode::ModelRejected), &BTreeMap::from([("nanos", 12_345)]));
    failed.final_message = None;
    failed.deliverables = vec![deliverable(text)];
    failed.taint = Taint::External;
    failed.labels.changed(text, Taint::External);
    failed.error = failed.error.map(|error| error.with_hint(text));
    let mut checked = recorded(1, &[true, false]);
    checked.results[1].output = string();
    checked.results[1].tampered = vec![string()];
    checked.results[1].full_output = Some(Digest::of(text.as_bytes()));
    let mut told = result(TaskResultStatus::Failed);
    told.final_message = Some(string());
    told.checks.clone_from(&checked.results);
    let question = ResearchQuestion { task: string(), return_format: string(), max_tokens: 500 };
    vec![
        TaskEvent::Created(named),
        TaskEvent::Created(responses),
        TaskEvent::Created(other),
        TaskEvent::Created(rehearsed),
        TaskEvent::Changed(TaskChanged { status: TaskStatus::Paused, reason: string(), stopped: true }),
        TaskEvent::ContextGathered(ContextGathered {
            from: ContextSource::Service,
            context: TaskContext {
                memories: vec![ContextItem { text: string(), source: string(), taint: Taint::Auth }],
                preferences: vec![ContextItem { text: string(), source: String::new(), taint: Taint::External }],
                attachments: vec![ContextItem { text: string(), source: string(), taint: Taint::External }],
            },
        }),
        TaskEvent::ContextGathered(ContextGathered { from: ContextSource::Memory, context: TaskContext::default() }),
        TaskEvent::AttemptStarted(AttemptStarted { attempt: 1, execution_id: execution(1), base: None }),
        TaskEvent::AttemptInterrupted(AttemptInterrupted {
            attempt: 1,
            error: ErrorDetails::new(ErrorCode::ModelUnavailable, text),
        }),
        TaskEvent::AttemptWaiting(AttemptWaiting {
            attempt: 1,
            cards: cards("1,2"),
            questions: Vec::new(),
            research: Vec::new(),
            monitor: None,
        }),
        TaskEvent::AttemptWaiting(AttemptWaiting {
            attempt: 1,
            cards: Vec::new(),
            questions: Vec::new(),
            research: vec![told.task_id],
            monitor: Some(told.task_id),
        }),
        TaskEvent::AttemptWoken(AttemptWoken { attempt: 1 }),
        TaskEvent::AttemptEnded(failed),
        TaskEvent::AttemptEnded(ended(2, None, &BTreeMap::new())),
        TaskEvent::AttemptEnded(AttemptEnded {
            report: Some(WorkerReport { success: true, bindings_delta: string(), artifacts: vec![string()] }),
            ..ended(3, None, &BTreeMap::new())
        }),
        TaskEvent::ChecksRecorded(ChecksRecorded {
            onto: Some(checked.tree),
            conflicts: vec![string()],
            ..checked.clone()
        }),
        TaskEvent::ChecksRecorded(ChecksRecorded {
            report: Some(VerifierReport { passed: false, evidence: vec![string()], failures: vec![string()] }),
            ..checked.clone()
        }),
        TaskEvent::ChecksRecorded(checked),
        TaskEvent::CandidateOutdated(CandidateOutdated { attempt: 1 }),
        TaskEvent::ConsultAsked(ConsultAsked { attempt: 1, run: told.task_id }),
        TaskEvent::ConsultAnswered(ConsultAnswered {
            run: told.task_id,
            guidance: Ok(string()),
            taint: Taint::External,
        }),
        TaskEvent::ConsultAnswered(ConsultAnswered {
            run: told.task_id,
            guidance: Err(ErrorDetails::new(ErrorCode::Timeout, text)),
            taint: Taint::Auth,
        }),
        TaskEvent::HelpAsked(HelpAsked { attempt: 1, card: cards("1")[0], about: HelpAbout::OneMore }),
        TaskEvent::HelpAnswered(HelpAnswered { card: cards("1")[0], answer: HelpAnswer::GoOn { said: string() } }),
        TaskEvent::HelpAnswered(HelpAnswered { card: cards("1")[0], answer: HelpAnswer::GiveUp { why: string() } }),
        TaskEvent::ResearchAsked(ResearchAsked {
            key: question.key(),
            run: told.task_id,
            question: question.clone(),
            call_id: CallId("1.1".to_owned()),
            taint: Taint::External,
        }),
        TaskEvent::ResearchAnswered(ResearchAnswered {
            key: question.key(),
            run: told.task_id,
            error: Some(ErrorDetails::new(ErrorCode::Timeout, text)),
            taint: Taint::External,
        }),
        TaskEvent::ResearchAnswered(ResearchAnswered {
            key: question.key(),
            run: told.task_id,
            error: None,
            taint: Taint::Auth,
        }),
        TaskEvent::ResearchTimedOut(ResearchTimedOut { key: question.key(), run: told.task_id }),
        TaskEvent::ResearchExpired(ResearchExpired {}),
        TaskEvent::DeadlineSet(DeadlineSet { deadline: START, deadline_action: DeadlineAction::CompletePartial }),
        TaskEvent::TimeUp(time_up(DeadlineAction::PauseAndNotify)),
        TaskEvent::Finished(TaskFinished { result: told }),
    ]
}

fn controls(text: &str) -> Vec<Control> {
    let ExecutionEvent::InjectionReceived(received) = injected(text, true) else { panic!("another kind") };
    vec![
        Control::Cancel(Wish { reason: text.to_owned() }),
        Control::Pause(Wish { reason: text.to_owned() }),
        Control::Stop(Wish { reason: text.to_owned() }),
        Control::Inject(received.injection),
        Control::TimeUp(time_up(DeadlineAction::CompletePartial)),
    ]
}

/// One with everything that a conversation may hold.
fn forked(text: &str, session: &str) -> Forked {
    let mut forked = crate::notation::forked(session, Taint::External);
    forked.from.unended = vec![text.to_owned()];
    forked.from.home = Some(ExecutionId::new(START, 2));
    if let TakenOver::Conversation(conversation) = &mut forked.taken_over {
        let content = serde_json::value::to_raw_value(text).expect("a string is JSON");
        let reasoning = vec![Reasoning { wire: Dialect::Anthropic, after: 1, content }];
        let calls = vec![ToolCall::new("a", text, "{\"n\": 1.50}")];
        let result = ToolResult {
            call_id: CallId("a".into()),
            tool: text.to_owned(),
            content: text.to_owned(),
            is_error: true,
            images: Vec::new(),
        };
        conversation.summary = Some(text.to_owned());
        conversation.messages.push(Arc::new(Message::Assistant { text: text.to_owned(), calls, reasoning }));
        conversation.messages.push(Arc::new(Message::Tool(result)));
    }
    forked
}
