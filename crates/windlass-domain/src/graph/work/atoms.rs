//! The graph as a whole: its atoms by name, and which of them are ready, at work, or in need of something.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::node::{Group, Node, Standing};
use crate::graph::constraints::Constraints;
use crate::plan::{AtomId, Handling, Item, handling, told};

/// One atom, by its place in the order of the document; what is split off later comes last.
pub(crate) type NodeAt = usize;
pub(crate) type GroupAt = usize;

#[derive(Debug, Clone, Default)]
pub struct Work {
    pub(super) nodes: Vec<Node>,
    pub(super) groups: Vec<Group>,
    pub(super) names: BTreeMap<AtomId, NodeAt>,
    pub(super) group_names: BTreeMap<AtomId, GroupAt>,
    pub(super) constraints: Constraints,
    pub(super) ready: BTreeSet<NodeAt>,
    pub(super) busy: BTreeSet<NodeAt>,
    pub(super) joining: BTreeSet<NodeAt>,
    /// Those whose own checks failed on the work of all of their parts.
    pub(super) unmet: BTreeSet<NodeAt>,
    pub(super) stuck: BTreeSet<NodeAt>,
    pub(super) trail: Vec<Turn>,
}

/// One step on the trail: where several ways were open, the one that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub group: AtomId,
    pub choice: AtomId,
}

/// What somebody waits for: an atom, or any choice of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    Atom(NodeAt),
    Group(GroupAt),
}

impl Work {
    pub fn item(&self, atom: &AtomId) -> Option<&Item> {
        self.find(atom).map(|node| &node.item)
    }

    pub fn find(&self, atom: &AtomId) -> Option<&Node> {
        self.names.get(atom).map(|at| &self.nodes[*at])
    }

    pub(crate) fn at(&self, atom: &AtomId) -> Option<NodeAt> {
        self.names.get(atom).copied()
    }

    pub fn group(&self, group: &AtomId) -> Option<&Group> {
        self.group_names.get(group).map(|at| &self.groups[*at])
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub fn trail(&self) -> &[Turn] {
        &self.trail
    }

    pub const fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    pub fn root(&self) -> Option<&Node> {
        self.nodes.first()
    }

    /// Those that can be worked on now, in the order of the document.
    pub fn ready(&self) -> impl Iterator<Item = &Node> {
        self.ready.iter().map(|at| &self.nodes[*at])
    }

    /// Those that somebody works on, or for whom somebody looks into something.
    pub fn busy(&self) -> impl Iterator<Item = &Node> {
        self.busy.iter().map(|at| &self.nodes[*at])
    }

    /// Those whose parts are all done, and whose own checks are to be made.
    pub fn joining(&self) -> impl Iterator<Item = &Node> {
        self.joining.iter().map(|at| &self.nodes[*at])
    }

    pub fn unmet(&self) -> impl Iterator<Item = &Node> {
        self.unmet.iter().map(|at| &self.nodes[*at])
    }

    /// Those that ended without being done.
    pub fn stuck(&self) -> impl Iterator<Item = &Node> {
        self.stuck.iter().map(|at| &self.nodes[*at])
    }

    /// The whole, and whatever holds others on the way down to `atom`.
    pub fn line(&self, atom: &AtomId) -> Vec<&Item> {
        let mut line = Vec::new();
        let mut next = self.at(atom);
        while let Some(at) = next {
            line.push(&self.nodes[at].item);
            next = self.nodes[at].holder;
        }
        line.reverse();
        line
    }

    /// The parts of `node` that are needed, of each group the choice that is tried.
    pub fn parts<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a Node> {
        let chosen = node.part_groups.iter().filter_map(|group| self.groups[*group].current());
        node.parts.iter().copied().chain(chosen).map(|at| &self.nodes[at])
    }

    /// What whoever works on `atom` is told.
    pub fn told(&self, atom: &AtomId) -> Option<String> {
        told(&self.line(atom))
    }

    /// How whoever works on `atom` is dealt with.
    pub fn handling(&self, atom: &AtomId) -> Handling {
        handling(&self.line(atom))
    }

    /// The gates that hold for whoever works on `atom`: those of what holds it, then its own.
    pub fn gates(&self, atom: &AtomId) -> Vec<Value> {
        self.line(atom).into_iter().flat_map(|item| item.gates.clone()).collect()
    }

    /// How many more atoms there may ever be.
    pub fn atoms_left(&self) -> usize {
        (self.constraints.max_atoms as usize).saturating_sub(self.nodes.len())
    }

    /// Whether `atom` is in a choice that is not the one being tried, or was dropped.
    pub fn is_needed(&self, atom: &AtomId) -> bool {
        self.at(atom).is_some_and(|at| self.is_needed_at(at))
    }

    pub(super) fn is_needed_at(&self, at: NodeAt) -> bool {
        let node = &self.nodes[at];
        let here = node.standing != Standing::Dropped && node.group.is_none_or(|group| self.groups[group].tries(at));
        here && node.holder.is_none_or(|holder| self.is_needed_at(holder))
    }
}
