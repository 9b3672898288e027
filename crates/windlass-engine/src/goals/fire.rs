//! Sending somebody to look at a goal whose time has come. Nobody looks here, so that timers stay quick: that a look has begun and the
//! message that has it done are one commit, and whoever works takes the message like any other (`look`). A goal has at most one such
//! message; its timer meanwhile is for the case that the message goes astray.

use std::time::Duration;

use windlass_domain::goal::{
    GoalAction, GoalAdded, GoalRejected, GoalSkipped, GoalState, GoalStatus, Look, Occasion, is_due, next_due,
};
use windlass_domain::plan::Schedule;
use windlass_domain::{Encoded, GoalId, Taint, TaskId, Wall};
use windlass_plan::offsets;
use windlass_store::queue::Leased;
use windlass_store::{Commit, Error as StoreError, NewTimer, TimerChange, TimerName};

use super::add::as_task;
use super::journal::GoalJournal;
use crate::Error;
use crate::dispatch::Claimed;
use crate::engine::Engine;
use crate::host::Rider;

pub(crate) const GOAL_TIMER: &str = "goal/";
/// Beside what its checks may take, before the message that sends somebody is looked for.
const GRACE: Duration = Duration::from_secs(60);

pub(super) fn goal_timer(goal: GoalId, due: Wall) -> TimerChange {
    let note = serde_json::value::to_raw_value(&goal).expect("an id is plain data");
    TimerChange::Set(NewTimer {
        name: timer_name(goal),
        due,
        queue: "goal".to_owned(),
        encoded: Encoded { kind: "goal.due", version: 1, data: note, since: 1, older: &[] },
        taint: Taint::Auth,
    })
}

pub(super) fn timer_name(goal: GoalId) -> TimerName {
    TimerName(format!("{GOAL_TIMER}{goal}"))
}

/// When its schedule has it looked at after now.
pub(super) fn next_look(goal: &GoalState, now: Wall) -> Wall {
    next_due(goal.schedule(), &offsets(goal.timezone(), now), now)
}

impl Engine {
    /// Its timer is due. What another does, or has done a moment ago, is not done again.
    pub(crate) async fn fire_goal(&self, goal: GoalId) -> Result<(), Error> {
        match self.send_to_look(goal).await {
            Err(
                Error::Store(StoreError::Conflict { .. })
                | Error::Goal(GoalRejected::NotDue | GoalRejected::BeingLookedAt | GoalRejected::OtherFiring),
            ) => Ok(()),
            // Paused or removed: nobody looks any more.
            Err(Error::Goal(_)) => {
                self.commit_goal(Rider { timers: vec![TimerChange::Cancel(timer_name(goal))], ..Rider::default() })
                    .await
            }
            // What this version cannot read is left to one that can.
            Err(Error::Unreadable(_)) => Ok(()),
            sent => sent,
        }
    }

    /// Whether its time has come though its timer is for later, because the clock was ahead when that was set.
    pub(crate) async fn is_goal_overslept(&self, goal: GoalId) -> Result<bool, Error> {
        let (state, now) = (self.goal_journal(goal).await?.state, self.shared.wall());
        Ok(state.status == GoalStatus::Active && is_due(&state, now, next_look(&state, now)))
    }

    async fn send_to_look(&self, goal: GoalId) -> Result<(), Error> {
        let mut journal = self.goal_journal(goal).await?;
        let added = active(&journal)?.clone();
        if journal.state.open.is_some() && self.is_sent_for(as_task(goal)).await? {
            return self.wait_longer(&journal, &added).await;
        }
        if let Some(fix) = self.open_fix(&journal).await? {
            return self.skip(journal, fix, Occasion::Due).await.map(drop);
        }
        let commit = self.fired(&mut journal, &added, Occasion::Due)?;
        self.send_to_goal(commit, &added.template).await
    }

    /// Looks at it now, whatever its schedule says.
    pub async fn run_goal(&self, goal: GoalId) -> Result<Look, Error> {
        let mut journal = self.goal_journal(goal).await?;
        let added = active(&journal)?.clone();
        if let Some(place) = self.shared.process.elsewhere(added.template.placement.as_deref()) {
            return Err(Error::GoalElsewhere(place.to_owned()));
        }
        if journal.state.open.is_some() {
            match self.claim_message(as_task(goal)).await? {
                Claimed::Mine(leased) => return self.look_at_goal(goal, &leased).await,
                Claimed::Anothers => return Err(GoalRejected::BeingLookedAt.into()),
                Claimed::None => {}
            }
        } else if let Some(fix) = self.open_fix(&journal).await? {
            return self.skip(journal, fix, Occasion::Asked).await;
        }
        let leased = self.fire_taken(&mut journal, &added).await?;
        self.look_at_goal(goal, &leased).await
    }

    /// Begins a look, with its message in this process's hands.
    async fn fire_taken(&self, journal: &mut GoalJournal, added: &GoalAdded) -> Result<Leased, Error> {
        let commit = self.fired(journal, added, Occasion::Asked)?;
        match self.go_to_goal(commit, &added.template).await {
            Err(Error::Store(StoreError::Conflict { .. })) => Err(GoalRejected::BeingLookedAt.into()),
            taken => taken,
        }
    }

    fn fired(&self, journal: &mut GoalJournal, added: &GoalAdded, occasion: Occasion) -> Result<Commit, Error> {
        let now = self.shared.wall();
        let due = now + patience(added);
        let mut rider = Rider { timers: vec![goal_timer(journal.id, due)], ..Rider::default() };
        let fire = [GoalAction::Fire { now, next: next_look(&journal.state, now), due, occasion }];
        journal.ride(&mut rider, fire, &self.shared.redactor, Taint::Auth, now)?;
        let mut commit = Commit::unfenced(self.shared.tenant.clone(), now);
        rider.ride(&mut commit);
        Ok(commit)
    }

    /// Whoever is sent has not come yet: there is more to do than people who do it, or the checks take their time.
    async fn wait_longer(&self, journal: &GoalJournal, added: &GoalAdded) -> Result<(), Error> {
        let due = self.shared.wall() + patience(added);
        let mut rider = Rider { timers: vec![goal_timer(journal.id, due)], ..Rider::default() };
        journal.expect(&mut rider);
        self.commit_goal(rider).await
    }

    /// The task that still mends what an earlier look found.
    async fn open_fix(&self, journal: &GoalJournal) -> Result<Option<TaskId>, Error> {
        let Some((fix, _)) = &journal.state.fix else { return Ok(None) };
        Ok((!self.task(*fix).await?.is_over()).then_some(*fix))
    }

    async fn skip(&self, mut journal: GoalJournal, fix: TaskId, occasion: Occasion) -> Result<Look, Error> {
        let now = self.shared.wall();
        if occasion == Occasion::Due && !is_due(&journal.state, now, next_look(&journal.state, now)) {
            return Err(GoalRejected::NotDue.into());
        }
        let due = next_look(&journal.state, now);
        let mut rider = Rider { timers: vec![goal_timer(journal.id, due)], ..Rider::default() };
        journal.expect(&mut rider);
        // What is always on is looked at again when the fix has ended; that it waits until then is no event.
        if *journal.state.schedule() != Schedule::AlwaysOn {
            let firing = journal.state.firings.saturating_add(1);
            let skip = [GoalAction::Skip(GoalSkipped { firing, because: fix, due })];
            journal.ride(&mut rider, skip, &self.shared.redactor, Taint::Auth, now)?;
        }
        self.commit_goal(rider).await?;
        Ok(Look::Skipped(fix))
    }

    pub(super) async fn commit_goal(&self, rider: Rider) -> Result<(), Error> {
        let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
        rider.ride(&mut commit);
        self.shared.commit(commit).await.map(drop)?;
        Ok(())
    }
}

/// What it is, where somebody may look at it.
fn active(journal: &GoalJournal) -> Result<&GoalAdded, GoalRejected> {
    match (journal.state.status, &journal.state.added) {
        (GoalStatus::Active, Some(added)) => Ok(added),
        (GoalStatus::Paused, _) => Err(GoalRejected::Paused),
        _ => Err(GoalRejected::Unknown),
    }
}

fn patience(added: &GoalAdded) -> Duration {
    let checks = added.plan.0.verify.0.iter().map(|check| check.timeout_seconds).fold(0, u64::saturating_add);
    Duration::from_secs(checks) + GRACE
}
