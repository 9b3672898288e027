//! What may happen to a goal. Total and pure: whatever whoever looks believes, no look begins before its time or beside another, and
//! a task is made exactly where a check failed.

use super::event::{
    GoalAdded, GoalChecked, GoalEvent, GoalFired, GoalPaused, GoalRemoved, GoalResumed, GoalSkipped, GoalTroubled,
};
use super::next::is_due;
use super::state::{GoalState, GoalStatus};
use crate::time::Wall;

#[derive(Debug, Clone)]
pub enum GoalAction {
    Add(Box<GoalAdded>),
    /// `next`: when its schedule would have it looked at after now.
    Fire {
        now: Wall,
        next: Wall,
        due: Wall,
        occasion: Occasion,
    },
    Check(GoalChecked),
    Skip(GoalSkipped),
    GiveUp(GoalTroubled),
    Pause,
    Resume {
        due: Wall,
    },
    Remove,
}

/// Why it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    Due,
    /// By a person, who need not wait for its time.
    Asked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GoalRejected {
    #[error("there is such a goal already")]
    Known,
    #[error("there is no such goal, or it was removed")]
    Unknown,
    #[error("it is paused; `windlass goals resume` lets it go on")]
    Paused,
    #[error("it is not paused")]
    NotPaused,
    #[error("its time has not come")]
    NotDue,
    #[error("somebody looks at it right now")]
    BeingLookedAt,
    #[error("this is about another look")]
    OtherFiring,
    #[error("the results are not those of its checks, or do not go with what is done about them")]
    OtherChecks,
}

pub fn decide(goal: &GoalState, action: GoalAction) -> Result<GoalEvent, GoalRejected> {
    if let GoalAction::Add(added) = action {
        return if goal.added.is_none() { Ok(GoalEvent::Added(*added)) } else { Err(GoalRejected::Known) };
    }
    if matches!(goal.status, GoalStatus::Absent | GoalStatus::Removed) {
        return Err(GoalRejected::Unknown);
    }
    match action {
        GoalAction::Add(_) => Err(GoalRejected::Known),
        GoalAction::Fire { now, next, due, occasion } => may_fire(goal, is_due(goal, now, next), occasion)
            .map(|()| GoalEvent::Fired(GoalFired { firing: goal.firings.saturating_add(1), due })),
        GoalAction::Check(checked) => check(goal, checked),
        GoalAction::Skip(_) if goal.status == GoalStatus::Paused => Err(GoalRejected::Paused),
        GoalAction::Skip(skipped) if goal.open.is_none() && skipped.firing == goal.firings.saturating_add(1) => {
            Ok(GoalEvent::Skipped(skipped))
        }
        GoalAction::Skip(_) => Err(GoalRejected::OtherFiring),
        GoalAction::GiveUp(troubled) if goal.open == Some(troubled.firing) => Ok(GoalEvent::Troubled(troubled)),
        GoalAction::GiveUp(_) => Err(GoalRejected::OtherFiring),
        GoalAction::Pause if goal.status == GoalStatus::Paused => Err(GoalRejected::Paused),
        GoalAction::Pause => Ok(GoalEvent::Paused(GoalPaused {})),
        GoalAction::Resume { due } if goal.status == GoalStatus::Paused => Ok(GoalEvent::Resumed(GoalResumed { due })),
        GoalAction::Resume { .. } => Err(GoalRejected::NotPaused),
        GoalAction::Remove => Ok(GoalEvent::Removed(GoalRemoved {})),
    }
}

/// Whoever was sent to look and has not come back in time is taken for gone.
fn may_fire(goal: &GoalState, is_due: bool, occasion: Occasion) -> Result<(), GoalRejected> {
    match (goal.status, goal.open, is_due) {
        (GoalStatus::Paused, _, _) => Err(GoalRejected::Paused),
        (_, Some(_), false) => Err(GoalRejected::BeingLookedAt),
        (_, None, false) if occasion == Occasion::Due => Err(GoalRejected::NotDue),
        _ => Ok(()),
    }
}

fn check(goal: &GoalState, checked: GoalChecked) -> Result<GoalEvent, GoalRejected> {
    if goal.open != Some(checked.firing) {
        return Err(GoalRejected::OtherFiring);
    }
    let wanted = goal.added.as_ref().map(|added| added.plan.0.verify.0.len());
    let holds = checked.results.iter().all(|result| result.passed);
    match wanted == Some(checked.results.len()) && holds == checked.fix.is_none() {
        true => Ok(GoalEvent::Checked(checked)),
        false => Err(GoalRejected::OtherChecks),
    }
}
