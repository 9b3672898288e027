//! An execution's journal as people read it: a block for each turn, with what was asked, what the agent said and did about it, and what that cost. Projected from
//! the journal whenever somebody looks, the same for the native loop and for programs of others, and never stored.
//!
//! A turn begins with words for the agent. Those that reach a program of its own in the midst of its turn are a part of that turn; the native loop begins
//! another one with them.

mod outline;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

pub use outline::{Outline, Piece};

use crate::call::{CallStatus, Finished};
use crate::digest::Digest;
use crate::execution::{
    AgentInjection, CallDecision, Carrier, DecisionOutcome, Delivery, ExchangeOutcome, ExecutionEvent, Lifecycle,
    MessageKind, Observation, OwnerEffect, Purpose, StateChanged, TurnEnd,
};
use crate::image::Image;
use crate::message::{CallId, ToolCall};
use crate::risk::{Level, Ruling};
use crate::time::Wall;
use crate::tool_name::LAUNCH_AGENT;
use crate::usage::{Usage, Usd};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Turn {
    /// From 1.
    pub turn: u32,
    pub began_at: Wall,
    /// When the last of it was recorded.
    pub last_at: Wall,
    pub asked: Vec<Heard>,
    pub steps: Vec<Step>,
    pub end: Ending,
    /// Questions to a model that were answered.
    pub model_calls: u32,
    pub usage: Usage,
    pub cost: Usd,
    /// Whether an answer's price was not known, so that it cost more than is counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
}

/// Something that was said to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Heard {
    pub kind: MessageKind,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    Said {
        text: String,
    },
    Called(Box<CallTold>),
    /// Said to it while it was at work.
    Heard(Heard),
    /// A program was started.
    Started {
        program: String,
        version: String,
    },
    /// Something that people may want to know.
    Noticed {
        text: String,
    },
}

/// A call from the wish to the result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallTold {
    pub call_id: CallId,
    pub tool: String,
    pub arguments: Value,
    /// What the rules made of it, where it is more than harmless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Level>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Missing while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<CallStatus>,
    pub result: String,
    /// The whole output, where `result` is a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_output: Option<Digest>,
    /// Pictures that belong to it, as a browser's screen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    pub duration_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// A person is asked.
    Asked,
    Given,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Ending {
    /// It is not over.
    Open,
    Completed,
    Interrupted,
    Failed {
        reason: String,
    },
    /// The execution rests; the reason says for what.
    Rests {
        reason: String,
    },
}

/// The turns of one execution's journal, in order.
pub fn timeline<'a>(journal: impl IntoIterator<Item = (&'a ExecutionEvent, Wall)>) -> Vec<Turn> {
    let mut timeline = Timeline::default();
    journal.into_iter().for_each(|(event, at)| timeline.take(event, at, &Elsewhere::default()));
    timeline.turns
}

/// For each turn, how many records of the journal there are by its end.
pub fn turn_ends<'a>(journal: impl IntoIterator<Item = (&'a ExecutionEvent, Wall)>) -> Vec<usize> {
    let mut timeline = Timeline::default();
    let (mut ends, mut records) = (Vec::new(), 0);
    for (event, at) in journal {
        let begun = timeline.turns.len();
        timeline.take(event, at, &Elsewhere::default());
        if timeline.turns.len() > begun && begun > 0 {
            ends.push(records);
        }
        records += 1;
    }
    ends.extend((!timeline.turns.is_empty()).then_some(records));
    ends
}

#[derive(Default)]
struct Timeline {
    carrier: Carrier,
    turns: Vec<Turn>,
    /// The last turn has steps, whether or not they are at hand.
    has_begun: bool,
    /// Where calls are told that something came of and that are not at hand.
    touched: Vec<u32>,
}

/// Calls that are told in other pieces than the one at hand.
#[derive(Default)]
struct Elsewhere<'a> {
    calls: Option<&'a BTreeMap<CallId, u32>>,
    here: Option<u32>,
}

impl Elsewhere<'_> {
    fn piece_of(&self, call: &CallId) -> Option<u32> {
        self.calls?.get(call).copied().filter(|piece| Some(*piece) != self.here)
    }
}

impl Timeline {
    fn take(&mut self, event: &ExecutionEvent, at: Wall, elsewhere: &Elsewhere<'_>) {
        match event {
            ExecutionEvent::Header(header) => return self.carrier = header.carrier,
            // What came of it has a record of its own.
            ExecutionEvent::MessageAccepted(message) if message.kind == MessageKind::Model => {}
            ExecutionEvent::ModelSwitched(switched) => {
                let text = format!("asks the model {} from here on, instead of {}", switched.to, switched.from);
                self.step(Step::Noticed { text }, at);
            }
            ExecutionEvent::MessageAccepted(message) => self.ask(message.kind, &message.content, at),
            ExecutionEvent::InjectionReceived(received) => self.inject(&received.injection, at),
            ExecutionEvent::PatternNudged(nudged) => self.step(Step::Noticed { text: nudged.message.clone() }, at),
            ExecutionEvent::ModelResponded(response) => {
                self.spend(response.usage, response.cost, at);
                self.spend(response.lost, Some(Usd::default()), at);
                self.turn(at).model_calls += 1;
                if response.purpose == Purpose::Turn {
                    self.say(&response.text, at);
                    response.calls.iter().for_each(|call| self.call(call, at, elsewhere));
                }
            }
            ExecutionEvent::ModelFailed(failed) => {
                self.spend(failed.usage, Some(failed.cost), at);
                self.step(Step::Noticed { text: format!("the model did not answer: {}", failed.reason) }, at);
            }
            ExecutionEvent::CallProposed(call) => self.call(call, at, elsewhere),
            ExecutionEvent::RiskChecked(checked) => self.on_call(&checked.call_id, elsewhere, |call| {
                (call.risk, call.ruling) = (Some(checked.level), Some(checked.ruling));
            }),
            ExecutionEvent::DecisionRecorded(decision) => self.decide(decision, elsewhere),
            ExecutionEvent::ToolFinished(finished) => self.finish(finished, elsewhere),
            ExecutionEvent::OwnerEffect(OwnerEffect::Told { message, .. }) => self.say(message, at),
            ExecutionEvent::RunnerNoted(noted) => {
                let (program, version) = (noted.program.clone(), noted.version.clone());
                self.step(Step::Started { program, version }, at);
            }
            ExecutionEvent::ObservationRecorded(recorded) => self.observe(&recorded.observation, at, elsewhere),
            ExecutionEvent::ExchangeClosed(closed) => {
                // Of one that nobody answered it is not the price that is missing.
                let is_answered = closed.outcome == ExchangeOutcome::Answered;
                self.spend(closed.usage, closed.cost.or((!is_answered).then(Usd::default)), at);
                self.turn(at).model_calls += u32::from(is_answered);
            }
            ExecutionEvent::MessageDelivery(delivery) => match &delivery.outcome {
                Delivery::Undeliverable { reason } => {
                    self.step(Step::Noticed { text: format!("the agent could not be told: {reason}") }, at);
                }
                Delivery::Attempted | Delivery::Delivered | Delivery::Deferred { .. } => {}
            },
            ExecutionEvent::StateChanged(change) => self.change(change),
            ExecutionEvent::DoomLoopDetected(_)
            | ExecutionEvent::EgressRefused(_)
            | ExecutionEvent::Forked(_)
            | ExecutionEvent::ToolStarted(_)
            | ExecutionEvent::ModelRequested(_)
            | ExecutionEvent::SubagentSpawned(_)
            | ExecutionEvent::SubagentFinished(_)
            | ExecutionEvent::OwnerEffect(_)
            | ExecutionEvent::CompactionStarted(_)
            | ExecutionEvent::CompactionCleared(_)
            | ExecutionEvent::CompactionFlushing(_)
            | ExecutionEvent::CompactionFlushed(_)
            | ExecutionEvent::CompactionSkipped(_)
            | ExecutionEvent::CompactionFinished(_)
            | ExecutionEvent::CompactionFailed(_)
            | ExecutionEvent::PatternStepped(_)
            | ExecutionEvent::ExchangeOpened(_) => {}
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.last_at = at;
        }
    }

    /// The one that goes on; a first one where nothing was asked.
    fn turn(&mut self, at: Wall) -> &mut Turn {
        if self.turns.is_empty() {
            self.begin(at);
        }
        self.turns.last_mut().expect("there is one")
    }

    fn begin(&mut self, at: Wall) {
        let turn = u32::try_from(self.turns.len() + 1).unwrap_or(u32::MAX);
        self.has_begun = false;
        self.turns.push(Turn {
            turn,
            began_at: at,
            last_at: at,
            asked: Vec::new(),
            steps: Vec::new(),
            end: Ending::Open,
            model_calls: 0,
            usage: Usage::default(),
            cost: Usd::default(),
            unpriced: false,
        });
    }

    /// What is asked before anything was done about what was asked before it belongs to the same turn.
    fn ask(&mut self, kind: MessageKind, text: &str, at: Wall) {
        if self.turns.is_empty() || self.has_begun {
            self.begin(at);
        }
        self.turn(at).asked.push(Heard { kind, text: text.to_owned() });
    }

    fn inject(&mut self, injection: &AgentInjection, at: Wall) {
        let (kind, text) = (injection.kind(), &injection.content);
        let is_at_work = self.has_begun && self.turns.last().is_some_and(|turn| turn.end == Ending::Open);
        match is_at_work && (!self.carrier.is_native() || !kind.starts_turn()) {
            true => self.step(Step::Heard(Heard { kind, text: text.clone() }), at),
            false => self.ask(kind, text, at),
        }
    }

    fn step(&mut self, step: Step, at: Wall) {
        self.turn(at).steps.push(step);
        self.has_begun = true;
    }

    fn say(&mut self, text: &str, at: Wall) {
        if !text.trim().is_empty() {
            self.step(Step::Said { text: text.to_owned() }, at);
        }
    }

    fn spend(&mut self, usage: Usage, cost: Option<Usd>, at: Wall) {
        let turn = self.turn(at);
        turn.usage += usage;
        turn.cost += cost.unwrap_or_default();
        turn.unpriced |= cost.is_none();
    }

    /// A program tells of a call before it asks for leave, or only does the one or the other.
    fn call(&mut self, call: &ToolCall, at: Wall, elsewhere: &Elsewhere<'_>) {
        // That a program was started is a step of its own.
        if call.tool == LAUNCH_AGENT {
            return;
        }
        let arguments: Value = serde_json::from_str(call.arguments.get()).unwrap_or_default();
        self.wish(call.call_id.clone(), &call.tool, arguments, at, elsewhere);
    }

    fn wish(&mut self, call_id: CallId, tool: &str, arguments: Value, at: Wall, elsewhere: &Elsewhere<'_>) {
        if let Some(known) = self.find(&call_id) {
            known.arguments = arguments;
            return;
        }
        if let Some(piece) = elsewhere.piece_of(&call_id) {
            return self.touched.push(piece);
        }
        let told = CallTold {
            call_id,
            tool: tool.to_owned(),
            arguments,
            risk: None,
            ruling: None,
            approval: None,
            status: None,
            result: String::new(),
            full_output: None,
            images: Vec::new(),
            duration_ms: 0,
        };
        self.step(Step::Called(Box::new(told)), at);
    }

    /// The newest first: ids are unique within an execution, and what is asked about is recent.
    fn find(&mut self, call_id: &CallId) -> Option<&mut CallTold> {
        self.turns.iter_mut().rev().flat_map(|turn| turn.steps.iter_mut().rev()).find_map(|step| match step {
            Step::Called(call) if call.call_id == *call_id => Some(call.as_mut()),
            _ => None,
        })
    }

    fn on_call(&mut self, call_id: &CallId, elsewhere: &Elsewhere<'_>, change: impl FnOnce(&mut CallTold)) {
        match self.find(call_id) {
            Some(call) => change(call),
            None => self.touched.extend(elsewhere.piece_of(call_id)),
        }
    }

    fn decide(&mut self, decision: &CallDecision, elsewhere: &Elsewhere<'_>) {
        self.on_call(&decision.call_id, elsewhere, |call| match &decision.outcome {
            DecisionOutcome::Waiting { .. } | DecisionOutcome::Question { .. } => call.approval = Some(Approval::Asked),
            DecisionOutcome::Monitoring { .. } => {}
            DecisionOutcome::Approved { .. } => call.approval = Some(Approval::Given),
            DecisionOutcome::Rewritten { arguments, .. } => {
                call.arguments = serde_json::from_str(arguments.get()).unwrap_or_default();
            }
        });
    }

    fn finish(&mut self, finished: &Finished, elsewhere: &Elsewhere<'_>) {
        self.on_call(&finished.call_id, elsewhere, |call| {
            call.status = Some(finished.status);
            call.result.clone_from(&finished.content);
            call.full_output = finished.full_output;
            call.images.clone_from(&finished.images);
            call.duration_ms = finished.duration_ms;
        });
    }

    fn observe(&mut self, observation: &Observation, at: Wall, elsewhere: &Elsewhere<'_>) {
        match observation {
            Observation::Said { text } => self.say(text, at),
            Observation::Called { call, tool, input } => {
                self.wish(CallId(call.clone()), tool, input.clone(), at, elsewhere);
            }
            // What we gave leave for has a record of ours.
            Observation::CallEnded { call, is_error, output } => {
                self.on_call(&CallId(call.clone()), elsewhere, |call| {
                    if call.status.is_none() {
                        call.status = Some(if *is_error { CallStatus::Error } else { CallStatus::Ok });
                        call.result.clone_from(output);
                    }
                });
            }
            Observation::TurnEnded { end } => {
                self.turn(at).end = match end {
                    TurnEnd::Completed { .. } => Ending::Completed,
                    TurnEnd::Interrupted => Ending::Interrupted,
                    TurnEnd::Failed { reason, .. } => Ending::Failed { reason: reason.clone() },
                };
            }
            Observation::Noticed { text } | Observation::Unheeded { text } | Observation::Doubted { why: text, .. } => {
                self.step(Step::Noticed { text: text.clone() }, at);
            }
            Observation::Claimed(claim) => {
                let words = claim.words().unwrap_or_default();
                self.step(Step::Noticed { text: format!("{}: {words}", claim.kind.as_str()) }, at);
            }
            Observation::Session { .. } | Observation::Used { .. } | Observation::Equipped => {}
        }
    }

    fn change(&mut self, change: &StateChanged) {
        let Some(turn) = self.turns.last_mut() else { return };
        let reason = || change.reason.clone();
        turn.end = match change.to {
            Lifecycle::Completed if turn.end == Ending::Open => Ending::Completed,
            Lifecycle::Failed | Lifecycle::Cancelled => Ending::Failed { reason: reason() },
            Lifecycle::AwaitingInput | Lifecycle::Paused if turn.end == Ending::Open => {
                Ending::Rests { reason: reason() }
            }
            // It goes on with the same.
            Lifecycle::Running if matches!(turn.end, Ending::Rests { .. }) => Ending::Open,
            _ => return,
        };
    }
}
