//! Looking at a goal: its checks run on a copy of the workspace as it is, with no agent and no model. Whoever has the message that a
//! firing left looks; what was found, the task that mends it, the time of the next look and the end of the message are one commit,
//! so that no crash comes between them. Whoever vanishes in the middle leaves the message to another.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::goal::{
    GoalAction, GoalAdded, GoalChecked, GoalRejected, GoalStatus, GoalTroubled, Look, fix_plan,
};
use windlass_domain::queue::Urgency;
use windlass_domain::task::{TaskAction, TaskCommand, TaskCreated};
use windlass_domain::{
    CancelSignal, Canceller, CommandId, ErrorCode, ErrorDetails, GoalId, SessionId, Taint, TaskId, TreeId,
};
use windlass_store::queue::Leased;
use windlass_store::{DeliveryChange, Error as StoreError};

use super::add::as_task;
use super::fire::{goal_timer, next_look};
use super::journal::GoalJournal;
use crate::Error;
use crate::attempt::{
    Judged, Patience, Protection, Registration, Subject, TaskJournal, Trouble, Verifier, sweep_copies,
};
use crate::dispatch::Letter;
use crate::engine::Engine;
use crate::host::Rider;

/// What the checks said of the tree they ran on; or why they could not.
type Seen = Result<(TreeId, Judged), ErrorDetails>;

impl Engine {
    /// Does what the message asks for. One that comes to nothing is put back, for another try.
    pub(crate) async fn look_at_goal(&self, goal: GoalId, leased: &Leased) -> Result<Look, Error> {
        let looked = self.look_with(goal, leased).await;
        match &looked {
            Ok(_) => self.shared.desk().tell_acked(leased),
            Err(error) => self.put_back(leased, error).await,
        }
        looked?.ok_or_else(|| GoalRejected::OtherFiring.into())
    }

    /// `None`: nobody wants it looked at any more, and the message is gone.
    async fn look_with(&self, goal: GoalId, leased: &Leased) -> Result<Option<Look>, Error> {
        let mut journal = self.goal_journal(goal).await?;
        let wanted = match (&journal.state.added, journal.state.open) {
            (Some(added), Some(firing)) if journal.state.status == GoalStatus::Active => Some((added.clone(), firing)),
            _ => None,
        };
        let Some((added, firing)) = wanted else {
            return self.take_out(Some(leased.delivery)).await.map(|()| None);
        };
        // What others left who died while they looked.
        sweep_copies(self, as_task(goal)).await;
        let canceller = Canceller::default();
        let _registered = Registration::new(&self.shared, as_task(goal), canceller.clone());
        let seen = match self.judge_goal(&added, canceller.signal()).await {
            Ok(judged) => Ok(judged),
            Err(Trouble::Unable(error)) => Err(error),
            Err(Trouble::Unfit(why)) => Err(ErrorDetails::new(ErrorCode::Internal, why)),
            Err(Trouble::Stopped(_)) => return Err(Error::LeaseLost(as_task(goal))),
        };
        let mut rider = self.found(&mut journal, &added, firing, seen)?;
        rider.deliveries.push(DeliveryChange::Ack(leased.delivery));
        match self.commit_goal(rider).await {
            // Its owner let it rest, or go, meanwhile.
            Err(Error::Store(StoreError::Conflict { .. })) => self.take_out(Some(leased.delivery)).await.map(|()| None),
            Err(Error::Store(StoreError::StaleDelivery { .. })) => Err(Error::LeaseLost(as_task(goal))),
            committed => committed.map(|()| journal.state.last),
        }
    }

    /// What follows from it.
    fn found(&self, journal: &mut GoalJournal, added: &GoalAdded, firing: u32, seen: Seen) -> Result<Rider, Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let due = next_look(&journal.state, now);
        let mut rider = Rider { timers: vec![goal_timer(journal.id, due)], ..Rider::default() };
        let (tree, judged) = match seen {
            Ok(seen) => seen,
            Err(error) => {
                let give_up = [GoalAction::GiveUp(GoalTroubled { firing, error, due })];
                journal.ride(&mut rider, give_up, &shared.redactor, Taint::External, now)?;
                return Ok(rider);
            }
        };
        rider.blobs.extend(judged.outputs);
        let is_broken = judged.results.iter().any(|result| !result.passed);
        let fix = is_broken.then(|| TaskId::new(now, shared.runtime.random()));
        let check = [GoalAction::Check(GoalChecked { firing, results: judged.results, fix, due })];
        journal.ride(&mut rider, check, &shared.redactor, Taint::External, now)?;
        if let Some(task) = fix {
            self.spawn_fix(&mut rider, journal, added, task, tree)?;
        }
        Ok(rider)
    }

    /// On the workspace as it is.
    async fn judge_goal(&self, added: &GoalAdded, cancel: CancelSignal) -> Result<(TreeId, Judged), Trouble> {
        let shared = &self.shared;
        let workspace = shared.equipment.workspace(added.template.workspace.as_ref())?;
        let captured = Arc::clone(&workspace);
        let tree = shared.blocking(move || captured.capture()).await;
        let tree = tree.map_err(|error| ErrorDetails::new(ErrorCode::Internal, error.to_string()))?;
        let time = Duration::from_secs(added.plan.0.budget.max_wall_time_seconds);
        let verifier = Verifier {
            engine: self.clone(),
            task: as_task(added.goal),
            sandbox: added.template.sandbox.clone(),
            checks: added.plan.0.verify.clone(),
            workspace,
            cancel: cancel.clone(),
            patience: Patience::new(cancel, Arc::clone(&shared.runtime), time),
        };
        let protection = Protection::of(tree);
        let judged = verifier.judge(Subject { tree, baseline: tree, protection, new_repositories: Vec::new() }).await?;
        Ok((tree, judged))
    }

    /// The task that mends it: made of the template, with what failed as it is kept.
    fn spawn_fix(
        &self,
        rider: &mut Rider,
        journal: &GoalJournal,
        added: &GoalAdded,
        task: TaskId,
        tree: TreeId,
    ) -> Result<(), Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let Some((_, results)) = &journal.state.fix else { return Err(GoalRejected::OtherFiring.into()) };
        let created = TaskCreated {
            command: TaskCommand {
                command_id: CommandId::new(now, shared.runtime.random()),
                session_id: SessionId::new(now, shared.runtime.random()),
                task_id: task,
                ..added.template.command.clone()
            },
            baseline: Some(tree),
            ..added.template.as_ref().clone()
        };
        let letter = Letter::home(&created, Urgency::Informational);
        let of_task = TaskJournal::new(task);
        let create = vec![TaskAction::Create(Box::new(created))];
        let decided = of_task.decide(create, &shared.redactor, Taint::Auth, now);
        let decided = decided.map_err(|refused| Error::Broken { task, detail: refused.to_string() })?;
        rider.expect.push((of_task.stream, of_task.head));
        rider.events.extend(decided.rows);
        // What failed was told by checks, and may quote anything.
        rider.events.extend(self.given(task, fix_plan(&added.plan, results), tree, Taint::External)?);
        self.post(rider, letter)
    }
}
