//! A question's stream: the fold so far, and how what happens to it becomes rows.

use windlass_domain::{
    QuestionEvent, QuestionRejected, QuestionState, RequestId, Seq, Taint, Tenant, Unreadable, Wall,
};
use windlass_policy::Redactor;
use windlass_store::{NewEvent, Store, StreamId};

use crate::Error;
use crate::redacted::redacted;

/// More records than any question has.
const PAGE: usize = 10;

pub struct QuestionJournal {
    pub stream: StreamId,
    pub state: QuestionState,
    pub head: Seq,
}

#[derive(Debug, thiserror::Error)]
pub enum NotRecorded {
    #[error(transparent)]
    Rejected(#[from] QuestionRejected),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl From<NotRecorded> for Error {
    fn from(refused: NotRecorded) -> Self {
        match refused {
            NotRecorded::Rejected(rejected) => Self::Question(rejected),
            NotRecorded::Unreadable(unreadable) => Self::Unreadable(unreadable),
        }
    }
}

impl QuestionJournal {
    pub fn new(question: RequestId) -> Self {
        Self { stream: StreamId::new("question", question), state: QuestionState::default(), head: Seq(0) }
    }

    /// `Absent` where there is none.
    pub async fn load(store: &dyn Store, tenant: &Tenant, question: RequestId) -> Result<Self, Error> {
        let mut journal = Self::new(question);
        for row in store.stream(tenant, &journal.stream, Seq(0), PAGE).await? {
            journal.state.apply(&QuestionEvent::decode(&row.kind, row.version, &row.data)?);
            journal.head = row.seq;
        }
        Ok(journal)
    }

    pub fn advance(
        &mut self,
        event: QuestionEvent,
        redactor: &Redactor,
        taint: Taint,
        at: Wall,
    ) -> Result<NewEvent, NotRecorded> {
        self.state.allows(&event)?;
        let (event, encoded) = redacted(event, redactor)?;
        self.state.apply(&event);
        Ok(NewEvent { stream: self.stream.clone(), encoded, taint, at })
    }
}
