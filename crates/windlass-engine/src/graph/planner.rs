//! Having a plan written: the first one from the request, later ones from what became of the one before. A planner is a task of its
//! own, with tools that change nothing, and is paid from the plan's own budget.

use windlass_domain::graph::{GraphAction, PlannerStarted};
use windlass_domain::plan::{Plan, PlanBudget};
use windlass_domain::task::{Part, PartOf, TaskCreated};
use windlass_domain::{BaseCase, Budget, Role, Taint};

use super::pass::{GraphDriver, Made};
use crate::Error;
use crate::filled::filled;
use crate::host::Rider;
use crate::parts::{Work, plan_deadline};

const AGAIN: &str = include_str!("../../../../prompts/plan/again.md");

impl GraphDriver {
    pub(super) async fn start_planner(
        &mut self,
        revision: u32,
        because: Option<String>,
        is_replan: bool,
    ) -> Result<Made, Error> {
        let created = self.created()?.clone();
        let work = Work {
            part_of: PartOf { task: self.task, root: self.task, part: Part::Plan { revision } },
            role: Role::Planner,
            agent_id: "planner".to_owned(),
            goal: request(&created, because.as_deref()),
            checks: BaseCase(Vec::new()),
            budget: self.planning_left(&created).await?,
        };
        let mut rider = Rider::default();
        let run = self.engine.take_part(&mut rider, &created, work)?;
        rider.timers.push(plan_deadline(run, self.engine.shared.wall()));
        let started = PlannerStarted { revision, run, because, is_replan };
        // Why there is a new one was told by checks and agents, and may quote anything.
        let taint = if revision == 1 { Taint::Auth } else { Taint::External };
        self.ride(&mut rider, [GraphAction::StartPlanner(started)], taint)?;
        self.commit(rider, Vec::new()).await
    }

    /// What planners may still use. Before there is a plan that says so, whoever asked for it has.
    pub(super) async fn planning_left(&self, created: &TaskCreated) -> Result<Budget, Error> {
        let Budget { max_tokens, max_cost_usd, .. } = created.budget;
        let agreed = self.graph.state.plan.as_ref().map(|Plan(root)| root.plan_budget.clone());
        let whole = agreed.unwrap_or(PlanBudget { max_tokens, max_cost_usd });
        Ok(self.engine.purse(&self.graph.state, &whole, self.task).await?.whole(created))
    }
}

fn request(created: &TaskCreated, because: Option<&str>) -> String {
    match because {
        None => created.command.goal.clone(),
        Some(because) => filled(AGAIN, &[("request", &created.command.goal), ("because", because)]),
    }
}
