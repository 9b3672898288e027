//! A conversation, as a stream of its own.

use windlass_domain::SessionId;
use windlass_domain::session::{SessionAction, SessionEvent, SessionRejected, SessionState, decide};

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

    /// The newest conversation about this folder.
    pub async fn newest_session(&self, workspace: &str) -> Result<Option<SessionId>, Error> {
        const MOST: usize = 1_000;
        let heads = self.shared.store.streams(&self.shared.tenant, Session::KIND, None, MOST).await?;
        for session in heads.iter().filter_map(|head| head.stream.id().parse().ok()) {
            if self.session(session).await?.workspace.as_deref() == Some(workspace) {
                return Ok(Some(session));
            }
        }
        Ok(None)
    }
}
