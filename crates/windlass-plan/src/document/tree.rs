//! What can only be said about all items together: names that clash, edges that lead nowhere, choices that are none, and
//! circles. An edge to a choice means its group.

use std::collections::{BTreeMap, BTreeSet};

use windlass_domain::plan::AtomId;

use super::circles::circles;
use super::item::Entry;
use crate::problem::{Collector, Position};

pub(super) fn check(entries: &[Entry], problems: &mut Collector) {
    let tree = Tree::of(entries, problems);
    tree.check_groups(problems);
    for place in 0..entries.len() {
        tree.check_edges(place, problems);
    }
    if problems.is_empty() {
        tree.check_circles(problems);
    }
    if problems.is_empty() {
        tree.check_inputs(problems);
    }
}

const fn begins(place: usize) -> usize {
    2 * place
}

const fn ends(place: usize) -> usize {
    2 * place + 1
}

struct Tree<'a> {
    entries: &'a [Entry],
    by_id: BTreeMap<&'a AtomId, usize>,
    groups: BTreeMap<&'a AtomId, Vec<usize>>,
}

impl<'a> Tree<'a> {
    fn of(entries: &'a [Entry], problems: &mut Collector) -> Self {
        let mut tree = Self { entries, by_id: BTreeMap::new(), groups: BTreeMap::new() };
        for (place, entry) in entries.iter().enumerate() {
            match tree.by_id.get(&entry.id) {
                Some(first) => {
                    let first = entries[*first].at;
                    problems
                        .report(entry.at, format!("the id `{}` is already used at {first}; choose another", entry.id));
                }
                None => {
                    tree.by_id.insert(&entry.id, place);
                }
            }
            if let Some((group, _)) = &entry.any_of {
                tree.groups.entry(group).or_default().push(place);
            }
        }
        tree
    }

    fn check_groups(&self, problems: &mut Collector) {
        for (group, members) in &self.groups {
            let place = |member: &usize| self.entries[*member].any_of.as_ref().map_or(Position::START, |(_, at)| *at);
            let Some((first, rest)) = members.split_first() else { continue };
            if self.by_id.contains_key(group) {
                problems.report(place(first), format!("`{group}` is the id of an item; give the group another name"));
            }
            for member in rest {
                if self.entries[*member].parent != self.entries[*first].parent {
                    problems
                        .report(place(member), format!("the choices of `{group}` must stand in one list of `tasks`"));
                }
                if self.entries[*member].speculative != self.entries[*first].speculative {
                    let message = format!("`speculative` must be the same for all choices of `{group}`");
                    problems.report(place(member), message);
                }
            }
        }
    }

    fn check_edges(&self, place: usize, problems: &mut Collector) {
        let entry = &self.entries[place];
        let mut seen = BTreeSet::new();
        for (to, at) in entry.depends_on.iter().chain(&entry.inputs) {
            if !self.by_id.contains_key(to) && !self.groups.contains_key(to) {
                problems.report(*at, format!("there is no item or group `{to}` in this plan"));
            }
        }
        for (to, at) in &entry.depends_on {
            if !seen.insert(to) {
                problems.report(*at, format!("`{to}` is there twice"));
            }
            if *to == entry.id {
                problems.report(*at, format!("`{to}` cannot wait for itself"));
            }
            if self.ancestors(place).any(|above| self.entries[above].id == *to) {
                problems.report(*at, format!("`{to}` holds this item, and is done only when this is"));
            }
            if self.group_of(to).is_some_and(|group| self.is_in_group(place, group)) {
                problems.report(*at, format!("`{to}` is of the same choice as this item; only one of them is done"));
            }
        }
    }

    fn ancestors(&self, place: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.entries[place].parent, |above| self.entries[*above].parent)
    }

    /// The group that an edge to this name means, if it means one.
    fn group_of(&self, name: &AtomId) -> Option<&'a AtomId> {
        let named = self.groups.get_key_value(name).map(|(group, _)| *group);
        let chosen = || self.entries[*self.by_id.get(name)?].any_of.as_ref().map(|(group, _)| group);
        named.or_else(chosen)
    }

    fn is_in_group(&self, place: usize, group: &AtomId) -> bool {
        let is_member = |place: usize| self.entries[place].any_of.as_ref().is_some_and(|(of, _)| of == group);
        is_member(place) || self.ancestors(place).any(is_member)
    }

    /// The items that an edge to this name waits for.
    fn meant(&self, name: &AtomId) -> Vec<usize> {
        match self.group_of(name) {
            Some(group) => self.groups[group].clone(),
            None => self.by_id.get(name).copied().into_iter().collect(),
        }
    }

    /// What an item waits for before it begins: its own edges, and those of what holds it.
    fn waits_for(&self, place: usize) -> Vec<usize> {
        let around = std::iter::once(place).chain(self.ancestors(place));
        around.flat_map(|place| &self.entries[place].depends_on).flat_map(|(name, _)| self.meant(name)).collect()
    }

    /// Everything inside it, and itself: what waits for an item waits for all of it.
    fn inside(&self, place: usize) -> Vec<usize> {
        let holds = |inner: &usize| *inner == place || self.ancestors(*inner).any(|above| above == place);
        (0..self.entries.len()).filter(holds).collect()
    }

    fn before(&self, place: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = self.waits_for(place);
        while let Some(next) = open.pop() {
            for part in self.inside(next) {
                if found.insert(part) {
                    open.extend(self.waits_for(part));
                }
            }
        }
        found
    }

    /// Who waits for whom, of every item's beginning and end and of every group, as `before` has it: an item ends after it began and
    /// after all its parts, and begins after what it waits for and after what holds it has begun.
    fn waiting(&self) -> Vec<Vec<usize>> {
        let number = self.entries.len();
        let mut waits = vec![Vec::new(); 2 * number + self.groups.len()];
        let mut of_group = BTreeMap::new();
        for (place, (group, members)) in self.groups.iter().enumerate() {
            waits[2 * number + place].extend(members.iter().copied().map(ends));
            of_group.insert(*group, 2 * number + place);
        }
        for (place, entry) in self.entries.iter().enumerate() {
            waits[ends(place)].push(begins(place));
            if let Some(parent) = entry.parent {
                waits[begins(place)].push(begins(parent));
                waits[ends(parent)].push(ends(place));
            }
            for (name, _) in &entry.depends_on {
                let of_group = self.group_of(name).and_then(|group| of_group.get(group).copied());
                waits[begins(place)].extend(of_group.or_else(|| self.by_id.get(name).copied().map(ends)));
            }
        }
        waits
    }

    fn check_circles(&self, problems: &mut Collector) {
        let in_circles = circles(&self.waiting());
        for (place, entry) in self.entries.iter().enumerate() {
            if in_circles[begins(place)] == in_circles[ends(place)] {
                let at = entry.depends_on.first().map_or(entry.at, |(_, at)| *at);
                problems.report(at, format!("`{}` waits for itself, by way of what it depends on", entry.id));
            }
        }
    }

    /// Artifacts of what need not have been done before are perhaps not there.
    fn check_inputs(&self, problems: &mut Collector) {
        for (place, entry) in self.entries.iter().enumerate().filter(|(_, entry)| !entry.inputs.is_empty()) {
            let before = self.before(place);
            for (name, at) in &entry.inputs {
                if !self.meant(name).iter().all(|place| before.contains(place)) {
                    problems.report(*at, format!("`{name}` need not be done before this item; add it to `depends_on`"));
                }
            }
        }
    }
}
