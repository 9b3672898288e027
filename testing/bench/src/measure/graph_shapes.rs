//! Work graphs of three shapes and any size: all atoms beside each other, one after the other, and ways within ways.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use windlass_domain::plan::{AtomId, Item, ItemKind, Plan};
use windlass_engine::read_plan;

/// So many parts in whatever holds some.
const PARTS: usize = 10;
/// An atom in the inner of two groups of ways that are within each other, whose like can be done instead.
pub const INNER_WAY: &str = "-inner-1";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    Wide,
    Deep,
    Nested,
}

impl Shape {
    pub const ALL: [Self; 3] = [Self::Wide, Self::Deep, Self::Nested];

    /// What it is called on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Deep => "deep",
            Self::Nested => "nested",
        }
    }

    /// A plan of about so many atoms, whatever holds others included.
    pub fn plan(self, atoms: usize) -> anyhow::Result<Plan> {
        let garden = Garden::new()?;
        let numbers = 1..atoms.max(2);
        Ok(Plan(match self {
            Self::Wide => garden.holding("whole", numbers.map(|number| garden.item(&format!("a{number}"))).collect()),
            Self::Deep => {
                let after = |number: usize| (number > 1).then(|| id(&format!("a{}", number - 1)));
                let one = |number: usize| Item {
                    depends_on: after(number).into_iter().collect(),
                    ..garden.item(&format!("a{number}"))
                };
                garden.holding("whole", numbers.map(one).collect())
            }
            Self::Nested => garden.nested((atoms / PARTS).max(1)),
        }))
    }
}

struct Garden {
    /// As a plan has it that says nothing more.
    plain: Item,
}

impl Garden {
    fn new() -> anyhow::Result<Self> {
        let text = "---\nid: plain\ntype: task\ntitle: An item\n---\n# What to do\nIt.\n";
        let Plan(plain) = read_plan(text).map_err(|problems| anyhow::anyhow!("{problems}"))?;
        Ok(Self { plain })
    }

    fn item(&self, name: &str) -> Item {
        Item { id: id(name), title: format!("Item {name}"), ..self.plain.clone() }
    }

    fn holding(&self, name: &str, tasks: Vec<Item>) -> Item {
        Item { kind: ItemKind::Project, tasks, ..self.item(name) }
    }

    /// Blocks that wait for each other as in a heap, in a tree of what holds them.
    fn nested(&self, blocks: usize) -> Item {
        let mut level: Vec<Item> = (0..blocks).map(|number| self.block(number)).collect();
        let mut height = 0;
        while level.len() > PARTS {
            height += 1;
            let mut branches = Vec::new();
            let mut rest = level.into_iter().peekable();
            while rest.peek().is_some() {
                let parts = rest.by_ref().take(PARTS).collect();
                branches.push(self.holding(&format!("branch{height}-{}", branches.len()), parts));
            }
            level = branches;
        }
        self.holding("whole", level)
    }

    /// Ten atoms, with two ways to go and in the first of them two more.
    fn block(&self, number: usize) -> Item {
        let named = |name: &str| format!("b{number}-{name}");
        let part = |name: &str| self.item(&named(name));
        let after = |name: &str, before: &str| Item { depends_on: vec![id(&named(before))], ..part(name) };
        let way = |group: &str, item: Item| Item { any_of: Some(id(&named(group))), ..item };
        let first_way =
            vec![part("begin"), way("inner", part("inner-1")), way("inner", part("inner-2")), after("finish", "inner")];
        let parts = vec![
            part("beside"),
            part("before"),
            way("outer", self.holding(&named("outer-1"), first_way)),
            way("outer", part("outer-2")),
            after("last", "outer"),
        ];
        let waits_for = (number > 0).then(|| id(&format!("b{}", (number - 1) / 2)));
        Item { depends_on: waits_for.into_iter().collect(), ..self.holding(&format!("b{number}"), parts) }
    }
}

fn id(name: &str) -> AtomId {
    AtomId::parse(name).expect("a plain word")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_shape_has_as_many_atoms_as_it_says_and_names_each_once() {
        for shape in Shape::ALL {
            for atoms in [10, 1_000] {
                let Plan(whole) = shape.plan(atoms).unwrap();
                let mut names = BTreeMap::new();
                whole.all().into_iter().for_each(|item| *names.entry(item.id.clone()).or_insert(0) += 1);
                assert!(names.values().all(|times| *times == 1), "{names:?}");
                let most = atoms + atoms / PARTS + 2;
                assert!((atoms..=most).contains(&names.len()), "{shape:?}: {} of {atoms}", names.len());
            }
        }
    }
}
