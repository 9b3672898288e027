//! How a task stands in the words of the command line: in a sentence, and with the command that goes on with it. What it is, the
//! engine says.

use windlass_domain::{Awaited, TaskId};
pub use windlass_engine::Stands;

use crate::show::headline;

/// What people read about it.
pub trait InWords {
    fn for_people(self) -> String;

    /// Where nobody is there to go on with it: how it stands, with the reason that somebody gave.
    fn rests(self, reason: Option<&str>) -> Option<String>;

    /// What to type next, in a sentence for people.
    fn next(self, task: TaskId, is_objective: bool) -> Option<String>;

    /// What to type for it to go on, where that is all there is to do.
    fn command(self, task: TaskId, is_objective: bool) -> Option<String>;
}

impl InWords for Stands {
    fn for_people(self) -> String {
        match self {
            Self::Waiting(Awaited::Card(card)) => format!("waits for you · card {}", card.short()),
            Self::Waiting(Awaited::Question(question)) => format!("waits for you · question {}", question.short()),
            Self::Waiting(Awaited::Research(_)) => "has something looked into".to_owned(),
            Self::Waiting(Awaited::Monitor(_)) => "waits for its next look".to_owned(),
            Self::Agreed => "agreed on, not started".to_owned(),
            _ => self.word().to_owned(),
        }
    }

    fn rests(self, reason: Option<&str>) -> Option<String> {
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

    fn next(self, task: TaskId, is_objective: bool) -> Option<String> {
        let what = if self == Self::Agreed { "to begin" } else { "to go on" };
        self.command(task, is_objective).map(|command| format!("{what}: {command}"))
    }

    fn command(self, task: TaskId, is_objective: bool) -> Option<String> {
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
