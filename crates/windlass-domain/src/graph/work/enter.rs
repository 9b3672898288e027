//! Forwards: what begins when something ends. Each end touches what waits for it and what holds it, and nothing else.

use super::node::Standing;
use super::{GroupAt, Need, NodeAt, Turn, Work};
use crate::port::TreeId;

impl Work {
    pub(super) fn set(&mut self, at: NodeAt, standing: Standing) {
        self.leave(at);
        self.nodes[at].standing = standing;
        match standing {
            Standing::Ready => self.ready.insert(at),
            Standing::Running(_) | Standing::Probing(_) | Standing::Splitting(_) => self.busy.insert(at),
            Standing::Joining => self.joining.insert(at),
            Standing::Stuck => self.stuck.insert(at),
            Standing::Waiting | Standing::Open | Standing::Resolved | Standing::Dropped => false,
        };
    }

    /// Takes it out of every list.
    pub(super) fn leave(&mut self, at: NodeAt) {
        for list in [&mut self.ready, &mut self.busy, &mut self.joining, &mut self.unmet, &mut self.stuck] {
            list.remove(&at);
        }
    }

    /// It begins, if what holds it has begun and nothing that it waits for is open.
    pub(super) fn enter(&mut self, at: NodeAt) {
        let node = &self.nodes[at];
        if node.standing != Standing::Waiting || node.open_after > 0 || !self.is_reached(at) {
            return;
        }
        let node = &self.nodes[at];
        if node.is_leaf() {
            let can_be_tried = node.may_begin() && node.probed != Some(false);
            return self.set(at, if can_be_tried { Standing::Ready } else { Standing::Stuck });
        }
        self.set(at, Standing::Open);
        for place in 0..self.nodes[at].parts.len() {
            self.enter(self.nodes[at].parts[place]);
        }
        for place in 0..self.nodes[at].part_groups.len() {
            self.enter_group(self.nodes[at].part_groups[place]);
        }
        if self.nodes[at].open_parts == 0 {
            self.close(at);
        }
    }

    pub(super) fn enter_group(&mut self, group: GroupAt) {
        for place in 0..self.groups[group].choices.len() {
            self.enter(self.groups[group].choices[place]);
        }
    }

    fn is_reached(&self, at: NodeAt) -> bool {
        let node = &self.nodes[at];
        let is_tried = node.group.is_none_or(|group| self.groups[group].tries(at));
        is_tried && node.holder.is_none_or(|holder| self.nodes[holder].standing == Standing::Open)
    }

    pub(super) fn count_open(&self, at: NodeAt) -> usize {
        self.nodes[at].after.iter().filter(|need| !self.is_met(**need)).count()
    }

    pub(super) fn is_met(&self, need: Need) -> bool {
        match need {
            Need::Atom(at) => self.nodes[at].is_resolved(),
            Need::Group(at) => self.groups[at].is_resolved,
        }
    }

    /// All of its parts are done: so is it, or its checks are to be made.
    fn close(&mut self, at: NodeAt) {
        if self.nodes[at].item.verify.0.is_empty() {
            self.resolve_at(at);
        } else {
            self.set(at, Standing::Joining);
        }
    }

    /// It is done, and whatever waited for it alone begins. Names those that lost to it, where several ways were tried at once.
    pub(super) fn resolve_at(&mut self, at: NodeAt) -> Vec<NodeAt> {
        let mut lost = Vec::new();
        self.set(at, Standing::Resolved);
        for place in 0..self.nodes[at].waited_by.len() {
            self.hear(self.nodes[at].waited_by[place]);
        }
        let Some(group) = self.nodes[at].group else {
            self.part_is_done(self.nodes[at].holder);
            return lost;
        };
        if self.groups[group].selected.is_none() {
            self.take_turn(group, at);
            lost = self.rest_others(group, at);
        }
        self.groups[group].is_resolved = true;
        for place in 0..self.groups[group].waited_by.len() {
            self.hear(self.groups[group].waited_by[place]);
        }
        self.part_is_done(Some(self.groups[group].holder));
        lost
    }

    /// Those that raced with the one that won go back to where they were: untried, but what they spent is spent.
    fn rest_others(&mut self, group: GroupAt, winner: NodeAt) -> Vec<NodeAt> {
        let lost: Vec<NodeAt> = self.groups[group].open_choices().filter(|choice| *choice != winner).collect();
        for choice in &lost {
            self.set(*choice, Standing::Waiting);
            self.nodes[*choice].open_after = self.count_open(*choice);
        }
        lost
    }

    fn part_is_done(&mut self, holder: Option<NodeAt>) {
        let Some(holder) = holder else { return };
        self.nodes[holder].open_parts = self.nodes[holder].open_parts.saturating_sub(1);
        if self.nodes[holder].open_parts == 0 && self.nodes[holder].standing == Standing::Open {
            self.close(holder);
        }
    }

    /// One thing fewer to wait for.
    fn hear(&mut self, waits: NodeAt) {
        let node = &mut self.nodes[waits];
        if node.standing == Standing::Waiting {
            node.open_after = node.open_after.saturating_sub(1);
            self.enter(waits);
        }
    }

    /// Somebody begins on it. The choices around it are taken with that, the outermost first.
    pub(super) fn begin(&mut self, at: NodeAt, standing: Standing) {
        for (group, choice) in self.around_groups(at).into_iter().rev() {
            match self.groups[group].selected {
                None if self.groups[group].speculative => {}
                None => self.take_turn(group, choice),
                Some(taken) if taken == choice => {}
                // Journals from before switches were written down.
                Some(taken) => {
                    self.drop_choice(group, taken);
                    self.take_turn(group, choice);
                }
            }
        }
        self.set(at, standing);
    }

    pub(super) fn take_turn(&mut self, group: GroupAt, choice: NodeAt) {
        self.groups[group].selected = Some(choice);
        let turn = Turn { group: self.groups[group].id.clone(), choice: self.nodes[choice].id().clone() };
        self.trail.push(turn);
    }

    pub(super) fn joined_at(&mut self, at: NodeAt, tip: TreeId, passed: bool) -> bool {
        self.nodes[at].joined = Some((tip, passed));
        let is_complete = matches!(self.nodes[at].standing, Standing::Joining | Standing::Resolved);
        if is_complete && !passed {
            // What came in later may break what was done.
            self.undo(at);
            self.set(at, Standing::Joining);
            self.unmet.insert(at);
        }
        let is_done = self.nodes[at].standing == Standing::Joining && passed;
        if is_done {
            self.resolve_at(at);
        }
        is_done
    }
}
