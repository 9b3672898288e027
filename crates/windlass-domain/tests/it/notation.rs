//! A journal in a line of text. Each word is a command to an execution, in order:
//!
//! ```text
//! create[iterations=2,ms=9000,tokens=100,nanos=50]   the header, with limits (wide where left out)
//! launching running paused …                         a move, named by where it leads
//! prompt@auth  inject@external                       outside words, with their taint (owner where left out)
//! ask[input=10,context=2]                            a model request
//! say  call:a,b[input=5,output=5,nanos=3]            its answer, without calls and with
//! risk:a=high  rewrite:a                             what the rules made of a call, and a gate that changed it
//! wait:a=1  approve:a=1                              a person is asked with card 1, and says yes
//! question:a                                         a person is asked for an answer
//! start:a=once                                       leave to perform a call: read, probe, once or child
//! spawn:a  charge:a@external                         the agent that call a spawns begins, and ends; `charge` is a judge's bill
//! ok:a  error:a  denied:a  timed_out:a …@external    a call's result
//! charge[input=5,nanos=3]                            what a child has used
//! keep:out/report.md                                 a deliverable
//! compact  overflow                                  a compaction begins, by our count and by the provider's
//! clear:a,b  clear-all:c                             results become references
//! flush  flushed                                     the agent is told to save what it will need, and has had its turns
//! summarise:1=4                                      a model is asked for a summary of messages 1 to 3
//! skip:4  shorten:4  relieve  hopeless               no summary; the conversation goes on from 4; as it is; not at all
//! warn:1                                             the agent is told that it repeats itself
//! create[pattern=1]  step:look  nudge:look           it is led through `look` and `act`; the step changes; it is told to keep to it
//! +250  -250                                         the clock, in milliseconds; nothing else moves it
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_domain::approval::CardId;
use windlass_domain::execution::{
    AgentInjection, Answer, CallDecision, Carrier, ChildLeft, ChildStatus, Claim, Cleared, Compaction,
    CompactionCleared, CompactionFlushed, CompactionFlushing, CompactionReason, CompactionSkipped, ContextRef,
    Conversation, DecisionOutcome, Delivery, DoomLoopDetected, EgressRefused, ExchangeClosed, ExchangeOutcome,
    ExchangeWanted, ExecutionCommand, ExecutionEvent, ExecutionState, Extent, Forked, ForkedFrom, Header,
    InjectionReceived, InjectionType, Lifecycle, MessageAccepted, MessageDelivery, MessageKind, NoAnswer, Observation,
    Observed, OwnerEffect, Pattern, Purpose, Question, Rejected, Rewritten, RiskChecked, RunnerNoted, Source,
    SubagentFinished, SubagentSpawned, TakenOver, TurnEnd, decide,
};
use windlass_domain::pattern::{Hint, PatternNudged, PatternStepped, Why};
use windlass_domain::risk::Ruling;
use windlass_domain::{
    Asking, CallId, CallOutcome, CallStatus, Deliverable, DeliverableType, Digest, Effect, ExecutionId, Finished,
    Labels, Left, Limits, Message, MessageId, Probe, Reach, RequestId, Role, Scope, ScopeKind, StopReason, Taint,
    TaskId, ToolCall, Usage, Usd, Wall,
};

pub const START: Wall = Wall::from_millis(1_700_000_000_000);

/// An execution as the words told so far have left it.
#[derive(Debug, Clone)]
pub struct Story {
    pub state: ExecutionState,
    pub journal: Vec<(ExecutionEvent, Wall)>,
    pub now: Wall,
}

impl Story {
    /// Every word must be legal: a table's "before" that cannot happen proves nothing.
    pub fn told(words: &str) -> Self {
        let mut story = Self { state: ExecutionState::default(), journal: Vec::new(), now: START };
        story.goes_on(words);
        story
    }

    pub fn goes_on(&mut self, words: &str) {
        for word in words.split_whitespace() {
            if let Some(millis) = clock(word) {
                self.now = Wall::from_millis(self.now.as_millis().saturating_add_signed(millis));
            } else {
                let event = self.tell(word).unwrap_or_else(|why| panic!("`{word}` in `{words}` is refused: {why}"));
                self.state.apply(&event, self.now);
                self.journal.push((event, self.now));
            }
        }
    }

    /// What one more word would lead to; changes nothing.
    pub fn tell(&self, word: &str) -> Result<ExecutionEvent, Rejected> {
        decide(&self.state, command(word), self.now)
    }
}

fn clock(word: &str) -> Option<i64> {
    word.starts_with(['+', '-']).then(|| word.parse().expect("milliseconds"))
}

/// `name:subject=detail@taint[key=1,key=2]`, all but the name optional.
struct Word<'a> {
    name: &'a str,
    subject: &'a str,
    detail: &'a str,
    taint: Taint,
    numbers: BTreeMap<&'a str, u64>,
}

impl<'a> Word<'a> {
    fn parse(word: &'a str) -> Self {
        let (rest, numbers) = word.split_once('[').unwrap_or((word, ""));
        let (rest, taint) = rest.split_once('@').unwrap_or((rest, "owner"));
        let (rest, detail) = rest.split_once('=').unwrap_or((rest, ""));
        let (name, subject) = rest.split_once(':').unwrap_or((rest, ""));
        let numbers = numbers.trim_end_matches(']').split(',').filter(|pair| !pair.is_empty());
        let numbers = numbers.map(|pair| {
            let (key, value) = pair.split_once('=').expect("key=number");
            (key, value.parse().expect("a number"))
        });
        Self { name, subject, detail, taint: Taint::from_label(taint), numbers: numbers.collect() }
    }

    fn number(&self, key: &str, otherwise: u64) -> u64 {
        self.numbers.get(key).copied().unwrap_or(otherwise)
    }
}

pub fn command(word: &str) -> ExecutionCommand {
    let word = Word::parse(word);
    if let Some(to) = lifecycle(word.name).filter(|_| word.subject.is_empty()) {
        return ExecutionCommand::Move { to, reason: "told so".into() };
    }
    if let Some(status) = call_status(word.name) {
        return ExecutionCommand::FinishCall { outcome: outcome_of(word.subject, status), taint: word.taint };
    }
    match word.name {
        "create" => ExecutionCommand::Create(Box::new(header(&word))),
        "prompt" => ExecutionCommand::Accept(MessageAccepted {
            message_id: MessageId::new(START, 1),
            kind: MessageKind::Prompt,
            content: "Fix the test".into(),
            images: vec![],
            taint: word.taint,
        }),
        "inject" => ExecutionCommand::Inject(InjectionReceived {
            message_id: MessageId::new(START, 2),
            injection: AgentInjection {
                injection_type: InjectionType::UserMessage,
                content: "User says: hurry".into(),
                metadata: None,
            },
            taint: word.taint,
        }),
        "ask" => ExecutionCommand::Ask(Question {
            purpose: Purpose::Turn,
            context: context(word.number("context", 1)),
            estimated_input: word.number("input", 0),
            estimated_cost: Usd::from_nanos(word.number("nanos", 0)),
        }),
        "summarise" => {
            let number = |text: &str| text.parse().expect("the number of a message");
            ExecutionCommand::Ask(Question {
                purpose: Purpose::Summary { from: number(word.subject), to: number(word.detail) },
                context: context(9),
                estimated_input: 1,
                estimated_cost: Usd::ZERO,
            })
        }
        "say" | "call" => answer(&word),
        "no-answer" => ExecutionCommand::GiveUp(NoAnswer {
            reason: "nobody answers".into(),
            usage: Usage { input: word.number("input", 0), output: word.number("output", 0), ..Usage::default() },
            cost: Usd::from_nanos(word.number("nanos", 0)),
            told: (!word.detail.is_empty()).then(|| word.detail.to_owned()),
        }),
        "risk" => ExecutionCommand::CheckRisk(RiskChecked {
            call_id: id(word.subject),
            tool: "bash".into(),
            level: serde_json::from_value(word.detail.into()).expect("a level"),
            reasons: vec!["it removes files".into()],
            ruling: Ruling::RequireApproval,
            gates: Vec::new(),
        }),
        "rewrite" | "wait" | "question" | "approve" => decision(&word),
        "start" => ExecutionCommand::StartCall {
            call_id: id(word.subject),
            effect: effect(word.detail),
            reach: Reach::Program,
        },
        "spawn" => ExecutionCommand::Spawn(SubagentSpawned {
            call_id: id(word.subject),
            execution_id: child(word.subject),
            label: word.subject.into(),
        }),
        // `charge` is a judge's bill, `charge:a` that of the agent which call a spawned.
        "charge" => ExecutionCommand::Charge(Box::new(charge(&word))),
        "keep" => ExecutionCommand::Keep(OwnerEffect::Delivered {
            deliverable: deliverable(word.subject),
            content: Digest::of(b"content"),
        }),
        "warn" => ExecutionCommand::Warn(DoomLoopDetected {
            pattern: Pattern::Failures { last: "bash".into(), times: 5 },
            intervention: word.subject.parse().expect("a number"),
            message: "Think.".into(),
        }),
        "refusal" => ExecutionCommand::NoteRefusal(EgressRefused {
            host: word.subject.to_owned(),
            port: 443,
            reason: "not listed".into(),
            times: 1,
        }),
        "step" => ExecutionCommand::Step(PatternStepped {
            from: word.subject.to_owned(),
            to: Some("act".to_owned()),
            why: Why::Done,
            end: None,
            transition: u32::try_from(word.number("transition", 1)).expect("a small number"),
            message: "Go on.".to_owned(),
        }),
        "nudge" => {
            let hint = Hint::TooEarly { step: word.subject.to_owned() };
            ExecutionCommand::Nudge(PatternNudged { hint, message: "Not yet.".to_owned() })
        }
        "launch" => ExecutionCommand::Note(RunnerNoted {
            program: "agent".into(),
            version: "1.2".into(),
            transport: "structured".into(),
            mcp: false,
            resumes: None,
        }),
        // `session:s`, `said:words`, `called:name`, `claim:kind`, `doubt:what`, `ended:words`, each `=event id`.
        "session" | "said" | "called" | "claim" | "unheeded" | "doubt" | "ended" => {
            ExecutionCommand::Observe { observed: Box::new(observed(&word)), taint: word.taint }
        }
        "propose" => ExecutionCommand::Propose(ToolCall::new(word.subject, "bash", "{}")),
        "open" => ExecutionCommand::OpenExchange {
            wanted: ExchangeWanted {
                exchange: word.subject.parse().expect("a number"),
                model: "m".into(),
                asking: Asking {
                    input: word.number("input", 0),
                    input_cost: Usd::from_nanos(word.number("nanos", 0)),
                    output: word.number("output", 0),
                    // A nano-dollar a token.
                    output_price: Usd::from_nanos(1_000_000),
                },
            },
            left: word
                .numbers
                .contains_key("left")
                .then(|| Left { tokens: word.number("left", 0), cost: Usd::from_nanos(u64::MAX) }),
        },
        "close" => ExecutionCommand::CloseExchange(ExchangeClosed {
            exchange: word.subject.parse().expect("a number"),
            usage: Usage { input: word.number("input", 0), ..Usage::default() },
            cost: Some(Usd::from_nanos(word.number("nanos", 0))),
            outcome: ExchangeOutcome::Answered,
        }),
        "delivered" => ExecutionCommand::NoteDelivery(MessageDelivery {
            message_id: MessageId::new(START, 2),
            outcome: Delivery::Delivered,
        }),
        // `fork` takes a word and its answer over, `fork:s` a program's conversation of that name.
        "fork" => ExecutionCommand::Fork(Box::new(forked(word.subject, word.taint))),
        "switch" => ExecutionCommand::SwitchModel { message_id: MessageId::new(START, 3), to: word.subject.to_owned() },
        "switched" => ExecutionCommand::NoteDelivery(MessageDelivery {
            message_id: MessageId::new(START, 3),
            outcome: Delivery::Delivered,
        }),
        _ => ExecutionCommand::Compact(compaction(&word)),
    }
}

pub fn forked(session: &str, taint: Taint) -> Forked {
    let messages = [Message::user("Do it"), Message::assistant("It is done.", Vec::new())];
    let conversation = Conversation { messages: messages.map(Arc::new).into(), answers: 1, ..Conversation::default() };
    Forked {
        from: ForkedFrom {
            task_id: TaskId::new(START, 1),
            execution_id: ExecutionId::new(START, 8),
            turn: 1,
            records: 9,
            content: Digest::of(b"content"),
            taint,
            unended: Vec::new(),
            home: None,
        },
        taken_over: match session {
            "" => TakenOver::Conversation(Box::new(conversation)),
            session => TakenOver::Session(session.to_owned()),
        },
    }
}

fn compaction(word: &Word<'_>) -> Compaction {
    let index = || word.subject.parse().expect("the number of a message");
    match word.name {
        "compact" => Compaction::Start { reason: CompactionReason::Threshold, tokens_before: 900 },
        "overflow" => Compaction::Start { reason: CompactionReason::Overflow, tokens_before: 700 },
        "clear" | "clear-all" => Compaction::Clear(CompactionCleared {
            extent: if word.name == "clear" { Extent::Old } else { Extent::All },
            results: word.subject.split(',').filter(|id| !id.is_empty()).map(reference).collect(),
        }),
        "flush" => Compaction::Flush(CompactionFlushing { message: "Save what you need.".into() }),
        "flushed" => Compaction::EndFlush(CompactionFlushed { files_written: 1 }),
        "skip" => Compaction::Skip(CompactionSkipped { to: index(), note: "nobody knows".into() }),
        "shorten" | "shorten-forgetting" => Compaction::Finish {
            tokens_after: 100,
            rewritten: Some(Rewritten {
                keep_from: index(),
                summary: "Much was done.".into(),
                kept: if word.name == "shorten" { "They said: User says: hurry".into() } else { String::new() },
            }),
        },
        "relieve" => Compaction::Finish { tokens_after: 100, rewritten: None },
        "hopeless" => Compaction::Fail { tokens_after: 800, reason: "the goal is a book".into() },
        other => panic!("`{other}` is no word of the notation"),
    }
}

fn reference(call: &str) -> Cleared {
    Cleared { call_id: id(call), reference: format!("[{call} was here]"), saved_to: Some(format!(".scratch/{call}")) }
}

fn header(word: &Word<'_>) -> Header {
    let limits = Limits {
        max_iterations: u32::try_from(word.number("iterations", 100)).expect("a small number"),
        timeout_ms: word.number("ms", 1_000_000),
        max_tokens: word.number("tokens", 1_000_000),
        max_cost_usd: Usd::from_nanos(word.number("nanos", 1_000_000)),
    };
    Header {
        execution_id: ExecutionId::new(START, 7),
        agent_id: "executor".into(),
        role: Role::Executor,
        scope: Scope { kind: ScopeKind::Task, id: "t".into() },
        agent_version: "1".into(),
        model: "rehearsal".into(),
        configuration_digest: Digest::of(b"configuration"),
        limits,
        labels: Labels::default(),
        parent: None,
        // `create[foreign=1]` is carried by a program of its own.
        carrier: if word.number("foreign", 0) == 1 { Carrier::Foreign } else { Carrier::Native },
        // `create[pattern=1]` is led through two steps, `look` and `act`.
        pattern: (word.number("pattern", 0) == 1).then(|| crate::pattern::pattern("look:read;act:bash", 5)),
    }
}

fn observed(word: &Word<'_>) -> Observed {
    let text = word.subject.to_owned();
    let observation = match word.name {
        "session" => Observation::Session { session_id: text },
        "said" => Observation::Said { text },
        "claim" => Observation::Claimed(Claim {
            kind: serde_json::from_value(word.subject.into()).expect("a kind of claim"),
            payload: serde_json::Value::String("so it says".to_owned()),
        }),
        "unheeded" => Observation::Unheeded { text },
        "called" => Observation::Called { call: text, tool: "Bash".to_owned(), input: serde_json::Value::Null },
        "doubt" => Observation::Doubted {
            doubt: serde_json::from_value(word.subject.into()).expect("what is doubted"),
            why: "it is another".to_owned(),
        },
        _ => Observation::TurnEnded { end: TurnEnd::Completed { message: text } },
    };
    Observed { event_id: word.detail.to_owned(), source: Source::Provider, observation }
}

/// The agent that a call spawns.
pub fn child(call: &str) -> ExecutionId {
    ExecutionId::new(START, 9).child(&id(call))
}

fn charge(word: &Word<'_>) -> SubagentFinished {
    let usage = Usage { input: word.number("input", 0), ..Usage::default() };
    let cost = Usd::from_nanos(word.number("nanos", 0));
    if word.subject.is_empty() {
        return SubagentFinished::bill(ExecutionId::new(START, 8), Role::Verifier, usage, cost);
    }
    let mut labels = Labels::default();
    labels.changed("by-a-child", word.taint);
    SubagentFinished {
        label: word.subject.into(),
        status: Some(ChildStatus::Completed),
        duration_ms: 5,
        left: Some(Box::new(ChildLeft {
            taint: word.taint,
            labels,
            wrote: None,
            writes: None,
            deliverables: Vec::new(),
            interrupted: Vec::new(),
            unpriced: false,
            sub_agents: 2,
        })),
        ..SubagentFinished::bill(child(word.subject), Role::Subagent, usage, cost)
    }
}

fn decision(word: &Word<'_>) -> ExecutionCommand {
    let card_id = CardId::new(START, word.detail.parse::<u128>().unwrap_or_default() << 64);
    let outcome = match word.name {
        "wait" => DecisionOutcome::Waiting { card_id },
        "question" => DecisionOutcome::Question { request_id: RequestId::new(START, 1 << 64) },
        "approve" => DecisionOutcome::Approved { card_id },
        _ => DecisionOutcome::Rewritten {
            gates: vec!["quiet".into()],
            arguments: serde_json::value::to_raw_value("{}").expect("JSON"),
        },
    };
    ExecutionCommand::Decide(CallDecision { call_id: id(word.subject), outcome })
}

fn answer(word: &Word<'_>) -> ExecutionCommand {
    let called = word.subject.split(',').filter(|name| !name.is_empty());
    let calls: Vec<_> = called.map(|name| ToolCall::new(name, "bash", "{}")).collect();
    ExecutionCommand::Answer(Answer {
        text: "I see.".into(),
        stop: if calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolCalls },
        calls,
        reasoning: vec![],
        usage: Usage { input: word.number("input", 0), output: word.number("output", 0), ..Usage::default() },
        lost: Usage { input: word.number("lost", 0), ..Usage::default() },
        cost: Some(Usd::from_nanos(word.number("nanos", 0))),
        retries: 0,
        duration_ms: 0,
    })
}

pub fn id(name: &str) -> CallId {
    CallId(name.to_owned())
}

pub fn context(number: u64) -> ContextRef {
    ContextRef { system: Digest::of(&number.to_be_bytes()), tools: Digest::of(b"tools") }
}

pub fn deliverable(filepath: &str) -> Deliverable {
    let description = "what was asked for".into();
    let filepath = filepath.to_owned();
    Deliverable { filepath, description, kind: DeliverableType::Report, content: None, size_bytes: Some(9) }
}

pub fn finished(call: &str, status: CallStatus) -> Finished {
    Finished {
        call_id: id(call),
        tool: "bash".into(),
        status,
        content: "output".into(),
        full_output: None,
        images: vec![],
        taint: Taint::Owner,
        duration_ms: 3,
    }
}

fn outcome_of(call: &str, status: CallStatus) -> CallOutcome {
    let content = "output".into();
    CallOutcome { call_id: id(call), status, content, full_output: None, images: vec![], duration_ms: 3 }
}

fn effect(name: &str) -> Effect {
    match name {
        "read" => Effect::Read,
        "once" => Effect::Once,
        "child" => Effect::Child,
        "probe" => Effect::Probe(Probe {
            path: "a.txt".into(),
            before: None,
            after: Digest::of(b"after"),
            result: "Wrote a.txt".into(),
        }),
        other => panic!("`{other}` is no effect"),
    }
}

/// The stored word of a lifecycle.
pub fn word_of(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).expect("plain data").as_str().expect("a word").to_owned()
}

fn lifecycle(name: &str) -> Option<Lifecycle> {
    Lifecycle::ALL.into_iter().find(|lifecycle| word_of(lifecycle) == name)
}

fn call_status(name: &str) -> Option<CallStatus> {
    serde_json::from_value(serde_json::Value::String(name.to_owned())).ok()
}

/// What came of a word, in a line: the record, or `refused:` and why.
pub fn outcome(result: &Result<ExecutionEvent, Rejected>) -> String {
    match result {
        Ok(event) => format!("{}{}", event.kind(), details(event)),
        Err(why) => format!("refused: {}", refusal(why)),
    }
}

fn details(event: &ExecutionEvent) -> String {
    match event {
        ExecutionEvent::Header(header) => format!(" {}", header.agent_id),
        ExecutionEvent::MessageAccepted(message) => {
            format!(" {} {}", word_of(&message.kind), message.taint.as_str())
        }
        ExecutionEvent::StateChanged(change) => {
            format!(" {} > {}", word_of(&change.from), word_of(&change.to))
        }
        ExecutionEvent::ModelRequested(request) if !request.purpose.is_turn() => {
            format!(" {} for a summary of {} messages", request.iteration, request.messages)
        }
        ExecutionEvent::ModelRequested(request) => {
            let context = if request.context.is_some() { ", with context" } else { "" };
            format!(" {} of {} messages{context}", request.iteration, request.messages)
        }
        ExecutionEvent::ModelResponded(response) => {
            let calls: Vec<_> = response.calls.iter().map(|call| call.call_id.0.as_str()).collect();
            format!(" {} [{}]", response.iteration, calls.join(" "))
        }
        ExecutionEvent::ModelFailed(failed) => format!(" {} {}", failed.iteration, failed.reason),
        ExecutionEvent::RiskChecked(checked) => format!(" {} {}", checked.call_id, word_of(&checked.level)),
        ExecutionEvent::DecisionRecorded(decision) => {
            let what = match decision.outcome {
                DecisionOutcome::Rewritten { .. } => "rewritten",
                DecisionOutcome::Waiting { .. } => "waiting",
                DecisionOutcome::Question { .. } => "question",
                DecisionOutcome::Monitoring { .. } => "monitoring",
                DecisionOutcome::Approved { .. } => "approved",
            };
            format!(" {} {what}", decision.call_id)
        }
        ExecutionEvent::ToolStarted(started) => {
            let effect = match started.effect {
                Effect::Read => "read",
                Effect::Probe(_) => "probe",
                Effect::Once => "once",
                Effect::Child => "child",
            };
            format!(" {} {} {effect}", started.call_id, started.tool)
        }
        ExecutionEvent::ToolFinished(finished) => {
            format!(" {} {}", finished.call_id, word_of(&finished.status))
        }
        ExecutionEvent::InjectionReceived(received) => {
            format!(" {} {}", word_of(&received.injection.injection_type), received.taint.as_str())
        }
        ExecutionEvent::SubagentSpawned(child) => format!(" {}", child.label),
        ExecutionEvent::SubagentFinished(child) => format!(" {}", word_of(&child.role)),
        ExecutionEvent::OwnerEffect(OwnerEffect::Delivered { deliverable, .. }) => {
            format!(" {}", deliverable.filepath)
        }
        ExecutionEvent::OwnerEffect(OwnerEffect::Told { call_id, .. }) => format!(" told {call_id}"),
        ExecutionEvent::CompactionStarted(started) => format!(" {} {}", started.cycle, word_of(&started.reason)),
        ExecutionEvent::CompactionCleared(cleared) => {
            format!(" {} {}", word_of(&cleared.extent), cleared.results.len())
        }
        ExecutionEvent::CompactionFlushing(_) => String::new(),
        ExecutionEvent::CompactionFlushed(flushed) => format!(" {}", flushed.files_written),
        ExecutionEvent::CompactionSkipped(skipped) => format!(" to {}", skipped.to),
        ExecutionEvent::CompactionFinished(finished) => {
            format!(" {} from {} to {}", finished.cycle, finished.tokens_before, finished.tokens_after)
        }
        ExecutionEvent::CompactionFailed(failed) => format!(" {} {}", failed.cycle, failed.reason),
        ExecutionEvent::DoomLoopDetected(detected) => format!(" {}", detected.intervention),
        ExecutionEvent::EgressRefused(refused) => format!(" {}", refused.host),
        ExecutionEvent::PatternStepped(stepped) => format!(" {} {}", stepped.from, word_of(&stepped.to)),
        ExecutionEvent::PatternNudged(nudged) => format!(" {}", nudged.message),
        ExecutionEvent::RunnerNoted(noted) => format!(" {} {}", noted.program, noted.version),
        ExecutionEvent::ObservationRecorded(recorded) => {
            format!(" {} {}", recorded.event_id, word_of(&recorded.decision))
        }
        ExecutionEvent::CallProposed(call) => format!(" {}", call.call_id),
        ExecutionEvent::ExchangeOpened(opened) if opened.reserved_output == 0 => format!(" {}", opened.exchange),
        ExecutionEvent::ExchangeOpened(opened) => format!(" {} for {}", opened.exchange, opened.reserved_output),
        ExecutionEvent::ExchangeClosed(closed) => format!(" {}", closed.exchange),
        ExecutionEvent::MessageDelivery(delivery) => match delivery.outcome {
            Delivery::Attempted => " attempted".to_owned(),
            Delivery::Delivered => " delivered".to_owned(),
            Delivery::Deferred { .. } => " deferred".to_owned(),
            Delivery::Undeliverable { .. } => " undeliverable".to_owned(),
        },
        ExecutionEvent::Forked(forked) => format!(" turn {}", forked.from.turn),
        ExecutionEvent::ModelSwitched(switched) => format!(" {} > {}", switched.from, switched.to),
    }
}

/// Exhaustive on purpose: a new reason does not compile until the tables of `decide` know it (see `REFUSALS` there).
fn refusal(why: &Rejected) -> String {
    match why {
        Rejected::Over => "over".into(),
        Rejected::NoSuchMove { from, to } => format!("no move {} > {}", word_of(from), word_of(to)),
        Rejected::NotRunning => "not running".into(),
        Rejected::SetAside => "set aside".to_owned(),
        Rejected::OverBudget(limit) => format!("over budget {}", word_of(limit)),
        Rejected::NothingAsked => "nothing asked".into(),
        Rejected::NotYet(_) => "not yet".into(),
        Rejected::NoSuchCall(call) => format!("no call {call}"),
        Rejected::OnlyOnce(call) => format!("only once {call}"),
        Rejected::NeverStarted(call) => format!("never started {call}"),
        Rejected::CallIdTaken(call) => format!("id taken {call}"),
        Rejected::AlreadyCreated => "already created".into(),
        Rejected::BegunAlready => "begun already".into(),
        Rejected::NotCreated => "not created".into(),
        Rejected::TooManyChildren => "too many children".into(),
        Rejected::AlreadyCharged(_) => "already charged".into(),
        Rejected::Unanswered(call) => format!("unanswered {call}"),
        Rejected::OtherCard(call, _) => format!("other card {call}"),
        Rejected::TooLate(call) => format!("too late {call}"),
        Rejected::AnotherCall(call) => format!("another call {call}"),
        Rejected::ContextChanged(_) => "context changed".into(),
        Rejected::NotThere(step) => format!("not there {step}"),
        Rejected::Compaction(why) => format!("compaction {why}"),
        Rejected::Unfinished(call) => format!("unfinished {call}"),
        Rejected::ToldBefore => "told before".into(),
        Rejected::NoSuchExchange(exchange) => format!("no exchange {exchange}"),
        Rejected::NotForeign(_) => "not foreign".into(),
    }
}
