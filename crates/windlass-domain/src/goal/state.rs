//! The state of a goal: a fold over its stream.

use super::event::{GoalAdded, GoalEvent};
use crate::check::CheckResult;
use crate::id::TaskId;
use crate::plan::Schedule;
use crate::result::ErrorDetails;
use crate::time::Wall;

#[derive(Debug, Clone, Default)]
pub struct GoalState {
    pub added: Option<GoalAdded>,
    pub status: GoalStatus,
    /// When it is looked at next; while somebody looks, when they are taken for gone.
    pub due: Option<Wall>,
    /// The look that somebody has begun.
    pub open: Option<u32>,
    pub firings: u32,
    pub last: Option<Look>,
    /// The newest task that was to mend it, and what had failed.
    pub fix: Option<(TaskId, Vec<CheckResult>)>,
    pub fixes: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GoalStatus {
    #[default]
    Absent,
    Active,
    Paused,
    Removed,
}

/// What came of looking.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    Holds,
    /// These checks failed, and this task mends it.
    Broken(Vec<String>, TaskId),
    Skipped(TaskId),
    Troubled(ErrorDetails),
}

impl GoalState {
    pub fn apply(&mut self, event: &GoalEvent) {
        match event {
            GoalEvent::Added(added) => {
                *self = Self { status: GoalStatus::Active, due: Some(added.due), ..Self::default() };
                self.added = Some(added.clone());
            }
            GoalEvent::Fired(fired) => {
                (self.open, self.due, self.firings) = (Some(fired.firing), Some(fired.due), fired.firing);
            }
            GoalEvent::Checked(checked) => {
                let failed = checked.results.iter().filter(|result| !result.passed);
                let names = failed.map(|result| result.name.clone()).collect();
                if let Some(fix) = checked.fix {
                    self.fixes += 1;
                    self.fix = Some((fix, checked.results.clone()));
                }
                self.ended(checked.fix.map_or(Look::Holds, |fix| Look::Broken(names, fix)), checked.due);
            }
            GoalEvent::Skipped(skipped) => {
                self.firings = skipped.firing;
                self.ended(Look::Skipped(skipped.because), skipped.due);
            }
            GoalEvent::Troubled(troubled) => self.ended(Look::Troubled(troubled.error.clone()), troubled.due),
            // Whoever looks at it looks for nobody.
            GoalEvent::Paused(_) => (self.status, self.open) = (GoalStatus::Paused, None),
            GoalEvent::Resumed(resumed) => (self.status, self.due) = (GoalStatus::Active, Some(resumed.due)),
            GoalEvent::Removed(_) => self.status = GoalStatus::Removed,
        }
    }

    fn ended(&mut self, look: Look, due: Wall) {
        (self.open, self.last, self.due) = (None, Some(look), Some(due));
    }

    pub fn name(&self) -> Option<&str> {
        self.added.as_ref().map(|added| added.plan.0.id.as_str())
    }

    /// Whose clocks its schedule goes by.
    pub fn timezone(&self) -> Option<&str> {
        self.added.as_ref().and_then(|added| added.plan.0.timezone.as_deref())
    }

    /// Nothing is added without one.
    pub fn schedule(&self) -> &Schedule {
        let schedule = self.added.as_ref().and_then(|added| added.plan.0.schedule.as_ref());
        schedule.unwrap_or(&Schedule::AlwaysOn)
    }
}
