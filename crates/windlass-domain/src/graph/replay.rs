//! What the work would be without some of it.

use std::collections::BTreeSet;

use super::correction::{CannotCorrect, Change, draw};
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
        let first = self.merges.iter().position(|merged| falls.contains(&merged.atom)).unwrap_or(self.merges.len());
        let before = |at: usize| at.checked_sub(1).map_or(self.floor, |last| Some(self.merges[last].tip));
        let later = (first..self.merges.len()).filter(|at| !falls.contains(&self.merges[*at].atom));
        let step = |at: usize| {
            let merged = &self.merges[at];
            Some(Step { atom: merged.atom.clone(), before: before(at)?, after: merged.tip })
        };
        Replay { from: before(first), later: later.filter_map(step).collect(), first, of: self.merges.len() }
    }
}
