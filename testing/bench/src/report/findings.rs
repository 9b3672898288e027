//! All that one run of the benchmark has measured, and the middle of what was measured several times.

use crate::figures::{count, median, millis};
use crate::measure::{
    agents, children, commits, console, creating, fan_out, floor, gateway, graphs, injecting, launches, law, long,
    many_tasks, observations, parked, plans, queues, replay, sandboxes, start, steps, terminals, ways, workers,
    worktrees,
};
use crate::script::Tool;

#[derive(Default)]
pub struct Findings {
    pub steps: Vec<Growth>,
    pub agents: Option<Beside>,
    pub long: Vec<long::Long>,
    pub children: Option<children::Children>,
    pub start: Option<start::Starts>,
    pub sandboxes: Option<sandboxes::Figures>,
    pub commits: Option<commits::Figures>,
    pub queues: Option<queues::Figures>,
    pub law: Option<law::Figures>,
    pub parked: Option<parked::Figures>,
    pub worktrees: Option<worktrees::Figures>,
    pub plans: Option<plans::Figures>,
    /// One for each shape.
    pub graphs: Vec<graphs::Figures>,
    pub ways: Option<ways::Figures>,
    pub gateway: Option<gateway::Figures>,
    /// One for each program of others that there is.
    pub launches: Vec<launches::Launches>,
    pub observations: Option<observations::Figures>,
    pub replay: Option<replay::Figures>,
    pub terminals: Option<terminals::Figures>,
    pub many_tasks: Option<many_tasks::Figures>,
    pub creating: Option<creating::Figures>,
    pub fan_out: Option<fan_out::Figures>,
    pub injecting: Option<injecting::Figures>,
    pub workers: Option<workers::Figures>,
    pub console: Option<console::Figures>,
    /// What could not be measured, and why.
    pub failed: Vec<String>,
}

/// Runs of the same length, and the floor's in between.
pub struct Growth {
    pub tool: Tool,
    pub count: usize,
    pub windlass: Vec<steps::Steps>,
    pub floor: Vec<floor::Figures>,
}

pub struct Beside {
    pub count: usize,
    pub windlass: agents::Figures,
    pub floor: floor::Figures,
    pub sandboxed: (usize, agents::Figures),
    pub unsandboxed: agents::Figures,
}

impl Findings {
    /// The runs with this tool, the shortest first.
    pub fn with(&self, tool: Tool) -> Vec<&Growth> {
        self.steps.iter().filter(|growth| growth.tool == tool).collect()
    }
}

impl Growth {
    pub fn cost(&self) -> steps::Cost {
        steps::middle(self.windlass.iter().map(steps::Steps::per_step))
    }

    pub fn floor_cost(&self) -> steps::Cost {
        let per_step = |figures: &floor::Figures| {
            let marks = figures.marks();
            steps::between(&marks, 0, marks.len() - 1)
        };
        steps::middle(self.floor.iter().map(per_step))
    }

    pub fn marginal(&self, at: usize) -> f64 {
        steps::middle(self.windlass.iter().map(|run| run.marginal(at))).cpu
    }

    pub fn floor_marginal(&self, at: usize) -> f64 {
        steps::middle(self.floor.iter().map(|figures| steps::marginal(&figures.marks(), at))).cpu
    }

    pub fn whole_cpu(&self) -> f64 {
        median(self.windlass.iter().map(|run| millis(run.whole.cpu)).collect()) / self.count as f64
    }
}

/// How long the runs were, as a row says it.
pub fn lengths(growths: &[&Growth]) -> String {
    growths.iter().map(|growth| count(growth.count)).collect::<Vec<_>>().join(" / ")
}
