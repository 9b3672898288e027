//! Performs a task's moves, one commit after the other. It holds the lease; every commit proves it.

use std::path::PathBuf;

use windlass_domain::execution::{ExecutionCommand, Header, Lifecycle};
use windlass_domain::known::ContextGathered;
use windlass_domain::queue::ExecutionStatus;
use windlass_domain::task::{ChecksRecorded, Move, TaskAction, TaskCreated, TaskStatus, next_move};
use windlass_domain::{
    Account, Canceller, Digest, ErrorCode, ErrorDetails, EvidenceRef, EvidenceType, ExecutionId, Host as _, Limits,
    MessageId, Refused, Role, Scope, Seq, Stop, Taint, TaskId, TaskResult, TaskResultStatus, UsageMetrics, Usd, Wall,
};
use windlass_store::{Commit, Delivery, DeliveryChange, Error as StoreError, Fence, MailboxSeen, NewBlob};

use super::context::Gathered;
use super::drive::Driven;
use super::part::refused_attempt;
use super::run::{Ran, Rest};
use super::task_journal::{TaskDecided, TaskJournal};
use super::verify::{Judged, Verdict};
use crate::Error;
use crate::approvals::{Approved, Use, hash_of, use_token};
use crate::control::{Inbox, hear, mailbox};
use crate::engine::Engine;
use crate::host::{Decided, ExecutionHost, Journal, Rider, When};
use crate::memories::remembered;
use crate::parts::{Status, Told};
use crate::used::in_metrics;
use crate::watch::Watcher;

pub(super) struct Driver {
    pub engine: Engine,
    pub task: TaskId,
    pub fence: Fence,
    /// The message that had it driven, which goes with the commit that ends the driving.
    pub delivery: Option<Delivery>,
    pub journal: TaskJournal,
    pub canceller: Canceller,
    pub inbox: Inbox,
    pub watcher: std::sync::Arc<dyn Watcher>,
    /// The journal of an execution that this driver has just created, so that nobody need read it back.
    pub begun: Option<(ExecutionId, Journal)>,
    /// Whether the trace stands where the result would say.
    pub has_trace: bool,
    /// Those that stand where the result would say.
    pub screenshots: Vec<EvidenceRef>,
    /// Whether it is this driver that has the execution running: nobody was cut off.
    pub is_running_it: bool,
}

impl Driver {
    pub async fn drive(&mut self) -> Result<Driven, Error> {
        // Whoever cancels what is paused does not want it to run first.
        if self.canceller.signal().raised() != Some(Stop::Cancel) {
            Box::pin(self.wake()).await?;
        }
        loop {
            let open = self.journal.state.open_attempt().map(|open| (open.number, open.execution_id));
            let next = match (self.canceller.signal().raised(), open) {
                (None, _) => next_move(&self.journal.state),
                // An attempt in progress hears the signal itself and leaves its journal in order.
                (Some(_), Some((attempt, execution_id))) => Move::Run { attempt, execution_id },
                (Some(stop), None) => match Box::pin(self.heed_time_up(stop)).await? {
                    true => continue,
                    false => return Box::pin(self.stop_between_moves(stop)).await,
                },
            };
            // What is done once is kept apart, so that a thousand waiting drivers do not each make room for it.
            match next {
                Move::Start { limits, .. } => {
                    if let Some(driven) = Box::pin(self.start(limits)).await? {
                        return Ok(driven);
                    }
                }
                Move::Run { attempt, execution_id } => {
                    if let Some(driven) = self.run(attempt, execution_id).await? {
                        return Ok(driven);
                    }
                }
                Move::Verify { attempt } => {
                    if let Some(driven) = Box::pin(self.check(attempt)).await? {
                        return Ok(driven);
                    }
                }
                Move::Consult { attempt, limits } => {
                    if let Some(driven) = Box::pin(self.consult(attempt, limits)).await? {
                        return Ok(driven);
                    }
                }
                Move::AskHelp { attempt, about } => return Box::pin(self.ask_help(attempt, about)).await,
                Move::Wait => {
                    if !Box::pin(self.hear_help()).await? {
                        return Box::pin(self.sleep(Vec::new(), Rider::default())).await;
                    }
                }
                Move::Finish { status, verified, error } => {
                    if let Some(driven) = Box::pin(self.finish(status, verified, error)).await? {
                        return Ok(driven);
                    }
                }
                Move::Nothing => return Err(self.broken("there is nothing to do and no result")),
            }
        }
    }

    /// A paused task that is driven again runs.
    async fn wake(&mut self) -> Result<(), Error> {
        match self.journal.state.status {
            Some(TaskStatus::Paused) => self.act(vec![TaskAction::Resume], Rider::default(), Vec::new()).await,
            _ => Ok(()),
        }
    }

    /// Begins an attempt on the approval there is; without it the task ends here.
    pub(super) async fn start(&mut self, limits: Limits) -> Result<Option<Driven>, Error> {
        let known = match Box::pin(self.gather_context()).await? {
            Gathered::Known(known) => known,
            Gathered::Unavailable(error) => return self.finish(TaskResultStatus::Failed, false, Some(error)).await,
            Gathered::Stopped => return Ok(None),
        };
        loop {
            let mut rider = Rider::default();
            if let Err(why) = self.use_approval(&mut rider).await? {
                self.act(Vec::new(), rider, Vec::new()).await?;
                let message = format!("the approval of this run does not hold: {why}");
                let error = ErrorDetails::new(ErrorCode::ApprovalDenied, message);
                return self.finish(TaskResultStatus::Failed, false, Some(error)).await;
            }
            if let Err(refused) = self.charge_attempt(&mut rider).await? {
                let error = refused_attempt(&refused);
                return self.finish(TaskResultStatus::Failed, false, Some(error)).await;
            }
            let running = Status::of(ExecutionStatus::Running);
            self.engine.tell_status(&mut rider, &self.journal.state, running)?;
            match self.begin(limits.clone(), known.clone(), rider).await {
                // Another item's attempt began on the same approval at that moment.
                Err(Error::Store(StoreError::Conflict { .. })) if self.is_part() => self.look_again().await?,
                begun => return begun.map(|()| None),
            }
        }
    }

    pub(super) async fn look_again(&mut self) -> Result<(), Error> {
        self.journal = self.engine.task_journal(self.task).await?;
        Ok(())
    }

    pub(super) async fn use_approval(&self, rider: &mut Rider) -> Result<Result<(), String>, Error> {
        let created = self.created()?;
        if let Some(of) = created.part_of.clone() {
            return self.use_whole_approval(&of, rider).await;
        }
        // Who only decides where words go changes nothing.
        if created.turn.is_some() && created.role == Role::Proxy {
            return Ok(Ok(()));
        }
        let Some(card_id) = created.approval else { return Ok(self.engine.shared.law.unsigned_may_run()) };
        let what = match hash_of(created) {
            Ok(hash) => Approved::Plan(hash),
            Err(unhashable) => return Ok(Err(unhashable.to_string())),
        };
        let wanted = Use { card_id, task: self.task, what };
        use_token(&self.engine.shared, &wanted, rider).await
    }

    async fn begin(&mut self, limits: Limits, known: Option<Box<ContextGathered>>, rider: Rider) -> Result<(), Error> {
        let shared = self.engine.shared.clone();
        let base = self.next_base().await?;
        let mut labels = self.heritage().await?.labels;
        labels.join(&self.journal.state.inherited().1);
        let created = self.created()?;
        let execution_id = ExecutionId::new(shared.wall(), shared.runtime.random());
        let header = Header {
            execution_id,
            agent_id: created.agent_id.clone(),
            role: created.works_as(),
            scope: Scope::of(Account::Attempt { of: self.task, created }),
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: created.command.execution_config.model.clone(),
            configuration_digest: configuration_digest(created),
            limits,
            labels,
            parent: None,
            carrier: shared.equipment.carrier(&created.agent_id),
            // A name that stands for nothing is said when the work begins.
            pattern: created.leading().ok().flatten().cloned(),
        };
        let mut beginning = vec![ExecutionCommand::Create(Box::new(header))];
        if let Some(from) = &created.forked {
            beginning.push(ExecutionCommand::Fork(Box::new(shared.taken_over(from).await?)));
        }
        let now = shared.wall();
        let mut execution = Journal::new(execution_id);
        let before = execution.head;
        let mut begun = Decided::default();
        execution.advance(beginning, &mut begun, &shared.redactor, now).map_err(|refused| self.broken(refused))?;
        let label = known.as_ref().map_or(Taint::Auth, |known| known.context.taint().join(Taint::Auth));
        let known = known.map(TaskAction::TakeContext);
        let actions = known.into_iter().chain([TaskAction::StartAttempt { execution_id, base }]).collect();
        let decided = self.decide(actions, label, now)?;
        let mut commit = Commit::fenced(shared.tenant.clone(), now, self.fence.clone());
        commit.expect = vec![(self.journal.stream.clone(), self.journal.head), (execution.stream.clone(), before)];
        commit.events.clone_from(&decided.rows);
        let created_rows = begun.rows.len() as u64;
        commit.events.extend(begun.rows);
        rider.ride(&mut commit);
        self.committed(shared.commit(commit).await)?;
        self.tell(decided, now);
        execution.head = Seq(created_rows);
        self.begun = Some((execution_id, execution));
        begun.events.iter().for_each(|(event, at)| self.watcher.execution(execution_id, event, *at));
        Ok(())
    }

    async fn check(&mut self, attempt: u32) -> Result<Option<Driven>, Error> {
        match self.verify().await? {
            Verdict::Judged(Judged { tree, results, outputs, onto, conflicts }) => {
                let recorded = ChecksRecorded { attempt, tree, results, onto, conflicts, report: None };
                self.record(recorded, outputs).await.map(|()| None)
            }
            // Nobody waits until checks can be made again: its time is up.
            Verdict::Unable(error) if self.journal.state.ends_by().is_some() => {
                self.finish(TaskResultStatus::Completed, false, Some(error)).await
            }
            Verdict::Unable(error) if self.journal.state.interruptions_left() > 0 => {
                self.write_trace().await;
                self.act_last(interrupted(&error), Vec::new()).await?;
                Ok(Some(Driven::Paused(self.result(TaskResultStatus::Paused, false, Some(error)))))
            }
            Verdict::Unable(error) => self.finish(TaskResultStatus::Failed, false, Some(error)).await,
            Verdict::Stopped(stop) => match Box::pin(self.heed_time_up(stop)).await? {
                true => Ok(None),
                false => self.stop_between_moves(stop).await.map(Some),
            },
        }
    }

    async fn record(&mut self, recorded: ChecksRecorded, outputs: Vec<NewBlob>) -> Result<(), Error> {
        loop {
            let mut rider = Rider::default();
            self.tell_observed(&recorded, &mut rider).await?;
            if let Some(status) = judged(&recorded) {
                self.engine.tell_status(&mut rider, &self.journal.state, status)?;
            }
            match self.act(vec![TaskAction::RecordChecks(recorded.clone())], rider, outputs.clone()).await {
                // Whoever it works for is written to by others as well.
                Err(Error::Store(StoreError::Conflict { .. })) if self.is_part() => self.look_again().await?,
                done => return done,
            }
        }
    }

    async fn run(&mut self, attempt: u32, execution_id: ExecutionId) -> Result<Option<Driven>, Error> {
        let ran = match self.execute(attempt, execution_id).await {
            // Somebody wrote to the task before this run had written anything.
            Err(Error::Overtaken(_)) if self.engine.holds(&self.fence).await? => {
                Box::pin(self.overtaken()).await?;
                return Ok(None);
            }
            ran => ran?,
        };
        let Ran { host, commands, actions, rider, rest, used } = ran;
        let mut rider = match &rest {
            // A pause is heeded by this commit, a cancel by the one that ends the task.
            Rest::Paused(_) => {
                let (acks, deliveries) = (self.inbox.stops(Stop::Pause), self.done_with_the_message());
                let mut rider = Rider { acks, deliveries, ..Rider::default() };
                Box::pin(self.tell_resting(&mut rider)).await?;
                rider
            }
            Rest::Parked(_) => {
                let parking = Box::pin(self.parking(&host.state())).await?;
                let Some(parking) = parking else { return Box::pin(self.go_on(&host)).await };
                Rider { deliveries: self.done_with_the_message(), ..parking }
            }
            Rest::No => rider,
        };
        rider.events.extend(host.settle_ground().await);
        host.note_refusals(When::AtRest).map_err(|refused| self.refused(refused))?;
        match Box::pin(self.commit_with(&host, commands, actions, rider)).await {
            // Somebody answered or asked for something at the last moment: look again.
            Err(Error::Overtaken(_)) if self.engine.holds(&self.fence).await? => {
                self.is_running_it = true;
                Box::pin(self.overtaken()).await?;
                return Ok(None);
            }
            Err(Error::Overtaken(task)) => return Err(Error::LeaseLost(task)),
            committed => committed?,
        }
        let (status, error) = match &rest {
            Rest::No => return Ok(None),
            Rest::Paused(error) => (TaskResultStatus::Paused, error.clone()),
            Rest::Parked(_) => (TaskResultStatus::BlockedUser, None),
        };
        self.write_trace().await;
        let mut result = self.result(status, false, error);
        result.usage += used.0;
        let unpriced = host.state().unpriced;
        result.cost_usd = result.cost_usd.filter(|_| !unpriced).map(|cost| cost.plus(used.1));
        match rest {
            Rest::Parked(waits_for) => {
                if let Some(first) = waits_for.first() {
                    result.hitl_request = self.engine.hitl_request(*first).await?;
                }
                Ok(Some(Driven::Waiting(result)))
            }
            Rest::Paused(_) | Rest::No => Ok(Some(Driven::Paused(result))),
        }
    }

    /// Nothing of what was last decided was written: everything is looked at again, and heard again.
    async fn overtaken(&mut self) -> Result<(), Error> {
        self.look_again().await?;
        self.inbox.forget();
        hear(&self.engine.shared, self.task, &self.inbox, &self.canceller).await
    }

    /// It was about to be parked, and has its answer: what it did so far is kept, and it is entered again.
    async fn go_on(&mut self, host: &ExecutionHost) -> Result<Option<Driven>, Error> {
        self.is_running_it = host.state().lifecycle == Lifecycle::Running;
        host.commit(Vec::new(), Rider::default()).await.map_err(|refused| self.refused(refused))?;
        Ok(None)
    }

    /// One commit for the execution's journal and the task's.
    pub(super) async fn commit_with(
        &mut self,
        host: &ExecutionHost,
        commands: Vec<ExecutionCommand>,
        actions: Vec<TaskAction>,
        mut rider: Rider,
    ) -> Result<(), Error> {
        let now = self.engine.shared.wall();
        let decided = self.decide(actions, host.taint(), now)?;
        rider.expect.push((self.journal.stream.clone(), self.journal.head));
        rider.events.splice(0..0, decided.rows.iter().cloned());
        host.commit(commands, rider).await.map_err(|refused| self.refused(refused))?;
        self.tell(decided, now);
        Ok(())
    }

    async fn stop_between_moves(&mut self, stop: Stop) -> Result<Driven, Error> {
        if stop != Stop::LeaseLost {
            self.write_trace().await;
        }
        let acks = self.inbox.stops(stop);
        match stop {
            Stop::LeaseLost => Err(Error::LeaseLost(self.task)),
            Stop::Pause => {
                let mut rider = Rider { acks, deliveries: self.done_with_the_message(), ..Rider::default() };
                self.tell_resting(&mut rider).await?;
                self.act(self.resting(vec![self.inbox.pause()]), rider, Vec::new()).await?;
                Ok(Driven::Paused(self.result(TaskResultStatus::Paused, false, None)))
            }
            Stop::Cancel => {
                let result = self.result(TaskResultStatus::Cancelled, false, Some(cancelled(&self.engine)));
                let ended = self.end(result, acks).await?;
                ended.ok_or_else(|| self.broken("what is cancelled is added to nothing"))
            }
        }
    }

    async fn finish(
        &mut self,
        status: TaskResultStatus,
        verified: bool,
        error: Option<ErrorDetails>,
    ) -> Result<Option<Driven>, Error> {
        // Before the commit: whoever finds the task finished writes nothing any more.
        self.write_trace().await;
        let result = self.result(status, verified, error);
        self.end(result, Vec::new()).await
    }

    /// `None`: it goes on, because what it would add to has changed meanwhile.
    async fn end(&mut self, result: TaskResult, acks: Vec<MessageId>) -> Result<Option<Driven>, Error> {
        self.sweep_copies().await;
        loop {
            let mut rider = Rider { acks: acks.clone(), deliveries: self.done_with_the_message(), ..Rider::default() };
            rider.events = remembered(&self.engine.shared, &self.journal.state, &result).await?;
            self.withdraw_help(&mut rider).await?;
            rider.events.extend(self.forget_labels().await?);
            rider.timers = self.own_timers();
            let in_session = Box::pin(self.engine.leave_session(&self.journal.state, &mut rider)).await?;
            if let Told::Outdated = self.tell_end(&result, &mut rider).await? {
                self.outdate().await?;
                return Ok(None);
            }
            match self.act(vec![TaskAction::Finish(Box::new(result.clone()))], rider, Vec::new()).await {
                // Whoever it works for is written to by others as well.
                Err(Error::Store(StoreError::Conflict { .. })) if self.is_part() || in_session => {
                    self.look_again().await?;
                }
                ended => break ended?,
            }
        }
        self.discard_folders().await;
        // As it was kept, not as it was made: secrets are taken out on the way.
        let kept = self.journal.state.result.clone();
        kept.map(|kept| Some(Driven::Finished(kept))).ok_or_else(|| self.broken("a finished task has no result"))
    }

    /// Nobody works on it until somebody wakes it.
    pub(super) async fn sleep(&mut self, actions: Vec<TaskAction>, mut rider: Rider) -> Result<Driven, Error> {
        rider.unread.push(MailboxSeen { mailbox: mailbox(self.task), seen: self.inbox.read() });
        rider.deliveries.extend(self.done_with_the_message());
        self.write_trace().await;
        self.act(actions, rider, Vec::new()).await?;
        Ok(Driven::Waiting(self.result(TaskResultStatus::BlockedUser, false, None)))
    }

    /// The last thing that is done for now: nobody needs to drive it any more.
    async fn act_last(&mut self, actions: Vec<TaskAction>, acks: Vec<MessageId>) -> Result<(), Error> {
        let rider = Rider { acks, deliveries: self.done_with_the_message(), ..Rider::default() };
        self.act(actions, rider, Vec::new()).await
    }

    fn done_with_the_message(&self) -> Vec<DeliveryChange> {
        self.delivery.map(DeliveryChange::Ack).into_iter().collect()
    }

    /// Commits to the task's own stream, with what rides along and the blobs that the actions refer to.
    pub(super) async fn act(
        &mut self,
        actions: Vec<TaskAction>,
        rider: Rider,
        blobs: Vec<NewBlob>,
    ) -> Result<(), Error> {
        let shared = self.engine.shared.clone();
        let now = shared.wall();
        let decided = self.decide(actions, Taint::External, now)?;
        let mut commit = Commit::fenced(shared.tenant.clone(), now, self.fence.clone());
        commit.expect.push((self.journal.stream.clone(), self.journal.head));
        commit.events.clone_from(&decided.rows);
        commit.blobs = blobs;
        rider.ride(&mut commit);
        self.committed(shared.commit(commit).await)?;
        self.tell(decided, now);
        Ok(())
    }

    fn decide(&self, actions: Vec<TaskAction>, taint: Taint, now: Wall) -> Result<TaskDecided, Error> {
        let decided = self.journal.decide(actions, &self.engine.shared.redactor, taint, now);
        decided.map_err(|refused| self.broken(refused))
    }

    /// What is durable is folded and shown.
    fn tell(&mut self, decided: TaskDecided, at: Wall) {
        decided.events.iter().for_each(|event| self.watcher.task(self.task, event, at));
        self.journal.applied(decided);
    }

    fn result(&self, status: TaskResultStatus, verified: bool, error: Option<ErrorDetails>) -> TaskResult {
        let state = &self.journal.state;
        let mut result = state.report(status, verified, error).expect("driven tasks were created");
        result.evidence_refs.extend(self.has_trace.then(|| self.trace_evidence()));
        result.evidence_refs.extend(self.screenshots.iter().cloned());
        result
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

    /// Whether its end is written elsewhere too.
    pub fn is_part(&self) -> bool {
        let created = self.journal.state.created.as_ref();
        created.is_some_and(|created| created.part_of.is_some() || created.turn.is_some())
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
            Refused::Overtaken => Error::Overtaken(self.task),
            other => self.broken(other),
        }
    }

    fn committed<T>(&self, outcome: Result<T, windlass_store::Error>) -> Result<T, Error> {
        outcome.map_err(|error| match error {
            windlass_store::Error::Fenced { .. } | windlass_store::Error::StaleDelivery { .. } => {
                Error::LeaseLost(self.task)
            }
            other => other.into(),
        })
    }
}

/// What there is to tell about an item whose work was not what it should be.
fn judged(recorded: &ChecksRecorded) -> Option<Status> {
    if !recorded.conflicts.is_empty() {
        let message = format!("its work was not taken: {}", recorded.conflicts.join("; "));
        let error = ErrorDetails::new(ErrorCode::Internal, message);
        return Some(Status::wrong(ExecutionStatus::Blocked, error));
    }
    let failed: Vec<&str> =
        recorded.results.iter().filter(|result| !result.passed).map(|result| result.name.as_str()).collect();
    let message = format!("these checks failed: {}", failed.join(", "));
    let error = ErrorDetails::new(ErrorCode::ChecksFailed, message);
    (!failed.is_empty()).then(|| Status::wrong(ExecutionStatus::VerificationFailed, error))
}

/// What an outage leads to: it is counted, and the task waits until somebody says that it may go on.
pub(super) fn interrupted(error: &ErrorDetails) -> Vec<TaskAction> {
    vec![TaskAction::Interrupt(error.clone()), TaskAction::Pause { reason: error.message.clone() }]
}

pub(super) fn cancelled(engine: &Engine) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::Cancelled, engine.why_cancelled())
}

/// Names everything the operator chose for this run, for audit.
fn configuration_digest(created: &TaskCreated) -> Digest {
    let chosen = (&created.command.execution_config, &created.budget, &created.model, &created.sandbox);
    Digest::of(&serde_json::to_vec(&chosen).expect("configuration is plain data"))
}

/// What an execution and those who work for it have used, in seed 000's terms.
pub(super) fn metrics(host: &ExecutionHost, now: Wall) -> (UsageMetrics, Usd) {
    let (state, spent) = (host.state(), host.spent(now));
    (in_metrics(&state, &spent), spent.cost)
}
