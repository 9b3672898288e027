//! Where everything stands in a drawn graph. What holds others is a frame around them; within a frame each thing stands right of all that
//! it comes after, so that edges lead to the right. Long columns are broken, so that many that wait for nothing make a block and
//! no tower. Positions are whole numbers of pixels.

use std::collections::BTreeMap;

use windlass_domain::plan::AtomId;

use super::picture::{Atom, Group, Part, Picture};

pub const BOX_WIDTH: u32 = 220;
pub const BOX_HEIGHT: u32 = 58;
/// Above what a frame holds, for its name.
pub const HEAD: u32 = 28;
const PADDING: u32 = 14;
const BETWEEN_COLUMNS: u32 = 44;
const BETWEEN_ROWS: u32 = 14;
/// More than this in a column begin another.
const TALLEST: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rect {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

#[derive(Debug, Clone, Copy)]
pub enum Thing<'a> {
    /// Somebody works on it.
    Leaf(&'a Atom),
    /// All of what is in it has to be done.
    Holder(&'a Atom),
    /// One of what is in it has to be done.
    Choices(&'a Group),
}

impl<'a> Thing<'a> {
    pub const fn id(self) -> &'a AtomId {
        match self {
            Self::Leaf(atom) | Self::Holder(atom) => &atom.id,
            Self::Choices(group) => &group.id,
        }
    }

    pub fn after(self) -> &'a [AtomId] {
        match self {
            Self::Leaf(atom) | Self::Holder(atom) => &atom.after,
            Self::Choices(_) => &[],
        }
    }
}

#[derive(Debug, Default)]
pub struct Layout<'a> {
    /// Frames before what is in them.
    pub things: Vec<(Rect, Thing<'a>)>,
    pub width: u32,
    pub height: u32,
}

impl<'a> Layout<'a> {
    pub fn of(picture: &'a Picture) -> Self {
        let root = &picture.root;
        let block = if root.parts.is_empty() { leaf(root) } else { columns(each(&root.parts), None) };
        let mut layout = Self { things: Vec::new(), width: block.width, height: block.height };
        block.settle(0, 0, &mut layout.things);
        layout
    }

    pub fn find(&self, id: &AtomId) -> Option<Rect> {
        self.things.iter().find(|(_, thing)| thing.id() == id).map(|(rect, _)| *rect)
    }
}

/// Something with its size, and what is in it, from its own corner.
struct Block<'a> {
    thing: Option<Thing<'a>>,
    width: u32,
    height: u32,
    inside: Vec<(u32, u32, Self)>,
}

impl<'a> Block<'a> {
    fn settle(self, x: u32, y: u32, to: &mut Vec<(Rect, Thing<'a>)>) {
        let Self { thing, width, height, inside } = self;
        to.extend(thing.map(|thing| (Rect { x, y, width, height }, thing)));
        for (dx, dy, block) in inside {
            block.settle(x + dx, y + dy, to);
        }
    }
}

const fn leaf(atom: &Atom) -> Block<'_> {
    Block { thing: Some(Thing::Leaf(atom)), width: BOX_WIDTH, height: BOX_HEIGHT, inside: Vec::new() }
}

/// One of those that are placed beside each other, with all names in it and all that anything in it comes after.
struct Sibling<'a> {
    block: Block<'a>,
    names: Vec<&'a AtomId>,
    after: Vec<&'a AtomId>,
}

fn each<'a>(parts: &'a [Part]) -> Vec<Sibling<'a>> {
    let sibling = |part: &'a Part| match part {
        Part::Atom(atom) => of_atom(atom),
        Part::Group(group) => {
            let choices = group.choices.iter().map(of_atom).collect();
            Sibling { block: columns(choices, Some(Thing::Choices(group))), names: part.names(), after: part.after() }
        }
    };
    parts.iter().map(sibling).collect()
}

fn of_atom(atom: &Atom) -> Sibling<'_> {
    let block = match atom.parts.is_empty() {
        true => leaf(atom),
        false => columns(each(&atom.parts), Some(Thing::Holder(atom))),
    };
    let after = atom.after.iter().chain(atom.parts.iter().flat_map(Part::after)).collect();
    Sibling { block, names: atom.names(), after }
}

/// Side by side in a frame, or without one.
fn columns<'a>(siblings: Vec<Sibling<'a>>, frame: Option<Thing<'a>>) -> Block<'a> {
    let mut by_column: BTreeMap<usize, Vec<Block<'a>>> = BTreeMap::new();
    let depths = depths(&siblings);
    for (sibling, depth) in siblings.into_iter().zip(depths) {
        by_column.entry(depth).or_default().push(sibling.block);
    }
    let (left, top) = if frame.is_some() { (PADDING, HEAD) } else { (0, 0) };
    let (mut x, mut bottom) = (left, top);
    let mut inside = Vec::new();
    for column in by_column.into_values() {
        for rows in broken(column) {
            let width = rows.iter().map(|block| block.width).max().unwrap_or_default();
            let mut y = top;
            for block in rows {
                let height = block.height;
                inside.push((x, y, block));
                bottom = bottom.max(y + height);
                y += height + BETWEEN_ROWS;
            }
            x += width + BETWEEN_COLUMNS;
        }
    }
    let around = if frame.is_some() { PADDING } else { 0 };
    let width = (x + around).saturating_sub(BETWEEN_COLUMNS).max(if frame.is_some() { BOX_WIDTH } else { 0 });
    Block { thing: frame, width, height: bottom + around, inside }
}

fn broken(column: Vec<Block<'_>>) -> Vec<Vec<Block<'_>>> {
    let number = column.len().div_ceil(TALLEST).max(1);
    let tall = column.len().div_ceil(number).max(1);
    let mut columns: Vec<Vec<Block<'_>>> = Vec::new();
    for (at, block) in column.into_iter().enumerate() {
        if at % tall == 0 {
            columns.push(Vec::new());
        }
        columns.last_mut().expect("one was begun").push(block);
    }
    columns
}

/// How many of its siblings each comes after, one after the other at most. What goes in a circle counts for nothing.
fn depths(siblings: &[Sibling<'_>]) -> Vec<usize> {
    let holder: BTreeMap<&AtomId, usize> = siblings
        .iter()
        .enumerate()
        .flat_map(|(at, sibling)| sibling.names.iter().map(move |name| (*name, at)))
        .collect();
    let before = |at: usize| -> Vec<usize> {
        siblings[at].after.iter().filter_map(|name| holder.get(name).copied()).filter(|other| *other != at).collect()
    };
    let mut depths = vec![0; siblings.len()];
    // Each round settles at least the next column.
    for _ in 0..siblings.len() {
        let deeper: Vec<usize> = (0..siblings.len())
            .map(|at| before(at).iter().map(|other| depths[*other] + 1).max().unwrap_or(0))
            .collect();
        if deeper == depths {
            break;
        }
        depths = deeper;
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::picture::Mark;

    fn id(name: &str) -> AtomId {
        AtomId::parse(name).expect("a plain word")
    }

    /// `name<a,b` after others.
    fn atom(text: &str) -> Atom {
        let (name, after) = text.split_once('<').unwrap_or((text, ""));
        Atom {
            id: id(name),
            title: name.to_owned(),
            mark: Mark::Waiting,
            after: after.split(',').filter(|name| !name.is_empty()).map(id).collect(),
            waits_for: Vec::new(),
            attempts: None,
            note: None,
            parts: Vec::new(),
        }
    }

    fn whole(parts: Vec<Part>) -> Picture {
        Picture { root: Atom { parts, ..atom("all") } }
    }

    fn part(text: &str) -> Part {
        Part::Atom(atom(text))
    }

    #[test]
    fn everything_stands_right_of_what_it_comes_after_and_nothing_on_another() {
        let inner = Part::Atom(Atom { parts: vec![part("x<a"), part("y<x")], ..atom("holder<b") });
        let choices = vec![atom("c1"), atom("c2")];
        let group = Part::Group(Group { id: id("g"), is_race: false, taken: None, is_done: false, choices });
        let mut parts = vec![part("a"), part("b<a"), inner, group, part("last<g,y")];
        parts.extend((0..25).map(|number| part(&format!("n{number}"))));
        let picture = whole(parts);
        let layout = Layout::of(&picture);
        let at = |name: &str| layout.find(&id(name)).expect(name);
        for (left, right) in [("a", "b"), ("b", "holder"), ("a", "x"), ("x", "y"), ("g", "last"), ("holder", "last")] {
            assert!(at(left).x + at(left).width < at(right).x, "{left} {right}");
        }
        let leaves: Vec<Rect> =
            layout.things.iter().filter(|(_, thing)| matches!(thing, Thing::Leaf(_))).map(|(rect, _)| *rect).collect();
        for (place, one) in leaves.iter().enumerate() {
            assert!(one.x + one.width <= layout.width && one.y + one.height <= layout.height);
            for other in &leaves[place + 1..] {
                let is_beside = one.x + one.width <= other.x || other.x + other.width <= one.x;
                let is_below = one.y + one.height <= other.y || other.y + other.height <= one.y;
                assert!(is_beside || is_below, "{one:?} {other:?}");
            }
        }
        let (outer, inner) = (at("holder"), at("y"));
        assert!(outer.x < inner.x && inner.x + inner.width < outer.x + outer.width, "a frame is around what it holds");
    }

    #[test]
    fn what_goes_in_a_circle_is_still_placed() {
        let picture = whole(vec![part("a<b"), part("b<a")]);
        assert_eq!(Layout::of(&picture).things.len(), 2);
    }
}
