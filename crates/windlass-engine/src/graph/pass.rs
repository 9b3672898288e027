//! One pass over a planned task: hear what was answered, make every move there is, and sleep. Whoever ends meanwhile writes to the
//! same stream, so that each commit may find itself overtaken; then it is looked at again.

use std::sync::Arc;

use windlass_domain::graph::{AtomInterrupted, GraphAction, GraphMove, Standing, next_moves};
use windlass_domain::task::{Control, TaskAction, TaskCreated, TaskStatus, Wish};
use windlass_domain::{Awaited, Canceller, ErrorCode, ErrorDetails, Stop, Taint, TaskId, TaskResult, TaskResultStatus};
use windlass_store::{Commit, Delivery, DeliveryChange, Error as StoreError, Fence, MailboxSeen, TimerChange};

use super::journal::GraphJournal;
use super::resting::History;
use crate::Error;
use crate::attempt::{Driven, TaskJournal, sweep_copies};
use crate::control::{Inbox, PAUSED, PAUSED_WITH_PLAN, mailbox};
use crate::deadlines::deadline_timer_name;
use crate::engine::Engine;
use crate::host::Rider;
use crate::memories::remembered;
use crate::watch::Watcher;

/// Of one plan at a time: seed 001 §7.1's `max_concurrent`.
const PLACES: usize = 8;

pub struct GraphDriver {
    pub engine: Engine,
    pub task: TaskId,
    pub fence: Fence,
    /// The message that had it driven, which goes with the commit that ends the driving.
    pub delivery: Option<Delivery>,
    pub graph: GraphJournal,
    pub history: History,
    pub journal: TaskJournal,
    pub canceller: Canceller,
    pub inbox: Inbox,
    pub watcher: Arc<dyn Watcher>,
}

/// What came of a move.
pub(super) enum Made {
    Done,
    /// Something else was written first: nothing of this was, and everything is looked at again.
    Overtaken,
    Over(Box<Driven>),
}

impl GraphDriver {
    pub(super) async fn pass(&mut self) -> Result<Driven, Error> {
        if self.canceller.signal().raised() != Some(Stop::Cancel) {
            self.resume().await?;
        }
        loop {
            if let Some(stop) = self.canceller.signal().raised()
                && let Made::Over(driven) = self.heed(stop).await?
            {
                return Ok(*driven);
            }
            self.hear_about_the_plan().await?;
            // Checks of the whole may take long: what came before them stands in the file meanwhile.
            self.write_objective().await;
            let agents = self.graph.state.work.constraints().max_parallel_agents.max(1);
            let moves = next_moves(&self.graph.state, PLACES.min(agents as usize));
            if moves.is_empty()
                && let Made::Over(driven) = self.park().await?
            {
                return Ok(*driven);
            }
            for next in moves {
                match Box::pin(self.make(next)).await? {
                    Made::Done => {}
                    Made::Overtaken => break,
                    Made::Over(driven) => return Ok(*driven),
                }
            }
        }
    }

    async fn make(&mut self, next: GraphMove) -> Result<Made, Error> {
        match next {
            GraphMove::StartPlanner { revision, because, is_replan } => {
                self.start_planner(revision, because, is_replan).await
            }
            GraphMove::Ask { revision } => self.ask(revision).await,
            GraphMove::StartAtom { atom } => self.start_atom(&atom).await,
            GraphMove::CheckJoin { atom, tip } => self.check_join(&atom, tip).await,
            GraphMove::Probe { atom, choice } => self.probe(atom, choice).await,
            GraphMove::Split { atom, because } => self.split(atom, because).await,
            GraphMove::Switch { group, failed, because } => self.switch(group, failed, because).await,
            GraphMove::Reopen { holder, sinks } => self.reopen(holder, sinks).await,
            GraphMove::Dismiss => self.dismiss_all().await,
            GraphMove::Apply { from, to } => self.hand_over(from, to).await,
            GraphMove::Escalate { why } => self.escalate(why).await,
            GraphMove::Complete => self.finish(TaskResultStatus::Completed, None).await,
            GraphMove::Fail(error) => self.finish(TaskResultStatus::Failed, Some(error)).await,
            GraphMove::Cancelled(reason) => match self.ends_by() {
                Some(up) => Box::pin(self.end_by_time(up)).await,
                None => {
                    let error = ErrorDetails::new(ErrorCode::Cancelled, reason);
                    self.finish(TaskResultStatus::Cancelled, Some(error)).await
                }
            },
        }
    }

    /// A paused plan that is driven again runs, and so do those who work for it.
    async fn resume(&mut self) -> Result<(), Error> {
        while self.rests() {
            let mut rider = Rider::default();
            for run in self.graph.state.running() {
                self.engine.go_on_with(&mut rider, run).await?;
            }
            // They are to end, and the whole waits for that.
            for run in &self.graph.state.leaving {
                self.engine.send_to_resting(&mut rider, *run).await?;
            }
            self.commit(rider, vec![TaskAction::Resume]).await?;
        }
        Ok(())
    }

    fn rests(&self) -> bool {
        self.journal.state.status == Some(TaskStatus::Paused)
    }

    async fn heed(&mut self, stop: Stop) -> Result<Made, Error> {
        match stop {
            Stop::LeaseLost => Err(Error::LeaseLost(self.task)),
            Stop::Cancel if self.graph.state.stopping.is_some() && !self.rests() => Ok(Made::Done),
            Stop::Cancel => {
                let up = self.news_of_time(Stop::Cancel);
                let reason = up.map_or_else(|| self.engine.why_cancelled(), |up| up.in_words());
                let wish = Control::Cancel(Wish { reason: reason.clone() });
                let mut rider = self.told(self.graph.state.running(), &wish).await?;
                for run in &self.graph.state.leaving {
                    self.engine.send_to_resting(&mut rider, *run).await?;
                }
                let stop = self.graph.state.stopping.is_none().then_some(GraphAction::Stop { reason });
                self.ride(&mut rider, stop, Taint::Auth)?;
                // One that rests would not be woken when the last of them has ended.
                let resume = self.rests().then_some(TaskAction::Resume);
                let acks = if up.is_some() { self.inbox.stops(Stop::Cancel) } else { Vec::new() };
                rider.acks.clone_from(&acks);
                let made = self.commit(rider, up.map(TaskAction::TimeUp).into_iter().chain(resume).collect()).await?;
                if up.is_some() && matches!(made, Made::Done) {
                    self.heeded(&acks);
                }
                Ok(made)
            }
            Stop::Pause => {
                let pause = self.inbox.pause();
                let everybody = self.engine.members(self.task).await?.split_off(1);
                let of_parts = if pause.reason() == PAUSED { PAUSED } else { PAUSED_WITH_PLAN };
                let wish = Control::Pause(Wish { reason: of_parts.to_owned() });
                let mut rider = self.told(everybody, &wish).await?;
                rider.acks = self.inbox.stops(Stop::Pause);
                if matches!(pause, TaskAction::Stop { .. }) {
                    self.charge_interruptions(&mut rider)?;
                }
                self.rest_as_told(pause, rider).await
            }
        }
    }

    /// The task is paused until somebody says that it may go on.
    pub(super) async fn rest(
        &mut self,
        pause: TaskAction,
        error: Option<ErrorDetails>,
        rider: Rider,
    ) -> Result<Made, Error> {
        self.rest_with(vec![pause], error, rider).await
    }

    pub(super) async fn rest_with(
        &mut self,
        actions: Vec<TaskAction>,
        error: Option<ErrorDetails>,
        mut rider: Rider,
    ) -> Result<Made, Error> {
        rider.deliveries = self.done_with_the_message();
        match self.commit(rider, actions).await? {
            Made::Done => Ok(Made::Over(Box::new(Driven::Paused(self.result(TaskResultStatus::Paused, error))))),
            overtaken => Ok(overtaken),
        }
    }

    /// Whoever is at work is cut short, which counts where there is a limit to it. A person may stop as often as they like.
    fn charge_interruptions(&mut self, rider: &mut Rider) -> Result<(), Error> {
        let busy = self.graph.state.work.busy();
        let charged = busy.filter_map(|node| match node.standing {
            Standing::Running(run) if node.left.interruptions > 0 => {
                Some(GraphAction::Interrupt(AtomInterrupted { atom: node.id().clone(), run }))
            }
            _ => None,
        });
        let charged: Vec<GraphAction> = charged.collect();
        self.ride(rider, charged, Taint::Auth)
    }

    /// The same wish for all of these who work for it. What ends stops those who work for it in turn.
    async fn told(&self, runs: Vec<TaskId>, wish: &Control) -> Result<Rider, Error> {
        let mut rider = Rider::default();
        for run in runs {
            // It would hear of it when it goes on, and rest again.
            let rests = self.engine.task(run).await?.status == Some(TaskStatus::Paused);
            if rests && matches!(wish, Control::Pause(_)) {
                continue;
            }
            rider.messages.push(self.engine.mail(run, wish.clone(), Taint::Auth)?);
            match wish {
                Control::Cancel(_) => self.engine.wake_to_end(&mut rider, run).await?,
                Control::Pause(_) | Control::Stop(_) | Control::Inject(_) | Control::TimeUp(_) => {
                    self.engine.wake_for(&mut rider, run, None).await?;
                }
            }
        }
        Ok(rider)
    }

    /// Whether somebody wants it to stop, and that was only heard so far.
    fn is_to_stop(&self) -> bool {
        match self.canceller.signal().raised() {
            None => false,
            Some(Stop::Cancel) => self.graph.state.stopping.is_none() || self.rests(),
            Some(Stop::Pause | Stop::LeaseLost) => true,
        }
    }

    /// Goes to sleep: whatever could wake it is a guard of the commit.
    async fn park(&mut self) -> Result<Made, Error> {
        // What was read is no reason to wake up: it is heeded first.
        if self.is_to_stop() {
            return Ok(Made::Overtaken);
        }
        let seen = MailboxSeen { mailbox: mailbox(self.task), seen: self.inbox.read() };
        let mut rider = Rider { unread: vec![seen], deliveries: self.done_with_the_message(), ..Rider::default() };
        let asked = self.graph.state.asks();
        if let Some(card) = asked {
            let Some(stands) = self.engine.still_asked(card).await? else { return Ok(Made::Overtaken) };
            rider.expect.push(stands);
        }
        self.ride(&mut rider, [GraphAction::Park], Taint::Auth)?;
        let Made::Done = self.commit(rider, Vec::new()).await? else { return Ok(Made::Overtaken) };
        let mut result = self.result(TaskResultStatus::BlockedUser, None);
        if let Some(card) = asked {
            result.hitl_request = self.engine.hitl_request(Awaited::Card(card)).await?;
        }
        Ok(Made::Over(Box::new(Driven::Waiting(result))))
    }

    pub(super) async fn finish(
        &mut self,
        status: TaskResultStatus,
        error: Option<ErrorDetails>,
    ) -> Result<Made, Error> {
        let error = match (Box::pin(self.keep_unfinished()).await, error) {
            (Some(reference), Some(error)) => {
                let message = format!("{}; what was done until then stands in git as {reference}", error.message);
                Some(ErrorDetails { message, ..error })
            }
            (_, error) => error,
        };
        self.end(self.result(status, error)).await
    }

    pub(super) async fn end(&mut self, result: TaskResult) -> Result<Made, Error> {
        // What others left who died after their work had ended.
        Box::pin(self.engine.sweep_worktrees()).await?;
        sweep_copies(&self.engine, self.task).await;
        let acks = self.inbox.stops(Stop::Cancel);
        let events = remembered(&self.engine.shared, &self.journal.state, &result).await?;
        let mut rider = Rider { acks, events, deliveries: self.done_with_the_message(), ..Rider::default() };
        let deadline = self.journal.state.deadline().map(|_| deadline_timer_name(self.task));
        rider.timers.extend(deadline.map(TimerChange::Cancel));
        Box::pin(self.engine.leave_session(&self.journal.state, &mut rider)).await?;
        if let Some(card) = self.graph.state.asks() {
            self.engine.withdraw(&mut rider, card, "the run has ended").await?;
        }
        let Made::Done = self.commit(rider, vec![TaskAction::Finish(Box::new(result))]).await? else {
            return Ok(Made::Overtaken);
        };
        // As it was kept, not as it was made: secrets are taken out on the way.
        let kept = self.journal.state.result.clone().ok_or_else(|| self.broken("a finished task has no result"))?;
        Ok(Made::Over(Box::new(Driven::Finished(kept))))
    }

    pub(super) fn result(&self, status: TaskResultStatus, error: Option<ErrorDetails>) -> TaskResult {
        let graph = &self.graph.state;
        let verified = status == TaskResultStatus::Completed && graph.is_verified();
        let mut result = self.journal.state.report(status, verified, error).expect("driven tasks were created");
        let (work, planning) = (graph.spent(), graph.planning);
        result.usage = work.usage;
        result.usage += planning.usage;
        result.cost_usd = (!work.unpriced && !planning.unpriced).then(|| work.cost.plus(planning.cost));
        result.final_message = match self.journal.state.ends_by().filter(|_| result.partial) {
            Some(up) => Some(up.partly(graph.summary())),
            None => graph.summary(),
        };
        result.deliverables = graph.deliverables();
        result
    }

    /// Adds these to the graph, as part of what the next commit carries.
    pub(super) fn ride(
        &mut self,
        rider: &mut Rider,
        actions: impl IntoIterator<Item = GraphAction>,
        taint: Taint,
    ) -> Result<(), Error> {
        let shared = &self.engine.shared;
        self.graph.ride(rider, actions, &shared.redactor, taint, shared.wall())
    }

    /// One commit for the graph and the task. What was ridden before a commit that is overtaken has not happened.
    pub(super) async fn commit(&mut self, rider: Rider, actions: Vec<TaskAction>) -> Result<Made, Error> {
        let shared = self.engine.shared.clone();
        let now = shared.wall();
        let decided = self.journal.decide(actions, &shared.redactor, Taint::Auth, now);
        let decided = decided.map_err(|refused| self.broken(refused))?;
        let mut commit = Commit::fenced(shared.tenant.clone(), now, self.fence.clone());
        commit.expect.push((self.journal.stream.clone(), self.journal.head));
        commit.events.clone_from(&decided.rows);
        rider.ride(&mut commit);
        match shared.commit(commit).await {
            Ok(_) => {
                decided.events.iter().for_each(|event| self.watcher.task(self.task, event, now));
                self.journal.applied(decided);
                Ok(Made::Done)
            }
            Err(StoreError::Conflict { .. } | StoreError::Unread { .. } | StoreError::NonceUsed { .. }) => {
                self.look_again().await?;
                Ok(Made::Overtaken)
            }
            Err(StoreError::Fenced { .. } | StoreError::StaleDelivery { .. }) => Err(Error::LeaseLost(self.task)),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn look_again(&mut self) -> Result<(), Error> {
        self.graph = self.engine.graph_journal(self.task).await?;
        self.journal = self.engine.task_journal(self.task).await?;
        crate::control::hear(&self.engine.shared, self.task, &self.inbox, &self.canceller).await
    }

    fn done_with_the_message(&self) -> Vec<DeliveryChange> {
        self.delivery.map(DeliveryChange::Ack).into_iter().collect()
    }

    pub(super) fn created(&self) -> Result<&TaskCreated, Error> {
        self.journal.state.created.as_ref().ok_or(Error::NoSuchTask(self.task))
    }

    pub(super) fn broken(&self, detail: impl std::fmt::Display) -> Error {
        Error::Broken { task: self.task, detail: detail.to_string() }
    }
}
