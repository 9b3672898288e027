//! What can be said to an execution's agent, and what the agent may say (contracts §6): a registry that follows from who carries it, what that one can do and
//! where it stands. It is computed whenever somebody asks and kept nowhere. What is in it can be delivered; what is not has a reason.

use serde::Serialize;
use serde_json::{Value, json};

use crate::execution::{Carrier, ClaimKind, Lifecycle, MessageKind};

/// Who would have to hear it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hearer {
    pub carrier: Carrier,
    /// Whether a message reaches it while it works.
    pub can_be_steered: bool,
    pub lifecycle: Lifecycle,
    pub answered_by: AnsweredBy,
}

/// Who answers its questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredBy {
    Model,
    /// A rehearsal, whatever model is named.
    Script,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Descriptor {
    pub direction: Direction,
    pub kind: &'static str,
    /// Of what goes with it.
    pub schema: Value,
    /// The first is how it would be delivered now.
    pub delivery: Vec<DeliveryMode>,
    pub starts_turn: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    ToAgent,
    FromAgent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryMode {
    /// While it works.
    AtOnce,
    /// Before its next step.
    NextTurn,
    /// When its task goes on.
    WhenResumed,
}

/// Why a kind of message cannot be delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CannotDeliver {
    #[error("its execution is over, and hears nothing any more")]
    Over,
    #[error("it is at work already: there is nothing to resume")]
    AtWork,
    #[error("it is not at work: there is nothing to break off")]
    Resting,
    #[error("it rests already")]
    RestsAlready,
    #[error(
        "Windlass's own loop has no turn that goes on without it: a step ends by itself, and hears what you say then"
    )]
    NoTurnOfItsOwn,
    #[error("it plays a script, which answers for every model")]
    PlaysScript,
}

impl MessageKind {
    pub const ALL: [Self; 8] = [
        Self::Prompt,
        Self::Reply,
        Self::Resume,
        Self::Checkpoint,
        Self::Nudge,
        Self::Interrupt,
        Self::Stop,
        Self::Model,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Reply => "reply",
            Self::Resume => "resume",
            Self::Checkpoint => "checkpoint",
            Self::Nudge => "nudge",
            Self::Interrupt => "interrupt",
            Self::Stop => "stop",
            Self::Model => "model",
        }
    }

    /// Words, that is: the agent goes on with them.
    pub const fn starts_turn(self) -> bool {
        matches!(self, Self::Prompt | Self::Reply | Self::Resume | Self::Checkpoint | Self::Nudge)
    }

    /// What is said where nobody says anything else.
    pub const fn own_words(self) -> Option<&'static str> {
        match self {
            Self::Resume => Some("Go on with your task."),
            Self::Checkpoint => Some(
                "Say in a few sentences where you are: what is done, what is left, and what stands in your way. Then go on.",
            ),
            Self::Nudge => Some("Look at what you were asked for, and take the next step towards it."),
            Self::Prompt | Self::Reply | Self::Interrupt | Self::Stop | Self::Model => None,
        }
    }
}

impl Hearer {
    /// How this kind of message would reach it now, or why it cannot.
    pub const fn delivery(&self, kind: MessageKind) -> Result<DeliveryMode, CannotDeliver> {
        use Lifecycle::{AwaitingInput, Created, Launching, Lost, Paused, Running};
        if self.lifecycle.is_over() {
            return Err(CannotDeliver::Over);
        }
        let rests = matches!(self.lifecycle, AwaitingInput | Paused | Lost);
        match kind {
            MessageKind::Resume if !rests => Err(CannotDeliver::AtWork),
            MessageKind::Prompt
            | MessageKind::Reply
            | MessageKind::Resume
            | MessageKind::Checkpoint
            | MessageKind::Nudge => Ok(match (self.lifecycle, self.carrier) {
                (AwaitingInput | Paused | Lost, _) => DeliveryMode::WhenResumed,
                (Running, Carrier::Foreign) if self.can_be_steered => DeliveryMode::AtOnce,
                _ => DeliveryMode::NextTurn,
            }),
            MessageKind::Interrupt => match (self.carrier, self.lifecycle) {
                (Carrier::Native, _) => Err(CannotDeliver::NoTurnOfItsOwn),
                (Carrier::Foreign, Running) => Ok(DeliveryMode::AtOnce),
                (Carrier::Foreign, _) => Err(CannotDeliver::Resting),
            },
            MessageKind::Stop => match self.lifecycle {
                Paused => Err(CannotDeliver::RestsAlready),
                Created | Launching | Running | AwaitingInput | Lost => Ok(DeliveryMode::AtOnce),
                Lifecycle::Completed | Lifecycle::Failed | Lifecycle::Cancelled => Err(CannotDeliver::Over),
            },
            MessageKind::Model => match (self.answered_by, self.lifecycle, self.carrier) {
                (AnsweredBy::Script, ..) => Err(CannotDeliver::PlaysScript),
                (AnsweredBy::Model, AwaitingInput | Paused | Lost, _) => Ok(DeliveryMode::WhenResumed),
                // The way to its model is ours, whatever the program does meanwhile.
                (AnsweredBy::Model, Running, Carrier::Foreign) => Ok(DeliveryMode::AtOnce),
                (AnsweredBy::Model, ..) => Ok(DeliveryMode::NextTurn),
            },
        }
    }

    /// All that can be said now, and what its agent may say.
    pub fn registry(&self) -> Vec<Descriptor> {
        let to_agent = MessageKind::ALL.into_iter().filter_map(|kind| {
            let mode = self.delivery(kind).ok()?;
            Some(Descriptor {
                direction: Direction::ToAgent,
                kind: kind.as_str(),
                schema: schema(kind),
                delivery: vec![mode],
                starts_turn: kind.starts_turn(),
            })
        });
        to_agent.chain(self.claims()).collect()
    }

    /// The native loop has tools for what it has to tell.
    fn claims(&self) -> impl Iterator<Item = Descriptor> + use<> {
        let speaks = !self.carrier.is_native() && !self.lifecycle.is_over();
        ClaimKind::ALL.into_iter().filter(move |_| speaks).map(|kind| Descriptor {
            direction: Direction::FromAgent,
            kind: kind.as_str(),
            schema: kind.schema(),
            delivery: vec![DeliveryMode::AtOnce],
            starts_turn: false,
        })
    }
}

fn schema(kind: MessageKind) -> Value {
    let words = |required: &[&str]| json!({"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}, "required": required});
    match kind {
        MessageKind::Prompt | MessageKind::Reply => words(&["text"]),
        MessageKind::Resume | MessageKind::Checkpoint | MessageKind::Nudge => words(&[]),
        MessageKind::Interrupt | MessageKind::Stop => json!({"type": "object"}),
        MessageKind::Model => {
            json!({"type": "object", "properties": {"model": {"type": "string", "minLength": 1}}, "required": ["model"]})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `kind:mode` of everything that can be said.
    fn said(carrier: Carrier, can_be_steered: bool, lifecycle: Lifecycle) -> String {
        let hearer = Hearer { carrier, can_be_steered, lifecycle, answered_by: AnsweredBy::Model };
        let registry = hearer.registry();
        let to_agent = registry.iter().filter(|descriptor| descriptor.direction == Direction::ToAgent);
        let told = |descriptor: &Descriptor| {
            let mode = match descriptor.delivery[0] {
                DeliveryMode::AtOnce => "now",
                DeliveryMode::NextTurn => "next",
                DeliveryMode::WhenResumed => "later",
            };
            format!("{}:{mode}", descriptor.kind)
        };
        to_agent.map(told).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_can_be_said_follows_from_who_would_hear_it_and_where_it_stands() {
        use Carrier::{Foreign, Native};
        let words = |mode: &str| format!("prompt:{mode} reply:{mode} checkpoint:{mode} nudge:{mode}");
        let interrupted = "interrupt:now stop:now model:now";
        assert_eq!(said(Native, true, Lifecycle::Running), format!("{} stop:now model:next", words("next")));
        assert_eq!(said(Foreign, true, Lifecycle::Running), format!("{} {interrupted}", words("now")));
        assert_eq!(said(Foreign, false, Lifecycle::Running), format!("{} {interrupted}", words("next")));
        let later = "prompt:later reply:later resume:later checkpoint:later nudge:later";
        for carrier in [Native, Foreign] {
            assert_eq!(said(carrier, true, Lifecycle::Paused), format!("{later} model:later"));
            assert_eq!(said(carrier, true, Lifecycle::AwaitingInput), format!("{later} stop:now model:later"));
            for over in [Lifecycle::Completed, Lifecycle::Failed, Lifecycle::Cancelled] {
                assert_eq!(said(carrier, true, over), "");
            }
        }
    }

    #[test]
    fn what_is_not_in_the_registry_has_a_reason() {
        for lifecycle in Lifecycle::ALL {
            for carrier in [Carrier::Native, Carrier::Foreign] {
                let hearer = Hearer { carrier, can_be_steered: true, lifecycle, answered_by: AnsweredBy::Model };
                let registry = hearer.registry();
                for kind in MessageKind::ALL {
                    let is_listed = registry.iter().any(|one| one.kind == kind.as_str());
                    assert_eq!(hearer.delivery(kind).is_ok(), is_listed, "{kind:?} {hearer:?}");
                }
            }
        }
        let native = Hearer {
            carrier: Carrier::Native,
            can_be_steered: true,
            lifecycle: Lifecycle::Running,
            answered_by: AnsweredBy::Script,
        };
        assert_eq!(native.delivery(MessageKind::Model), Err(CannotDeliver::PlaysScript));
        assert_eq!(native.delivery(MessageKind::Interrupt), Err(CannotDeliver::NoTurnOfItsOwn));
        assert_eq!(native.delivery(MessageKind::Resume), Err(CannotDeliver::AtWork));
        let over = Hearer { lifecycle: Lifecycle::Failed, ..native };
        assert_eq!(over.delivery(MessageKind::Stop), Err(CannotDeliver::Over));
    }

    #[test]
    fn words_can_be_left_out_only_where_there_are_some() {
        for kind in MessageKind::ALL {
            let needs = schema(kind)["required"] == json!(["text"]);
            assert_eq!(needs, kind.starts_turn() && kind.own_words().is_none(), "{kind:?}");
        }
    }
}
