//! The part of an execution that another program carries: its conversation goes on in that program, so that what is kept here is
//! how to find it again, what it has asked of models through us, what it has told, and what it has still to be told.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::budget::Asking;
use crate::execution::{Claim, ClaimKind, Doubt, MessageKind, Observation, ObservationRecorded, TurnEnd};
use crate::id::MessageId;
use crate::usage::{Usage, Usd};

/// Who keeps the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carrier {
    /// The native loop: the journal is the conversation.
    #[default]
    Native,
    /// A program of its own, under the same journal.
    Foreign,
}

impl Carrier {
    pub const fn is_native(&self) -> bool {
        matches!(self, Self::Native)
    }
}

/// The program was started, as this version, in this way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerNoted {
    pub program: String,
    pub version: String,
    /// How it is talked to: `structured` or `terminal`.
    pub transport: String,
    /// Whether it was given our MCP server. That it has its tools is seen later (`Observation::Equipped`).
    pub mcp: bool,
    /// The conversation that it goes on with, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<String>,
}

/// A program wants to ask a model through us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeWanted {
    pub exchange: u64,
    pub model: String,
    pub asking: Asking,
}

/// A program asks a model through us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeOpened {
    pub exchange: u64,
    pub model: String,
    /// Charged if how it ended is never heard, as is `estimated_cost`.
    pub estimated_input: u64,
    #[serde(default, skip_serializing_if = "Usd::is_zero")]
    pub estimated_cost: Usd,
    /// How long the answer may be. Nobody else may spend that, or what it costs, before the exchange is closed.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reserved_output: u64,
    #[serde(default, skip_serializing_if = "Usd::is_zero")]
    pub reserved_cost: Usd,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_none(tokens: &u64) -> bool {
    *tokens == 0
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeClosed {
    pub exchange: u64,
    pub usage: Usage,
    /// Missing where the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    pub outcome: ExchangeOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeOutcome {
    Answered,
    /// Whoever asked went away.
    Abandoned,
    Failed {
        reason: String,
    },
}

/// What became of a message on its way to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageDelivery {
    pub message_id: MessageId,
    #[serde(flatten)]
    pub outcome: Delivery,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "delivery", rename_all = "snake_case")]
pub enum Delivery {
    /// It is about to be given to the program: what becomes of it, another record says, or nobody knows.
    Attempted,
    /// The program has it.
    Delivered,
    /// It was not taken now and will be given later.
    Deferred { reason: String },
    /// It never will be.
    Undeliverable { reason: String },
}

/// Something that the agent has not been told yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The message it came by, where it came by one.
    pub message_id: Option<MessageId>,
    pub kind: MessageKind,
    pub text: String,
    /// It was about to be given to the program, and nothing is known of that.
    pub may_be_heard: bool,
}

impl News {
    /// Words, as opposed to what is done to the agent.
    pub const fn is_words(&self) -> bool {
        self.kind.starts_turn()
    }
}

#[derive(Debug, Clone, Default)]
pub struct Foreign {
    /// The newest name of its conversation, by which it can be gone on with.
    pub session_id: Option<String>,
    /// The name of the conversation that its own begins as a copy of.
    pub forks: Option<String>,
    /// How often the program was started.
    pub launches: u32,
    pub version: Option<String>,
    /// What is being asked of models now.
    pub exchanges: BTreeMap<u64, ExchangeOpened>,
    pub last_exchange: u64,
    /// How the newest turn ended, until something else is said to the agent.
    pub turn: Option<TurnEnd>,
    /// How far it says it is.
    pub progress: Option<String>,
    /// What the agent last claimed.
    pub claim: Option<Claim>,
    pub news: VecDeque<News>,
    /// What there is to be said against taking its word, oldest first.
    pub doubts: Vec<(Doubt, String)>,
    /// Since it was last started it has done something, or has heard something from a person: to start it anew in another way would
    /// lose that.
    pub has_something_to_lose: bool,
    seen: BTreeSet<String>,
}

impl Foreign {
    pub fn has_seen(&self, event_id: &str) -> bool {
        self.seen.contains(event_id)
    }

    pub fn observe(&mut self, recorded: &ObservationRecorded) {
        self.seen.insert(recorded.event_id.clone());
        // Whoever does something has heard what it was begun with.
        if recorded.observation.is_of_the_agent() {
            self.news.retain(|news| news.message_id.is_some());
        }
        match &recorded.observation {
            Observation::Session { session_id } => self.session_id = Some(session_id.clone()),
            Observation::TurnEnded { end } => self.turn = Some(end.clone()),
            Observation::Claimed(claim) => {
                if claim.kind == ClaimKind::Progress {
                    self.progress = claim.words().map(ToOwned::to_owned);
                }
                self.claim = Some(claim.clone());
            }
            Observation::Called { .. } | Observation::CallEnded { .. } => self.has_something_to_lose = true,
            Observation::Doubted { doubt, why } => self.doubt(*doubt, why),
            Observation::Said { .. }
            | Observation::Used { .. }
            | Observation::Equipped
            | Observation::Noticed { .. }
            | Observation::Unheeded { .. } => {}
        }
    }

    /// Whoever has never asked a model has begun no conversation, whatever name it gave one.
    fn doubt(&mut self, doubt: Doubt, why: &str) {
        self.doubts.push((doubt, why.to_owned()));
        if doubt == Doubt::Channel && self.last_exchange == 0 {
            self.session_id = None;
        }
    }

    /// Whether it last said that it cannot go on.
    pub fn is_blocked(&self) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.kind == ClaimKind::Blocked)
    }

    /// Whether its structured channel is not read any more.
    pub fn is_channel_doubted(&self) -> bool {
        self.doubts.iter().any(|(doubt, _)| *doubt == Doubt::Channel)
    }

    pub fn launched(&mut self, noted: &RunnerNoted) {
        self.launches += 1;
        self.has_something_to_lose = false;
        self.version = Some(noted.version.clone());
        self.turn = None;
        self.claim = None;
    }

    pub fn open(&mut self, opened: &ExchangeOpened) {
        self.last_exchange = self.last_exchange.max(opened.exchange);
        self.exchanges.insert(opened.exchange, opened.clone());
    }

    /// A message that can never be delivered is not tried again.
    pub fn deliver(&mut self, delivery: &MessageDelivery) {
        match delivery.outcome {
            Delivery::Attempted | Delivery::Deferred { .. } => {
                let is_attempted = delivery.outcome == Delivery::Attempted;
                let named = self.news.iter_mut().filter(|news| news.message_id == Some(delivery.message_id));
                named.for_each(|news| news.may_be_heard = is_attempted);
            }
            Delivery::Delivered | Delivery::Undeliverable { .. } => {
                self.news.retain(|news| news.message_id != Some(delivery.message_id));
            }
        }
        if delivery.outcome == Delivery::Delivered {
            self.has_something_to_lose = true;
            self.turn = None;
            self.claim = None;
        }
    }

    pub fn tell(&mut self, message_id: Option<MessageId>, kind: MessageKind, text: impl Into<String>) {
        self.news.push_back(News { message_id, kind, text: text.into(), may_be_heard: false });
    }

    /// Messages that are no words and that nobody took: whoever they were meant for has stopped by itself.
    pub fn moot(&self) -> impl Iterator<Item = MessageId> + '_ {
        self.news.iter().filter(|news| !news.is_words()).filter_map(|news| news.message_id)
    }
}
