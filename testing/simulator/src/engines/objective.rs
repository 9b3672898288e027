//! A project that was agreed on: an objective whose finish line is that the files of its items are there, the limits that it is held
//! to, and what a person may change about it while it is worked on.

use std::time::Duration;

use windlass_domain::BaseCase;
use windlass_domain::graph::{Addition, Change, Constraints, Objective, Remembered};
use windlass_domain::plan::{AtomId, Item as PlanItem, Plan};
use windlass_engine::{Agreed, read_plan};

use crate::engines::project::{Draft, Join, Project, name};
use crate::scenario::{check, run};

/// The place of an item that somebody may add on the way. No draft has so many.
pub const ADDED: usize = 90;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// How long after it was agreed on somebody has it begin.
    pub begins: Duration,
    pub parallel: u32,
    pub passes: Option<u32>,
    pub splits: u32,
    pub probes: bool,
    /// What whoever looks at a way before it is taken says of it.
    pub is_feasible: bool,
}

/// What somebody changes, in each of the four ways there are. Places are of the first draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Drops(usize),
    Adds {
        after: Option<usize>,
    },
    Selects(usize),
    Allows {
        passes: u32,
        parallel: u32,
    },
    Says(usize),
    /// For the first item alone.
    Aims,
}

impl Terms {
    fn constraints(&self) -> Constraints {
        Constraints {
            max_iterations: self.passes,
            max_parallel_agents: self.parallel,
            max_split_depth: self.splits,
            probe_before_switch: self.probes,
            max_replan_depth: 1,
            ..Constraints::default()
        }
    }
}

impl Project {
    pub fn agreed(&self, terms: &Terms) -> Agreed {
        let objective = self.objective(terms, &self.first.always());
        let mut plan = self.plan();
        plan.0.verify = objective.base_case.clone();
        Agreed { objective, plan, remembered: Remembered::default() }
    }

    fn plan(&self) -> Plan {
        let document = self.document(&self.first, 1);
        read_plan(&document).unwrap_or_else(|problems| panic!("{problems}\n{document}"))
    }

    fn objective(&self, terms: &Terms, places: &[usize]) -> Objective {
        let is_there = |place: &usize| {
            let mark = self.mark(1, *place);
            check(&mark, run(&format!("expect {mark}.txt {mark}")))
        };
        let never = (self.first.join == Join::Fails).then(|| check("never", run("fail")));
        Objective {
            goal: format!("Carry out {}.", self.id()),
            base_case: BaseCase(places.iter().map(is_there).chain(never).collect()),
            background_intent: String::new(),
            deliverables: String::new(),
            definition_of_done: String::new(),
            constraints: terms.constraints(),
            words: String::new(),
        }
    }

    /// As it is asked for; none where there is nothing of the kind.
    pub fn change(&self, terms: &Terms, turn: Turn) -> Option<Change> {
        let in_graph = |add, drop, select| Change::Graph { add, drop, select };
        Some(match turn {
            Turn::Drops(place) => in_graph(vec![], vec![id(place)], vec![]),
            Turn::Adds { after } => in_graph(vec![self.addition(after)], vec![], vec![]),
            Turn::Selects(place) => {
                let Plan(root) = self.plan();
                let choice = root.all().into_iter().find(|item| item.id == id(place))?;
                in_graph(vec![], vec![], vec![(choice.any_of.clone()?, id(place))])
            }
            Turn::Allows { passes, parallel } => {
                let terms = Terms { passes: Some(passes), parallel, ..terms.clone() };
                Change::Constraints { constraints: terms.constraints() }
            }
            Turn::Says(place) => Change::Binding { atom: id(place), summary: "It came to something else.".to_owned() },
            Turn::Aims => {
                let first = self.first.always().into_iter().take(1).collect::<Vec<_>>();
                Change::Objective { objective: Box::new(self.objective(terms, &first)) }
            }
        })
    }

    fn addition(&self, after: Option<usize>) -> Addition {
        let mark = self.mark(1, ADDED);
        let item = PlanItem {
            id: id(ADDED),
            title: format!("Write {mark}"),
            agent: mark.clone(),
            verify: BaseCase(vec![check(&mark, run(&format!("expect {mark}.txt {mark}")))]),
            depends_on: after.map(id).into_iter().collect(),
            any_of: None,
            ..self.plan().0.tasks.swap_remove(0)
        };
        Addition { to: None, item }
    }

    /// Whether there is an item, or may be, that leaves this mark.
    pub fn writes(&self, mark: &str) -> bool {
        let drafts = std::iter::once((1, &self.first)).chain(self.second.as_ref().map(|draft| (2, draft)));
        let mut marks = drafts.flat_map(|(revision, draft)| {
            (0..draft.items.len()).chain([ADDED]).map(move |place| self.mark(revision, place))
        });
        marks.any(|known| known == mark)
    }
}

impl Draft {
    /// Those that are done whatever is chosen.
    pub fn always(&self) -> Vec<usize> {
        let is_choice = |place: usize| self.items.get(place).is_some_and(|item| item.is_choice);
        (0..self.items.len()).filter(|place| !is_choice(*place) && !is_choice(place + 1)).collect()
    }
}

fn id(place: usize) -> AtomId {
    AtomId::parse(&name(1, place)).expect("a good name")
}
