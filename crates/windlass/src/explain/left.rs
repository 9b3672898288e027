//! What is left to try.

use serde::Serialize;
use windlass_domain::graph::{GraphState, Node, Work};
use windlass_domain::plan::AtomId;

use super::why::listed;
use crate::show::counted;

/// What may still be tried, in the order in which it counts: each step makes something of it less, and nothing before that more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Left {
    pub replans: u32,
    /// Atoms that may still be split.
    pub splits: u64,
    /// Ways that have not failed, by group.
    pub choices: Vec<(AtomId, Vec<AtomId>)>,
    /// Of atoms that are not done and may still be needed.
    pub attempts: u64,
    pub consults: u64,
    pub probes: u64,
    pub interruptions: u64,
    pub unresolved: u64,
    pub atoms: u64,
    pub iteration: u32,
    pub max_iterations: Option<u32>,
    pub stall_count: u32,
    pub max_stall_count: Option<u32>,
}

impl Left {
    pub fn of(graph: &GraphState) -> Self {
        let work = &graph.work;
        let measure = graph.measure();
        let open = || work.nodes().iter().filter(|node| is_open(node));
        let sum = |of: fn(&Node) -> u32| open().map(|node| u64::from(of(node))).sum();
        let limits = work.constraints();
        Self {
            replans: measure.replans,
            splits: measure.splits.iter().sum(),
            choices: open_choices(work),
            attempts: sum(|node| node.left.attempts),
            consults: sum(|node| node.left.consults),
            probes: sum(|node| node.left.probes),
            interruptions: sum(|node| node.left.interruptions),
            unresolved: measure.unresolved,
            atoms: work.nodes().len() as u64,
            iteration: graph.passes.iteration,
            max_iterations: limits.max_iterations,
            stall_count: graph.passes.stall_count,
            max_stall_count: (limits.max_stall_count < u32::MAX).then_some(limits.max_stall_count),
        }
    }

    pub fn in_words(&self) -> Vec<String> {
        let attempts = counted(self.attempts, "attempt");
        let consults = counted(self.consults, "question");
        let choices = self.choices.iter().map(|(group, choices)| format!("{group}: {}", listed(choices)));
        let choices = choices.collect::<Vec<_>>().join("; ");
        let passes = self.max_iterations.map(|most| format!("{} of {most} passes used", self.iteration));
        let stalls = self.max_stall_count.map(|most| {
            format!(
                "{} of {most} passes in a row in which nothing became less, before something else is tried",
                self.stall_count
            )
        });
        let first = match self.replans {
            0 => "no other plan".to_owned(),
            some => format!("{} that may be written after this one", counted(some.into(), "plan")),
        };
        let splits =
            (self.splits > 0).then(|| format!("{} that may be split into smaller ones", counted(self.splits, "atom")));
        let ways = (!choices.is_empty()).then(|| format!("ways that have not failed: {choices}"));
        let tries = format!("{attempts}, and {consults} to the planner, for what is not done");
        let open = format!("{} of {} not done", self.unresolved, counted(self.atoms, "atom"));
        [Some(first), splits, ways, Some(tries), Some(open), passes, stalls].into_iter().flatten().collect()
    }
}

fn is_open(node: &Node) -> bool {
    use windlass_domain::graph::Standing::{Dropped, Resolved};
    node.is_leaf() && !matches!(node.standing, Resolved | Dropped)
}

fn open_choices(work: &Work) -> Vec<(AtomId, Vec<AtomId>)> {
    let failed = work.memory().failed;
    let of = |group: &AtomId| -> Vec<AtomId> {
        let choices = work.nodes().iter().filter(|node| node.item.any_of.as_ref() == Some(group));
        let ids = choices.map(|node| node.id().clone());
        ids.filter(|choice| !failed.contains(&(group.clone(), choice.clone()))).collect()
    };
    work.groups().iter().map(|group| (group.id.clone(), of(&group.id))).collect()
}

#[cfg(test)]
mod tests {
    use windlass_domain::approval::bound_plan;
    use windlass_domain::graph::{Constraints, GraphEvent, Objective, PlanProposed, Proposer, Remembered};
    use windlass_domain::plan::{Item, ItemKind, Plan};
    use windlass_domain::{BaseCase, Digest, Taint, TreeId, Usd};
    use windlass_engine::worst_case;

    use super::*;

    fn item(name: &str, group: Option<&str>) -> Item {
        let id = |name: &str| AtomId::parse(name).expect("a plain word");
        let Plan(item) = Plan::of_one(id(name), name.to_owned(), String::new());
        Item { any_of: group.map(id), ..item }
    }

    fn proposed(objective: Option<Constraints>) -> GraphState {
        let mut graph = GraphState::default();
        if let Some(constraints) = objective {
            let (goal, base_case) = ("all".to_owned(), BaseCase::default());
            let none = String::new;
            graph.apply(&GraphEvent::ObjectiveAligned(Objective {
                goal,
                base_case,
                background_intent: none(),
                deliverables: none(),
                definition_of_done: none(),
                constraints,
                words: none(),
            }));
        }
        let tasks = vec![item("a", Some("g")), item("b", Some("g")), item("c", None)];
        let plan = Ok(Plan(Item { kind: ItemKind::Project, tasks, ..item("all", None) }));
        let (by, base) = (Proposer::User, TreeId(Digest::of(b"0")));
        let proposed = PlanProposed {
            revision: 1,
            by,
            base,
            plan,
            document: None,
            taint: Taint::Auth,
            remembered: Remembered::default(),
        };
        graph.apply(&GraphEvent::PlanProposed(proposed));
        graph
    }

    #[test]
    fn of_an_objective_passes_splits_and_the_bound_of_all_plans_are_told() {
        let limits = Constraints { max_iterations: Some(9), max_parallel_agents: 2, ..Constraints::default() };
        let graph = proposed(Some(limits));
        assert_eq!(
            Left::of(&graph).in_words(),
            [
                "2 plans that may be written after this one",
                "3 atoms that may be split into smaller ones",
                "ways that have not failed: g: a, b",
                "15 attempts, and 9 questions to the planner, for what is not done",
                "4 of 4 atoms not done",
                "0 of 9 passes used",
                "0 of 3 passes in a row in which nothing became less, before something else is tried",
            ]
        );
        assert_eq!(worst_case(&graph, 0).expect("a plan").attempts, 18, "passes times places");
        assert_eq!(worst_case(&graph, 7).expect("a plan").attempts, 4, "of those that are left");
    }

    #[test]
    fn of_a_plan_the_bound_is_that_of_its_card() {
        let graph = proposed(None);
        let left = Left::of(&graph);
        assert_eq!((left.max_iterations, left.splits, left.max_stall_count), (None, 0, None));
        let plan = graph.plan.as_ref().expect("a plan");
        assert_eq!(worst_case(&graph, 0), Some(bound_plan(plan, (0, Usd::ZERO))));
        assert_eq!(worst_case(&GraphState::default(), 0), None);
    }
}
