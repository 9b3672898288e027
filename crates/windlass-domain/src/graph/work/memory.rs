//! What a graph remembers when it is planted anew: by a person who redirects it, or from a file that says what was done before. It is
//! by name, so that what is gone is forgotten and what is new begins from nothing.

use std::collections::BTreeMap;

use super::node::{Left, Standing};
use super::{Turn, Work};
use crate::graph::constraints::Constraints;
use crate::plan::{AtomId, Item, Plan};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// Atoms that are done, and those that hold others and whose own checks passed.
    pub resolved: Vec<AtomId>,
    /// By group.
    pub selected: Vec<(AtomId, AtomId)>,
    pub failed: Vec<(AtomId, AtomId)>,
    pub(in crate::graph) trail: Vec<Turn>,
    pub(in crate::graph) left: BTreeMap<AtomId, Left>,
    pub(in crate::graph) depth: BTreeMap<AtomId, u32>,
}

impl Work {
    /// The tree as it is now, smaller parts included.
    pub fn plan(&self) -> Option<Plan> {
        (!self.nodes.is_empty()).then(|| Plan(self.tree(0)))
    }

    fn tree(&self, at: usize) -> Item {
        let node = &self.nodes[at];
        let mut held = node.parts.clone();
        held.extend(node.part_groups.iter().flat_map(|group| &self.groups[*group].choices));
        held.sort_unstable();
        Item { tasks: held.into_iter().map(|part| self.tree(part)).collect(), ..node.item.clone() }
    }

    pub fn memory(&self) -> Memory {
        let mut memory = Memory { trail: self.trail.clone(), ..Memory::default() };
        for node in &self.nodes {
            memory.left.insert(node.id().clone(), node.left);
            memory.depth.insert(node.id().clone(), node.depth);
            if node.is_resolved() {
                memory.resolved.push(node.id().clone());
            }
        }
        for group in &self.groups {
            let named = |at: &usize| (group.id.clone(), self.nodes[*at].id().clone());
            memory.selected.extend(group.selected.iter().map(named));
            memory.failed.extend(group.failed.iter().map(named));
        }
        memory
    }

    /// The graph of `plan`, with what is remembered of it.
    pub fn plant_with(plan: &Plan, constraints: Constraints, memory: &Memory) -> Self {
        let mut work = Self::sown(plan, constraints);
        for (name, left) in &memory.left {
            let at = work.at(name).filter(|at| work.nodes[*at].is_leaf());
            if let Some(at) = at {
                let node = &mut work.nodes[at];
                node.left = *left;
                node.depth = memory.depth.get(name).copied().unwrap_or_default();
            }
        }
        for (group, choice) in &memory.failed {
            if let (Some(group), Some(choice)) = (work.group_names.get(group).copied(), work.at(choice)) {
                work.drop_choice(group, choice);
            }
        }
        for (group, choice) in &memory.selected {
            if let (Some(group), Some(choice)) = (work.group_names.get(group).copied(), work.at(choice)) {
                work.groups[group].selected = Some(choice);
            }
        }
        work.trail = memory.trail.iter().filter(|turn| work.is_taken(turn)).cloned().collect();
        work.enter(0);
        // Parts before what holds them: those come later where they stand in the plan.
        for name in memory.resolved.iter().rev() {
            if let Some(at) = work.at(name).filter(|at| work.nodes[*at].standing != Standing::Dropped) {
                work.restore(at);
            }
        }
        work
    }

    fn is_taken(&self, turn: &Turn) -> bool {
        let group = self.group(&turn.group);
        group.and_then(|group| group.selected).is_some_and(|choice| *self.nodes[choice].id() == turn.choice)
    }

    fn restore(&mut self, at: usize) {
        if self.nodes[at].is_resolved() || (!self.nodes[at].is_leaf() && self.nodes[at].open_parts > 0) {
            return;
        }
        self.resolve_at(at);
    }
}
