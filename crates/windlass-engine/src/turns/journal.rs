//! A conversation, as a stream of its own.

use std::collections::BTreeMap;

use windlass_domain::session::{Said, SessionAction, SessionEvent, SessionRejected, SessionState, TurnEnded, decide};
use windlass_domain::{MessageId, Seq, SessionId};

use crate::Error;
use crate::engine::Engine;
use crate::stream_journal::{Standing, StreamJournal, Streamed};

/// Records of a conversation that are looked at in one go.
const PAGE: u64 = 100;

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

/// About what it takes in memory.
pub fn session_weight(standing: &Standing<SessionState>) -> usize {
    const ROW: usize = 256;
    /// The options that something was said with.
    const TEMPLATE: usize = 4 << 10;
    let session = &standing.state;
    let said = session.said.iter().map(|(Said::User(words) | Said::Proxy(words))| ROW + words.len());
    let unheard = session.unheard.iter().map(|said| TEMPLATE + said.words.len());
    let news = session.news.values().map(|news| ROW + news.trouble.as_ref().map_or(0, String::len));
    let rows = session.tasks.len() + session.names.len() + session.under_way.len() + session.waiting.len();
    ROW * (1 + rows) + said.chain(unheard).chain(news).sum::<usize>()
}

impl Engine {
    pub(crate) async fn session_journal(&self, session: SessionId) -> Result<SessionJournal, Error> {
        self.kept_journal_of(session, &self.shared.sessions).await
    }

    /// A conversation as it stands; empty where there was none.
    pub async fn session(&self, session: SessionId) -> Result<SessionState, Error> {
        Ok(self.session_journal(session).await?.state)
    }

    /// What became of something that was said; nothing while it has had no turn.
    pub async fn turn_about(&self, session: SessionId, message: MessageId) -> Result<Option<TurnEnded>, Error> {
        let stream = SessionJournal::new(session).stream;
        let mut upto = self.shared.store.head(&self.shared.tenant, &stream).await?;
        let mut ends = BTreeMap::new();
        // The newest first: nobody asks for long about what was said long ago.
        while upto > Seq(0) {
            let after = Seq(upto.0.saturating_sub(PAGE));
            let most = usize::try_from(upto.0 - after.0).unwrap_or(usize::MAX);
            let rows = self.shared.store.stream(&self.shared.tenant, &stream, after, most).await?;
            for row in rows.iter().rev() {
                match SessionEvent::decode(&row.kind, row.version, &row.data)? {
                    SessionEvent::TurnEnded(ended) => drop(ends.insert(ended.run, ended)),
                    SessionEvent::TurnStarted(started) if started.message_id == message => {
                        return Ok(ends.remove(&started.run));
                    }
                    SessionEvent::UserSaid(said) if said.message_id == message => return Ok(None),
                    _ => {}
                }
            }
            upto = after;
        }
        Ok(None)
    }
}
