//! What tasks have left in the folders they worked in, as the tenant's one stream of it tells: read for whoever begins, shown
//! to people, and cleared by them.

use std::path::{Path, PathBuf};

use serde_json::{Map, json};
use windlass_domain::{
    ExecutionId, GroundCleared, GroundEvent, GroundLabelled, GroundSettled, Grounds, Labels, Seq, Taint, TaskId,
    TraceId, Unreadable, Wall,
};
use windlass_store::queue::{Actor, AuditType, RuntimeAuditEvent};
use windlass_store::{Commit, NewEvent, StoredEvent, StreamId};

use crate::Error;
use crate::engine::{Engine, Shared};
use crate::read::TaskSummary;

const PAGE: usize = 1_000;
/// The newest; older ones are hardly still worked on.
const MOST_TASKS: usize = 10_000;

pub(crate) fn ground_stream() -> StreamId {
    StreamId::new("ground", "labels")
}

/// The fold, as far as it was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub grounds: Grounds,
    head: Seq,
}

impl Known {
    pub async fn read(shared: &Shared) -> Result<Self, Error> {
        let mut known = Self::default();
        known.apply(&rows_after(shared, known.head).await?)?;
        Ok(known)
    }

    pub const fn head(&self) -> Seq {
        self.head
    }

    /// What is known already is passed over: several may have read on.
    pub fn apply(&mut self, rows: &[StoredEvent]) -> Result<(), Unreadable> {
        for row in rows {
            if row.seq <= self.head {
                continue;
            }
            self.grounds.apply(&GroundEvent::decode(&row.kind, row.version, &row.data)?);
            self.head = row.seq;
        }
        Ok(())
    }
}

/// The row that says what a planned task is about to bring into a folder.
pub(crate) fn claim_row(folder: &str, task: TaskId, labels: Labels, at: Wall) -> NewEvent {
    let taint = labels.whole();
    let by = task.to_string().parse().expect("every id is a UUID");
    let claim = GroundLabelled { folder: folder.to_owned(), by, labels };
    NewEvent { stream: ground_stream(), encoded: GroundEvent::Labelled(claim).encode(), taint, at }
}

/// The rows that forget what these attempts claimed in folders that are no more; none for those that claimed nothing.
pub(crate) async fn left_rows(shared: &Shared, left: Vec<(PathBuf, ExecutionId)>) -> Result<Vec<NewEvent>, Error> {
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let known = Known::read(shared).await?;
    let at = shared.wall();
    let row = |(folder, by): (PathBuf, ExecutionId)| {
        let folder = folder.to_string_lossy().into_owned();
        let has_claimed = !known.grounds.claim(&folder, by).is_baseline();
        let settled = GroundEvent::Settled(GroundSettled { folder, by, labels: Labels::default() });
        has_claimed.then(|| NewEvent { stream: ground_stream(), encoded: settled.encode(), taint: Taint::Auth, at })
    };
    Ok(left.into_iter().filter_map(row).collect())
}

pub(crate) async fn rows_after(shared: &Shared, mut head: Seq) -> Result<Vec<StoredEvent>, Error> {
    let mut rows = Vec::new();
    loop {
        let page = shared.store.stream(&shared.tenant, &ground_stream(), head, PAGE).await?;
        let is_last = page.len() < PAGE;
        head = page.last().map_or(head, |row| row.seq);
        rows.extend(page);
        if is_last {
            return Ok(rows);
        }
    }
}

impl Engine {
    /// Of the files in a folder, as all tasks have left them.
    pub async fn labels(&self, folder: &Path) -> Result<Labels, Error> {
        let known = Known::read(&self.shared).await?;
        Ok(known.grounds.labels_of(&folder.to_string_lossy()))
    }

    /// `user` has looked: what is in the folder now is theirs. What is left is what was claimed for a folder above it, which
    /// has to be cleared there. Not while somebody works there: what they write after it would count as looked at.
    pub async fn clear_labels(&self, folder: &Path, user: &str) -> Result<Labels, Error> {
        self.nobody_works_in(folder).await?;
        let shared = &self.shared;
        let now = shared.wall();
        let folder_name = folder.to_string_lossy().into_owned();
        let cleared = GroundCleared { folder: folder_name.clone(), user: user.to_owned() };
        let encoded = GroundEvent::Cleared(cleared).encode();
        let audited = RuntimeAuditEvent {
            event_type: AuditType::Approval,
            trace_id: TraceId::new(now, shared.runtime.random()),
            message_id: None,
            scope_id: shared.tenant.clone(),
            actor: Actor::User,
            decision: Some("cleared".to_owned()),
            reason: Some(format!("{user} says that the files of this folder are their own")),
            details: Map::from_iter([("folder".to_owned(), json!(folder_name))]),
            created_at: now,
        };
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        commit.events.push(NewEvent { stream: ground_stream(), encoded, taint: Taint::Auth, at: now });
        commit.events.push(audited.on("labels", Taint::Auth));
        shared.commit(commit).await?;
        self.labels(folder).await
    }

    async fn nobody_works_in(&self, folder: &Path) -> Result<(), Error> {
        for TaskSummary { task_id, state } in self.tasks(MOST_TASKS).await? {
            let workspace = state.created.as_ref().map(|created| Path::new(&created.workspace));
            let is_here = workspace.is_some_and(|place| place.starts_with(folder) || folder.starts_with(place));
            if is_here && !state.is_over() {
                self.nobody_drives(task_id).await?;
            }
        }
        Ok(())
    }
}
