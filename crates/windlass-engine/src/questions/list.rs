//! The questions that are open: read from the `review` mailbox, so that it costs what is open and not what ever was. And what became of
//! one, however it stands.

use windlass_domain::{QuestionAnswered, QuestionAsked, QuestionEvent, QuestionState, RequestId, Seq, Wall};

use super::journal::QuestionJournal;
use super::put::KIND;
use crate::Error;
use crate::approvals::REVIEW;
use crate::engine::Engine;

const PAGE: usize = 10_000;

/// A question that nobody has answered.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    pub asked: QuestionAsked,
    pub at: Wall,
}

/// A question, and what became of it.
#[derive(Debug, Clone)]
pub struct QuestionTold {
    pub asked: QuestionAsked,
    pub at: Wall,
    pub answered: Option<(QuestionAnswered, Wall)>,
    pub is_withdrawn: bool,
}

impl Engine {
    /// The open questions, oldest first.
    pub async fn questions(&self) -> Result<Vec<OpenQuestion>, Error> {
        let shared = &self.shared;
        let mut open = Vec::new();
        let messages = shared.store.mailbox(&shared.tenant, REVIEW, shared.wall(), PAGE).await?;
        for message in messages.into_iter().filter(|message| message.kind == KIND) {
            let Ok(question) = message.message_id.to_string().parse() else { continue };
            match self.question(question).await {
                // Stays where it is, for a version that can read it.
                Err(Error::Unreadable(_)) => {}
                found => {
                    if let QuestionState::Open(asked) = found? {
                        open.push(OpenQuestion { asked: *asked, at: message.enqueued_at });
                    }
                }
            }
        }
        Ok(open)
    }

    /// A question as it stands. `Absent`: there is none.
    pub async fn question(&self, question: RequestId) -> Result<QuestionState, Error> {
        let shared = &self.shared;
        Ok(QuestionJournal::load(shared.store.as_ref(), &shared.tenant, question).await?.state)
    }

    /// One that may be over. `None`: there is no such question.
    pub async fn question_told(&self, question: RequestId) -> Result<Option<QuestionTold>, Error> {
        let stream = QuestionJournal::new(question).stream;
        let mut told: Option<QuestionTold> = None;
        for row in self.shared.store.stream(&self.shared.tenant, &stream, Seq(0), PAGE).await? {
            match (QuestionEvent::decode(&row.kind, row.version, &row.data)?, &mut told) {
                (QuestionEvent::Asked(asked), _) => {
                    told = Some(QuestionTold { asked, at: row.at, answered: None, is_withdrawn: false });
                }
                (QuestionEvent::Answered(answered), Some(told)) => told.answered = Some((answered, row.at)),
                (QuestionEvent::Withdrawn(_), Some(told)) => told.is_withdrawn = true,
                (_, None) => {}
            }
        }
        Ok(told)
    }
}
