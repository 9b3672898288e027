//! Circles: things that wait for each other, so that none of them could ever begin. An edge leads to whatever it may come to, every choice
//! of a group and every part of an atom, as nobody knows before which of them it will be.

use super::{GroupAt, Need, NodeAt, Work};
use crate::plan::AtomId;

/// What has to be so before something else can be. An atom begins after what holds it began, and is done after its parts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Begun(NodeAt),
    Done(NodeAt),
    Chosen(GroupAt),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    No,
    /// On the way from where one began to look.
    Open,
    /// Nothing from there on leads back.
    Through,
}

impl Work {
    /// A circle, if there is one: each waits for the next, or holds it, and the last is the first again.
    pub(in crate::graph) fn circle(&self) -> Option<Vec<AtomId>> {
        let mut seen = vec![Seen::No; 2 * self.nodes.len() + self.groups.len()];
        (0..self.nodes.len()).find_map(|at| self.circle_from(Step::Begun(at), &mut seen))
    }

    /// Without recursion: a graph may be deeper than a stack.
    fn circle_from(&self, first: Step, seen: &mut [Seen]) -> Option<Vec<AtomId>> {
        if seen[self.place(first)] != Seen::No {
            return None;
        }
        seen[self.place(first)] = Seen::Open;
        let mut way = vec![(first, self.before(first))];
        while let Some((step, open)) = way.last_mut() {
            let Some(next) = open.pop() else {
                seen[self.place(*step)] = Seen::Through;
                way.pop();
                continue;
            };
            match seen[self.place(next)] {
                Seen::Through => {}
                Seen::No => {
                    seen[self.place(next)] = Seen::Open;
                    way.push((next, self.before(next)));
                }
                Seen::Open => {
                    let around = way.iter().map(|(step, _)| *step).skip_while(|step| *step != next);
                    return Some(self.names(around.chain([next])));
                }
            }
        }
        None
    }

    fn before(&self, step: Step) -> Vec<Step> {
        match step {
            Step::Begun(at) => {
                let node = &self.nodes[at];
                let after = node.after.iter().map(|need| match need {
                    Need::Atom(before) => Step::Done(*before),
                    Need::Group(before) => Step::Chosen(*before),
                });
                after.chain(node.holder.map(Step::Begun)).collect()
            }
            Step::Done(at) => {
                let node = &self.nodes[at];
                let parts = node.parts.iter().map(|part| Step::Done(*part));
                let groups = node.part_groups.iter().map(|group| Step::Chosen(*group));
                parts.chain(groups).chain([Step::Begun(at)]).collect()
            }
            Step::Chosen(group) => self.groups[group].choices.iter().map(|choice| Step::Done(*choice)).collect(),
        }
    }

    const fn place(&self, step: Step) -> usize {
        match step {
            Step::Begun(at) => at,
            Step::Done(at) => self.nodes.len() + at,
            Step::Chosen(at) => 2 * self.nodes.len() + at,
        }
    }

    /// An atom that begins and is done on the way is named once.
    fn names(&self, steps: impl Iterator<Item = Step>) -> Vec<AtomId> {
        let named = steps.map(|step| match step {
            Step::Begun(at) | Step::Done(at) => self.nodes[at].id(),
            Step::Chosen(at) => &self.groups[at].id,
        });
        let mut names: Vec<AtomId> = named.cloned().collect();
        names.dedup();
        // Whoever waits for itself is both ends.
        if names.len() == 1 {
            names.push(names[0].clone());
        }
        names
    }
}
