//! How a plan becomes a graph, and an atom several.

use std::collections::BTreeMap;

use super::node::{Group, Left, Node, Standing};
use super::{Need, NodeAt, Work};
use crate::graph::constraints::{Constraints, MAX_INTERRUPTIONS, MAX_PROBES};
use crate::plan::{AtomId, Item, Plan};

impl Work {
    /// Total: what a reader of documents would refuse waits for ever here, and is given up like anything that nothing can be done about.
    pub fn plant(plan: &Plan, constraints: Constraints) -> Self {
        let mut work = Self::sown(plan, constraints);
        work.enter(0);
        work
    }

    /// Before anything in it has begun.
    pub(in crate::graph) fn sown(plan: &Plan, constraints: Constraints) -> Self {
        let mut work = Self { constraints, ..Self::default() };
        work.add(&plan.0, None, 0);
        work.connect(0);
        work
    }

    /// It and all that it holds, parents first.
    fn add(&mut self, item: &Item, holder: Option<NodeAt>, depth: u32) -> NodeAt {
        let at = self.nodes.len();
        self.nodes.push(self.node(item, holder, depth));
        self.names.entry(item.id.clone()).or_insert(at);
        let mut groups = BTreeMap::new();
        for part in &item.tasks {
            let choice = self.add(part, Some(at), depth);
            let Some(name) = &part.any_of else {
                self.nodes[at].parts.push(choice);
                continue;
            };
            let group = *groups.entry(name).or_insert_with(|| {
                let id = name.clone();
                self.groups.push(Group::new(id, at));
                self.groups.len() - 1
            });
            self.nodes[choice].group = Some(group);
            self.groups[group].choices.push(choice);
            self.groups[group].speculative |= part.speculative;
        }
        for (name, group) in groups {
            // Several who change the work at once, or the world, could not be told apart afterwards.
            let choices = self.groups[group].choices.iter().map(|choice| &self.nodes[*choice]);
            let can_race = choices.clone().all(|choice| choice.is_leaf() && choice.item.touches.services.is_empty());
            self.groups[group].speculative &= can_race;
            self.group_names.entry(name.clone()).or_insert(group);
            self.nodes[at].part_groups.push(group);
        }
        let node = &mut self.nodes[at];
        node.open_parts = node.parts.len() + node.part_groups.len();
        if !node.is_leaf() {
            // Nobody works on it, but on its parts.
            node.left = Left::default();
        }
        at
    }

    fn node(&self, item: &Item, holder: Option<NodeAt>, depth: u32) -> Node {
        let item = Item { tasks: Vec::new(), ..item.clone() };
        let left = Self::full(&item, self.constraints.max_split_depth.saturating_sub(depth));
        Node {
            item,
            standing: Standing::Waiting,
            left,
            group: None,
            holder,
            parts: Vec::new(),
            part_groups: Vec::new(),
            after: Vec::new(),
            waited_by: Vec::new(),
            open_after: 0,
            open_parts: 0,
            depth,
            is_prepaid: false,
            counted: 0,
            joined: None,
            probed: None,
            probed_for: None,
        }
    }

    pub(in crate::graph) fn full(item: &Item, splits: u32) -> Left {
        Left {
            splits,
            searches: splits.min(1),
            attempts: item.budget.max_attempts,
            consults: item.budget.max_planner_calls,
            probes: MAX_PROBES,
            interruptions: MAX_INTERRUPTIONS,
        }
    }

    /// The edges of everything from `first` on.
    fn connect(&mut self, first: NodeAt) {
        for at in first..self.nodes.len() {
            let meant = self.nodes[at].item.depends_on.iter().filter_map(|name| self.meant(at, name));
            let mut after: Vec<Need> = meant.collect();
            after.sort_unstable();
            after.dedup();
            for need in &after {
                match need {
                    Need::Atom(before) => self.nodes[*before].waited_by.push(at),
                    Need::Group(before) => self.groups[*before].waited_by.push(at),
                }
            }
            self.nodes[at].after = after;
            self.nodes[at].open_after = self.count_open(at);
        }
    }

    /// A choice, and anything inside one that the one who waits is not in, means its group: which choice it will be is not known.
    fn meant(&self, waits: NodeAt, name: &AtomId) -> Option<Need> {
        if let Some(group) = self.group_names.get(name) {
            return Some(Need::Group(*group));
        }
        let named = *self.names.get(name)?;
        let mut need = Need::Atom(named);
        let mut next = Some(named);
        while let Some(at) = next {
            if let Some(group) = self.nodes[at].group.filter(|_| !self.is_inside(waits, at)) {
                need = Need::Group(group);
            }
            next = self.nodes[at].holder;
        }
        Some(need)
    }

    /// Puts these into `at`.
    pub(super) fn grow(&mut self, at: NodeAt, children: &[Item]) {
        let first = self.nodes.len();
        let depth = self.nodes[at].depth + 1;
        for child in children {
            let part = self.add(child, Some(at), depth);
            self.nodes[at].parts.push(part);
        }
        self.nodes[at].open_parts = children.len();
        self.connect(first);
    }
}

impl Group {
    fn new(id: AtomId, holder: NodeAt) -> Self {
        Self {
            id,
            speculative: false,
            holder,
            choices: Vec::new(),
            selected: None,
            failed: std::collections::BTreeSet::new(),
            is_resolved: false,
            was_switched: false,
            waited_by: Vec::new(),
        }
    }
}
