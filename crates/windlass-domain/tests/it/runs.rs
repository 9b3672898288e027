//! Random runs of an execution, made by asking `decide` and applying what it says. Three commands in four are what a
//! sensible runner would do next; the rest are anything at all, most of which must be refused. The clock mostly goes
//! forward, and now and then is set back.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use windlass_domain::approval::CardId;
use windlass_domain::execution::{
    AgentInjection, Answer, CallDecision, CallPhase, Carrier, Claim, ClaimKind, Cleared, Compaction, CompactionCleared,
    CompactionFlushed, CompactionFlushing, CompactionReason, CompactionSkipped, Cycle, DecisionOutcome, Delivery,
    DoomLoopDetected, EgressRefused, ExchangeClosed, ExchangeOutcome, ExchangeWanted, ExecutionCommand, ExecutionEvent,
    ExecutionState, Extent, Header, InjectionReceived, InjectionType, Lifecycle, MessageAccepted, MessageDelivery,
    MessageKind, NoAnswer, Observation, Observed, OpenCall, OwnerEffect, Pattern, Purpose, Question, Rewritten,
    RiskChecked, RunnerNoted, Source, SubagentFinished, SubagentSpawned, TurnEnd, decide,
};
use windlass_domain::pattern::{Hint, PatternNudged, PatternStepped, PlaceEnd, Why};
use windlass_domain::risk::{GateSaid, Level, Ruling};
use windlass_domain::{
    Asking, Awaited, CallId, CallOutcome, CallStatus, Dialect, Digest, Effect, ExecutionId, Image, Labels, Limits,
    MediaType, Message, MessageId, Probe, Reach, Reasoning, RequestId, Role, Scope, ScopeKind, StopReason, Taint,
    ToolCall, Usage, Usd, Wall,
};

use crate::notation::{START, context, deliverable};

/// One run. `states[n]` is the state after the first `n` records.
#[derive(Debug, Clone)]
pub struct Run {
    pub limits: Limits,
    pub steps: Vec<(Step, Wall)>,
    pub journal: Vec<(ExecutionEvent, Wall)>,
    pub states: Vec<ExecutionState>,
    pub refused: usize,
}

/// Dice for one command; which command they make depends on the state they meet.
#[derive(Debug, Clone)]
pub struct Step {
    carrier: Carrier,
    sensible: bool,
    choice: Index,
    pick: Index,
    tick: i64,
    text: String,
    taint: Taint,
    amount: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    Steady,
    SometimesSetBack,
}

pub fn runs(clock: Clock) -> impl Strategy<Value = Run> {
    runs_by(Carrier::Native, clock)
}

/// The same of an execution that a program of its own carries.
pub fn carried(clock: Clock) -> impl Strategy<Value = Run> {
    runs_by(Carrier::Foreign, clock)
}

fn runs_by(carrier: Carrier, clock: Clock) -> impl Strategy<Value = Run> {
    (limits(), prop::collection::vec(step(carrier, clock), 1..90)).prop_map(|(limits, steps)| play(limits, steps))
}

/// Strings that break things: quotes, control characters, every plane, what looks like an escape or a marker.
pub fn awkward_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(AWKWARD).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

pub const AWKWARD: &[&str] = &[
    "",
    " ",
    "\"",
    "\\",
    "\\\"",
    "\\u0000",
    "\\ud800",
    "\u{0}",
    "a\u{0}b\u{1f}\u{7f}",
    "\r\n\t\u{8}\u{c}",
    "\u{2028}\u{2029}\u{feff}",
    "🏗️👩🏽‍🔧 e\u{301}",
    "\u{10ffff}\u{fffd}",
    "</script>{\"kind\":\"state.changed\"}",
    "null",
    "@task::{}",
];

fn limits() -> impl Strategy<Value = Limits> {
    let wide = Limits {
        max_iterations: 1_000,
        timeout_ms: u64::MAX,
        max_tokens: u64::MAX,
        max_cost_usd: Usd::from_nanos(1 << 50),
    };
    let narrow = (0..8_u32, 0..60_000_u64, 0..20_000_u64, 0..20_000_u64).prop_map(|(iterations, ms, tokens, nanos)| {
        Limits { max_iterations: iterations, timeout_ms: ms, max_tokens: tokens, max_cost_usd: Usd::from_nanos(nanos) }
    });
    prop_oneof![3 => Just(wide), 1 => narrow]
}

fn step(carrier: Carrier, clock: Clock) -> impl Strategy<Value = Step> {
    let tick = match clock {
        Clock::Steady => (0..5_000_i64).boxed(),
        Clock::SometimesSetBack => {
            prop_oneof![4 => 0..5_000_i64, 1 => -20_000..0_i64, 1 => select(vec![i64::MIN, -1, 1 << 40])].boxed()
        }
    };
    let taint = select(vec![Taint::Owner, Taint::Owner, Taint::Auth, Taint::External]);
    (prop::bool::weighted(0.75), any::<Index>(), any::<Index>(), tick, awkward_text(), taint, 0..5_000_u32).prop_map(
        move |(sensible, choice, pick, tick, text, taint, amount)| Step {
            carrier,
            sensible,
            choice,
            pick,
            tick,
            text,
            taint,
            amount,
        },
    )
}

fn play(limits: Limits, steps: Vec<Step>) -> Run {
    let mut now = START;
    let mut state = ExecutionState::default();
    let mut run =
        Run { limits: limits.clone(), steps: vec![], journal: vec![], states: vec![state.clone()], refused: 0 };
    for step in steps {
        now = Wall::from_millis(now.as_millis().saturating_add_signed(step.tick));
        match decide(&state, step.command(&state, &limits), now) {
            Err(_) => run.refused += 1,
            Ok(event) => {
                state.apply(&event, now);
                run.journal.push((event, now));
                run.states.push(state.clone());
            }
        }
        run.steps.push((step, now));
    }
    run
}

impl Step {
    pub fn command(&self, state: &ExecutionState, limits: &Limits) -> ExecutionCommand {
        if state.header.is_none() {
            return self.create(limits);
        }
        if self.sensible { self.sensible(state) } else { self.anything(state, limits) }
    }

    fn sensible(&self, state: &ExecutionState) -> ExecutionCommand {
        match state.lifecycle {
            Lifecycle::Created if self.amount.is_multiple_of(4) && state.forked.is_none() => self.fork(),
            Lifecycle::Created | Lifecycle::Lost => self.move_to(Lifecycle::Launching),
            Lifecycle::Launching | Lifecycle::AwaitingInput | Lifecycle::Paused => self.move_to(Lifecycle::Running),
            _ if self.carrier == Carrier::Foreign => self.carried(state),
            _ if state.open_request.is_some() => self.answer(&format!("c{}", state.answers)),
            _ if state.open_calls.is_empty() && self.compacts(state) => self.compact(state),
            _ if state.open_calls.is_empty() && self.amount.is_multiple_of(5) => self.step(state),
            _ if state.open_calls.is_empty() => self.ask(1),
            _ => self.sensible_about(self.pick.get(&state.open_calls)),
        }
    }

    /// A program tells, asks and proposes in whatever order.
    fn carried(&self, state: &ExecutionState) -> ExecutionCommand {
        let next = u64::from(self.amount % 40);
        match self.choice.index(8) {
            0 => ExecutionCommand::Propose(ToolCall::new(format!("p{next}"), "bash", "{}")),
            1 | 2 if !state.open_calls.is_empty() => self.sensible_about(self.pick.get(&state.open_calls)),
            3 => {
                let output_price = Usd::from_nanos(next * 1_000_000);
                let asking = Asking { input: next, input_cost: Usd::from_nanos(next), output: next, output_price };
                let exchange = state.foreign.last_exchange + 1;
                let wanted = ExchangeWanted { exchange, model: self.text.clone(), asking };
                ExecutionCommand::OpenExchange { wanted, left: None }
            }
            4 => ExecutionCommand::CloseExchange(ExchangeClosed {
                exchange: state.foreign.exchanges.keys().next().copied().unwrap_or(next),
                usage: Usage { input: next, output: 1, ..Usage::default() },
                cost: self.amount.is_multiple_of(2).then(|| Usd::from_nanos(next)),
                outcome: ExchangeOutcome::Answered,
            }),
            5 => ExecutionCommand::NoteDelivery(MessageDelivery {
                message_id: MessageId::new(START, u128::from(next)),
                outcome: Delivery::Delivered,
            }),
            6 => ExecutionCommand::Note(RunnerNoted {
                program: self.text.clone(),
                version: self.text.clone(),
                transport: "structured".to_owned(),
                mcp: false,
                resumes: None,
            }),
            _ => ExecutionCommand::Observe { observed: Box::new(self.observed()), taint: self.taint },
        }
    }

    fn observed(&self) -> Observed {
        let text = self.text.clone();
        let observation = match self.amount % 4 {
            0 => Observation::Session { session_id: text },
            1 => Observation::Said { text },
            2 => Observation::Claimed(Claim { kind: *self.pick.get(&ClaimKind::ALL), payload: text.into() }),
            _ => Observation::TurnEnded { end: TurnEnd::Completed { message: text } },
        };
        Observed { event_id: format!("e{}", self.amount % 60), source: Source::Provider, observation }
    }

    fn sensible_about(&self, open: &OpenCall) -> ExecutionCommand {
        let OpenCall { call, phase } = open;
        match (phase, self.amount % 8) {
            (CallPhase::Asked, 0) => self.check_risk(call),
            (CallPhase::Asked, 1) => self.rewrite(call),
            (CallPhase::Asked | CallPhase::Rewritten, 2 | 3) => self.wait(call),
            (CallPhase::Asked | CallPhase::Rewritten | CallPhase::Approved(_), 4) => self.question(call),
            (CallPhase::Asked | CallPhase::Rewritten | CallPhase::Approved(_), _) => self.start(call),
            (CallPhase::Waiting(_), 0) => self.move_to(Lifecycle::AwaitingInput),
            (CallPhase::Waiting(Awaited::Card(card)), 1..6) => approve(call, *card),
            (CallPhase::Started { effect: Effect::Child, .. }, 0..4) => spawn(call),
            (CallPhase::Waiting(_) | CallPhase::Started { .. }, _) => self.finish(call),
        }
    }

    fn anything(&self, state: &ExecutionState, limits: &Limits) -> ExecutionCommand {
        let some_call = match state.open_calls.len() {
            0 => ToolCall::new(format!("c{}-0", self.amount % 4), "bash", "{}"),
            _ => self.pick.get(&state.open_calls).call.clone(),
        };
        match self.choice.index(20) {
            0 => self.create(limits),
            1 | 2 => self.move_to(*self.pick.get(&Lifecycle::ALL)),
            3 => self.accept(),
            4 => self.inject(),
            5 => self.ask(u64::from(self.amount % 2)),
            6 => self.answer(&format!("c{}", self.amount % 4)),
            7 => self.start(&some_call),
            8 => self.start_again(state),
            9 => self.finish(&some_call),
            10 => self.give_up(),
            11 => self.check_risk(&some_call),
            12 => self.rewrite(&some_call),
            13 if self.amount.is_multiple_of(2) => spawn(&some_call),
            13 => self.wait(&some_call),
            14 => approve(&some_call, self.card()),
            15 => self.charge(),
            16 => ExecutionCommand::Warn(DoomLoopDetected {
                pattern: Pattern::Monologue { words: self.text.clone(), times: 3 },
                intervention: self.amount % 5,
                message: self.text.clone(),
            }),
            17 => self.compact(state),
            18 if self.amount.is_multiple_of(3) => self.step(state),
            18 if self.amount.is_multiple_of(5) => self.fork(),
            18 => ExecutionCommand::SwitchModel {
                message_id: MessageId::new(START, u128::from(self.amount)),
                to: self.text.clone(),
            },
            _ if self.amount.is_multiple_of(2) => ExecutionCommand::NoteRefusal(EgressRefused {
                host: self.text.clone(),
                port: 443,
                reason: self.text.clone(),
                times: 1,
            }),
            _ => ExecutionCommand::Keep(OwnerEffect::Delivered {
                deliverable: deliverable(&self.text),
                content: Digest::of(self.text.as_bytes()),
            }),
        }
    }

    /// The pattern goes on, sensibly or not, or the agent is told to keep to it.
    fn step(&self, state: &ExecutionState) -> ExecutionCommand {
        let message = self.text.clone();
        let tracker = state.tracker.as_ref().filter(|_| self.amount.is_multiple_of(2));
        match tracker.and_then(|tracker| Some((tracker, tracker.current()?))) {
            Some((tracker, step)) => {
                let (from, transition) = (step.name.clone(), tracker.transitions() + 1);
                let to = ["look", "act"].get(self.amount as usize % 3).map(|step| (*step).to_owned());
                let end = to.is_none().then_some(PlaceEnd::Complete);
                ExecutionCommand::Step(PatternStepped { from, to, why: Why::Failed, end, transition, message })
            }
            None => {
                let hint = Hint::TooEarly { step: self.text.clone() };
                ExecutionCommand::Nudge(PatternNudged { hint, message })
            }
        }
    }

    fn fork(&self) -> ExecutionCommand {
        let session = if self.carrier == Carrier::Foreign { "s" } else { "" };
        ExecutionCommand::Fork(Box::new(crate::notation::forked(session, self.taint)))
    }

    fn create(&self, limits: &Limits) -> ExecutionCommand {
        let mut labels = Labels::default();
        labels.changed(&self.text, self.taint);
        ExecutionCommand::Create(Box::new(Header {
            execution_id: ExecutionId::new(START, 7),
            agent_id: self.text.clone(),
            role: Role::Executor,
            scope: Scope { kind: ScopeKind::Task, id: self.text.clone() },
            agent_version: self.text.clone(),
            model: self.text.clone(),
            configuration_digest: Digest::of(self.text.as_bytes()),
            limits: limits.clone(),
            labels,
            parent: None,
            carrier: self.carrier,
            pattern: self
                .amount
                .is_multiple_of(2)
                .then(|| crate::pattern::pattern("look:read,bash;act:bash on_fail=look", 4)),
        }))
    }

    fn move_to(&self, to: Lifecycle) -> ExecutionCommand {
        ExecutionCommand::Move { to, reason: self.text.clone() }
    }

    /// Now and then, and mostly on where it has begun.
    fn compacts(&self, state: &ExecutionState) -> bool {
        let failed = state.compactions.open.as_ref().is_some_and(|cycle| cycle.failed.is_some());
        let likely = if state.compactions.open.is_some() { 4 } else { 1 };
        !failed && self.amount % 6 < likely
    }

    fn compact(&self, state: &ExecutionState) -> ExecutionCommand {
        let tokens_after = u64::from(self.amount);
        let at = self.pick.index(state.transcript.len() + 1);
        let Some(cycle) = &state.compactions.open else {
            let reason = *self.pick.get(&[CompactionReason::Threshold, CompactionReason::Overflow]);
            return ExecutionCommand::Compact(Compaction::Start { reason, tokens_before: tokens_after });
        };
        ExecutionCommand::Compact(match self.choice.index(9) {
            0 | 1 => self.clear(state, cycle),
            2 => Compaction::Flush(CompactionFlushing { message: self.text.clone() }),
            3 => Compaction::EndFlush(CompactionFlushed { files_written: self.amount }),
            4 => Compaction::Skip(CompactionSkipped { to: at, note: self.text.clone() }),
            5 => {
                return self
                    .ask_for(Purpose::Summary { from: cycle.summarised_to, to: at.max(cycle.summarised_to) }, 1);
            }
            6 => Compaction::Finish { tokens_after, rewritten: None },
            7 => Compaction::Finish { tokens_after, rewritten: Some(self.shortened(state, at)) },
            _ => Compaction::Fail { tokens_after, reason: self.text.clone() },
        })
    }

    fn clear(&self, state: &ExecutionState, cycle: &Cycle) -> Compaction {
        let results = state.transcript.iter().filter_map(|message| match message.as_ref() {
            Message::Tool(result) => Some(result.call_id.clone()),
            _ => None,
        });
        let reference = |call_id| Cleared { call_id, reference: self.text.clone(), saved_to: Some(self.text.clone()) };
        let extent = if cycle.cleared.is_none() { Extent::Old } else { Extent::All };
        let results = results.take(self.pick.index(5)).map(reference).collect();
        Compaction::Clear(CompactionCleared { extent, results })
    }

    /// Mostly as a careful runner would: with everything that people said.
    fn shortened(&self, state: &ExecutionState, keep_from: usize) -> Rewritten {
        let recent = state.transcript.get(keep_from..).unwrap_or_default();
        let said: Vec<&str> = state.essentials.said_outside(recent).map(|said| said.words).collect();
        let kept = if self.amount.is_multiple_of(8) { String::new() } else { said.join("\n") };
        Rewritten { keep_from, summary: self.text.clone(), kept }
    }

    fn accept(&self) -> ExecutionCommand {
        ExecutionCommand::Accept(MessageAccepted {
            message_id: MessageId::new(START, 1),
            kind: MessageKind::Prompt,
            content: self.text.clone(),
            images: self.images(),
            taint: self.taint,
        })
    }

    /// Often none, as most messages have none.
    fn images(&self) -> Vec<Image> {
        let name = self.text.clone();
        let picture = |number: u32| Image {
            name: name.clone(),
            media_type: MediaType::Webp,
            bytes: u64::from(number),
            width: number,
            height: 1,
            digest: Digest::of(&number.to_be_bytes()),
        };
        (0..self.amount % 3).map(picture).collect()
    }

    fn reasoning(&self) -> Vec<Reasoning> {
        let thought = |after: usize| Reasoning {
            wire: Dialect::Anthropic,
            after,
            content: serde_json::value::to_raw_value(&self.text).expect("a string"),
        };
        (0..self.choice.index(3)).map(thought).collect()
    }

    fn inject(&self) -> ExecutionCommand {
        use InjectionType::{ExternalEvent, HitlResponse, SystemControl, UserMessage};
        let injection_type = *self.pick.get(&[UserMessage, HitlResponse, ExternalEvent, SystemControl]);
        let metadata = serde_json::json!({ self.text.clone(): self.amount });
        ExecutionCommand::Inject(InjectionReceived {
            message_id: MessageId::new(START, 2),
            injection: AgentInjection {
                injection_type,
                content: self.text.clone(),
                metadata: metadata.as_object().cloned().filter(|_| self.amount.is_multiple_of(2)),
            },
            taint: self.taint,
        })
    }

    fn ask(&self, context_number: u64) -> ExecutionCommand {
        self.ask_for(Purpose::Turn, context_number)
    }

    fn ask_for(&self, purpose: Purpose, context_number: u64) -> ExecutionCommand {
        ExecutionCommand::Ask(Question {
            purpose,
            context: context(context_number),
            estimated_input: u64::from(self.amount),
            estimated_cost: Usd::from_nanos(u64::from(self.amount / 2)),
        })
    }

    fn answer(&self, prefix: &str) -> ExecutionCommand {
        let arguments = serde_json::to_string(&serde_json::json!({ "text": self.text })).expect("plain data");
        let call = |index: usize| {
            let arguments = if index.is_multiple_of(2) { &arguments } else { &self.text };
            ToolCall::new(format!("{prefix}-{index}"), self.text.clone(), arguments)
        };
        ExecutionCommand::Answer(Answer {
            text: self.text.clone(),
            calls: (0..self.choice.index(4)).map(call).collect(),
            reasoning: self.reasoning(),
            stop: if self.amount.is_multiple_of(5) {
                StopReason::Other(self.text.clone())
            } else {
                StopReason::ToolCalls
            },
            usage: Usage { input: u64::from(self.amount), output: 7, cached_input: 3, cache_write: 0 },
            lost: Usage { input: u64::from(self.amount % 3), ..Usage::default() },
            cost: (!self.amount.is_multiple_of(7)).then(|| Usd::from_nanos(u64::from(self.amount))),
            retries: self.amount % 3,
            duration_ms: u64::from(self.amount),
        })
    }

    fn check_risk(&self, call: &ToolCall) -> ExecutionCommand {
        let ruling = *self.pick.get(&[Ruling::Continue, Ruling::RequireApproval, Ruling::Block]);
        let gate = GateSaid {
            gate: self.text.clone(),
            ruling,
            reason: self.text.clone(),
            score: self.amount.is_multiple_of(2).then(|| f64::from(self.amount) / 5_000.0),
        };
        ExecutionCommand::CheckRisk(RiskChecked {
            call_id: call.call_id.clone(),
            tool: call.tool.clone(),
            level: *self.pick.get(&Level::ALL),
            reasons: vec![self.text.clone(); self.choice.index(3)],
            ruling,
            gates: vec![gate; self.choice.index(2)],
        })
    }

    fn rewrite(&self, call: &ToolCall) -> ExecutionCommand {
        let arguments = serde_json::value::to_raw_value(&serde_json::json!({ "rewritten": self.text }));
        let arguments = arguments.expect("plain data");
        decided(call, DecisionOutcome::Rewritten { gates: vec![self.text.clone()], arguments })
    }

    fn wait(&self, call: &ToolCall) -> ExecutionCommand {
        decided(call, DecisionOutcome::Waiting { card_id: self.card() })
    }

    fn question(&self, call: &ToolCall) -> ExecutionCommand {
        decided(call, DecisionOutcome::Question { request_id: RequestId::new(START, u128::from(self.amount)) })
    }

    /// One of few, so that a yes now and then names a card that is another call's.
    fn card(&self) -> CardId {
        CardId::new(START, u128::from(self.amount % 4) << 64)
    }

    fn start(&self, call: &ToolCall) -> ExecutionCommand {
        ExecutionCommand::StartCall { call_id: call.call_id.clone(), effect: self.effect(), reach: self.reach() }
    }

    fn give_up(&self) -> ExecutionCommand {
        ExecutionCommand::GiveUp(NoAnswer {
            reason: self.text.clone(),
            usage: Usage { input: u64::from(self.amount), ..Usage::default() },
            cost: Usd::from_nanos(u64::from(self.amount / 3)),
            told: self.amount.is_multiple_of(2).then(|| self.text.clone()),
        })
    }

    fn charge(&self) -> ExecutionCommand {
        let usage = Usage { input: u64::from(self.amount), output: 5, ..Usage::default() };
        let cost = Usd::from_nanos(u64::from(self.amount / 4));
        let bill = SubagentFinished::bill(ExecutionId::new(START, 8), Role::Verifier, usage, cost);
        ExecutionCommand::Charge(Box::new(bill))
    }

    /// What was begun, begun once more as it was.
    fn start_again(&self, state: &ExecutionState) -> ExecutionCommand {
        let begun =
            state.open_calls.iter().find_map(|open| Some((open.call.call_id.clone(), open.started().cloned()?)));
        let (call_id, effect) = begun.unwrap_or_else(|| (CallId("c0-0".into()), self.effect()));
        ExecutionCommand::StartCall { call_id, effect, reach: self.reach() }
    }

    fn reach(&self) -> Reach {
        match self.amount % 5 {
            0 => Reach::Context,
            1 => Reach::Files(vec![self.text.clone()]),
            2 => Reach::Program,
            3 => Reach::NetworkProgram,
            _ => Reach::Outside(Some(self.text.clone()).filter(|host| !host.is_empty())),
        }
    }

    fn effect(&self) -> Effect {
        match self.choice.index(4) {
            0 => Effect::Read,
            1 => Effect::Once,
            2 => Effect::Child,
            _ => Effect::Probe(Probe {
                path: self.text.clone(),
                before: self.amount.is_multiple_of(2).then(|| Digest::of(b"before")),
                after: Digest::of(self.text.as_bytes()),
                result: self.text.clone(),
            }),
        }
    }

    fn finish(&self, call: &ToolCall) -> ExecutionCommand {
        use CallStatus::{Cancelled, Denied, Error, Interrupted, Ok, TimedOut};
        let outcome = CallOutcome {
            call_id: call.call_id.clone(),
            status: *self.choice.get(&[Ok, Error, Denied, TimedOut, Cancelled, Interrupted]),
            content: self.text.clone(),
            full_output: self.amount.is_multiple_of(2).then(|| Digest::of(self.text.as_bytes())),
            images: self.images(),
            duration_ms: u64::from(self.amount),
        };
        ExecutionCommand::FinishCall { outcome, taint: self.taint }
    }
}

fn spawn(call: &ToolCall) -> ExecutionCommand {
    let (call_id, execution_id) = (call.call_id.clone(), ExecutionId::new(START, 9).child(&call.call_id));
    ExecutionCommand::Spawn(SubagentSpawned { call_id, execution_id, label: "child".into() })
}

fn approve(call: &ToolCall, card_id: CardId) -> ExecutionCommand {
    decided(call, DecisionOutcome::Approved { card_id })
}

fn decided(call: &ToolCall, outcome: DecisionOutcome) -> ExecutionCommand {
    ExecutionCommand::Decide(CallDecision { call_id: call.call_id.clone(), outcome })
}
