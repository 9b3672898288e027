//! The cards that people are asked about: read from the `review` mailbox, so that it costs what is open and not what ever was.

use windlass_domain::approval::{ApprovalEvent, ApprovalState, Card, CardId, Decided};
use windlass_domain::{Seq, TaskId, Wall};

use super::journal::ApprovalJournal;
use super::request::REVIEW;
use crate::Error;
use crate::engine::Engine;

const PAGE: usize = 10_000;
/// A card's answer stands right behind it.
const BEGINNING: usize = 4;

/// A question that is open.
#[derive(Debug, Clone)]
pub struct Asked {
    pub card: Card,
    pub task: TaskId,
    pub at: Wall,
}

/// When a card was put before people, and what a person said to it.
#[derive(Debug, Clone)]
pub struct CardAnswer {
    pub card: Card,
    pub asked_at: Wall,
    pub answer: Option<(Decided, Wall)>,
}

impl Engine {
    /// The open cards, oldest first. One whose time is up is not among them.
    pub async fn cards(&self) -> Result<Vec<Asked>, Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let mut asked = Vec::new();
        for message in shared.store.mailbox(&shared.tenant, REVIEW, now, PAGE).await? {
            let Ok(card_id) = message.message_id.to_string().parse() else { continue };
            let found = match self.card(card_id).await {
                // Stays where it is, for a version that can read it.
                Err(Error::Unreadable(_)) => continue,
                found => found?,
            };
            if let (ApprovalState::Requested { card }, Some(task)) = found
                && now < card.expires_at
            {
                asked.push(Asked { card: *card, task, at: message.enqueued_at });
            }
        }
        Ok(asked)
    }

    /// The ids of all cards there ever were, newest first, `most` of them.
    pub async fn card_ids(&self, most: usize) -> Result<Vec<CardId>, Error> {
        let heads = self.shared.store.streams(&self.shared.tenant, "approval", None, most).await?;
        Ok(heads.iter().filter_map(|head| head.stream.id().parse().ok()).collect())
    }

    /// An approval as it stands, and the task it is for. `Absent`: there is no such card.
    pub async fn card(&self, card: CardId) -> Result<(ApprovalState, Option<TaskId>), Error> {
        let journal = ApprovalJournal::load(self.shared.store.as_ref(), &self.shared.tenant, card).await?;
        let task = journal.task();
        Ok((journal.state, task))
    }

    /// What was said to a card. `None`: there is no such card.
    pub async fn card_answer(&self, card: CardId) -> Result<Option<CardAnswer>, Error> {
        let stream = ApprovalJournal::new(card).stream;
        let mut told: Option<CardAnswer> = None;
        for row in self.shared.store.stream(&self.shared.tenant, &stream, Seq(0), BEGINNING).await? {
            match (ApprovalEvent::decode(&row.kind, row.version, &row.data)?, &mut told) {
                (ApprovalEvent::Requested(requested), _) => {
                    told = Some(CardAnswer { card: requested.card, asked_at: row.at, answer: None });
                }
                (ApprovalEvent::Decided(decided), Some(told)) => told.answer = Some((decided, row.at)),
                _ => {}
            }
        }
        Ok(told)
    }
}
