//! Graphs of every shape, made by chance, and somebody who knows what rests on what without asking the graph.

use std::collections::{BTreeMap, BTreeSet};

use windlass_domain::plan::{AtomId, Item, Plan};
use windlass_domain::{BaseCase, Check, CheckProbe, Expectation};

use crate::graph::{id, item, project};

/// Numbers that look like chance, the same for the same seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.roll() % (most as u64)).expect("small")
    }

    pub fn few(&mut self, most: u32) -> u32 {
        u32::try_from(self.roll() % u64::from(most)).expect("small")
    }

    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

pub fn checks(number: usize) -> BaseCase {
    let check = |name: usize| Check {
        name: format!("c{name}"),
        probe: CheckProbe::Run { run: "make".to_owned(), expect: Expectation::ExitCode(0) },
        timeout_seconds: 1,
        network: false,
        protect: Vec::new(),
    };
    BaseCase((0..number).map(check).collect())
}

/// Makes plans whose edges lead to what was written before, and not into what they are in.
pub struct Gardener<'a> {
    pub dice: &'a mut Dice,
    pub prefix: String,
    pub made: usize,
    pub most: usize,
    pub choices: usize,
}

impl Gardener<'_> {
    pub fn plan(mut self) -> Plan {
        let mut root = project(&format!("{}root", self.prefix), Vec::new());
        root.tasks = self.parts(0, &mut Vec::new());
        Plan(root)
    }

    pub fn parts(&mut self, depth: usize, before: &mut Vec<AtomId>) -> Vec<Item> {
        let number = 1 + self.dice.below(4);
        let mut parts = Vec::new();
        while parts.len() < number && (self.made < self.most || parts.is_empty()) {
            if self.dice.one_in(3) && self.choices >= 2 && self.made + 1 < self.most {
                self.group(depth, &mut parts, before);
            } else {
                let part = self.part(depth, before);
                before.push(part.id.clone());
                parts.push(part);
            }
        }
        parts
    }

    /// Nothing in one choice waits for another; whoever comes after waits for any.
    pub fn group(&mut self, depth: usize, parts: &mut Vec<Item>, before: &mut Vec<AtomId>) {
        let group = id(&format!("{}g{}", self.prefix, self.made));
        let number = (2 + self.dice.below(2)).min(self.choices);
        self.choices -= number;
        let is_speculative = self.dice.one_in(3);
        for _ in 0..number {
            let mut choice = self.part(depth, before);
            choice.any_of = Some(group.clone());
            choice.speculative = is_speculative;
            parts.push(choice);
        }
        before.push(group);
    }

    pub fn part(&mut self, depth: usize, before: &[AtomId]) -> Item {
        self.made += 1;
        let mut part = item(&format!("{}a{}", self.prefix, self.made));
        for _ in 0..self.dice.below(3) {
            if !before.is_empty() {
                part.depends_on.push(before[self.dice.below(before.len())].clone());
            }
        }
        part.budget.max_attempts = 1 + self.dice.few(3);
        part.budget.max_planner_calls = self.dice.few(2);
        part.probe = self.dice.one_in(5);
        if self.dice.one_in(3) {
            part.touches.paths = vec![format!("p{}", self.dice.below(3))];
        }
        if depth < 3 && self.made + 2 < self.most && self.dice.one_in(3) {
            part.tasks = self.parts(depth + 1, &mut before.to_vec());
            part.verify = checks(self.dice.below(2));
        }
        part
    }
}

/// What somebody else would say of the plan, without the graph.
pub struct Oracle {
    pub items: BTreeMap<AtomId, Item>,
    pub holder: BTreeMap<AtomId, AtomId>,
}

impl Oracle {
    pub fn of(plan: &Plan) -> Self {
        let mut oracle = Self { items: BTreeMap::new(), holder: BTreeMap::new() };
        for item in plan.0.all() {
            oracle.learn(item, None);
        }
        oracle
    }

    pub fn learn(&mut self, item: &Item, holder: Option<&AtomId>) {
        self.items.insert(item.id.clone(), item.clone());
        if let Some(holder) = holder {
            self.holder.insert(item.id.clone(), holder.clone());
        }
        for part in &item.tasks {
            self.holder.insert(part.id.clone(), item.id.clone());
        }
    }

    pub fn line<'a>(&'a self, atom: &'a AtomId) -> Vec<&'a AtomId> {
        let mut line = vec![atom];
        while let Some(holder) = self.holder.get(line[line.len() - 1]) {
            line.push(holder);
        }
        line
    }

    pub fn inside(&self, atom: &AtomId) -> Vec<&AtomId> {
        self.items.keys().filter(|other| self.line(other).contains(&atom)).collect()
    }

    /// Whether the work on `atom` rests on which choice was taken in `group`, or on `other`.
    pub fn rests_on(&self, atom: &AtomId, group: &AtomId, other: &[AtomId]) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![atom];
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            if other.contains(next) || self.items.get(next).is_some_and(|item| item.any_of.as_ref() == Some(group)) {
                return true;
            }
            for around in self.line(next) {
                for named in &self.items[around].depends_on {
                    if named == group {
                        return true;
                    }
                    let is_choice = |item: &&Item| item.any_of.as_ref() == Some(named);
                    let choices = self.items.values().filter(is_choice).map(|item| &item.id);
                    let meant: Vec<&AtomId> =
                        self.items.get_key_value(named).map(|(id, _)| id).into_iter().chain(choices).collect();
                    open.extend(meant.into_iter().flat_map(|meant| self.inside(meant)));
                }
            }
        }
        false
    }
}
