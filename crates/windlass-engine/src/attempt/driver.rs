//! Performs a task's moves, one commit after the other. It holds the lease; every commit proves it.

use std::path::PathBuf;

use windlass_domain::execution::{ExecutionCommand, Header};
use windlass_domain::task::{
    AttemptStarted, ChecksRecorded, Move, TaskChanged, TaskCreated, TaskEvent, TaskFinished, TaskStatus, next_move,
};
use windlass_domain::{
    Canceller, Digest, ErrorCode, ErrorDetails, EvidenceRef, EvidenceType, ExecutionId, Limits, MessageId, Refused,
    Scope, ScopeKind, Stop, Taint, TaskId, TaskResult, TaskResultStatus, UsageMetrics, Usd,
};
use windlass_store::{Commit, Fence};

use super::drive::Driven;
use super::run::Ran;
use super::task_journal::TaskJournal;
use super::verify::Verdict;
use crate::Error;
use crate::control::Inbox;
use crate::engine::Engine;
use crate::host::{Decided, Journal, Rider};
use crate::watch::Watcher;

pub(super) struct Driver {
    pub engine: Engine,
    pub task: TaskId,
    pub fence: Fence,
    pub journal: TaskJournal,
    pub canceller: Canceller,
    pub inbox: Inbox,
    pub watcher: std::sync::Arc<dyn Watcher>,
}

impl Driver {
    pub async fn drive(&mut self) -> Result<Driven, Error> {
        self.wake().await?;
        loop {
            // An attempt in progress hears the signal itself and leaves its journal in order.
            let next = next_move(&self.journal.state);
            if let (Some(stop), false) = (self.canceller.signal().raised(), matches!(next, Move::Run { .. })) {
                return self.stop_between_moves(stop).await;
            }
            match next {
                Move::Start { attempt, limits } => self.start(attempt, limits).await?,
                Move::Run { attempt, execution_id } => {
                    if let Some(driven) = self.run(attempt, execution_id).await? {
                        return Ok(driven);
                    }
                }
                Move::Verify { attempt } => {
                    if let Some(driven) = self.check(attempt).await? {
                        return Ok(driven);
                    }
                }
                Move::Finish { status, verified, error } => return self.finish(status, verified, error).await,
                Move::Nothing => return Err(self.broken("there is nothing to do and no result")),
            }
        }
    }

    /// A paused task that is driven again runs.
    async fn wake(&mut self) -> Result<(), Error> {
        if self.journal.state.status != Some(TaskStatus::Paused) {
            return Ok(());
        }
        let resumed = TaskChanged { status: TaskStatus::Running, reason: "resumed".to_owned() };
        self.commit(vec![TaskEvent::Changed(resumed)], Vec::new()).await
    }

    async fn start(&mut self, attempt: u32, limits: Limits) -> Result<(), Error> {
        let shared = self.engine.shared.clone();
        let created = self.created()?;
        let execution_id = ExecutionId::new(shared.wall(), shared.runtime.random());
        let header = Header {
            execution_id,
            agent_id: created.agent_id.clone(),
            role: created.role,
            scope: Scope { kind: ScopeKind::Task, id: self.task.to_string() },
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: created.command.execution_config.model.clone(),
            configuration_digest: configuration_digest(created),
            limits,
        };
        let now = shared.wall();
        let mut execution = Journal::new(execution_id);
        let before = execution.head;
        let mut decided = Decided::default();
        execution
            .advance(vec![ExecutionCommand::Create(Box::new(header))], &mut decided, &shared.redactor, now)
            .map_err(|refused| self.broken(refused))?;
        let events = vec![TaskEvent::AttemptStarted(AttemptStarted { attempt, execution_id })];
        let mut commit = Commit::fenced(shared.tenant.clone(), now, self.fence.clone());
        commit.expect = vec![(self.journal.stream.clone(), self.journal.head), (execution.stream.clone(), before)];
        let (events, rows) = self.journal.rows(events, &shared.redactor, Taint::Auth, now)?;
        commit.events = rows;
        commit.events.extend(decided.rows);
        self.committed(shared.commit(commit).await)?;
        self.tell(&events, now);
        decided.events.iter().for_each(|(event, at)| self.watcher.execution(execution_id, event, *at));
        Ok(())
    }

    async fn check(&mut self, attempt: u32) -> Result<Option<Driven>, Error> {
        match self.verify().await? {
            Verdict::Judged { tree, results } => {
                let recorded = ChecksRecorded { attempt, tree, results };
                self.commit(vec![TaskEvent::ChecksRecorded(recorded)], Vec::new()).await?;
                Ok(None)
            }
            Verdict::Unable(error) => self.finish(TaskResultStatus::Failed, false, Some(error)).await.map(Some),
            Verdict::Stopped(stop) => self.stop_between_moves(stop).await.map(Some),
        }
    }

    async fn run(&mut self, attempt: u32, execution_id: ExecutionId) -> Result<Option<Driven>, Error> {
        let Ran { host, commands, events, paused, used } = self.execute(attempt, execution_id).await?;
        // A pause is heeded by this commit, a cancel by the one that ends the task.
        let acks = if paused { self.inbox.take_stops(Stop::Pause) } else { Vec::new() };
        let now = self.engine.shared.wall();
        let (events, rows) = self.journal.rows(events, &self.engine.shared.redactor, host.taint(), now)?;
        let rider = Rider { expect: vec![(self.journal.stream.clone(), self.journal.head)], events: rows, acks };
        host.commit(commands, rider).await.map_err(|refused| self.refused(refused))?;
        self.tell(&events, now);
        if !paused {
            return Ok(None);
        }
        self.write_trace().await?;
        let mut result = self.result(TaskResultStatus::Paused, false, None);
        result.usage += used.0;
        result.cost_usd += used.1;
        Ok(Some(Driven::Paused(result)))
    }

    async fn stop_between_moves(&mut self, stop: Stop) -> Result<Driven, Error> {
        if stop != Stop::LeaseLost {
            self.write_trace().await?;
        }
        let acks = self.inbox.take_stops(stop);
        match stop {
            Stop::LeaseLost => Err(Error::LeaseLost(self.task)),
            Stop::Pause => {
                let paused = TaskChanged { status: TaskStatus::Paused, reason: "paused by the user".to_owned() };
                self.commit(vec![TaskEvent::Changed(paused)], acks).await?;
                Ok(Driven::Paused(self.result(TaskResultStatus::Paused, false, None)))
            }
            Stop::Cancel => {
                let result = self.result(TaskResultStatus::Cancelled, false, Some(cancelled()));
                self.end(result, acks).await
            }
        }
    }

    async fn finish(
        &mut self,
        status: TaskResultStatus,
        verified: bool,
        error: Option<ErrorDetails>,
    ) -> Result<Driven, Error> {
        // Before the commit: whoever finds the task finished writes nothing any more.
        self.write_trace().await?;
        let result = self.result(status, verified, error);
        self.end(result, Vec::new()).await
    }

    async fn end(&mut self, result: TaskResult, acks: Vec<MessageId>) -> Result<Driven, Error> {
        self.sweep_copies().await;
        self.commit(vec![TaskEvent::Finished(TaskFinished { result })], acks).await?;
        // As it was kept, not as it was made: secrets are taken out on the way.
        let kept = self.journal.state.result.clone();
        kept.map(Driven::Finished).ok_or_else(|| self.broken("a finished task has no result"))
    }

    /// Commits to the task's own stream.
    async fn commit(&mut self, events: Vec<TaskEvent>, acks: Vec<MessageId>) -> Result<(), Error> {
        let shared = self.engine.shared.clone();
        let now = shared.wall();
        let mut commit = Commit::fenced(shared.tenant.clone(), now, self.fence.clone());
        commit.expect.push((self.journal.stream.clone(), self.journal.head));
        let (events, rows) = self.journal.rows(events, &shared.redactor, Taint::External, now)?;
        commit.events = rows;
        commit.acks = acks;
        self.committed(shared.commit(commit).await)?;
        self.tell(&events, now);
        Ok(())
    }

    /// What is durable is folded and shown.
    fn tell(&mut self, events: &[TaskEvent], at: windlass_domain::Wall) {
        self.journal.applied(events, at);
        events.iter().for_each(|event| self.watcher.task(self.task, event, at));
    }

    pub fn result(&self, status: TaskResultStatus, verified: bool, error_details: Option<ErrorDetails>) -> TaskResult {
        let state = &self.journal.state;
        let (usage, cost_usd) = state.used();
        let last = state.attempts.last();
        let ended = last.and_then(|attempt| attempt.ended.as_ref());
        let command = state.created.as_ref().map(|created| &created.command).expect("driven tasks were created");
        TaskResult {
            task_id: command.task_id,
            session_id: command.session_id,
            command_id: command.command_id,
            status,
            verified,
            checks: last.and_then(|attempt| attempt.checks.clone()).unwrap_or_default(),
            deliverables: ended.map(|ended| ended.deliverables.clone()).unwrap_or_default(),
            final_message: ended.and_then(|ended| ended.final_message.clone()),
            evidence_refs: last.map(|_| self.trace_evidence()).into_iter().collect(),
            usage,
            cost_usd,
            error_details,
            hitl_request: None,
        }
    }

    fn trace_evidence(&self) -> EvidenceRef {
        EvidenceRef {
            ref_id: "trace".to_owned(),
            kind: EvidenceType::Log,
            uri: format!("file://{}", self.trace_path().display()),
            description: Some("what the agent did, one JSON object a line".to_owned()),
        }
    }

    pub fn trace_path(&self) -> PathBuf {
        self.engine.shared.data_dir.join("traces").join(format!("{}.jsonl", self.task))
    }

    pub fn created(&self) -> Result<&TaskCreated, Error> {
        self.journal.state.created.as_ref().ok_or(Error::NoSuchTask(self.task))
    }

    pub fn broken(&self, detail: impl std::fmt::Display) -> Error {
        Error::Broken { task: self.task, detail: detail.to_string() }
    }

    pub fn refused(&self, refused: Refused) -> Error {
        match refused {
            Refused::Fenced => Error::LeaseLost(self.task),
            other => self.broken(other),
        }
    }

    fn committed<T>(&self, outcome: Result<T, windlass_store::Error>) -> Result<T, Error> {
        outcome.map_err(|error| match error {
            windlass_store::Error::Fenced { .. } => Error::LeaseLost(self.task),
            other => other.into(),
        })
    }
}

pub(super) fn cancelled() -> ErrorDetails {
    ErrorDetails::new(ErrorCode::Cancelled, "cancelled by the user")
}

/// Names everything the operator chose for this run, for audit.
fn configuration_digest(created: &TaskCreated) -> Digest {
    let chosen = (&created.command.execution_config, &created.budget, &created.model, &created.sandbox);
    Digest::of(&serde_json::to_vec(&chosen).expect("configuration is plain data"))
}

/// What an execution has used, in seed 000's terms.
pub(super) fn metrics(
    state: &windlass_domain::execution::ExecutionState,
    now: windlass_domain::Wall,
) -> (UsageMetrics, Usd) {
    let spent = state.spent_by(now);
    let usage = UsageMetrics {
        total_tokens: spent.usage.total(),
        input_tokens: spent.usage.input,
        output_tokens: spent.usage.output,
        iterations: spent.iterations,
        tool_calls: state.tool_calls,
        sub_agents_spawned: 0,
        compactions: 0,
        duration_ms: spent.active_ms,
    };
    (usage, spent.cost)
}
