//! Which message it is, in the words of the plan: of which request, which of its messages, which in the row that follows
//! from it. It travels as the message's content, and is what an effect's record says.

use std::fmt;
use std::str::FromStr;

use windlass_domain::queue::{MessageKind, Sender};
use windlass_domain::{Encoded, MessageId, Taint, TraceId, Wall};
use windlass_store::queue::Queue;
use windlass_store::{NewEvent, StreamId};

use crate::dice::Dice;
use crate::process::BEGINNING;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Errand {
    pub request: u16,
    pub message: u16,
    pub step: u8,
}

pub const EFFECT: &str = "simulated.effect";

impl Errand {
    pub const fn next(self) -> Self {
        Self { step: self.step + 1, ..self }
    }

    pub const fn route(self) -> ((Sender, MessageKind), Queue) {
        match self.step {
            0 => ((Sender::User, MessageKind::UserMessage), Queue::Proxy),
            1 => ((Sender::Proxy, MessageKind::PlanRequest), Queue::Planner),
            _ => ((Sender::Planner, MessageKind::PlanResult), Queue::Proxy),
        }
    }

    /// A client keeps the id of what it asks for, so that asking again is the same thing.
    pub fn message_id(self, seed: u64) -> MessageId {
        MessageId::new(BEGINNING, self.dice(seed, 0x1D).wide())
    }

    pub fn trace_id(self, seed: u64) -> TraceId {
        TraceId::new(BEGINNING, self.dice(seed, 0x7C).wide())
    }

    fn dice(self, seed: u64, purpose: u64) -> Dice {
        let number = u64::from(self.request) << 32 | u64::from(self.message) << 8 | purpose;
        Dice::new(seed.wrapping_mul(31) ^ number)
    }

    pub fn effect(self, taint: Taint, at: Wall) -> NewEvent {
        let data = serde_json::value::to_raw_value(&self.to_string()).expect("text is JSON");
        let encoded = Encoded { kind: EFFECT, version: 1, data, since: 1, older: &[] };
        NewEvent { stream: StreamId::new("effects", "all"), encoded, taint, at }
    }

    /// What an effect's record says.
    pub fn of_effect(data: &str) -> Option<Self> {
        data.trim_matches('"').parse().ok()
    }
}

impl fmt::Display for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {} message {} step {}", self.request, self.message, self.step)
    }
}

#[derive(Debug)]
pub struct NotAnErrand;

impl FromStr for Errand {
    type Err = NotAnErrand;

    fn from_str(text: &str) -> Result<Self, NotAnErrand> {
        let words: Vec<&str> = text.split(' ').collect();
        let ["request", request, "message", message, "step", step] = words[..] else { return Err(NotAnErrand) };
        let number = |word: &str| word.parse().map_err(|_| NotAnErrand);
        let step = step.parse().map_err(|_| NotAnErrand)?;
        Ok(Self { request: number(request)?, message: number(message)?, step })
    }
}
