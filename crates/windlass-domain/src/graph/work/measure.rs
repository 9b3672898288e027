//! Why there is an end: every move lowers this, in the order of its fields, and nothing lowers it for ever.

use super::Work;

/// What is left to try. Compared field by field, as written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure {
    pub replans: u32,
    /// How many live atoms may still be split how often, the largest number of times first: a multiset.
    pub splits: Vec<u64>,
    /// Live choices that have not failed.
    pub choices: u64,
    /// Attempts, consults, probes, searches for parts and interruptions, over all live atoms, done or not.
    pub tries: u64,
    pub unresolved: u64,
}

impl Work {
    pub fn measure(&self, replans: u32) -> Measure {
        let most = self.constraints.max_split_depth as usize;
        let mut splits = vec![0; most];
        let (mut tries, mut unresolved) = (0, 0);
        for node in self.nodes.iter().filter(|node| node.is_live()) {
            if let Some(place) = most.checked_sub(node.left.splits as usize).filter(|place| *place < most) {
                splits[place] += 1;
            }
            let left = &node.left;
            let tried = [left.attempts, left.consults, left.probes, left.searches, left.interruptions];
            tries += tried.map(u64::from).iter().sum::<u64>();
            unresolved += u64::from(!node.is_resolved());
        }
        let live = |at: &usize| self.nodes[*at].is_live();
        let choices = self.groups.iter().map(|group| group.open_choices().filter(live).count() as u64).sum();
        Measure { replans, splits, choices, tries, unresolved }
    }
}
