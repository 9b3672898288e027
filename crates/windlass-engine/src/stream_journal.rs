//! The stream of one thing: the fold so far, and how actions become rows. Plans' graphs, sessions and goals are kept so; each says what
//! its stream is called, what may happen to it, and what it means when a rule says no. Tasks, executions and approvals are not: their
//! rules know the time, or what is decided is shown before it is applied.

use std::fmt::Display;

use windlass_domain::{EventFamily, Seq, Taint, Tenant, Wall};
use windlass_policy::Redactor;
use windlass_store::{Error as StoreError, NewEvent, StreamId};

use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;
use crate::kept::Kept;
use crate::read::Mark;
use crate::redacted::redacted;

/// Something that has a stream of its own.
pub(crate) trait Streamed {
    /// What its streams are called, before the id.
    const KIND: &'static str;
    type Id: Copy + Display + Send + Sync;
    type State: Default + Send;
    type Action;
    type Event: EventFamily;
    type Rejected;

    fn decide(state: &Self::State, action: Self::Action) -> Result<Self::Event, Self::Rejected>;
    fn apply(state: &mut Self::State, event: &Self::Event);
    fn refused(id: Self::Id, rejected: Self::Rejected) -> Error;
}

pub(crate) struct StreamJournal<T: Streamed> {
    pub id: T::Id,
    pub stream: StreamId,
    pub state: T::State,
    pub head: Seq,
}

impl<T: Streamed> StreamJournal<T> {
    pub fn new(id: T::Id) -> Self {
        Self { id, stream: stream_of::<T>(id), state: T::State::default(), head: Seq(0) }
    }

    /// Decides one action after the other and applies them: whoever does not commit the rows forgets the journal.
    pub fn advance(
        &mut self,
        actions: impl IntoIterator<Item = T::Action>,
        redactor: &Redactor,
        taint: Taint,
        at: Wall,
    ) -> Result<Vec<NewEvent>, Error> {
        let mut rows = Vec::new();
        for action in actions {
            let event = T::decide(&self.state, action).map_err(|rejected| T::refused(self.id, rejected))?;
            let (event, encoded) = redacted(event, redactor)?;
            T::apply(&mut self.state, &event);
            rows.push(NewEvent { stream: self.stream.clone(), encoded, taint, at });
        }
        Ok(rows)
    }

    /// The same as part of a commit that holds only if nobody else writes first.
    pub fn ride(
        &mut self,
        rider: &mut Rider,
        actions: impl IntoIterator<Item = T::Action>,
        redactor: &Redactor,
        taint: Taint,
        at: Wall,
    ) -> Result<(), Error> {
        let rows = self.advance(actions, redactor, taint, at)?;
        self.expect(rider);
        self.head = Seq(self.head.0 + rows.len() as u64);
        rider.events.extend(rows);
        Ok(())
    }

    /// A conflict, where somebody has written since it was read. What is refused because of what it and other streams say, which were
    /// read after it, may never have been so: whoever refuses asks this first, and looks again.
    pub async fn stands_still(&self, engine: &Engine) -> Result<(), Error> {
        let shared = &engine.shared;
        let (stream, expected) = (self.stream.clone(), self.head);
        let found = shared.store.head(&shared.tenant, &stream).await?;
        if found == expected { Ok(()) } else { Err(StoreError::Conflict { stream, expected, found }.into()) }
    }

    /// The commit holds only if nobody else writes first. What the same commit added before is not there yet for it to expect.
    pub fn expect(&self, rider: &mut Rider) {
        if rider.expect.iter().all(|(stream, _)| *stream != self.stream) {
            rider.expect.push((self.stream.clone(), self.head));
        }
    }
}

/// A fold as it stood when somebody last looked, and the last record that is in it.
#[derive(Default)]
pub(crate) struct Standing<S> {
    pub state: S,
    mark: Mark,
}

/// By tenant and stream.
pub(crate) type KeptStates<S> = Kept<(Tenant, StreamId), Standing<S>>;

pub(crate) fn stream_of<T: Streamed>(id: T::Id) -> StreamId {
    StreamId::new(T::KIND, id)
}

impl Engine {
    /// As it stands; as new where nothing was written.
    pub(crate) async fn journal_of<T: Streamed>(&self, id: T::Id) -> Result<StreamJournal<T>, Error> {
        let mut journal = StreamJournal::new(id);
        for row in self.rows_after(&journal.stream, Seq(0)).await? {
            T::apply(&mut journal.state, &T::Event::decode(&row.kind, row.version, &row.data)?);
            journal.head = row.seq;
        }
        Ok(journal)
    }

    /// The same, folded from where it stood when somebody last looked.
    pub(crate) async fn kept_journal_of<T: Streamed>(
        &self,
        id: T::Id,
        kept: &KeptStates<T::State>,
    ) -> Result<StreamJournal<T>, Error>
    where
        T::State: Clone,
    {
        let stream = stream_of::<T>(id);
        let mut known = kept.hold((self.shared.tenant.clone(), stream.clone())).await;
        loop {
            let Some((rows, is_last)) = self.rows_since(&stream, known.mark).await? else {
                *known = Standing::default();
                continue;
            };
            for row in rows {
                let event = T::Event::decode(&row.kind, row.version, &row.data)?;
                T::apply(&mut known.state, &event);
                known.mark = Mark::of(&row);
            }
            if is_last {
                break;
            }
        }
        Ok(StreamJournal { id, stream, state: known.state.clone(), head: known.mark.seq })
    }
}
