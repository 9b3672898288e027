//! A session's stream: the fold so far, and how actions become rows.

use windlass_domain::session::{SessionAction, SessionEvent, SessionRejected, SessionState, TurnEnded, decide};
use windlass_domain::{MessageId, Seq, SessionId, Taint, Unreadable, Wall};
use windlass_policy::Redactor;
use windlass_store::{NewEvent, StreamId};

use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;
use crate::redacted::redacted;

pub struct SessionJournal {
    pub session: SessionId,
    pub stream: StreamId,
    pub state: SessionState,
    pub head: Seq,
}

#[derive(Debug, thiserror::Error)]
enum NotDecided {
    #[error(transparent)]
    Rejected(#[from] SessionRejected),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl SessionJournal {
    pub fn new(session: SessionId) -> Self {
        let stream = StreamId::new("session", session);
        Self { session, stream, state: SessionState::default(), head: Seq(0) }
    }

    fn advance(
        &mut self,
        actions: impl IntoIterator<Item = SessionAction>,
        redactor: &Redactor,
        taint: Taint,
        at: Wall,
    ) -> Result<Vec<NewEvent>, NotDecided> {
        let mut rows = Vec::new();
        for action in actions {
            let event = decide(&self.state, action)?;
            let (event, encoded) = redacted(event, redactor)?;
            self.state.apply(&event);
            rows.push(NewEvent { stream: self.stream.clone(), encoded, taint, at });
        }
        Ok(rows)
    }

    /// Adds these as part of a commit that holds only if nobody else writes first.
    pub fn ride(
        &mut self,
        rider: &mut Rider,
        actions: impl IntoIterator<Item = SessionAction>,
        redactor: &Redactor,
        taint: Taint,
        at: Wall,
    ) -> Result<(), Error> {
        let before = self.head;
        let rows = self.advance(actions, redactor, taint, at);
        let rows = rows.map_err(|refused| Error::Session { session: self.session, detail: refused.to_string() })?;
        // What the same commit added before is not there yet for it to expect.
        if rider.expect.iter().all(|(stream, _)| *stream != self.stream) {
            rider.expect.push((self.stream.clone(), before));
        }
        self.head = Seq(before.0 + rows.len() as u64);
        rider.events.extend(rows);
        Ok(())
    }
}

impl Engine {
    pub(crate) async fn session_journal(&self, session: SessionId) -> Result<SessionJournal, Error> {
        let mut journal = SessionJournal::new(session);
        for row in self.rows_after(&journal.stream, Seq(0)).await? {
            journal.state.apply(&SessionEvent::decode(&row.kind, row.version, &row.data)?);
            journal.head = row.seq;
        }
        Ok(journal)
    }

    /// A conversation as it stands; empty where there was none.
    pub async fn session(&self, session: SessionId) -> Result<SessionState, Error> {
        Ok(self.session_journal(session).await?.state)
    }

    /// What became of something that was said; nothing while it has had no turn.
    pub async fn turn_about(&self, session: SessionId, message: MessageId) -> Result<Option<TurnEnded>, Error> {
        let mut run = None;
        for row in self.rows_after(&SessionJournal::new(session).stream, Seq(0)).await? {
            match SessionEvent::decode(&row.kind, row.version, &row.data)? {
                SessionEvent::TurnStarted(started) if started.message_id == message => run = Some(started.run),
                SessionEvent::TurnEnded(ended) if run == Some(ended.run) => return Ok(Some(ended)),
                _ => {}
            }
        }
        Ok(None)
    }
}
