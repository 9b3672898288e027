//! What happens to a graph, by the names of its atoms. A name that it does not have changes nothing.

use super::node::{Left, Standing};
use super::{NodeAt, Work};
use crate::id::TaskId;
use crate::plan::{AtomId, Item};
use crate::port::TreeId;

impl Work {
    /// Somebody begins to work on it, which is an attempt.
    pub(in crate::graph) fn start(&mut self, atom: &AtomId, run: TaskId) {
        let Some(at) = self.at(atom) else { return };
        let node = &mut self.nodes[at];
        if !std::mem::take(&mut node.is_prepaid) {
            node.left.attempts = node.left.attempts.saturating_sub(1);
        }
        node.counted = 1;
        self.begin(at, Standing::Running(run));
    }

    /// The same run tries once more.
    pub(in crate::graph) fn try_again(&mut self, atom: &AtomId) {
        if let Some(node) = self.node_mut(atom) {
            node.left.attempts = node.left.attempts.saturating_sub(1);
            node.counted += 1;
        }
    }

    pub(in crate::graph) fn consult(&mut self, atom: &AtomId) {
        if let Some(node) = self.node_mut(atom) {
            node.left.consults = node.left.consults.saturating_sub(1);
        }
    }

    pub(in crate::graph) fn interrupt(&mut self, atom: &AtomId) {
        if let Some(node) = self.node_mut(atom) {
            node.left.interruptions = node.left.interruptions.saturating_sub(1);
        }
    }

    /// Its checks passed on `tip`, after so many attempts. Names those that lost to it, where several ways were tried at once.
    pub(in crate::graph) fn resolve(&mut self, atom: &AtomId, attempts: u32, tip: TreeId) -> Vec<AtomId> {
        let Some(at) = self.at(atom) else { return Vec::new() };
        self.count(at, attempts);
        if !self.nodes[at].item.verify.0.is_empty() {
            self.nodes[at].joined = Some((tip, true));
        }
        let lost = self.resolve_at(at);
        self.ids(lost)
    }

    pub(in crate::graph) fn fail(&mut self, atom: &AtomId, attempts: u32) {
        let Some(at) = self.at(atom) else { return };
        self.count(at, attempts);
        self.set(at, Standing::Stuck);
    }

    /// Attempts that nobody counted when they began.
    fn count(&mut self, at: NodeAt, attempts: u32) {
        let node = &mut self.nodes[at];
        let uncounted = attempts.saturating_sub(node.counted);
        node.left.attempts = node.left.attempts.saturating_sub(uncounted);
    }

    /// Somebody looks whether it can be done; before `choice` is tried, where that is named.
    pub(in crate::graph) fn probe(&mut self, atom: &AtomId, run: TaskId, choice: Option<&AtomId>) {
        let Some(at) = self.at(atom) else { return };
        let node = &mut self.nodes[at];
        node.left.probes = node.left.probes.saturating_sub(1);
        match choice.and_then(|choice| self.at(choice)) {
            None => self.begin(at, Standing::Probing(run)),
            Some(choice) => {
                self.nodes[at].probed_for = Some(choice);
                self.set(at, Standing::Probing(run));
            }
        }
    }

    /// Whether a way is out of the question with that.
    pub(in crate::graph) fn probed(&mut self, atom: &AtomId, run: TaskId, is_feasible: bool) -> bool {
        let Some(at) = self.at(atom).filter(|at| self.nodes[*at].standing == Standing::Probing(run)) else {
            return false;
        };
        self.nodes[at].probed = Some(is_feasible);
        let Some(choice) = self.nodes[at].probed_for.take() else {
            self.set(at, if is_feasible { Standing::Ready } else { Standing::Stuck });
            return false;
        };
        self.set(at, Standing::Waiting);
        self.nodes[at].open_after = self.count_open(at);
        let group = self.nodes[choice].group.filter(|_| !is_feasible);
        if let Some(group) = group {
            self.drop_choice(group, choice);
        }
        self.enter(at);
        group.is_some()
    }

    /// Somebody looks for smaller parts of it, which is done once.
    pub(in crate::graph) fn look_for_parts(&mut self, atom: &AtomId, run: TaskId) {
        let Some(at) = self.at(atom) else { return };
        self.undo(at);
        self.nodes[at].left.searches = 0;
        self.set(at, Standing::Splitting(run));
    }

    /// Puts smaller atoms in the place of one: it stays, as what holds them, and its own checks run when they are done.
    pub(in crate::graph) fn split(&mut self, atom: &AtomId, run: TaskId, children: &[Item]) {
        let Some(at) = self.at(atom).filter(|at| self.nodes[*at].standing == Standing::Splitting(run)) else { return };
        self.nodes[at].left.splits = 0;
        if children.is_empty() {
            return self.set(at, Standing::Stuck);
        }
        self.nodes[at].left = Left::default();
        self.grow(at, children);
        self.set(at, Standing::Waiting);
        self.enter(at);
    }

    /// A way has failed. Names the atoms whose work does not count with that.
    pub(in crate::graph) fn switch(&mut self, group: &AtomId, failed: &AtomId, also: &[AtomId]) -> Vec<AtomId> {
        let (Some(group), Some(failed)) = (self.group_names.get(group).copied(), self.at(failed)) else {
            return Vec::new();
        };
        let affected = self.affected_at(group, failed, also);
        let also: Vec<NodeAt> = also.iter().filter_map(|atom| self.at(atom)).collect();
        self.switch_at(group, failed, &also);
        self.ids(affected)
    }

    /// The atoms whose work would not count if this way were given up, with `also`.
    pub fn affected(&self, group: &AtomId, failed: &AtomId, also: &[AtomId]) -> Vec<&super::Node> {
        let (Some(group), Some(failed)) = (self.group_names.get(group).copied(), self.at(failed)) else {
            return Vec::new();
        };
        self.affected_at(group, failed, also).into_iter().map(|at| &self.nodes[at]).collect()
    }

    fn affected_at(&self, group: super::GroupAt, failed: NodeAt, also: &[AtomId]) -> Vec<NodeAt> {
        let mut affected = self.rests_on(super::Need::Group(group));
        affected.extend(self.inside(failed));
        for atom in also.iter().filter_map(|atom| self.at(atom)) {
            affected.insert(atom);
            affected.extend(self.rests_on(super::Need::Atom(atom)));
        }
        affected.into_iter().collect()
    }

    /// What was done goes on, because the checks of what holds it say so.
    pub(in crate::graph) fn reopen(&mut self, sinks: &[AtomId]) {
        let sinks: Vec<NodeAt> = sinks.iter().filter_map(|atom| self.at(atom)).collect();
        self.reopen_sinks(&sinks);
    }

    /// Its own checks were made on `tip`, with everything that it holds in it. Whether it is done with that.
    pub(in crate::graph) fn joined(&mut self, atom: &AtomId, tip: TreeId, passed: bool) -> bool {
        self.at(atom).is_some_and(|at| self.joined_at(at, tip, passed))
    }

    /// Nobody waits for these any more. Names what they worked on, which is as open as before.
    pub(in crate::graph) fn release(&mut self, runs: &[TaskId]) -> Vec<AtomId> {
        let is_released = |at: &NodeAt| self.nodes[*at].standing.run().is_some_and(|run| runs.contains(&run));
        let released: Vec<NodeAt> = self.busy.iter().copied().filter(is_released).collect();
        for at in &released {
            self.undo(*at);
            self.enter(*at);
        }
        self.ids(released)
    }

    /// How many atoms and choices there are.
    pub(in crate::graph) fn size(&self) -> (u32, u32) {
        let choices = self.groups.iter().map(|group| group.choices.len()).sum::<usize>();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (count(self.nodes.len()), count(choices))
    }

    fn node_mut(&mut self, atom: &AtomId) -> Option<&mut super::Node> {
        let at = self.at(atom)?;
        Some(&mut self.nodes[at])
    }

    fn ids(&self, atoms: impl IntoIterator<Item = NodeAt>) -> Vec<AtomId> {
        atoms.into_iter().map(|at| self.nodes[at].id().clone()).collect()
    }
}
