//! A conversation, as a stream of its own.

use windlass_domain::session::{SessionAction, SessionEvent, SessionRejected, SessionState, TurnEnded, decide};
use windlass_domain::{MessageId, Seq, SessionId};

use crate::Error;
use crate::engine::Engine;
use crate::stream_journal::{StreamJournal, Streamed};

pub struct Session;

pub type SessionJournal = StreamJournal<Session>;

impl Streamed for Session {
    const KIND: &'static str = "session";
    type Id = SessionId;
    type State = SessionState;
    type Action = SessionAction;
    type Event = SessionEvent;
    type Rejected = SessionRejected;

    fn decide(state: &SessionState, action: SessionAction) -> Result<SessionEvent, SessionRejected> {
        decide(state, action)
    }

    fn apply(state: &mut SessionState, event: &SessionEvent) {
        state.apply(event);
    }

    fn refused(session: SessionId, rejected: SessionRejected) -> Error {
        Error::Session { session, detail: rejected.to_string() }
    }
}

impl Engine {
    pub(crate) async fn session_journal(&self, session: SessionId) -> Result<SessionJournal, Error> {
        self.journal_of(session).await
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
