//! What a file says of how far it had come, besides what is done: ways that failed, and what was dropped. A way that failed is not
//! tried again; what failed and is no way is, by whoever begins; what was dropped is left out with all its parts, so that
//! nothing may wait for it.

use std::collections::BTreeMap;

use windlass_domain::plan::{AtomId, Item};

use super::objective::{Choices, FileReader, Parts};
use crate::problem::Position;

/// Whoever nests deeper does not mean it, and what walks a graph would not come back.
const DEEPEST: usize = 64;

/// How many hold something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Unknown,
    /// It is being walked up from.
    OnTheWay,
    Of(usize),
}

impl Depth {
    /// Of what that holds. In a circle nobody counts.
    const fn below(self) -> Self {
        match self {
            Self::Of(depth) => Self::Of(depth + 1),
            Self::Unknown | Self::OnTheWay => Self::Of(0),
        }
    }
}

type Groups = BTreeMap<AtomId, Choices>;

impl FileReader {
    /// Reports what stands too far inside of others, or inside of itself. Nothing, where there is such a thing: nobody could walk it.
    pub fn nested(&mut self) -> Option<()> {
        let entries = &self.items.entries;
        let mut depths: Vec<Depth> = vec![Depth::Unknown; entries.len()];
        let mut refused = Vec::new();
        for place in 0..entries.len() {
            let mut path = Vec::new();
            let mut next = Some(place);
            while let Some(at) = next.filter(|at| depths[*at] == Depth::Unknown) {
                depths[at] = Depth::OnTheWay;
                path.push(at);
                next = entries[at].parent;
            }
            if let Some(at) = next.filter(|at| depths[*at] == Depth::OnTheWay) {
                refused.push((at, format!("`{}` is a part of itself", entries[at].id)));
            }
            for at in path.into_iter().rev() {
                let above = entries[at].parent.map(|parent| depths[parent]);
                depths[at] = above.map_or(Depth::Of(0), Depth::below);
            }
        }
        let is_too_deep = |depth: &Depth| matches!(depth, Depth::Of(depth) if *depth >= DEEPEST);
        refused.extend(depths.iter().position(is_too_deep).map(|at| {
            let id = &entries[at].id;
            (at, format!("`{id}` stands more than {DEEPEST} deep in `decompositions`; nest less"))
        }));
        let refused: Vec<_> = refused.into_iter().map(|(at, message)| (entries[at].at, message)).collect();
        let is_fine = refused.is_empty();
        refused.into_iter().for_each(|(at, message)| self.report(at, message));
        is_fine.then_some(())
    }

    /// Choices that failed are so to their groups; what else failed is told.
    pub fn fail(&mut self, groups: &mut Groups) {
        for place in std::mem::take(&mut self.failed) {
            let (id, at) = (self.items.entries[place].id.clone(), self.items.entries[place].at);
            let Some((group, _)) = self.items.entries[place].any_of.clone() else {
                if !self.is_in_a_failed_way(place, groups) {
                    self.warn(at, format!("`{id}` failed before, and is tried again"));
                }
                continue;
            };
            let of = groups.entry(group.clone()).or_default();
            let is_selected = of.selected.contains(&id);
            if !of.failed.contains(&id) {
                of.failed.push(id.clone());
            }
            if is_selected {
                self.report(at, format!("`{id}` has failed, and is selected in `{group}`"));
            }
        }
    }

    /// Whether it is a choice that failed, or stands inside of one.
    fn is_in_a_failed_way(&self, place: usize, groups: &Groups) -> bool {
        let entries = &self.items.entries;
        let mut around = std::iter::successors(Some(place), |at| entries[*at].parent);
        around.any(|at| {
            let of = entries[at].any_of.as_ref().and_then(|(group, _)| groups.get(group));
            of.is_some_and(|of| of.failed.contains(&entries[at].id))
        })
    }

    /// Takes out what was dropped, with all its parts; what a way holds that failed goes with the way. Nothing, where something that
    /// stays cannot do without.
    pub fn leave_out(&mut self, atoms: &mut Vec<Item>, parts: &mut Parts, groups: &mut Groups) -> Option<()> {
        let dropped = std::mem::take(&mut self.dropped);
        let dropped: Vec<usize> =
            dropped.into_iter().filter(|place| !self.is_in_a_failed_way(*place, groups)).collect();
        if dropped.is_empty() {
            return Some(());
        }
        let out = self.with_their_parts(&dropped);
        for place in dropped {
            let (id, at) = (&self.items.entries[place].id, self.items.entries[place].at);
            self.warn(at, format!("`{id}` was dropped, as the file says, and is left out"));
        }
        let is_out = |id: &AtomId| self.places.get(id).is_some_and(|place| out[*place]);
        atoms.retain(|atom| !is_out(&atom.id));
        parts.retain(|parent, _| !is_out(parent));
        parts.values_mut().for_each(|children| children.retain(|child| !is_out(child)));
        parts.retain(|_, children| !children.is_empty());
        self.resolved = std::mem::take(&mut self.resolved).into_iter().filter(|(id, _)| !is_out(id)).collect();
        let refused = self.rests_on(&out, groups);
        let is_fine = refused.is_empty();
        refused.into_iter().for_each(|(at, message)| self.report(at, message));
        self.forget(&out);
        is_fine.then_some(())
    }

    fn with_their_parts(&self, dropped: &[usize]) -> Vec<bool> {
        let entries = &self.items.entries;
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
        for (place, parent) in entries.iter().enumerate().filter_map(|(place, entry)| Some((place, entry.parent?))) {
            parts[parent].push(place);
        }
        let mut out = vec![false; entries.len()];
        let mut open = dropped.to_vec();
        while let Some(place) = open.pop() {
            if !out[place] {
                out[place] = true;
                open.extend(&parts[place]);
            }
        }
        out
    }

    /// What cannot stay as it is without those, and why. The groups lose them.
    fn rests_on(&self, out: &[bool], groups: &mut Groups) -> Vec<(Position, String)> {
        let is_out = |id: &AtomId| self.places.get(id).is_some_and(|place| out[*place]);
        let staying = self.items.entries.iter().zip(out).filter(|(_, is_out)| !**is_out).map(|(entry, _)| entry);
        let edges = staying.flat_map(|entry| entry.depends_on.iter().map(move |(to, at)| (&entry.id, to, *at)));
        let mut refused: Vec<_> = edges
            .filter(|(_, to, _)| is_out(to))
            .map(|(id, to, at)| {
                (at, format!("`{id}` waits for `{to}`, which was dropped; take that out, or say `pending`"))
            })
            .collect();
        for (group, of) in groups.iter_mut() {
            let named = of.choices.iter().filter(|(choice, _)| is_out(choice)).map(|(_, at)| *at).next();
            of.choices.retain(|(choice, _)| !is_out(choice));
            let lost = of.selected.iter().find(|selected| is_out(selected));
            refused.extend(
                named.zip(lost).map(|(at, lost)| (at, format!("`{lost}` was dropped, and is selected in `{group}`"))),
            );
            if let Some(at) = named.filter(|_| of.choices.len() == 1) {
                let message = format!(
                    "`{group}` leaves no choice once what was dropped is gone: name another, or make it no group"
                );
                refused.push((at, message));
            }
        }
        groups.retain(|_, of| !of.choices.is_empty() || !of.failed.is_empty());
        refused
    }

    /// Those that stay move up.
    fn forget(&mut self, out: &[bool]) {
        let mut moved = Vec::with_capacity(out.len());
        let mut next = 0;
        for is_out in out {
            moved.push(next);
            next += usize::from(!is_out);
        }
        let mut place = 0..;
        self.items.entries.retain(|_| place.next().is_some_and(|place: usize| !out[place]));
        for entry in &mut self.items.entries {
            entry.parent = entry.parent.map(|parent| moved[parent]);
        }
        self.places = std::mem::take(&mut self.places)
            .into_iter()
            .filter(|(_, place)| !out[*place])
            .map(|(id, place)| (id, moved[place]))
            .collect();
    }
}
