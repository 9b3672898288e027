//! How a task stands, or one who works for it, in a word. Made from what is known of all who belong to it; reading that is `read`'s.

use serde::{Serialize, Serializer};
use windlass_domain::Awaited;

use crate::read::Sending;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    Verified,
    Completed,
    Failed,
    Cancelled,
    Running,
    /// A person is asked, and has not answered.
    Waiting(Awaited),
    /// Whoever was asked has answered, and nobody has gone on since.
    Answered,
    /// What is wanted is settled, and waits to be begun.
    Agreed,
    /// A person stopped it.
    Stopped,
    Paused,
    /// It was worked on by somebody who is gone.
    Interrupted,
    /// Somebody is to go on with it, and nobody does yet.
    Queued,
}

impl Stands {
    /// As scripts know it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Running => "running",
            Self::Waiting(_) => "waiting",
            Self::Answered => "answered",
            Self::Agreed => "agreed",
            Self::Stopped => "stopped",
            Self::Paused => "paused",
            Self::Interrupted => "interrupted",
            Self::Queued => "queued",
        }
    }
}

impl Serialize for Stands {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// What is known of one who works for a task, or of the task itself, while nobody holds it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Member {
    pub has_begun: bool,
    pub is_paused: bool,
    pub sending: Option<Sending>,
}

/// How it goes on with them: one that nobody holds may lie in a queue, and a plan sleeps until others have ended.
pub fn goes_on(members: &[Member]) -> Stands {
    let any = |is_so: fn(&Member) -> bool| members.iter().any(is_so);
    let has_begun = any(|member| member.has_begun);
    if any(|member| member.sending == Some(Sending::Taken)) {
        Stands::Running
    } else if has_begun && any(|member| member.sending == Some(Sending::Left)) {
        Stands::Interrupted
    } else if any(|member| member.sending.is_some()) {
        Stands::Queued
    } else if any(|member| member.is_paused) {
        Stands::Paused
    } else if has_begun {
        Stands::Interrupted
    } else {
        Stands::Queued
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each member in a word: `b`egun, `p`aused, and its message `w`aiting, `t`aken or `l`eft.
    fn read(members: &str) -> Vec<Member> {
        let member = |word: &str| Member {
            has_begun: word.contains('b'),
            is_paused: word.contains('p'),
            sending: match word {
                _ if word.contains('w') => Some(Sending::Waits),
                _ if word.contains('t') => Some(Sending::Taken),
                _ if word.contains('l') => Some(Sending::Left),
                _ => None,
            },
        };
        members.split_whitespace().map(member).collect()
    }

    /// Regression: a plan that slept, with an item in the queue, was called interrupted.
    #[test]
    fn the_word_for_a_plan_is_that_of_those_who_work_for_it() {
        let check = |members: &str, expected: &str| assert_eq!(goes_on(&read(members)).word(), expected, "{members}");
        check("w", "queued");
        check("- bw", "queued");
        check("- b w", "queued");
        check("- bt", "running");
        check("- bl", "interrupted");
        check("- bl w", "interrupted");
        check("l", "queued");
        check("b", "interrupted");
        check("- b bp", "paused");
        check("- b bpw", "queued");
    }
}
