//! What front doors ask for beside what the command line does: pages of what there is, blobs, dead letters, and that a task that
//! rests be gone on with by whoever works.

use windlass_domain::session::{Said, SessionEvent};
use windlass_domain::task::{TaskEvent, TaskStatus};
use windlass_domain::{Digest, MessageId, Seq, SessionId, TaskId};
use windlass_store::queue::{Error as QueueError, drop_letter, retry};
use windlass_store::{Blob, Commit, Error as StoreError, StoredMessage, StreamId};

use crate::Error;
use crate::asked::{Asked, Asker};
use crate::engine::Engine;
use crate::host::Rider;
use crate::read::TaskSummary;

/// Whoever drives may write to the task's stream meanwhile; nobody does so for long.
const TRIES: usize = 16;
const PAGE: usize = 200;
/// Records of a conversation that are looked at in one go: about as many as a page of what was said is made of.
const SAID_PAGE: usize = 200;

/// What a person decides about a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Back into its queue.
    Retried,
    Dropped,
}

impl Engine {
    /// Has a task that rests gone on with; one that does not is left alone.
    pub async fn ask_to_go_on(&self, task: TaskId) -> Result<(), Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let state = self.task(task).await?;
            if state.is_over() {
                return Err(Error::Over(task));
            }
            let mut rider = Rider::default();
            self.go_on_with(&mut rider, task).await?;
            if state.status == Some(TaskStatus::Paused) {
                rider.events.extend(self.shared.asked(task, Asked::Resume(""), &Asker::Named));
            }
            let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
            rider.ride(&mut commit);
            match self.shared.commit(commit).await {
                Err(StoreError::Conflict { .. }) if tries < TRIES => {}
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// A page of the tasks that are nobody's part and nobody's turn, newest first, after `before`.
    pub async fn wholes_before(&self, before: Option<TaskId>, most: usize) -> Result<Vec<TaskSummary>, Error> {
        let mut summaries = Vec::new();
        let mut before = before.map(|task| StreamId::new("task", task));
        loop {
            let page = self.shared.store.streams(&self.shared.tenant, "task", before.as_ref(), PAGE).await?;
            for head in &page {
                let Ok(task_id) = head.stream.id().parse() else { continue };
                // What stands between them is not folded.
                if !self.is_whole(&head.stream).await? {
                    continue;
                }
                summaries.push(TaskSummary { task_id, state: self.task(task_id).await? });
                if summaries.len() == most {
                    return Ok(summaries);
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => before = Some(last.stream.clone()),
                _ => return Ok(summaries),
            }
        }
    }

    /// Whether it is nobody's part and nobody's turn, as its first record says.
    async fn is_whole(&self, task: &StreamId) -> Result<bool, Error> {
        let first = self.shared.store.stream(&self.shared.tenant, task, Seq(0), 1).await?;
        let Some(row) = first.first() else { return Ok(false) };
        Ok(match TaskEvent::decode(&row.kind, row.version, &row.data)? {
            TaskEvent::Created(created) => created.part_of.is_none() && created.turn.is_none(),
            _ => true,
        })
    }

    /// Conversations, `before` being the last one of the page before.
    pub async fn session_ids(&self, before: Option<SessionId>, most: usize) -> Result<Vec<SessionId>, Error> {
        let before = before.map(|session| StreamId::new("session", session));
        let heads = self.shared.store.streams(&self.shared.tenant, "session", before.as_ref(), most).await?;
        Ok(heads.iter().filter_map(|head| head.stream.id().parse().ok()).collect())
    }

    /// What was said in a conversation after the record with this number, each by the number of its own, and whether there is more.
    pub async fn said_after(
        &self,
        session: SessionId,
        after: Seq,
        most: usize,
    ) -> Result<(Vec<(Seq, Said)>, bool), Error> {
        let stream = StreamId::new("session", session);
        let (mut said, mut last) = (Vec::new(), after);
        loop {
            let rows = self.shared.store.stream(&self.shared.tenant, &stream, last, SAID_PAGE).await?;
            let is_last = rows.len() < SAID_PAGE;
            for row in rows {
                last = row.seq;
                let words = match SessionEvent::decode(&row.kind, row.version, &row.data)? {
                    SessionEvent::UserSaid(user) => Said::User(user.words),
                    SessionEvent::TurnEnded(ended) => Said::Proxy(ended.answer()),
                    _ => continue,
                };
                if said.len() == most {
                    return Ok((said, true));
                }
                said.push((row.seq, words));
            }
            if is_last {
                return Ok((said, false));
            }
        }
    }

    pub async fn blob(&self, digest: Digest) -> Result<Option<Blob>, Error> {
        Ok(self.shared.store.blob(&self.shared.tenant, digest).await?)
    }

    /// Newest first, `before` being the last one of the page before.
    pub async fn dead_letters(&self, before: Option<MessageId>, most: usize) -> Result<Vec<StoredMessage>, Error> {
        Ok(self.shared.store.dead_letters(&self.shared.tenant, before, most).await?)
    }

    /// `false`: there is no such dead letter, or somebody else was quicker.
    pub async fn settle_dead_letter(&self, letter: MessageId, fate: Fate) -> Result<bool, Error> {
        let shared = &self.shared;
        let (store, tenant, now) = (shared.store.as_ref(), &shared.tenant, shared.wall());
        let settled = match fate {
            Fate::Retried => retry(store, tenant, letter, now).await,
            Fate::Dropped => drop_letter(store, tenant, letter, now).await,
        };
        match settled {
            Ok(()) => Ok(true),
            Err(QueueError::Store(StoreError::Gone { .. })) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
