//! Having a plan written: the first one from the request, later ones from what became of the one before. A planner is a task of its
//! own, with tools that change nothing, and is paid from the plan's own budget.

use windlass_domain::graph::{GraphAction, PlannerStarted};
use windlass_domain::plan::{Plan, PlanBudget};
use windlass_domain::task::{Part, PartOf, TaskCreated};
use windlass_domain::{BaseCase, Budget, Role, Taint};

use super::outline::outline;
use super::pass::{GraphDriver, Made};
use crate::Error;
use crate::filled::filled;
use crate::host::Rider;
use crate::parts::{Work, plan_deadline};

/// After one that failed, and after one that a person sent back.
const AGAIN: &str = include_str!("../../../../prompts/plan/again.md");
const EDIT: &str = include_str!("../../../../prompts/plan/edit.md");
/// Of what became of one item, so much is told: the newest.
const MOST_CHARS: usize = 8_000;

impl GraphDriver {
    pub(super) async fn start_planner(
        &mut self,
        revision: u32,
        because: Option<String>,
        is_replan: bool,
    ) -> Result<Made, Error> {
        let created = self.created()?.clone();
        // What is agreed on stays, whatever is planned for it later.
        let aligns = created.aligns && self.graph.state.card.is_none();
        let work = Work {
            part_of: PartOf { task: self.task, root: self.task, part: Part::Plan { revision, aligns } },
            role: Role::Planner,
            agent_id: "planner".to_owned(),
            goal: self.request(self.wanted(&created), because.as_deref(), is_replan).await?,
            checks: BaseCase(Vec::new()),
            budget: self.planning_left(&created).await?,
        };
        let mut rider = Rider::default();
        let run = self.engine.take_part(&mut rider, &created, work)?;
        // Who asks the user waits for them.
        rider.timers.extend((!aligns).then(|| plan_deadline(run, self.engine.shared.wall())));
        let started = PlannerStarted { revision, run, because, is_replan };
        // Why there is a new one was told by checks and agents, and may quote anything.
        let taint = if revision == 1 { Taint::Auth } else { Taint::External };
        self.ride(&mut rider, [GraphAction::StartPlanner(started)], taint)?;
        self.commit(rider, Vec::new()).await
    }

    /// As it was asked for, or as it was agreed on since.
    fn wanted<'a>(&'a self, created: &'a TaskCreated) -> &'a str {
        self.graph.state.objective.as_ref().map_or(created.command.goal.as_str(), |agreed| agreed.goal.as_str())
    }

    /// What planners may still use. Before there is a plan that says so, whoever asked for it has.
    pub(super) async fn planning_left(&self, created: &TaskCreated) -> Result<Budget, Error> {
        let Budget { max_tokens, max_cost_usd, .. } = created.budget;
        let agreed = self.graph.state.plan.as_ref().map(|Plan(root)| root.plan_budget.clone());
        let whole = agreed.unwrap_or(PlanBudget { max_tokens, max_cost_usd });
        Ok(self.engine.purse(&self.graph.state, &whole, self.task).await?.whole(created))
    }

    /// What was asked for; after that, which plan there was and what is wrong with it.
    async fn request(&self, goal: &str, because: Option<&str>, is_replan: bool) -> Result<String, Error> {
        let Some(because) = because else { return Ok(goal.to_owned()) };
        let plan = self.graph.state.plan.as_ref().map(outline).unwrap_or_default();
        let told = [("request", goal), ("because", because), ("plan", plan.as_str())];
        if !is_replan {
            return Ok(filled(EDIT, &told));
        }
        let failures = self.failures().await?.join("\n\n");
        let failures = if failures.is_empty() { "none" } else { failures.as_str() };
        Ok(filled(AGAIN, &[told.as_slice(), &[("failures", failures)]].concat()))
    }

    /// Of each item that somebody failed at, ways that were given up among them, and of each whose own checks fail on the work of all.
    async fn failures(&self) -> Result<Vec<String>, Error> {
        let mut told = Vec::new();
        for (atom, progress) in &self.graph.state.atoms {
            let mut failed = Vec::new();
            for run in &progress.runs {
                failed.extend(self.engine.task(run.task).await?.failures());
            }
            let joined = self.graph.state.failed_checks(atom);
            failed
                .extend((!joined.is_empty()).then(|| format!("Its checks on the work of all of its parts:\n{joined}")));
            if !failed.is_empty() {
                told.push(format!("{atom}:\n{}", newest(&failed.join("\n"))));
            }
        }
        Ok(told)
    }
}

fn newest(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(MOST_CHARS);
    let cut = if skipped > 0 { "…" } else { "" };
    cut.chars().chain(text.chars().skip(skipped)).collect()
}
