//! What is tried when an atom has nothing left to try by itself: another way at the nearest turn that it rests on, smaller parts, or
//! nothing but another plan.

use super::node::Standing;
use super::{GroupAt, NodeAt, Work};
use crate::plan::AtomId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rung {
    /// Look whether the next way can be gone, before the first turn back in a group.
    Probe {
        group: AtomId,
        choice: AtomId,
        atom: AtomId,
    },
    /// Back to a turn, and another way.
    Switch {
        group: AtomId,
        failed: AtomId,
        next: AtomId,
    },
    Split {
        atom: AtomId,
    },
    /// The sinks of what holds them, with attempts left.
    Reopen {
        holder: AtomId,
        sinks: Vec<AtomId>,
    },
    /// Somebody is looking.
    Wait,
}

impl Work {
    /// What is tried about `atom`, which failed.
    pub fn rung(&self, atom: &AtomId) -> Option<Rung> {
        self.rung_at(self.at(atom)?)
    }

    pub(super) fn rung_at(&self, at: NodeAt) -> Option<Rung> {
        self.other_way(at).or_else(|| {
            let left = &self.nodes[at].left;
            let can_split = self.nodes[at].is_leaf() && left.splits.min(left.searches) > 0 && self.atoms_left() >= 2;
            can_split.then(|| Rung::Split { atom: self.nodes[at].id().clone() })
        })
    }

    /// The nearest turn on the trail in the cone of `at` that another way leads on from.
    fn other_way(&self, at: NodeAt) -> Option<Rung> {
        let cone = self.cone(at);
        // A race is lost by one without a turn having been taken.
        let racing = self.around_groups(at).into_iter().find(|(group, _)| self.groups[*group].selected.is_none());
        let turns = self.trail.iter().rev().filter_map(|turn| {
            let group = *self.group_names.get(&turn.group)?;
            Some((group, self.groups[group].selected?))
        });
        let mut turns = racing.into_iter().chain(turns).filter(|(group, _)| cone.contains(group));
        turns.find_map(|(group, failed)| self.next_way(group, failed))
    }

    fn next_way(&self, group: GroupAt, failed: NodeAt) -> Option<Rung> {
        let next = self.groups[group].open_choices().find(|choice| *choice != failed)?;
        let (group_id, next_id) = (self.groups[group].id.clone(), self.nodes[next].id().clone());
        // What was dropped in it, by a person for instance, is not looked at.
        let is_first = |at: &NodeAt| self.nodes[*at].is_leaf() && self.nodes[*at].is_live();
        let first = self.inside(next).into_iter().find(is_first)?;
        let node = &self.nodes[first];
        if matches!(node.standing, Standing::Probing(_)) {
            return Some(Rung::Wait);
        }
        let is_unknown = !self.groups[group].was_switched && !self.groups[group].speculative;
        if is_unknown && self.constraints.probe_before_switch && node.probed.is_none() && node.left.probes > 0 {
            return Some(Rung::Probe { group: group_id, choice: next_id, atom: node.id().clone() });
        }
        Some(Rung::Switch { group: group_id, failed: self.nodes[failed].id().clone(), next: next_id })
    }

    /// The groups that `at` is in a choice of, with those choices, the innermost first.
    pub(super) fn around_groups(&self, at: NodeAt) -> Vec<(GroupAt, NodeAt)> {
        let mut around = Vec::new();
        let mut next = Some(at);
        while let Some(here) = next {
            around.extend(self.nodes[here].group.map(|group| (group, here)));
            next = self.nodes[here].holder;
        }
        around
    }

    /// What is tried when the checks of `holder` fail on the work of all: the same once more, unless that leads nowhere. What holds no
    /// others was done, and what came in later broke it: it is its own sink.
    pub fn rung_of_join(&self, holder: &AtomId, is_stalled: bool) -> Option<Rung> {
        let at = self.at(holder)?;
        let sinks = self.sinks(at);
        let is_done = |sink: NodeAt| sink == at || self.nodes[sink].is_resolved();
        let with_attempts = |sink: &&NodeAt| self.nodes[**sink].left.attempts > 0 && is_done(**sink);
        let open: Vec<AtomId> = sinks.iter().filter(with_attempts).map(|at| self.nodes[*at].id().clone()).collect();
        if !open.is_empty() && !is_stalled {
            return Some(Rung::Reopen { holder: holder.clone(), sinks: open });
        }
        self.rung_at(*sinks.last()?)
    }
}
