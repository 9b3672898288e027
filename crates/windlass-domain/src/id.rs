//! Typed identifiers, all UUIDv7: they sort by the time they were made, and one kind cannot be passed where another is
//! meant. The domain neither reads a clock nor rolls dice, so whoever makes an id hands in both.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::caller::CallerName;
use crate::digest::Digest;
use crate::message::CallId;
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

            /// What a caller of this tenant calls so.
            #[must_use]
            pub fn called(tenant: &Tenant, name: &CallerName) -> Self {
                let is_own = Uuid::parse_str(name.as_str()).map(Self);
                is_own.unwrap_or_else(|_| Self(uuid_called(stringify!($name), tenant, name)))
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
    /// A goal that is looked at again and again.
    GoalId,
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
    /// Something that a tenant remembers.
    MemoryId,
}

impl MemoryId {
    /// Of the `nth` thing that is remembered of a task: the same whoever works it out, so that it needs no dice.
    #[must_use]
    pub fn of(task: TaskId, nth: usize, at: Wall) -> Self {
        let digest = Digest::of(task.0.as_bytes()).chain(nth.to_string().as_bytes());
        let mut random = [0_u8; 16];
        random.copy_from_slice(&digest.as_bytes()[..16]);
        Self::new(at, u128::from_be_bytes(random))
    }
}

impl SessionId {
    /// The conversation about a folder that goes by this name, which may be none: the same whoever speaks first.
    #[must_use]
    pub fn of(workspace: &str, name: &str) -> Self {
        let digest = Digest::of(workspace.as_bytes()).chain(name.as_bytes());
        let mut random = [0_u8; 16];
        random.copy_from_slice(&digest.as_bytes()[..16]);
        Self::new(Wall::default(), u128::from_be_bytes(random))
    }
}

impl ExecutionId {
    /// Of the agent that a call of this execution spawns: the same whoever asks, so that there is one.
    #[must_use]
    pub fn child(self, call: &CallId) -> Self {
        let digest = Digest::of(self.0.as_bytes()).chain(call.0.as_bytes());
        let mut random = [0_u8; 16];
        random.copy_from_slice(&digest.as_bytes()[..16]);
        let made = u64::try_from(self.0.as_u128() >> 80).unwrap_or_default();
        Self::new(Wall::from_millis(made), u128::from_be_bytes(random))
    }
}

fn uuid_called(kind: &str, tenant: &Tenant, name: &CallerName) -> Uuid {
    let digest = Digest::of(kind.as_bytes()).chain(tenant.as_str().as_bytes()).chain(name.as_str().as_bytes());
    let mut random = [0_u8; 16];
    random.copy_from_slice(&digest.as_bytes()[..16]);
    uuid_v7(Wall::default(), u128::from_be_bytes(random))
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
    fn a_child_is_named_by_its_parent_and_its_call_alone() {
        let parent = ExecutionId::new(Wall::from_millis(1_700_000_000_000), 42 << 64);
        let child = |call: &str| parent.child(&CallId(call.into()));
        assert_eq!(child("a"), child("a"));
        let all = [parent, child("a"), child("b"), child("a").child(&CallId("a".into()))];
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
        assert_eq!(child("a").to_string()[..13], parent.to_string()[..13], "made when its parent was");
    }

    #[test]
    fn an_id_survives_text() {
        let id = TaskId::new(Wall::from_millis(1_700_000_000_000), 42 << 64);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("task-1".parse::<TaskId>().is_err());
    }
}
