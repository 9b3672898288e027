//! Why a program is talked to no more, and what follows from that for its launch and for the execution: a value and pure rules.

use windlass_domain::execution::{Failure, Outcome, TurnEnd};
use windlass_domain::{CallStatus, ErrorCategory, ErrorCode, ErrorDetails, Exhausted, Refused, Stop};

use super::doubt::tried;
use super::foreign::{ended, failed};
use crate::{Agent, CannotLaunch};

/// Why a program is talked to no more.
#[derive(Debug)]
pub enum End {
    Turn(TurnEnd),
    /// A person is asked.
    Held,
    Stopped(Stop),
    /// It ended by itself, in the middle; what it complained of.
    Exited(String),
    Silent,
    OutOf(Exhausted),
    /// What it says cannot be read.
    NotBelieved(String),
    /// The same, and it goes on on its screen.
    OnScreen(String),
    /// It is not what it has to be.
    Unacceptable(String),
    /// It has its owner do more than there is reason for.
    Flood(&'static str),
    /// It says that it cannot do it, and whether checks decide that.
    GaveUp {
        why: String,
        is_checked: bool,
    },
    Refused(Refused),
    /// Something in the workspace must go first.
    Refuses(String),
    Broken(String),
}

/// Another attempt would come to the same.
impl From<CannotLaunch> for End {
    fn from(why: CannotLaunch) -> Self {
        Self::Refuses(why.to_string())
    }
}

impl End {
    /// How the call that started the program ended.
    pub fn of_launch(&self) -> (CallStatus, String) {
        match self {
            Self::Turn(TurnEnd::Completed { .. }) => (CallStatus::Ok, "the agent has ended its turn".to_owned()),
            Self::Held => (CallStatus::Ok, "the agent was stopped until a person has answered".to_owned()),
            Self::GaveUp { why, .. } => (CallStatus::Ok, format!("the agent gives up: {why}")),
            Self::Stopped(_) => (CallStatus::Cancelled, "the agent was stopped".to_owned()),
            other => (CallStatus::Error, other.in_words()),
        }
    }

    /// Nobody waits for such a program to say goodbye.
    pub const fn is_its_fault(&self) -> bool {
        matches!(
            self,
            Self::Silent
                | Self::Flood(_)
                | Self::NotBelieved(_)
                | Self::OnScreen(_)
                | Self::Unacceptable(_)
                | Self::Stopped(Stop::LeaseLost)
        )
    }

    fn in_words(&self) -> String {
        let because = |why: &str| if why.is_empty() { String::new() } else { format!(": {why}") };
        match self {
            Self::Turn(TurnEnd::Completed { message }) => message.clone(),
            Self::Turn(TurnEnd::Interrupted) => "the agent was interrupted".to_owned(),
            Self::Turn(TurnEnd::Failed { reason, .. }) => format!("the agent failed{}", because(reason)),
            Self::Held => "a person is asked".to_owned(),
            Self::Stopped(_) => "the agent was stopped".to_owned(),
            Self::Exited(said) => format!("the agent's program ended in the middle of its work{}", because(said)),
            Self::Silent => "the agent's program says nothing and does nothing".to_owned(),
            Self::OutOf(exhausted) => exhausted.to_string(),
            Self::NotBelieved(why) => format!("what the agent's program says cannot be read{}", because(why)),
            Self::OnScreen(why) => {
                format!("what the agent's program says cannot be read, and it goes on on its screen{}", because(why))
            }
            Self::Unacceptable(why) => format!("the agent's program is not worked with{}", because(why)),
            Self::Flood(what) => format!("the agent's program floods its owner: {what}"),
            Self::GaveUp { why, .. } => format!("the agent gives up{}", because(why)),
            Self::Refused(refused) => refused.to_string(),
            Self::Refuses(why) => why.clone(),
            Self::Broken(why) => format!("the agent could not be started{}", because(why)),
        }
    }

    pub fn outcome(self, agent: &Agent) -> Outcome {
        let words = self.in_words();
        match self {
            Self::Turn(TurnEnd::Completed { message }) if message.trim().is_empty() => {
                failed(ErrorCode::AnswerIncomplete, "the agent ended without a word".to_owned())
            }
            Self::Turn(TurnEnd::Completed { message }) => Outcome::Completed { message },
            Self::GaveUp { is_checked: true, .. } => Outcome::Completed { message: words },
            Self::Held => Outcome::Waiting,
            Self::Stopped(stop) => Outcome::Stopped(stop),
            Self::OutOf(exhausted) => Outcome::Failed(exhausted.details()),
            Self::Refused(refused) => ended(refused),
            Self::Turn(TurnEnd::Failed { why: Failure::Model, .. }) => failed(ErrorCode::ModelUnavailable, words),
            Self::Turn(TurnEnd::Failed { why: Failure::Login, .. }) => failed(ErrorCode::ModelRejected, words),
            Self::Broken(_) => failed(ErrorCode::SandboxUnavailable, words),
            Self::Refuses(_) => {
                let error = ErrorDetails::new(ErrorCode::Stuck, words);
                Outcome::Failed(ErrorDetails { category: ErrorCategory::Permanent, ..error })
            }
            Self::NotBelieved(_) | Self::OnScreen(_) | Self::Unacceptable(_) => {
                // One that is not to be trusted is no better on a screen.
                let screen = match self {
                    Self::Unacceptable(_) => "",
                    _ => ", or have it work on its own screen with --terminal",
                };
                let hint = format!("{}: install such a version{screen}", tried(agent));
                let error = ErrorDetails::new(ErrorCode::Stuck, words).with_hint(hint);
                Outcome::Failed(ErrorDetails { category: ErrorCategory::Permanent, ..error })
            }
            Self::Turn(TurnEnd::Interrupted | TurnEnd::Failed { why: Failure::Agent, .. })
            | Self::Exited(_)
            | Self::Silent
            | Self::Flood(_)
            | Self::GaveUp { is_checked: false, .. } => failed(ErrorCode::Stuck, words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adapter as _, Copilot};

    /// Regression: it was taken for a sandbox that is out of order, which is waited for.
    #[test]
    fn what_a_program_cannot_do_it_cannot_do_the_next_time_either() {
        let agent = Copilot.agent();
        let end = End::from(CannotLaunch::CannotFork { agent: agent.id });
        let Outcome::Failed(error) = end.outcome(agent) else { panic!("it has failed") };
        assert_eq!((error.error_code, error.category), (ErrorCode::Stuck, ErrorCategory::Permanent));
        assert!(error.message.contains("cannot fork a conversation"), "{}", error.message);
    }
}
