//! Forking an execution: what another one is to go on with is read from its journal, kept as a blob of the same tenant, and taken in
//! as a task of its own, which its issuer signs like any run. Of the old one nothing changes. Each attempt begins with that blob
//! in its own journal; where a program keeps the conversation, with a copy of the home that it keeps it in.

use std::sync::Arc;

use serde_json::json;
use windlass_domain::execution::{CannotFork, ExecutionEvent, ForkPoint, Forked, ForkedFrom, TakenOver, fork_point};
use windlass_domain::task::TaskCreated;
use windlass_domain::{ExecutionId, Taint, TaskId, Wall};
use windlass_policy::approve::OwnerKey;
use windlass_store::queue::{Actor, AuditType};
use windlass_store::{Commit, NewEvent};

use crate::Error;
use crate::approvals::Audited;
use crate::engine::{Engine, Shared};
use crate::read::JournalRecord;
use crate::submit::{Dispatch, Submission, Taken};

/// An execution that can be forked, as it is now.
#[derive(Debug, Clone)]
pub struct Fork {
    pub execution: ExecutionId,
    pub task: TaskId,
    pub point: ForkPoint,
    /// What its task was begun with.
    pub created: TaskCreated,
    /// The rehearsal's script, where it plays one.
    pub script: Option<String>,
}

impl Engine {
    /// What there is to go on with at the end of this turn, or of the last one that is complete.
    pub async fn fork_of(&self, execution: ExecutionId, turn: Option<u32>) -> Result<Fork, Error> {
        let journal = self.whole_journal(execution).await?;
        let refused = |why| Error::CannotFork { execution, why };
        let point = fork_point(&journal, turn).map_err(refused)?;
        let task = self.task_of(execution).await?;
        let created = self.task(task).await?.created.ok_or(Error::NoSuchTask(task))?;
        if matches!(point.taken_over, TakenOver::Session(_)) {
            if let Some(place) = self.shared.process.elsewhere(created.placement.as_deref()) {
                return Err(Error::Elsewhere { task, place: place.to_owned() });
            }
            if !self.shared.equipment.can_fork(&created.agent_id) {
                return Err(refused(CannotFork::Agent(created.agent_id)));
            }
        }
        let script = self.shared.script(&created).await.map_err(|error| Error::Workspace(error.message))?;
        Ok(Fork { execution, task, point, created, script })
    }

    /// The newest execution of a task's own.
    pub async fn newest_execution(&self, task: TaskId) -> Result<Option<ExecutionId>, Error> {
        Ok(self.task(task).await?.attempts.last().map(|attempt| attempt.execution_id))
    }

    /// Takes a task in that goes on with `fork`.
    pub async fn submit_fork(
        &self,
        submission: Submission,
        fork: Fork,
        dispatch: Dispatch,
        issuer: Option<&OwnerKey>,
    ) -> Result<TaskId, Error> {
        Box::pin(self.take_task(submission, dispatch, issuer, Taken::Fork(Box::new(fork)))).await
    }

    async fn whole_journal(&self, execution: ExecutionId) -> Result<Vec<(ExecutionEvent, Wall)>, Error> {
        let records = self.execution_records(execution).await?;
        if records.is_empty() {
            return Err(Error::NoSuchExecution(execution));
        }
        let event = |record| match record {
            JournalRecord::Execution { at, event, .. } => Some((*event, at)),
            JournalRecord::Task { .. } | JournalRecord::Graph { .. } => None,
        };
        Ok(records.into_iter().filter_map(event).collect())
    }

    /// What is taken over is kept with the commit. A home is copied before it: what a crash leaves of that nobody refers to, and it
    /// is swept with the others.
    pub(crate) async fn keep_fork(&self, commit: &mut Commit, fork: Fork) -> Result<ForkedFrom, Error> {
        let shared = &self.shared;
        let Fork { execution, task, point, created, .. } = fork;
        let ForkPoint { turn, records, taken_over, taint, unended, .. } = point;
        let home = match &taken_over {
            TakenOver::Conversation(_) => None,
            TakenOver::Session(_) => Some(self.keep_home(created.agent_id, execution).await?),
        };
        let bytes = serde_json::to_vec(&taken_over).expect("a conversation is plain data");
        let blob = shared.store.stage_blob(&shared.tenant, bytes, taint).await?;
        let content = blob.digest();
        commit.blobs.push(blob);
        Ok(ForkedFrom { task_id: task, execution_id: execution, turn, records, content, taint, unended, home })
    }

    /// For the audit: whose conversation a task goes on with.
    pub(crate) fn forked(&self, task: TaskId, from: &ForkedFrom, at: Wall) -> NewEvent {
        let audited = Audited {
            event_type: AuditType::Approval,
            actor: Actor::User,
            decision: "forked",
            reason: "the issuer goes on with an earlier conversation",
            details: json!({
                "from_task": from.task_id, "from_execution": from.execution_id, "turn": from.turn, "taint": from.taint,
            }),
        };
        audited.about(task, &self.shared, Taint::Auth, at)
    }

    async fn keep_home(&self, agent: String, of: ExecutionId) -> Result<ExecutionId, Error> {
        let shared = &self.shared;
        let kept = ExecutionId::new(shared.wall(), shared.runtime.random());
        let equipment = Arc::clone(&shared.equipment);
        let copied = shared.blocking(move || equipment.copy_home(&agent, of, kept)).await;
        copied.map_err(|why| Error::CannotFork { execution: of, why: CannotFork::HomeGone(why.message) })?;
        Ok(kept)
    }
}

impl Shared {
    /// What an attempt of a forked task begins its journal with.
    pub(crate) async fn taken_over(&self, from: &ForkedFrom) -> Result<Forked, Error> {
        let lost = |why: &str| Error::Broken { task: from.task_id, detail: format!("what was forked {why}") };
        let blob = self.store.blob(&self.tenant, from.content).await?.ok_or_else(|| lost("is missing"))?;
        let taken_over = serde_json::from_slice(&blob.bytes).map_err(|_| lost("cannot be read"))?;
        Ok(Forked { from: from.clone(), taken_over })
    }
}
