//! What the work would be without some of it.

use std::collections::BTreeSet;

use super::correction::{CannotCorrect, Change, draw};
use super::event::Merged;
use super::state::GraphState;
use crate::plan::AtomId;
use crate::port::TreeId;

/// The work as it was before the first of what falls came in, and what came in later and stays: to be brought in again, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    pub from: Option<TreeId>,
    pub later: Vec<Step>,
    /// How many of the merges so far are not touched by this.
    pub(super) first: usize,
    /// How many there are.
    of: usize,
}

impl Replay {
    /// Whether any work goes.
    pub fn falls(&self) -> bool {
        self.first + self.later.len() < self.of
    }
}

/// What one atom changed: `before` became `after`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub atom: AtomId,
    pub before: TreeId,
    pub after: TreeId,
}

impl GraphState {
    /// Those whose work is part of all, in the order that it came in.
    pub fn merged(&self) -> impl Iterator<Item = &AtomId> {
        self.merges.iter().map(|merged| &merged.atom)
    }

    /// Without what a change undoes, and `also`.
    pub fn without_changed(&self, change: &Change, also: &[AtomId]) -> Result<Replay, CannotCorrect> {
        Ok(self.without_these(&draw(self, change, also)?.undone))
    }

    /// Without the way that failed, whatever rests on it, and `also`.
    pub fn without(&self, group: &AtomId, failed: &AtomId, also: &[AtomId]) -> Replay {
        let falls = self.work.affected(group, failed, also).into_iter().map(|node| node.id().clone()).collect();
        self.without_these(&falls)
    }

    /// Without the work of these.
    pub(super) fn without_these(&self, falls: &BTreeSet<AtomId>) -> Replay {
        let merged_at = falls.iter().filter_map(|atom| self.atoms.get(atom)?.merged_at);
        let first = merged_at.min().unwrap_or(self.merges.len());
        let before = |at: usize| at.checked_sub(1).map_or(self.floor, |last| Some(self.merges[last].tip));
        let later = (first..self.merges.len()).filter(|at| !falls.contains(&self.merges[*at].atom));
        let step = |at: usize| {
            let merged = &self.merges[at];
            Some(Step { atom: merged.atom.clone(), before: before(at)?, after: merged.tip })
        };
        Replay { from: before(first), later: later.filter_map(step).collect(), first, of: self.merges.len() }
    }

    /// The work of an atom becomes part of all. Where that is, is noted with the atom, so that it costs nothing to know what is left
    /// without those that came in last.
    pub(super) fn bring_in(&mut self, merged: Merged) {
        let progress = self.atoms.entry(merged.atom.clone()).or_default();
        progress.merged_at.get_or_insert(self.merges.len());
        self.tip = Some(merged.tip);
        self.merges.push(merged);
    }

    /// The first so many stay, then come these.
    pub(super) fn bring_in_anew(&mut self, first: usize, kept: &[Merged]) {
        for gone in self.merges.drain(first.min(self.merges.len())..) {
            if let Some(progress) = self.atoms.get_mut(&gone.atom) {
                progress.merged_at = progress.merged_at.filter(|at| *at < first);
            }
        }
        self.tip = self.merges.last().map(|merged| merged.tip).or(self.floor);
        kept.iter().for_each(|merged| self.bring_in(merged.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;

    fn merged(word: &str) -> Merged {
        Merged { atom: AtomId::parse(&word[..1]).expect("a plain word"), tip: TreeId(Digest::of(word.as_bytes())) }
    }

    fn come_in(words: &str) -> GraphState {
        let mut graph = GraphState::default();
        words.split(' ').for_each(|word| graph.bring_in(merged(word)));
        graph
    }

    /// What stays of it without these: how many are not touched, and who comes in again.
    #[track_caller]
    fn check(graph: &GraphState, falls: &str, first: usize, later: &str) {
        let falls = falls.chars().map(|name| AtomId::parse(&name.to_string()).expect("a plain word")).collect();
        let replay = graph.without_these(&falls);
        let again: String = replay.later.iter().map(|step| step.atom.as_str()).collect();
        assert_eq!((replay.first, again.as_str()), (first, later));
        // As somebody finds it who looks at all of them.
        let found = graph.merged().position(|atom| falls.contains(atom)).unwrap_or(graph.merged().count());
        assert_eq!(replay.first, found);
    }

    #[test]
    fn what_falls_is_found_where_it_first_came_in() {
        let graph = come_in("a1 b1 a2 c1");
        check(&graph, "", 4, "");
        check(&graph, "a", 0, "bc");
        check(&graph, "b", 1, "ac");
        check(&graph, "c", 3, "");
        check(&graph, "bc", 1, "a");
    }

    #[test]
    fn what_came_in_anew_is_found_where_it_is_now() {
        let mut graph = come_in("a1 b1 a2 c1 d1");
        graph.bring_in_anew(1, &[merged("c2"), merged("d2")]);
        assert_eq!(graph.merged().map(AtomId::as_str).collect::<String>(), "acd");
        assert_eq!(graph.tip, Some(merged("d2").tip));
        check(&graph, "a", 0, "cd");
        check(&graph, "b", 3, "");
        check(&graph, "c", 1, "d");
        graph.bring_in(merged("b2"));
        check(&graph, "b", 3, "");
        graph.bring_in_anew(0, &[]);
        check(&graph, "abcd", 0, "");
        assert_eq!(graph.tip, graph.floor);
    }
}
