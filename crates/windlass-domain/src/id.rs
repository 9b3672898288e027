//! Typed identifiers, all UUIDv7: they sort by the time they were made, and one kind cannot be passed where another is
//! meant. The domain neither reads a clock nor rolls dice, so whoever makes an id hands in both.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::time::Wall;

/// What was written where an id should stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id: expected a UUID such as 0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11")]
pub struct NotAnId(String);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            pub fn new(now: Wall, random: u128) -> Self {
                Self(uuid_v7(now, random))
            }

            /// The last eight hex digits: random, so they tell apart what was made in the same second.
            pub fn short(&self) -> String {
                let text = self.0.simple().to_string();
                text[24..].to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;
            fn from_str(text: &str) -> Result<Self, NotAnId> {
                Uuid::parse_str(text).map(Self).map_err(|_| NotAnId(text.to_owned()))
            }
        }
    )+};
}

ids! {
    /// A command as it arrived: the same command twice is the same work once.
    CommandId,
    /// A user's conversation.
    SessionId,
    /// What a user asked for.
    TaskId,
    /// One run of one agent.
    ExecutionId,
    /// A row in a durable queue.
    MessageId,
    /// A process that may hold leases.
    OwnerId,
    /// A question put to a person.
    RequestId,
    /// What belongs together across hops: copied unchanged into everything that follows from a message.
    TraceId,
    /// A card, and the approval that begins with it.
    CardId,
    /// A signed answer to a card.
    TokenId,
}

fn uuid_v7(now: Wall, random: u128) -> Uuid {
    let bytes = random.to_be_bytes();
    let mut tail = [0_u8; 10];
    tail.copy_from_slice(&bytes[..10]);
    uuid::Builder::from_unix_timestamp_millis(now.as_millis(), &tail).into_uuid()
}

/// The isolation boundary of queues, memory and workspaces.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tenant(String);

impl Tenant {
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The tenant of a person working on their own machine.
    pub fn local() -> Self {
        Self::new("local")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_the_time_they_were_made_whatever_the_dice_say() {
        let older = TaskId::new(Wall::from_millis(1_000), u128::MAX);
        let newer = TaskId::new(Wall::from_millis(1_001), 0);
        assert!(older < newer);
    }

    #[test]
    fn an_id_survives_text() {
        let id = TaskId::new(Wall::from_millis(1_700_000_000_000), 42 << 64);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("task-1".parse::<TaskId>().is_err());
    }
}
