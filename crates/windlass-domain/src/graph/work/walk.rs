//! Ways through the graph: what is inside something, what came of it, and what it came of. They are gone when something fails or
//! is changed, not at every step.

use std::collections::BTreeSet;

use super::node::Standing;
use super::{GroupAt, Need, NodeAt, Work};
use crate::plan::AtomId;

impl Work {
    /// It and everything in it.
    pub(in crate::graph) fn inside(&self, at: NodeAt) -> Vec<NodeAt> {
        let mut found = vec![at];
        let mut next = 0;
        while let Some(here) = found.get(next) {
            found.extend(self.held(*here));
            next += 1;
        }
        found
    }

    /// Its parts, of groups all choices.
    fn held(&self, at: NodeAt) -> Vec<NodeAt> {
        let node = &self.nodes[at];
        let choices = node.part_groups.iter().flat_map(|group| &self.groups[*group].choices);
        node.parts.iter().chain(choices).copied().collect()
    }

    pub(super) fn is_inside(&self, at: NodeAt, holder: NodeAt) -> bool {
        at == holder || self.nodes[at].holder.is_some_and(|around| self.is_inside(around, holder))
    }

    /// Whatever rests on it, directly or by way of others, of everything that was begun: it is not worth more than what it rests on.
    pub(in crate::graph) fn rests_on(&self, need: Need) -> BTreeSet<NodeAt> {
        let mut seen = BTreeSet::new();
        let mut found = BTreeSet::new();
        let mut open = vec![need];
        while let Some(need) = open.pop() {
            if !seen.insert(need) {
                continue;
            }
            let (waiting, around) = match need {
                Need::Atom(at) => (&self.nodes[at].waited_by, self.around(at)),
                Need::Group(at) => (&self.groups[at].waited_by, Some(Need::Atom(self.groups[at].holder))),
            };
            // What holds it rests on it too, and so do those who wait for that.
            open.extend(around);
            for at in waiting.iter().flat_map(|waits| self.inside(*waits)) {
                found.insert(at);
                open.push(Need::Atom(at));
            }
        }
        found.retain(|at| self.nodes[*at].is_leaf() && self.was_begun(*at));
        found
    }

    /// Everything in the choices of a group, and what rests on it.
    pub(in crate::graph) fn under(&self, group: &AtomId) -> BTreeSet<AtomId> {
        let Some(at) = self.group_names.get(group).copied() else { return BTreeSet::new() };
        let inside = self.groups[at].choices.iter().flat_map(|choice| self.inside(*choice));
        self.named(inside.chain(self.rests_on(Need::Group(at))))
    }

    /// The groups that these are in choices of.
    pub(in crate::graph) fn groups_of(&self, atoms: &BTreeSet<AtomId>) -> BTreeSet<AtomId> {
        let around = atoms.iter().filter_map(|atom| self.at(atom)).flat_map(|at| self.around_groups(at));
        around.map(|(group, _)| self.groups[group].id.clone()).collect()
    }

    /// Whether `inner` is among the parts of a choice of `group`.
    pub(in crate::graph) fn is_within(&self, inner: &AtomId, group: &AtomId) -> bool {
        let (Some(inner), Some(group)) = (self.group_names.get(inner), self.group_names.get(group)) else {
            return false;
        };
        self.around_groups(self.groups[*inner].holder).iter().any(|(around, _)| around == group)
    }

    pub(in crate::graph) fn named(&self, atoms: impl IntoIterator<Item = NodeAt>) -> BTreeSet<AtomId> {
        atoms.into_iter().map(|at| self.nodes[at].id().clone()).collect()
    }

    fn around(&self, at: NodeAt) -> Option<Need> {
        self.nodes[at].group.map(Need::Group).or_else(|| self.nodes[at].holder.map(Need::Atom))
    }

    fn was_begun(&self, at: NodeAt) -> bool {
        let node = &self.nodes[at];
        let is_under_way =
            matches!(node.standing, Standing::Resolved | Standing::Stuck) || node.standing.run().is_some();
        let is_used = node.left.attempts < node.item.budget.max_attempts || node.probed.is_some();
        node.is_live() && (is_under_way || is_used)
    }

    /// The groups that `at` is in a choice of, or rests on.
    pub(super) fn cone(&self, at: NodeAt) -> BTreeSet<GroupAt> {
        let mut groups = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            let node = &self.nodes[at];
            groups.extend(node.group);
            open.extend(node.holder);
            for need in &node.after {
                match need {
                    Need::Atom(before) => open.extend(self.inside(*before)),
                    Need::Group(before) => {
                        groups.insert(*before);
                        let current = self.groups[*before].current();
                        open.extend(current.into_iter().flat_map(|choice| self.inside(choice)));
                    }
                }
            }
        }
        groups
    }

    /// The needed atoms in `holder` that nothing needed in it waits for: where what it comes to is decided.
    pub(super) fn sinks(&self, holder: NodeAt) -> Vec<NodeAt> {
        let mut sinks = Vec::new();
        let mut open = vec![holder];
        while let Some(at) = open.pop() {
            if self.nodes[at].is_leaf() {
                sinks.push(at);
                continue;
            }
            let node = &self.nodes[at];
            let parts = node.parts.iter().filter(|part| !self.is_waited_for(&self.nodes[**part].waited_by, holder));
            open.extend(parts.copied().filter(|part| self.nodes[*part].is_live()));
            let groups = node.part_groups.iter().map(|group| &self.groups[*group]);
            let groups = groups.filter(|group| !self.is_waited_for(&group.waited_by, holder));
            open.extend(groups.filter_map(super::Group::current));
        }
        sinks.sort_unstable();
        sinks
    }

    fn is_waited_for(&self, waiting: &[NodeAt], within: NodeAt) -> bool {
        waiting.iter().any(|waits| self.is_inside(*waits, within) && self.is_needed_at(*waits))
    }
}
