//! How far a channel has been told. What is published elsewhere is published first and then said to be, here: a crash in between has it
//! published again, and whoever reads it can tell by its id. Positions only rise, whichever process says so.

use windlass_domain::coordinate::{Channel, OutboxEvent, OutboxMoved, OutboxOpened, OutboxState};
use windlass_domain::task::TaskStatus;
use windlass_domain::{OwnerId, Seq, Taint};
use windlass_store::{Commit, Error as StoreError, NewEvent, Position, StreamId};

use super::Outgoing;
use crate::Error;
use crate::engine::Engine;
use crate::process::owner;

const PAGE: usize = 256;

/// What there is to tell after a position.
#[derive(Debug, Clone)]
pub struct OutboxPage {
    /// In the order in which it was committed.
    pub entries: Vec<Outgoing>,
    /// The last record that was looked at.
    pub upto: u64,
    pub is_last: bool,
}

impl Engine {
    /// Made when it is first asked for.
    pub async fn outbox(&self, name: &str) -> Result<OutboxState, Error> {
        loop {
            let state = self.outbox_state(name).await?;
            if !state.outbox_id.is_empty() {
                return Ok(state);
            }
            let shared = &self.shared;
            let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
            commit.expect.push((outbox_stream(name), Seq(0)));
            let opened = OutboxOpened { outbox_id: format!("{:032x}", shared.runtime.random()) };
            commit.events.push(self.outbox_row(name, &OutboxEvent::Opened(opened)));
            match shared.commit(commit).await {
                Ok(_) | Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What is told after `after`.
    pub async fn outgoing(&self, channel: Channel, after: u64) -> Result<OutboxPage, Error> {
        let rows = self.shared.store.events(&self.shared.tenant, Position(after), PAGE).await?;
        let mut page = OutboxPage { entries: Vec::new(), upto: after, is_last: rows.len() < PAGE };
        for row in rows {
            page.entries.extend(self.told_by(channel, &row).await?);
            page.upto = row.position.0;
        }
        Ok(page)
    }

    /// Everything up to there is published. Where more is known to be, nothing is written.
    pub async fn outbox_moved(&self, name: &str, position: u64) -> Result<(), Error> {
        let shared = &self.shared;
        let stream = outbox_stream(name);
        loop {
            let head = shared.store.head(&shared.tenant, &stream).await?;
            if self.outbox_state(name).await?.position >= position {
                return Ok(());
            }
            let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
            commit.expect.push((stream.clone(), head));
            commit.events.push(self.outbox_row(name, &OutboxEvent::Moved(OutboxMoved { position })));
            match shared.commit(commit).await {
                Ok(_) => return Ok(()),
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The first record says whose it is, and the last one how far it has come: however many there are, two are read.
    async fn outbox_state(&self, name: &str) -> Result<OutboxState, Error> {
        let (shared, stream) = (&self.shared, outbox_stream(name));
        let head = shared.store.head(&shared.tenant, &stream).await?;
        let mut state = OutboxState::default();
        for after in [Seq(0), Seq(head.0.saturating_sub(1))] {
            for row in shared.store.stream(&shared.tenant, &stream, after, 1).await? {
                state.apply(&OutboxEvent::decode(&row.kind, row.version, &row.data)?);
            }
        }
        Ok(state)
    }

    fn outbox_row(&self, name: &str, event: &OutboxEvent) -> NewEvent {
        let (stream, encoded) = (outbox_stream(name), event.encode());
        NewEvent { stream, encoded, taint: Taint::Auth, at: self.shared.wall() }
    }

    /// This process, as others know it.
    pub async fn owner_id(&self) -> Result<OwnerId, Error> {
        Ok(owner(&self.shared.house).await?)
    }

    /// Whether a process is there. None: nobody knows it, or it has taken its leave.
    pub async fn lives(&self, process: OwnerId) -> Result<Option<bool>, Error> {
        match self.shared.store.owner(process).await? {
            Some(row) => Ok(Some(self.is_alive(&row).await?)),
            None => Ok(None),
        }
    }

    /// The tasks that are under way in sessions that are heard at a channel, as their callers call them, with their flags.
    pub async fn flags_under_way(&self, channel: Channel) -> Result<Vec<(String, &'static str)>, Error> {
        let (mut flags, mut before) = (Vec::new(), None);
        loop {
            let page = self.shared.store.streams(&self.shared.tenant, "session", before.as_ref(), PAGE).await?;
            for session_id in page.iter().filter_map(|head| head.stream.id().parse().ok()) {
                let session = self.session(session_id).await?;
                for task in session.under_way.iter().chain(&session.waiting).filter(|_| session.is_heard_at(channel)) {
                    let is_paused = self.task(*task).await?.status == Some(TaskStatus::Paused);
                    flags.push((session.name_of(*task), if is_paused { "paused" } else { "running" }));
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => before = Some(last.stream.clone()),
                _ => return Ok(flags),
            }
        }
    }
}

fn outbox_stream(name: &str) -> StreamId {
    StreamId::new("outbox", name)
}
