//! Backwards: what is done is done, unless a way that it rests on turns out wrong, or checks of the whole fail.

use super::node::Standing;
use super::{GroupAt, Need, NodeAt, Work};

impl Work {
    /// Each pays for the attempt that it then starts.
    pub(super) fn reopen_sinks(&mut self, sinks: &[NodeAt]) {
        for at in sinks {
            let left = &mut self.nodes[*at].left;
            left.attempts = left.attempts.saturating_sub(1);
            self.nodes[*at].is_prepaid = true;
            self.undo(*at);
        }
        for at in sinks {
            self.enter(*at);
        }
    }

    /// The way that was taken in `group` has failed, and the next is taken. Whatever rests on it is open again, with everything it
    /// may use; besides, `also`, whose work was found to need that of others who are.
    pub(super) fn switch_at(&mut self, group: GroupAt, failed: NodeAt, also: &[NodeAt]) {
        let mut open_again = self.rests_on(Need::Group(group));
        for at in also {
            open_again.insert(*at);
            open_again.extend(self.rests_on(Need::Atom(*at)));
        }
        if self.groups[group].is_resolved {
            self.groups[group].is_resolved = false;
            self.undo_part(self.groups[group].holder);
            self.wait_again(&self.groups[group].waited_by.clone());
        }
        self.drop_choice(group, failed);
        self.groups[group].was_switched = true;
        open_again.retain(|at| self.nodes[*at].is_live());
        for at in &open_again {
            self.renew(*at);
            self.undo(*at);
        }
        for at in open_again {
            self.enter(at);
        }
        self.enter_group(group);
    }

    /// A choice is out of the question, before or after it was tried.
    pub(super) fn drop_choice(&mut self, group: GroupAt, choice: NodeAt) {
        self.groups[group].failed.insert(choice);
        if self.groups[group].selected == Some(choice) {
            self.groups[group].selected = None;
        }
        self.drop_atom(choice);
        let (id, failed) = (self.groups[group].id.clone(), self.nodes[choice].id().clone());
        self.trail.retain(|turn| turn.group != id || turn.choice != failed);
        self.enter_group(group);
    }

    /// It and everything in it, with the turns that were taken in there.
    fn drop_atom(&mut self, at: NodeAt) {
        for at in self.inside(at) {
            self.set(at, Standing::Dropped);
            for group in self.nodes[at].part_groups.clone() {
                let id = self.groups[group].id.clone();
                self.trail.retain(|turn| turn.group != id);
            }
        }
    }

    fn renew(&mut self, at: NodeAt) {
        let node = &self.nodes[at];
        let (splits, interruptions) = (node.left.splits, node.left.interruptions);
        let full = Self::full(&node.item, splits);
        let node = &mut self.nodes[at];
        node.left = super::Left { interruptions, ..full };
        node.is_prepaid = false;
        node.probed = None;
    }

    /// It is not done, whatever it was; nothing that holds it is, and nothing waits for it in vain. It begins when it is entered.
    pub(super) fn undo(&mut self, at: NodeAt) {
        let was_resolved = self.nodes[at].is_resolved();
        self.set(at, Standing::Waiting);
        self.nodes[at].open_after = self.count_open(at);
        if !was_resolved {
            return;
        }
        self.wait_again(&self.nodes[at].waited_by.clone());
        match self.nodes[at].group {
            None => self.nodes[at].holder.into_iter().for_each(|holder| self.undo_part(holder)),
            Some(group) => {
                self.groups[group].is_resolved = false;
                self.wait_again(&self.groups[group].waited_by.clone());
                self.undo_part(self.groups[group].holder);
            }
        }
    }

    /// One more of its parts is not done.
    fn undo_part(&mut self, holder: NodeAt) {
        self.nodes[holder].open_parts += 1;
        // What its checks said was about other work, even where the files come out the same.
        self.nodes[holder].joined = None;
        match self.nodes[holder].standing {
            Standing::Joining => self.set(holder, Standing::Open),
            Standing::Resolved => {
                self.undo(holder);
                self.set(holder, Standing::Open);
            }
            _ => {}
        }
    }

    /// Those who have not begun wait for it again; who has, goes on with what there was.
    fn wait_again(&mut self, waiting: &[NodeAt]) {
        for at in waiting {
            if matches!(self.nodes[*at].standing, Standing::Waiting | Standing::Ready) {
                self.set(*at, Standing::Waiting);
                self.nodes[*at].open_after = self.count_open(*at);
            }
        }
    }
}
