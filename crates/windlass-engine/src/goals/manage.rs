//! What an owner does with a goal: let it rest, go on, or go. A fix that is at work is a task of its own, and goes on.

use windlass_domain::goal::GoalAction;
use windlass_domain::{GoalId, Taint};
use windlass_store::TimerChange;

use super::fire::{goal_timer, next_look, timer_name};
use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;

impl Engine {
    pub async fn pause_goal(&self, goal: GoalId) -> Result<(), Error> {
        let mut journal = self.goal_journal(goal).await?;
        let mut rider = Rider { timers: vec![TimerChange::Cancel(timer_name(goal))], ..Rider::default() };
        journal.ride(&mut rider, [GoalAction::Pause], &self.shared.redactor, Taint::Auth, self.shared.wall())?;
        self.commit_goal(rider).await
    }

    pub async fn resume_goal(&self, goal: GoalId) -> Result<(), Error> {
        let mut journal = self.goal_journal(goal).await?;
        let now = self.shared.wall();
        let due = next_look(&journal.state, now);
        let mut rider = Rider { timers: vec![goal_timer(goal, due)], ..Rider::default() };
        journal.ride(&mut rider, [GoalAction::Resume { due }], &self.shared.redactor, Taint::Auth, now)?;
        self.commit_goal(rider).await
    }

    /// Its approval goes with it.
    pub async fn remove_goal(&self, goal: GoalId) -> Result<(), Error> {
        let mut journal = self.goal_journal(goal).await?;
        let mut rider = Rider { timers: vec![TimerChange::Cancel(timer_name(goal))], ..Rider::default() };
        let card = journal.state.added.as_ref().map(|added| added.card);
        journal.ride(&mut rider, [GoalAction::Remove], &self.shared.redactor, Taint::Auth, self.shared.wall())?;
        if let Some(card) = card {
            self.withdraw(&mut rider, card, "the goal was removed").await?;
        }
        self.commit_goal(rider).await
    }
}
