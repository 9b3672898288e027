//! The questions that are open: read from the `review` mailbox, so that it costs what is open and not what ever was.

use windlass_domain::{QuestionAsked, QuestionState, RequestId, Wall};

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
}
