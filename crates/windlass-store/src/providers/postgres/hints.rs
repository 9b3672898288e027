//! What processes tell each other of their commits: topics as a small JSON text, which is all that `NOTIFY` carries. What does
//! not fit is "anything".

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use windlass_domain::Tenant;

use crate::notifier::{Elsewhere, Topic};

/// `NOTIFY` takes less than 8,000 bytes.
const LONGEST: usize = 7_000;

#[derive(Serialize, Deserialize)]
struct Hint {
    from: Uuid,
    /// `None`: anything may have changed.
    topics: Option<Vec<Named>>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Named {
    Mailbox(String, String),
    Queue(String),
    Events(String),
}

/// `None`: there is nothing to tell.
pub(super) fn encode(from: Uuid, topics: &[Topic]) -> Option<String> {
    let mut named: Vec<Named> = topics.iter().map(Named::of).collect();
    named.sort();
    named.dedup();
    if named.is_empty() {
        return None;
    }
    let text = |topics| serde_json::to_string(&Hint { from, topics }).expect("texts can be written as JSON");
    let full = text(Some(named));
    Some(if full.len() > LONGEST { text(None) } else { full })
}

/// `None`: it is our own, or nothing that we can read.
pub(super) fn decode(own: Uuid, payload: &str) -> Option<Elsewhere> {
    let hint: Hint = serde_json::from_str(payload).ok()?;
    if hint.from == own {
        return None;
    }
    Some(match hint.topics {
        None => Elsewhere::Anything,
        Some(named) => Elsewhere::Topics(named.into_iter().map(Named::topic).collect()),
    })
}

impl Named {
    fn of(topic: &Topic) -> Self {
        match topic {
            Topic::Mailbox { tenant, mailbox } => Self::Mailbox(tenant.as_str().to_owned(), mailbox.clone()),
            Topic::Queue { queue } => Self::Queue(queue.clone()),
            Topic::Events { tenant } => Self::Events(tenant.as_str().to_owned()),
        }
    }

    fn topic(self) -> Topic {
        match self {
            Self::Mailbox(tenant, mailbox) => Topic::Mailbox { tenant: Tenant::new(tenant), mailbox },
            Self::Queue(queue) => Topic::Queue { queue },
            Self::Events(tenant) => Topic::Events { tenant: Tenant::new(tenant) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Uuid = Uuid::from_u128(1);
    const THERE: Uuid = Uuid::from_u128(2);

    #[test]
    fn what_was_told_is_heard_once_and_not_by_who_told_it() {
        let tenant = Tenant::local();
        let mailbox = Topic::Mailbox { tenant: tenant.clone(), mailbox: "box \"one\"".into() };
        let topics = [mailbox.clone(), Topic::Events { tenant: tenant.clone() }, mailbox.clone()];
        let payload = encode(HERE, &topics).expect("something to tell");
        assert_eq!(decode(THERE, &payload), Some(Elsewhere::Topics(vec![mailbox, Topic::Events { tenant }])));
        assert_eq!(decode(HERE, &payload), None);
        assert_eq!(encode(HERE, &[]), None);
        assert_eq!(decode(THERE, "of another program"), None);
    }

    #[test]
    fn what_does_not_fit_is_anything() {
        let topics: Vec<Topic> = (0..1_000).map(|number| Topic::Queue { queue: format!("queue {number}") }).collect();
        let payload = encode(HERE, &topics).expect("something to tell");
        assert!(payload.len() <= LONGEST);
        assert_eq!(decode(THERE, &payload), Some(Elsewhere::Anything));
    }
}
