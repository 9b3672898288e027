//! All that is due some time: deadlines and monitors of tasks, and goals, the next one first. It is read from the streams and not from
//! the timers, which only say when somebody looks.

use windlass_domain::goal::{GoalState, GoalStatus};
use windlass_domain::monitor::{MonitorState, MonitoringSchedule};
use windlass_domain::task::Deadline;
use windlass_domain::{GoalId, TaskId, Wall};
use windlass_store::TimerName;

use super::journal::Monitor;
use crate::Error;
use crate::deadlines::DEADLINE_TIMER;
use crate::engine::Engine;
use crate::stream_journal::Streamed as _;
use crate::timers::{self, SOME_TIME};

/// More than anybody has.
const MOST: usize = 10_000;

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
        let mut all = self.scheduled_deadlines().await?;
        for (task, monitor) in self.monitors().await? {
            let (due, looks) = (monitor.wakes_at(), monitor.firings);
            if let Some(set) = monitor.set {
                all.push(Scheduled { due, kind: ScheduledKind::Monitor { task, schedule: set.schedule, looks } });
            }
        }
        for goal in self.goals().await? {
            let due = goal.state.due.filter(|_| goal.state.status == GoalStatus::Active);
            all.push(Scheduled { due, kind: ScheduledKind::Goal { goal: goal.id, state: Box::new(goal.state) } });
        }
        // What rests comes last.
        all.sort_by_key(|scheduled| (scheduled.due.is_none(), scheduled.due));
        Ok(all)
    }

    async fn scheduled_deadlines(&self) -> Result<Vec<Scheduled>, Error> {
        let shared = &self.shared;
        let timers = shared.store.timers_due(Some(&shared.tenant), SOME_TIME, timers::MOST).await?;
        let mut deadlines = Vec::new();
        for task in timers.iter().filter_map(|timer| task_of(&timer.name)) {
            if let Some(deadline) = self.task(task).await?.deadline() {
                deadlines.push(Scheduled { due: Some(deadline.at), kind: ScheduledKind::Deadline { task, deadline } });
            }
        }
        Ok(deadlines)
    }

    /// Those that are gone by.
    pub(crate) async fn monitors(&self) -> Result<Vec<(TaskId, MonitorState)>, Error> {
        let heads = self.shared.store.streams(&self.shared.tenant, Monitor::KIND, None, MOST).await?;
        let mut monitors = Vec::new();
        for task in heads.iter().filter_map(|head| head.stream.id().parse().ok()) {
            let monitor = self.monitor(task).await?;
            if monitor.active().is_some() && !self.task(task).await?.is_over() {
                monitors.push((task, monitor));
            }
        }
        Ok(monitors)
    }
}

fn task_of(timer: &TimerName) -> Option<TaskId> {
    timer.0.strip_prefix(DEADLINE_TIMER)?.parse().ok()
}
