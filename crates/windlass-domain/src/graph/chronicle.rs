//! What nothing is decided by, and people want to know: when a way was taken and why, why an atom was split, and what spoke against the
//! ways that were given up. It is folded from the same records as the state, which it holds, with the times that they were written.

use std::collections::{BTreeMap, BTreeSet};

use super::bill::Bill;
use super::correction::Change;
use super::event::{GraphEvent, PlanAnswer, PlannerCharged};
use super::state::GraphState;
use super::work::Turn;
use crate::id::TaskId;
use crate::plan::AtomId;
use crate::time::Wall;

#[derive(Debug, Clone, Default)]
pub struct Chronicle {
    pub graph: GraphState,
    /// In the order of the graph's trail, each turn that is on it.
    pub taken: Vec<Taken>,
    /// Of the plan that there is now.
    pub given_up: Vec<GivenUp>,
    /// Why atoms have smaller parts.
    pub splits: BTreeMap<AtomId, String>,
    /// The attempts of everybody who ever worked on an atom, by who did.
    pub attempts: BTreeMap<TaskId, u32>,
    /// What everybody used who has sent a bill, by who did.
    bills: BTreeMap<TaskId, Bill>,
    /// Those who were there before a person agreed to what holds now: the worst case that was shown is from there on.
    earlier: BTreeSet<TaskId>,
    /// How many passes were made by then.
    pub passes_before: u32,
    /// When the last record was written.
    pub as_of: Wall,
    /// The choices that somebody looks at before they are tried, by who looks.
    looks: BTreeMap<TaskId, AtomId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub turn: Turn,
    pub at: Wall,
    pub why: Why,
}

/// Why this way and no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It stands before the others that were open.
    First,
    /// Several were tried at once, and it was the first to be done.
    Won,
    /// Another was given up.
    After { failed: AtomId, because: String },
    /// A person said so, in these words.
    Person(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    pub group: AtomId,
    pub choice: AtomId,
    pub at: Wall,
    pub because: String,
}

impl Chronicle {
    pub fn of<'a>(records: impl IntoIterator<Item = (Wall, &'a GraphEvent)>) -> Self {
        let mut chronicle = Self::default();
        for (at, event) in records {
            chronicle.apply(at, event);
        }
        chronicle
    }

    pub fn apply(&mut self, at: Wall, event: &GraphEvent) {
        self.note(at, event);
        self.graph.apply(event);
        self.as_of = at;
        self.follow_the_trail(at, event);
    }

    /// What stands before the first turn that is another is as it was; of the rest, only what is new has a reason of its own.
    fn follow_the_trail(&mut self, at: Wall, event: &GraphEvent) {
        let trail = self.graph.work.trail();
        let as_before = self.taken.iter().zip(trail).take_while(|(taken, turn)| taken.turn == **turn).count();
        let later = self.taken.split_off(as_before);
        let mut known: BTreeMap<_, _> =
            later.into_iter().map(|taken| ((taken.turn.group.clone(), taken.turn.choice.clone()), taken)).collect();
        for turn in &trail[as_before..] {
            let taken = known.remove(&(turn.group.clone(), turn.choice.clone()));
            self.taken.push(taken.unwrap_or_else(|| new_turn(&self.given_up, turn, at, event)));
        }
    }

    /// What was used since a person agreed to what holds now, in attempts and all else, by those who have sent a bill.
    pub fn used(&self) -> (u32, Bill) {
        let attempts = self.attempts.iter().filter(|(run, _)| self.counts(run)).map(|(_, attempts)| *attempts);
        let mut used = Bill::default();
        self.bills.iter().filter(|(run, _)| self.counts(run)).for_each(|(_, bill)| used.add(*bill));
        (attempts.sum(), used)
    }

    /// Whether what this one uses counts, and no bill of it has come.
    pub fn is_unbilled(&self, run: &TaskId) -> bool {
        self.counts(run) && !self.bills.contains_key(run)
    }

    fn counts(&self, run: &TaskId) -> bool {
        !self.earlier.contains(run)
    }

    fn charge(&mut self, run: TaskId, bill: Bill) {
        self.bills.entry(run).or_default().add(bill);
    }

    /// A person has seen the worst case from here on, and agreed to it.
    fn begin_anew(&mut self) {
        let known = self.attempts.keys().chain(self.bills.keys()).chain(&self.graph.leaving).copied();
        self.earlier = known.chain(self.graph.running()).collect();
        self.passes_before = self.graph.passes.iteration;
    }

    /// What stands in the record and not in the state.
    fn note(&mut self, at: Wall, event: &GraphEvent) {
        match event {
            GraphEvent::PlanProposed(proposed) if proposed.plan.is_ok() => {
                self.splits.clear();
                self.given_up.clear();
            }
            GraphEvent::AtomStarted(started) => {
                self.attempts.insert(started.run, 1);
            }
            GraphEvent::AttemptStarted(started) => *self.attempts.entry(started.run).or_default() += 1,
            GraphEvent::AtomEnded(ended) => {
                let counted = self.attempts.entry(ended.run).or_default();
                *counted = ended.attempts.max(*counted);
                self.charge(ended.run, ended.bill());
            }
            GraphEvent::PlannerCharged(charged) => {
                let PlannerCharged { run, usage, cost, unpriced } = *charged;
                self.charge(run, Bill { usage, cost, unpriced });
            }
            GraphEvent::PlanAnswered(answered) if answered.answer == PlanAnswer::Approved => self.begin_anew(),
            GraphEvent::SplitEnded(ended) => {
                self.charge(ended.run, ended.bill);
                if !ended.children.is_empty() {
                    self.splits.insert(ended.atom.clone(), ended.reason.clone());
                }
            }
            GraphEvent::ChoiceSwitched(switched) => {
                let (group, choice) = (switched.group.clone(), switched.failed.clone());
                // What failed is named before why, as who reads this knows already.
                let because = switched.because.strip_prefix(&format!("{choice}: ")).unwrap_or(&switched.because);
                self.given_up.push(GivenUp { group, choice, at, because: because.to_owned() });
            }
            GraphEvent::ProbeStarted(started) => {
                self.looks.extend(started.choice.clone().map(|choice| (started.run, choice)));
            }
            GraphEvent::ProbeEnded(ended) => {
                self.charge(ended.run, ended.bill);
                let choice = self.looks.remove(&ended.run).filter(|_| !ended.report.feasible);
                let Some(choice) = choice else { return };
                let group = self.graph.work.item(&choice).and_then(|item| item.any_of.clone());
                let because = format!("it cannot be done: {}", ended.report.findings);
                self.given_up.extend(group.map(|group| GivenUp { group, choice, at, because }));
            }
            GraphEvent::Corrected(corrected) => {
                self.begin_anew();
                if let Change::Objective { .. } = corrected.change {
                    self.given_up.clear();
                }
            }
            _ => {}
        }
    }
}

fn new_turn(given_up: &[GivenUp], turn: &Turn, at: Wall, event: &GraphEvent) -> Taken {
    let is_chosen = |corrected: &super::correction::Corrected| match &corrected.change {
        Change::Graph { select, .. } => {
            select.iter().any(|(group, choice)| *group == turn.group && *choice == turn.choice)
        }
        _ => false,
    };
    let failed = given_up.iter().rev().find(|given_up| given_up.group == turn.group);
    let why = match (event, failed) {
        (GraphEvent::Corrected(corrected), _) if is_chosen(corrected) => Why::Person(corrected.description.clone()),
        (GraphEvent::AtomEnded(_), _) => Why::Won,
        (_, Some(given_up)) => Why::After { failed: given_up.choice.clone(), because: given_up.because.clone() },
        _ => Why::First,
    };
    Taken { turn: turn.clone(), at, why }
}
