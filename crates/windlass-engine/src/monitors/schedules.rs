//! All that is due some time: deadlines and monitors of tasks, and goals, the next one first. Each deadline and each monitor that is not
//! over has a timer, which says that there is one; when it is due its stream says, since a timer only says when somebody looks.

use windlass_domain::goal::{GoalState, GoalStatus};
use windlass_domain::monitor::MonitoringSchedule;
use windlass_domain::task::Deadline;
use windlass_domain::{GoalId, TaskId, Wall};
use windlass_store::StoredTimer;

use super::fire::MONITOR_TIMER;
use crate::Error;
use crate::deadlines::DEADLINE_TIMER;
use crate::engine::Engine;
use crate::timers::{self, SOME_TIME};

#[derive(Debug, Clone)]
pub struct Scheduled {
    /// `None`: it rests.
    pub due: Option<Wall>,
    pub kind: ScheduledKind,
}

#[derive(Debug, Clone)]
pub enum ScheduledKind {
    Deadline { task: TaskId, deadline: Deadline },
    Monitor { task: TaskId, schedule: MonitoringSchedule, looks: u32 },
    Goal { goal: GoalId, state: Box<GoalState> },
}

impl Engine {
    pub async fn schedules(&self) -> Result<Vec<Scheduled>, Error> {
        let timers = self.timers_set().await?;
        let mut all = Vec::new();
        for task in named(&timers, DEADLINE_TIMER) {
            if let Some(deadline) = self.task(task).await?.deadline() {
                all.push(Scheduled { due: Some(deadline.at), kind: ScheduledKind::Deadline { task, deadline } });
            }
        }
        all.extend(self.scheduled_monitors(&timers).await?);
        for goal in self.goals().await? {
            let due = goal.state.due.filter(|_| goal.state.status == GoalStatus::Active);
            all.push(Scheduled { due, kind: ScheduledKind::Goal { goal: goal.id, state: Box::new(goal.state) } });
        }
        in_order(&mut all);
        Ok(all)
    }

    /// The monitors among them.
    pub async fn monitors(&self) -> Result<Vec<Scheduled>, Error> {
        let mut all = self.scheduled_monitors(&self.timers_set().await?).await?;
        in_order(&mut all);
        Ok(all)
    }

    async fn timers_set(&self) -> Result<Vec<StoredTimer>, Error> {
        let shared = &self.shared;
        Ok(shared.store.timers_due(Some(&shared.tenant), SOME_TIME, timers::MOST).await?)
    }

    async fn scheduled_monitors(&self, timers: &[StoredTimer]) -> Result<Vec<Scheduled>, Error> {
        let mut monitors = Vec::new();
        for task in named(timers, MONITOR_TIMER) {
            let monitor = self.monitor(task).await?;
            let Some(set) = monitor.active() else { continue };
            if !self.task(task).await?.is_over() {
                let (due, looks) = (monitor.wakes_at(), monitor.firings);
                let kind = ScheduledKind::Monitor { task, schedule: set.schedule.clone(), looks };
                monitors.push(Scheduled { due, kind });
            }
        }
        Ok(monitors)
    }
}

/// What rests comes last.
fn in_order(all: &mut [Scheduled]) {
    all.sort_by_key(|scheduled| (scheduled.due.is_none(), scheduled.due));
}

/// The tasks whose timers of this kind they are.
fn named(timers: &[StoredTimer], kind: &str) -> impl Iterator<Item = TaskId> {
    timers.iter().filter_map(move |timer| timer.name.0.strip_prefix(kind)?.parse().ok())
}
