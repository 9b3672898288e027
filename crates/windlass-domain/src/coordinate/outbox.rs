//! How far what happened has been told elsewhere: the records of an outbox, `outbox/<name>`, and their fold.

use serde::{Deserialize, Serialize};

use crate::event::events;

events! {
    pub enum OutboxEvent {
        Opened(OutboxOpened) = "outbox.opened",
        Moved(OutboxMoved) = "outbox.moved",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxOpened {
    /// Nobody else's: positions of another store mean nothing here.
    pub outbox_id: String,
}

/// Everything up to there has been told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxMoved {
    pub position: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutboxState {
    pub outbox_id: String,
    pub position: u64,
}

impl OutboxState {
    pub fn apply(&mut self, event: &OutboxEvent) {
        match event {
            OutboxEvent::Opened(opened) => self.outbox_id.clone_from(&opened.outbox_id),
            // Two may follow at once, and the slower one says what is known.
            OutboxEvent::Moved(moved) => self.position = self.position.max(moved.position),
        }
    }
}
