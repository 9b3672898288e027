//! What else a commit of the host carries: the engine's part of the story, in the same transaction.

use windlass_domain::{MessageId, Seq};
use windlass_store::{
    Commit, DeliveryChange, MailboxSeen, Marker, NewBlob, NewEvent, NewMessage, Nonce, StreamId, TimerChange,
};

#[derive(Default)]
pub struct Rider {
    pub expect: Vec<(StreamId, Seq)>,
    pub nonces: Vec<Nonce>,
    pub processed: Vec<Marker>,
    pub unread: Vec<MailboxSeen>,
    pub events: Vec<NewEvent>,
    pub messages: Vec<NewMessage>,
    pub acks: Vec<MessageId>,
    pub deliveries: Vec<DeliveryChange>,
    pub timers: Vec<TimerChange>,
    /// What its events refer to.
    pub blobs: Vec<NewBlob>,
}

impl Rider {
    pub fn is_empty(&self) -> bool {
        let Self { events, messages, acks, deliveries, timers, .. } = self;
        events.is_empty() && messages.is_empty() && acks.is_empty() && deliveries.is_empty() && timers.is_empty()
    }

    /// Takes along what a queue added to a commit of its own.
    pub fn ride_with(&mut self, commit: Commit) {
        self.events.extend(commit.events);
        self.messages.extend(commit.messages);
    }

    pub fn ride(self, commit: &mut Commit) {
        let Self { expect, nonces, processed, unread, events, messages, acks, deliveries, timers, blobs } = self;
        commit.expect.extend(expect);
        commit.nonces.extend(nonces);
        commit.processed.extend(processed);
        commit.unread.extend(unread);
        commit.events.extend(events);
        commit.messages.extend(messages);
        commit.acks.extend(acks);
        commit.deliveries.extend(deliveries);
        commit.timers.extend(timers);
        commit.blobs.extend(blobs);
    }
}
