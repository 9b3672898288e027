//! An approval's stream: the fold so far, and how commands become rows.

use windlass_domain::approval::{
    ApprovalCommand, ApprovalEvent, ApprovalScope, ApprovalState, CardId, Rejected, decide,
};
use windlass_domain::{MessageId, Seq, Taint, TaskId, Tenant, Unreadable, Wall};
use windlass_policy::Redactor;
use windlass_store::{NewEvent, Store, StreamId, TimerName};

use crate::Error;
use crate::redacted::redacted;

/// More records than any approval has.
const PAGE: usize = 1_000;

pub struct ApprovalJournal {
    pub stream: StreamId,
    pub state: ApprovalState,
    pub head: Seq,
}

#[derive(Debug, thiserror::Error)]
pub enum NotDecided {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl From<NotDecided> for Error {
    fn from(refused: NotDecided) -> Self {
        match refused {
            NotDecided::Rejected(rejected) => Self::Card(rejected),
            NotDecided::Unreadable(unreadable) => Self::Unreadable(unreadable),
        }
    }
}

impl ApprovalJournal {
    pub fn new(card: CardId) -> Self {
        Self { stream: StreamId::new("approval", card), state: ApprovalState::default(), head: Seq(0) }
    }

    /// The approval that begins with a card; `Absent` where there is none.
    pub async fn load(store: &dyn Store, tenant: &Tenant, card: CardId) -> Result<Self, Error> {
        let mut journal = Self::new(card);
        loop {
            let page = store.stream(tenant, &journal.stream, journal.head, PAGE).await?;
            for row in &page {
                journal.state.apply(&ApprovalEvent::decode(&row.kind, row.version, &row.data)?);
                journal.head = row.seq;
            }
            if page.len() < PAGE {
                return Ok(journal);
            }
        }
    }

    /// Whether it is about a goal, and not about a task.
    pub fn is_standing(&self) -> bool {
        self.state.card().is_some_and(|card| card.binds.scope == ApprovalScope::Standing)
    }

    /// The task that asks.
    pub fn task(&self) -> Option<TaskId> {
        self.state.card().and_then(|card| card.binds.work_item_id.parse().ok())
    }

    /// Decides one command after the other, each on what the one before it led to, and applies them.
    pub fn advance(
        &mut self,
        commands: impl IntoIterator<Item = ApprovalCommand>,
        redactor: &Redactor,
        taint: Taint,
        now: Wall,
    ) -> Result<Vec<NewEvent>, NotDecided> {
        let mut rows = Vec::new();
        for command in commands {
            let event = decide(&self.state, command, now)?;
            let (event, encoded) = redacted(event, redactor)?;
            self.state.apply(&event);
            rows.push(NewEvent { stream: self.stream.clone(), encoded, taint, at: now });
        }
        Ok(rows)
    }
}

/// The message by which a person is asked has the card's own number.
pub fn review_message(card: CardId) -> MessageId {
    card.to_string().parse().expect("every id is a UUID")
}

pub fn card_timer(card: CardId) -> TimerName {
    TimerName(format!("card/{card}"))
}
