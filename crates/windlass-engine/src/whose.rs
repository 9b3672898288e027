//! Whom an execution works for. Its scope names who owns it, which for a planner, a turn or the author of a file is not the task that it is an
//! attempt of; the journals say that. Whoever was sent by another names it, and an attempt's beginning stands in its task's journal, in
//! the very commit that its own journal begins with: a few rows are read, however many tasks there are.

use windlass_domain::execution::{ExecutionEvent, Header};
use windlass_domain::task::TaskEvent;
use windlass_domain::{ExecutionId, ScopeKind, Seq, TaskId};
use windlass_store::{Position, StreamId};

use crate::Error;
use crate::engine::Engine;

/// An attempt begins with fewer records than this beside its own.
const BESIDE: u64 = 32;

impl Engine {
    /// The task that has it driven.
    pub async fn task_of(&self, execution: ExecutionId) -> Result<TaskId, Error> {
        let mut sent = execution;
        loop {
            let (header, begun) = self.header(sent).await?;
            match header.parent {
                // Of before there were other scopes, a judge has no parent.
                _ if header.scope.kind == ScopeKind::Task => {
                    return header.scope.id.parse().map_err(|_| Error::OfNoTask(execution));
                }
                Some(parent) => sent = parent.execution_id,
                None => return self.begun_beside(sent, begun).await?.ok_or(Error::OfNoTask(execution)),
            }
        }
    }

    async fn header(&self, execution: ExecutionId) -> Result<(Header, Position), Error> {
        let stream = StreamId::new("execution", execution);
        let first = self.shared.store.stream(&self.shared.tenant, &stream, Seq(0), 1).await?;
        let row = first.first().ok_or(Error::NoSuchExecution(execution))?;
        match ExecutionEvent::decode(&row.kind, row.version, &row.data)? {
            ExecutionEvent::Header(header) => Ok((header, row.position)),
            _ => Err(Error::NoSuchExecution(execution)),
        }
    }

    async fn begun_beside(&self, execution: ExecutionId, begun: Position) -> Result<Option<TaskId>, Error> {
        let after = Position(begun.0.saturating_sub(BESIDE + 1));
        let limit = usize::try_from(2 * BESIDE + 1).unwrap_or(usize::MAX);
        for row in self.shared.store.events(&self.shared.tenant, after, limit).await? {
            if row.stream.kind() == "task"
                && let Ok(TaskEvent::AttemptStarted(started)) = TaskEvent::decode(&row.kind, row.version, &row.data)
                && started.execution_id == execution
            {
                return Ok(row.stream.id().parse().ok());
            }
        }
        Ok(None)
    }
}
