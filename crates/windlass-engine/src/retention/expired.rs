//! Which tasks have been over for so long that what they weigh may go: whole ones, with everybody who worked for them.

use std::collections::BTreeSet;

use windlass_domain::{Digest, ExecutionId, Seq, TaskId, Wall};
use windlass_store::{Marker, StreamId};

use super::blobs::digests;
use crate::Error;
use crate::attempt::task_stream;
use crate::engine::Engine;
use crate::read::JournalRecord;

const PAGE: usize = 200;

/// What belongs to one whole task.
#[derive(Clone)]
pub struct Expired {
    pub root: TaskId,
    pub tasks: BTreeSet<TaskId>,
    pub executions: BTreeSet<ExecutionId>,
    /// Their streams, by name.
    pub streams: BTreeSet<String>,
    /// Whatever these name.
    pub digests: BTreeSet<Digest>,
}

impl Expired {
    /// Without what its journals say, which may be much.
    pub fn only_files(&self) -> Self {
        let (streams, digests) = Default::default();
        Self { root: self.root, tasks: self.tasks.clone(), executions: self.executions.clone(), streams, digests }
    }
}

/// That a task's bytes are gone: nobody looks for them again.
pub fn pruned(root: TaskId) -> Marker {
    Marker { scope: "pruned".to_owned(), key: root.to_string() }
}

impl Engine {
    /// All that ended before `before` and have not been seen to yet, but for those that are known to be stuck.
    pub(super) async fn expired(&self, before: Wall) -> Result<Vec<Expired>, Error> {
        let shared = &self.shared;
        let mut expired = Vec::new();
        let mut last: Option<StreamId> = None;
        loop {
            let page = shared.store.streams(&shared.tenant, "task", last.as_ref(), PAGE).await?;
            for head in &page {
                let Ok(root) = head.stream.id().parse::<TaskId>() else { continue };
                let is_stuck = shared.lock_stuck().contains_key(&(shared.tenant.clone(), root));
                if !is_stuck
                    && !shared.store.is_marked(&shared.tenant, &pruned(root)).await?
                    && self.has_ended_before(root, before).await?
                {
                    expired.extend(self.all_of(root).await?);
                }
            }
            match page.last() {
                Some(end) if page.len() == PAGE => last = Some(end.stream.clone()),
                _ => return Ok(expired),
            }
        }
    }

    /// The last record first: what was written of late is not old, and need not be read.
    async fn has_ended_before(&self, task: TaskId, before: Wall) -> Result<bool, Error> {
        let (shared, stream) = (&self.shared, task_stream(task));
        let head = shared.store.head(&shared.tenant, &stream).await?;
        let newest = shared.store.stream(&shared.tenant, &stream, Seq(head.0.saturating_sub(1)), 1).await?;
        if newest.first().is_none_or(|row| row.at >= before) {
            return Ok(false);
        }
        let state = self.task(task).await?;
        let placement = state.created.as_ref().and_then(|created| created.placement.as_deref());
        // Its files are on the machine that worked on it, which sees to all of it.
        let is_here = shared.process.elsewhere(placement).is_none();
        Ok(is_here && state.is_over() && !state.is_part())
    }

    /// `None`: somebody who worked for it has written since, or may still.
    async fn all_of(&self, root: TaskId) -> Result<Option<Expired>, Error> {
        let (executions, streams, named) = Default::default();
        let mut all = Expired { root, tasks: BTreeSet::from([root]), executions, streams, digests: named };
        for record in self.story(root).await? {
            all.streams.insert(record.row().stream.as_str().to_owned());
            all.digests.extend(digests(&record.row().data));
            match record {
                JournalRecord::Task { task, .. } | JournalRecord::Graph { task, .. } => drop(all.tasks.insert(task)),
                JournalRecord::Execution { execution, .. } => drop(all.executions.insert(execution)),
            }
        }
        for task in &all.tasks {
            if !self.task(*task).await?.is_over() {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }
}
