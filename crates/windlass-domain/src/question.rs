//! A question that an agent asks a person (seed 000 §8.3): put, and then answered or taken back. One question is one stream,
//! `question/<request_id>`. Unlike a card it permits nothing, is signed by nobody and waits for as long as it takes.

use serde::{Deserialize, Serialize};

use crate::event::events;
use crate::id::{CardId, ExecutionId, RequestId, TaskId};
use crate::message::CallId;

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserQuestion {
    pub question: String,
    /// Suggestions: any other answer is one as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Why it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

/// What is waited for: a yes to a card, an answer to a question, or what somebody who was asked finds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Awaited {
    Card(CardId),
    Question(RequestId),
    /// Of a planner: the task that looks into it.
    Research(TaskId),
    /// Of a task: its monitor's next word, or anybody else's.
    Monitor(TaskId),
}

impl Awaited {
    pub const fn card(self) -> Option<CardId> {
        match self {
            Self::Card(card) => Some(card),
            Self::Question(_) | Self::Research(_) | Self::Monitor(_) => None,
        }
    }

    pub const fn question(self) -> Option<RequestId> {
        match self {
            Self::Card(_) | Self::Research(_) | Self::Monitor(_) => None,
            Self::Question(question) => Some(question),
        }
    }

    pub const fn research(self) -> Option<TaskId> {
        match self {
            Self::Card(_) | Self::Question(_) | Self::Monitor(_) => None,
            Self::Research(run) => Some(run),
        }
    }

    pub const fn monitor(self) -> Option<TaskId> {
        match self {
            Self::Card(_) | Self::Question(_) | Self::Research(_) => None,
            Self::Monitor(task) => Some(task),
        }
    }

    /// Whether it is a person who is waited for.
    pub const fn is_of_people(self) -> bool {
        matches!(self, Self::Card(_) | Self::Question(_))
    }
}

events! {
    pub enum QuestionEvent {
        Asked(QuestionAsked) = "question.asked",
        Answered(QuestionAnswered) = "question.answered",
        Withdrawn(QuestionWithdrawn) = "question.withdrawn",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAsked {
    pub request_id: RequestId,
    pub task_id: TaskId,
    pub execution_id: ExecutionId,
    pub call_id: CallId,
    pub asked: UserQuestion,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswered {
    pub answer: String,
    pub by: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionWithdrawn {
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum QuestionState {
    #[default]
    Absent,
    Open(Box<QuestionAsked>),
    Answered(Box<QuestionAsked>),
    Withdrawn(Box<QuestionAsked>),
}

/// Why nothing was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuestionRejected {
    #[error("there is no such question")]
    NotAsked,
    #[error("the question was put before")]
    AlreadyAsked,
    #[error("the question has been answered")]
    AlreadyAnswered,
    #[error("the question was taken back")]
    TakenBack,
}

impl QuestionState {
    pub fn asked(&self) -> Option<&QuestionAsked> {
        match self {
            Self::Absent => None,
            Self::Open(asked) | Self::Answered(asked) | Self::Withdrawn(asked) => Some(asked),
        }
    }

    /// Whether `event` may happen now: it is asked once, and answered once or not at all.
    pub const fn allows(&self, event: &QuestionEvent) -> Result<(), QuestionRejected> {
        match (self, event) {
            (Self::Absent, QuestionEvent::Asked(_))
            | (Self::Open(_), QuestionEvent::Answered(_) | QuestionEvent::Withdrawn(_)) => Ok(()),
            (Self::Absent, _) => Err(QuestionRejected::NotAsked),
            (_, QuestionEvent::Asked(_)) => Err(QuestionRejected::AlreadyAsked),
            (Self::Answered(_), _) => Err(QuestionRejected::AlreadyAnswered),
            (Self::Withdrawn(_), _) => Err(QuestionRejected::TakenBack),
        }
    }

    pub fn apply(&mut self, event: &QuestionEvent) {
        *self = match (std::mem::take(self), event) {
            (Self::Absent, QuestionEvent::Asked(asked)) => Self::Open(Box::new(asked.clone())),
            (Self::Open(asked), QuestionEvent::Answered(_)) => Self::Answered(asked),
            (Self::Open(asked), QuestionEvent::Withdrawn(_)) => Self::Withdrawn(asked),
            // An end is an end, whatever lost the race against it.
            (state, _) => state,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Wall;

    fn asked() -> QuestionEvent {
        QuestionEvent::Asked(QuestionAsked {
            request_id: RequestId::new(Wall::default(), 1),
            task_id: TaskId::new(Wall::default(), 2),
            execution_id: ExecutionId::new(Wall::default(), 3),
            call_id: CallId("a".into()),
            asked: UserQuestion { question: "Which one?".into(), options: vec!["this".into()], context: None },
        })
    }

    fn answered() -> QuestionEvent {
        QuestionEvent::Answered(QuestionAnswered { answer: "this".into(), by: "ada".into() })
    }

    fn withdrawn() -> QuestionEvent {
        QuestionEvent::Withdrawn(QuestionWithdrawn { reason: "the run has ended".into() })
    }

    fn told(history: &[QuestionEvent]) -> QuestionState {
        let mut state = QuestionState::default();
        for event in history {
            assert_eq!(state.allows(event), Ok(()));
            state.apply(event);
        }
        state
    }

    #[test]
    fn a_question_is_put_once_and_answered_at_most_once() {
        let check = |history: &[QuestionEvent], event: QuestionEvent, expected| {
            assert_eq!(told(history).allows(&event), expected, "{} after {}", event.kind(), history.len());
        };
        check(&[], answered(), Err(QuestionRejected::NotAsked));
        check(&[asked()], asked(), Err(QuestionRejected::AlreadyAsked));
        check(&[asked(), answered()], answered(), Err(QuestionRejected::AlreadyAnswered));
        check(&[asked(), answered()], withdrawn(), Err(QuestionRejected::AlreadyAnswered));
        check(&[asked(), withdrawn()], answered(), Err(QuestionRejected::TakenBack));
    }

    #[test]
    fn what_is_not_allowed_changes_nothing_should_it_be_there_all_the_same() {
        let mut state = told(&[asked(), answered()]);
        state.apply(&withdrawn());
        assert!(matches!(state, QuestionState::Answered(_)));
    }
}
