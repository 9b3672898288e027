//! Looking at a goal whose time has come: its checks run on a copy of the workspace as it is, with no agent and no model. That somebody
//! looks is committed first, so that nobody else does; what was found, the task that mends it and the time of the next look are
//! one commit, so that no crash comes between them. Whoever vanishes in the middle is followed by another look.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::goal::{
    GoalAction, GoalAdded, GoalChecked, GoalRejected, GoalSkipped, GoalStatus, GoalTroubled, Look, Occasion, fix_plan,
    next_due,
};
use windlass_domain::plan::{Plan, Schedule};
use windlass_domain::queue::Urgency;
use windlass_domain::task::{TaskAction, TaskCommand, TaskCreated};
use windlass_domain::{
    CancelSignal, CommandId, Encoded, ErrorCode, ErrorDetails, GoalId, SessionId, Taint, TaskId, TreeId, Wall,
};
use windlass_store::{Commit, Error as StoreError, NewTimer, TimerChange, TimerName};

use super::add::as_task;
use super::journal::GoalJournal;
use crate::Error;
use crate::attempt::{Judged, Patience, Subject, TaskJournal, Trouble, Verifier};
use crate::dispatch::Letter;
use crate::engine::Engine;
use crate::host::Rider;

pub(crate) const GOAL_TIMER: &str = "goal/";
/// Beside what its checks may take, before whoever looks is taken for gone.
const GRACE: Duration = Duration::from_secs(60);

pub(super) fn goal_timer(goal: GoalId, due: Wall) -> TimerChange {
    let note = serde_json::value::to_raw_value(&goal).expect("an id is plain data");
    TimerChange::Set(NewTimer {
        name: timer_name(goal),
        due,
        queue: "goal".to_owned(),
        encoded: Encoded { kind: "goal.due", version: 1, data: note },
        taint: Taint::Auth,
    })
}

pub(super) fn timer_name(goal: GoalId) -> TimerName {
    TimerName(format!("{GOAL_TIMER}{goal}"))
}

/// A look that has begun.
struct Looking {
    journal: GoalJournal,
    added: GoalAdded,
    firing: u32,
}

impl Engine {
    /// Its timer is due. What another does, or has done a moment ago, is not done again.
    pub(crate) async fn fire_goal(&self, goal: GoalId) -> Result<(), Error> {
        match self.begin_look(goal, Occasion::Due).await {
            Ok(_)
            | Err(
                Error::Store(StoreError::Conflict { .. })
                | Error::Goal(GoalRejected::NotDue | GoalRejected::BeingLookedAt | GoalRejected::OtherFiring),
            ) => Ok(()),
            // Paused or removed: nobody looks any more.
            Err(Error::Goal(_)) => {
                let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
                commit.timers.push(TimerChange::Cancel(timer_name(goal)));
                self.shared.commit(commit).await.map(drop)?;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Looks at it now, whatever its schedule says.
    pub async fn run_goal(&self, goal: GoalId) -> Result<Look, Error> {
        self.begin_look(goal, Occasion::Asked).await
    }

    async fn begin_look(&self, goal: GoalId, occasion: Occasion) -> Result<Look, Error> {
        let mut journal = self.goal_journal(goal).await?;
        let added = journal.state.added.clone().ok_or(GoalRejected::Unknown)?;
        if journal.state.status == GoalStatus::Removed {
            return Err(GoalRejected::Unknown.into());
        }
        let is_elsewhere =
            added.template.placement.as_deref().is_some_and(|place| place != self.shared.process.place());
        if is_elsewhere {
            return Err(GoalRejected::NotDue.into());
        }
        let now = self.shared.wall();
        if let Some(fix) = self.open_fix(&journal).await? {
            return self.skip(goal, journal, &added, fix, occasion).await;
        }
        let firing = journal.state.firings.saturating_add(1);
        let patience: u64 = added.plan.0.verify.0.iter().map(|check| check.timeout_seconds).sum();
        let due = now + Duration::from_secs(patience) + GRACE;
        let mut rider = Rider::default();
        let fire = [GoalAction::Fire { now, due, occasion }];
        journal.ride(&mut rider, fire, &self.shared.redactor, Taint::Auth, now)?;
        rider.timers.push(goal_timer(goal, due));
        self.commit_goal(rider).await?;
        self.finish_look(goal, Looking { journal, added, firing }).await
    }

    /// The task that still mends what an earlier look found.
    async fn open_fix(&self, journal: &GoalJournal) -> Result<Option<TaskId>, Error> {
        let Some((fix, _)) = &journal.state.fix else { return Ok(None) };
        Ok((!self.task(*fix).await?.is_over()).then_some(*fix))
    }

    async fn skip(
        &self,
        goal: GoalId,
        mut journal: GoalJournal,
        added: &GoalAdded,
        fix: TaskId,
        occasion: Occasion,
    ) -> Result<Look, Error> {
        let now = self.shared.wall();
        if occasion == Occasion::Due && journal.state.due.is_some_and(|due| now < due) {
            return Err(GoalRejected::NotDue.into());
        }
        let due = next_due(schedule(added), now);
        let mut rider = Rider { timers: vec![goal_timer(goal, due)], ..Rider::default() };
        // What is always on is looked at again when the fix has ended; that it waits until then is no event.
        if *schedule(added) != Schedule::AlwaysOn {
            let firing = journal.state.firings.saturating_add(1);
            let skipped = GoalSkipped { firing, because: fix, due };
            journal.ride(&mut rider, [GoalAction::Skip(skipped)], &self.shared.redactor, Taint::Auth, now)?;
        }
        self.commit_goal(rider).await?;
        Ok(Look::Skipped(fix))
    }

    async fn finish_look(&self, goal: GoalId, looking: Looking) -> Result<Look, Error> {
        let Looking { mut journal, added, firing } = looking;
        let judged = self.judge_goal(&added).await;
        let now = self.shared.wall();
        let due = next_due(schedule(&added), now);
        let mut rider = Rider { timers: vec![goal_timer(goal, due)], ..Rider::default() };
        match judged {
            Err(error) => {
                let troubled = GoalTroubled { firing, error, due };
                let give_up = [GoalAction::GiveUp(troubled)];
                journal.ride(&mut rider, give_up, &self.shared.redactor, Taint::External, now)?;
            }
            Ok((tree, judged)) => {
                rider.blobs.extend(judged.outputs);
                let is_broken = judged.results.iter().any(|result| !result.passed);
                let fix = is_broken.then(|| TaskId::new(now, self.shared.runtime.random()));
                let checked = GoalChecked { firing, results: judged.results, fix, due };
                let check = [GoalAction::Check(checked)];
                journal.ride(&mut rider, check, &self.shared.redactor, Taint::External, now)?;
                if let Some(task) = fix {
                    self.spawn_fix(&mut rider, &journal, &added, task, tree)?;
                }
            }
        }
        self.commit_goal(rider).await?;
        journal.state.last.ok_or_else(|| GoalRejected::OtherFiring.into())
    }

    /// On the workspace as it is.
    async fn judge_goal(&self, added: &GoalAdded) -> Result<(TreeId, Judged), ErrorDetails> {
        let shared = &self.shared;
        let internal = |error: String| ErrorDetails::new(ErrorCode::Internal, error);
        let workspace = shared.equipment.workspace(added.template.workspace.as_ref())?;
        let captured = Arc::clone(&workspace);
        let tree = shared.blocking(move || captured.capture()).await.map_err(|error| internal(error.to_string()))?;
        let time = Duration::from_secs(added.plan.0.budget.max_wall_time_seconds);
        let verifier = Verifier {
            engine: self.clone(),
            task: as_task(added.goal),
            sandbox: added.template.sandbox.clone(),
            checks: added.plan.0.verify.clone(),
            workspace,
            cancel: CancelSignal::never(),
            patience: Patience::new(CancelSignal::never(), Arc::clone(&shared.runtime), time),
        };
        match verifier.judge(Subject { tree, baseline: tree, new_repositories: Vec::new() }).await {
            Ok(judged) => Ok((tree, judged)),
            Err(Trouble::Unable(error)) => Err(error),
            Err(Trouble::Unfit(why)) => Err(internal(why)),
            Err(Trouble::Stopped(_)) => Err(ErrorDetails::new(ErrorCode::Cancelled, "the checks were stopped")),
        }
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
        let plan: Plan = fix_plan(&added.plan, results);
        // What failed was told by checks, and may quote anything.
        rider.events.extend(self.given(task, plan, tree, Taint::External)?);
        self.post(rider, letter)
    }

    pub(super) async fn commit_goal(&self, rider: Rider) -> Result<(), Error> {
        let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
        rider.ride(&mut commit);
        self.shared.commit(commit).await.map(drop)?;
        Ok(())
    }
}

/// Nothing is added without one.
fn schedule(added: &GoalAdded) -> &Schedule {
    added.plan.0.schedule.as_ref().unwrap_or(&Schedule::AlwaysOn)
}
