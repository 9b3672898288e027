//! How a task stands, or one who works for it: in a word, in a sentence, and with the command that goes on with it. Made from what is
//! known of all who belong to it; reading that is for others.

use serde::{Serialize, Serializer};
use windlass_domain::{Awaited, TaskId};
use windlass_engine::Sending;

use crate::show::headline;

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

    pub fn for_people(self) -> String {
        match self {
            Self::Waiting(Awaited::Card(card)) => format!("waits for you · card {}", card.short()),
            Self::Waiting(Awaited::Question(question)) => format!("waits for you · question {}", question.short()),
            Self::Waiting(Awaited::Research(_)) => "has something looked into".to_owned(),
            Self::Agreed => "agreed on, not started".to_owned(),
            _ => self.word().to_owned(),
        }
    }

    /// Where nobody is there to go on with it: how it stands, with the reason that somebody gave.
    pub fn rests(self, reason: Option<&str>) -> Option<String> {
        let word = self.for_people();
        match self {
            Self::Stopped | Self::Paused => Some(match reason.unwrap_or_default() {
                "" => word,
                reason if reason.starts_with(&word) => headline(reason),
                reason => format!("{word}: {}", headline(reason)),
            }),
            Self::Agreed | Self::Interrupted | Self::Queued | Self::Answered => Some(word),
            _ => None,
        }
    }

    /// What to type next, in a sentence for people.
    pub fn next(self, task: TaskId, is_objective: bool) -> Option<String> {
        let what = if self == Self::Agreed { "to begin" } else { "to go on" };
        self.command(task, is_objective).map(|command| format!("{what}: {command}"))
    }

    /// What to type for it to go on, where that is all there is to do.
    pub fn command(self, task: TaskId, is_objective: bool) -> Option<String> {
        let verb = match self {
            Self::Agreed => "start",
            // As whoever stopped it was told.
            Self::Stopped if is_objective => "start",
            Self::Stopped | Self::Paused | Self::Interrupted | Self::Answered | Self::Queued => "resume",
            Self::Verified | Self::Completed | Self::Failed | Self::Cancelled | Self::Running | Self::Waiting(_) => {
                return None;
            }
        };
        Some(format!("windlass {verb} {}", task.short()))
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
