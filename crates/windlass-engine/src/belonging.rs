//! What a stream is a part of, as its own first records say: an execution of its task, a card or a question of the task that asks, a
//! part of those it works for, a task of its conversation. It never changes, so that whoever listens to a task or a conversation hears
//! the same from any position on, and need not have heard who was begun by whom.

use std::sync::Arc;

use windlass_domain::approval::ApprovalEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{ExecutionId, QuestionEvent, Seq, TaskId};
use windlass_store::{StoredEvent, StreamId};

use crate::Error;
use crate::attempt::task_stream;
use crate::engine::Engine;

/// A commit has fewer records than this.
const BESIDE: u64 = 64;

/// The ids of a stream and of all that it is a part of; none before its first record.
#[derive(Default)]
pub(crate) struct Belonging(Option<Arc<[String]>>);

impl Belonging {
    /// About what it takes in memory.
    pub fn weight(&self) -> usize {
        self.0.iter().flat_map(|ids| ids.iter()).map(|id| size_of::<String>() + id.len()).sum()
    }
}

impl Engine {
    /// The ids of a stream that has records and of all that it is a part of.
    pub async fn belongs_to(&self, about: &str, id: &str) -> Result<Arc<[String]>, Error> {
        let stream = StreamId::new(about, id);
        let mut known = self.shared.belongings.hold((self.shared.tenant.clone(), stream.clone())).await;
        if let Some(ids) = &known.0 {
            return Ok(Arc::clone(ids));
        }
        let (ids, is_all) = self.look_upwards(stream).await?;
        let ids: Arc<[String]> = ids.into();
        known.0 = Some(Arc::clone(&ids)).filter(|_| is_all);
        Ok(ids)
    }

    /// A position before anything that is a part of a stream; none where it has no records.
    pub async fn before_all_of(&self, about: &str, id: &str) -> Result<Option<u64>, Error> {
        let first = self.first_of(&StreamId::new(about, id)).await?;
        Ok(first.map(|row| row.position.0.saturating_sub(BESIDE)))
    }

    /// And whether there can be no more of them later.
    async fn look_upwards(&self, stream: StreamId) -> Result<(Vec<String>, bool), Error> {
        let mut ids = vec![stream.id().to_owned()];
        let mut task = self.worked_for(&stream).await?;
        while let Some(named) = task {
            ids.push(named.to_string());
            // It may be a goal's, or be named before it begins; or a newer Windlass wrote it.
            let first = self.first_of(&task_stream(named)).await?;
            let first = first.and_then(|row| TaskEvent::decode(&row.kind, row.version, &row.data).ok());
            let Some(TaskEvent::Created(created)) = first else { return Ok((ids, false)) };
            ids.push(created.command.session_id.to_string());
            task = created.part_of.map(|of| of.task).filter(|of| !ids.contains(&of.to_string()));
        }
        ids.dedup();
        Ok((ids, true))
    }

    /// The task whose stream it is, or that it is about.
    async fn worked_for(&self, stream: &StreamId) -> Result<Option<TaskId>, Error> {
        let id = stream.id();
        Ok(match stream.kind() {
            "task" | "graph" | "monitor" => id.parse().ok(),
            "execution" => match id.parse::<ExecutionId>() {
                Ok(execution) => match self.task_of(execution).await {
                    Err(error @ Error::Store(_)) => return Err(error),
                    task => task.ok(),
                },
                Err(_) => None,
            },
            "approval" => self.first_of(stream).await?.and_then(|row| {
                match ApprovalEvent::decode(&row.kind, row.version, &row.data) {
                    Ok(ApprovalEvent::Requested(requested)) => requested.card.binds.work_item_id.parse().ok(),
                    _ => None,
                }
            }),
            "question" => self.first_of(stream).await?.and_then(|row| {
                match QuestionEvent::decode(&row.kind, row.version, &row.data) {
                    Ok(QuestionEvent::Asked(asked)) => Some(asked.task_id),
                    _ => None,
                }
            }),
            _ => None,
        })
    }

    async fn first_of(&self, stream: &StreamId) -> Result<Option<StoredEvent>, Error> {
        Ok(self.shared.store.stream(&self.shared.tenant, stream, Seq(0), 1).await?.pop())
    }
}
