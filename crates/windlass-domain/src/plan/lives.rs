//! How often the items of a plan may begin anew: where a way fails and another is taken, whatever rests on it has all of its attempts
//! again. What can be tried at most is counted with this, so that an approval lasts for all that it allows.

use std::collections::BTreeSet;

use super::item::{Item, Plan};

impl Plan {
    /// The items that somebody works on, each with how often it may have all of its attempts. Every turn to another way leaves a
    /// choice behind for good, and may renew anybody but those in that group's choices: one that fails does not come back, and the
    /// next has not begun, unless all of them begin at once.
    pub fn lives(&self) -> Vec<(&Item, u32)> {
        let mut found = Vec::new();
        collect(&self.0, 1_u32.saturating_add(self.turns()), &mut found);
        found
    }

    /// How often another way can be taken at most, over all groups.
    pub fn turns(&self) -> u32 {
        self.0.all().into_iter().map(turns).fold(0, u32::saturating_add)
    }
}

/// In the groups that it holds: of each, one choice is the last.
fn turns(holder: &Item) -> u32 {
    let choices: Vec<_> = holder.tasks.iter().filter_map(|part| part.any_of.as_ref()).collect();
    let groups: BTreeSet<_> = choices.iter().collect();
    count(choices.len() - groups.len())
}

fn collect<'a>(item: &'a Item, lives: u32, found: &mut Vec<(&'a Item, u32)>) {
    if item.tasks.is_empty() {
        found.push((item, lives));
    }
    for part in &item.tasks {
        collect(part, lives.saturating_sub(other_ways(item, part)), found);
    }
}

/// The choices that `part` of `holder` is instead of.
fn other_ways(holder: &Item, part: &Item) -> u32 {
    let in_group = || holder.tasks.iter().filter(|other| part.any_of.is_some() && other.any_of == part.any_of);
    if in_group().any(|other| other.speculative) {
        return 0;
    }
    count(in_group().count().saturating_sub(1))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
