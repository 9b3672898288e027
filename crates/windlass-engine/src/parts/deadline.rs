//! How long a plan may take (seed 001 §4.8's `plan_timeout_s`): then nothing more is looked into, and the planner is told to finish
//! with what it has. One that goes on all the same is stopped, and there is no plan.

use std::time::Duration;

use windlass_domain::execution::{AgentInjection, InjectionType};
use windlass_domain::research::ResearchLimits;
use windlass_domain::task::{Control, TaskAction, TaskStatus, Wish};
use windlass_domain::{Taint, TaskId, Wall};
use windlass_store::{Commit, Error as StoreError, TimerChange, TimerName};

use super::research::{FINISH, broken, due};
use super::told::RESULT;
use crate::Error;
use crate::engine::Engine;
use crate::graph::GraphJournal;
use crate::host::Rider;
use windlass_domain::graph::GraphAction;

/// For the last word of one who was told to finish.
const GRACE: Duration = Duration::from_secs(60);

pub const PLAN_TIMER: &str = "plan/";

pub fn plan_timer(run: TaskId) -> TimerName {
    TimerName(format!("{PLAN_TIMER}{run}"))
}

/// Set when a planner begins.
pub fn plan_deadline(run: TaskId, now: Wall) -> TimerChange {
    due(plan_timer(run), run, now + ResearchLimits::default().plan)
}

impl Engine {
    /// Its time is up, for the first or for the last time.
    pub(crate) async fn hurry_planner(&self, run: TaskId) -> Result<(), Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let planner = self.task_journal(run).await?;
        let mut rider = Rider { expect: vec![(planner.stream.clone(), planner.head)], ..Rider::default() };
        match planner.state.status {
            // While it rests nobody works on it: it has its time once it goes on.
            Some(TaskStatus::Paused) => rider.timers.push(plan_deadline(run, now)),
            Some(TaskStatus::Running) if planner.state.research.is_expired() => {
                let wish = Control::Cancel(Wish { reason: "the plan took too long".to_owned() });
                rider.messages.push(self.mail(run, wish, Taint::Auth)?);
                self.wake_for(&mut rider, run, None).await?;
                rider.timers.push(TimerChange::Cancel(plan_timer(run)));
            }
            Some(TaskStatus::Running) => {
                let decided = planner.decide(vec![TaskAction::ExpireResearch], &shared.redactor, Taint::Auth, now);
                rider.events.extend(decided.map_err(|refused| broken(run, &refused))?.rows);
                let content = FINISH.trim().to_owned();
                let told = AgentInjection { injection_type: InjectionType::SystemControl, content, metadata: None };
                rider.messages.push(self.mail(run, Control::Inject(told), Taint::Auth)?);
                self.wake_for(&mut rider, run, Some(RESULT)).await?;
                rider.timers.push(due(plan_timer(run), run, now + GRACE));
                let root =
                    planner.state.created.as_ref().and_then(|created| created.part_of.as_ref()).map(|of| of.root);
                let runs = self.dismiss(&mut rider, planner.state.open_parts()).await?;
                self.note_leaving(&mut rider, root.unwrap_or(run), runs).await?;
            }
            _ => rider.timers.push(TimerChange::Cancel(plan_timer(run))),
        }
        self.commit_or_leave(rider).await
    }

    /// The whole does not end before these have.
    pub(super) async fn note_leaving(&self, rider: &mut Rider, root: TaskId, runs: Vec<TaskId>) -> Result<(), Error> {
        if runs.is_empty() {
            return Ok(());
        }
        let shared = &self.shared;
        let mut graph: GraphJournal = self.graph_journal(root).await?;
        graph.ride(rider, [GraphAction::Dismiss { runs }], &shared.redactor, Taint::Auth, shared.wall())
    }

    /// A timer's work. What changed at that very moment is looked at again: the timer still stands.
    pub(super) async fn commit_or_leave(&self, rider: Rider) -> Result<(), Error> {
        let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
        rider.ride(&mut commit);
        match self.shared.commit(commit).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
