//! The state of a work graph: a fold over its stream.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{AtomEnded, AtomOutcome, Binding, GraphEvent, PlanAnswer, ReviewAnswered};
use crate::id::{CardId, TaskId};
use crate::labels::Labels;
use crate::plan::{AtomId, Item, Plan, Touches};
use crate::port::TreeId;
use crate::result::{Deliverable, ErrorDetails};
use crate::taint::Taint;
use crate::usage::{UsageMetrics, Usd};

/// Of the whole objective: seed 001 §4.6.1.
pub const MAX_REPLAN_DEPTH: u32 = 2;

#[derive(Debug, Clone, Default)]
pub struct GraphState {
    pub standing: PlanStanding,
    /// The newest there is, whether or not it is agreed to.
    pub revision: u32,
    pub plan: Option<Plan>,
    pub replans: u32,
    pub atoms: BTreeMap<AtomId, AtomProgress>,
    /// The workspace as it was, and the work so far.
    pub base: Option<TreeId>,
    pub tip: Option<TreeId>,
    pub applied: Option<TreeId>,
    /// The approval that the work is done under.
    pub card: Option<CardId>,
    /// What planners have used, of all revisions.
    pub planning: Bill,
    /// What a person is asked when nothing else is left, and what they said.
    pub review: Option<Review>,
    /// Plans that people allowed besides.
    granted: u32,
    /// Why it is being stopped.
    pub stopping: Option<String>,
    /// Whether nobody needs to be there until something happens.
    pub parked: bool,
    /// What work that is in the tip may have left in files.
    pub labels: Labels,
    /// Of the plan, by what whoever wrote it had read.
    taint: Option<Taint>,
    /// Of items of plans that were given up.
    former: Bill,
}

/// What work has used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bill {
    pub usage: UsageMetrics,
    pub cost: Usd,
    /// There were calls whose price nobody knew.
    pub unpriced: bool,
}

impl Bill {
    fn add(&mut self, usage: UsageMetrics, cost: Usd, unpriced: bool) {
        self.usage += usage;
        self.cost += cost;
        self.unpriced |= unpriced;
    }
}

/// A person decides whether there is another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    pub card: CardId,
    pub why: String,
    pub answer: Option<ReviewAnswered>,
}

/// Where the plan stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum PlanStanding {
    /// Nobody has begun to write one.
    #[default]
    Wanted,
    BeingWritten(TaskId),
    Proposed,
    Asked(CardId),
    Approved,
    /// It is to be written again.
    SentBack {
        note: String,
    },
    Declined {
        reason: String,
    },
    /// The planner sees no way.
    Impossible(ErrorDetails),
}

#[derive(Debug, Clone, Default)]
pub struct AtomProgress {
    pub runs: Vec<AtomRun>,
    /// The last checks of an item that holds others, and the tree they ran on.
    pub joined: Option<(TreeId, bool)>,
    /// What attempts of it were seen to change.
    pub observed: BTreeSet<String>,
}

#[derive(Debug, Clone)]
pub struct AtomRun {
    pub task: TaskId,
    pub ended: Option<AtomEnded>,
}

impl AtomProgress {
    pub fn running(&self) -> Option<TaskId> {
        self.runs.last().filter(|run| run.ended.is_none()).map(|run| run.task)
    }

    fn last(&self) -> Option<&AtomOutcome> {
        self.runs.last()?.ended.as_ref().map(|ended| &ended.outcome)
    }

    pub fn binding(&self) -> Option<&Binding> {
        match self.last()? {
            AtomOutcome::Resolved { binding, .. } => Some(binding),
            AtomOutcome::Failed(_) => None,
        }
    }

    pub fn failure(&self) -> Option<&ErrorDetails> {
        match self.last()? {
            AtomOutcome::Failed(error) => Some(error),
            AtomOutcome::Resolved { .. } => None,
        }
    }

    /// What its runs have used so far: a budget is for all of them.
    pub fn used(&self) -> (u32, UsageMetrics, Usd) {
        let ended = self.runs.iter().filter_map(|run| run.ended.as_ref());
        ended.fold((0, UsageMetrics::default(), Usd::ZERO), |(attempts, mut usage, cost), ended| {
            usage += ended.usage;
            (attempts + ended.attempts, usage, cost.plus(ended.cost))
        })
    }
}

impl GraphState {
    pub fn apply(&mut self, event: &GraphEvent) {
        // Whatever there is something to do about wakes it; a bill is only noted.
        self.parked = match event {
            GraphEvent::Parked(_) => true,
            GraphEvent::PlannerCharged(_) | GraphEvent::AtomObserved(_) => self.parked,
            _ => false,
        };
        match event {
            GraphEvent::PlannerStarted(started) => {
                self.revision = started.revision;
                self.replans += u32::from(started.is_replan);
                self.standing = PlanStanding::BeingWritten(started.run);
            }
            GraphEvent::PlanProposed(proposed) => {
                self.revision = proposed.revision;
                self.base.get_or_insert(proposed.base);
                self.tip.get_or_insert(proposed.base);
                self.taint = Some(self.taint().join(proposed.taint));
                match &proposed.plan {
                    Ok(plan) => {
                        self.former = self.work();
                        self.atoms = BTreeMap::new();
                        self.plan = Some(plan.clone());
                        self.standing = PlanStanding::Proposed;
                    }
                    Err(error) => self.standing = PlanStanding::Impossible(error.clone()),
                }
            }
            GraphEvent::PlanAsked(asked) => self.standing = PlanStanding::Asked(asked.card),
            GraphEvent::PlanAnswered(answered) => {
                if let (PlanAnswer::Approved, PlanStanding::Asked(card)) = (&answered.answer, &self.standing) {
                    self.card = Some(*card);
                }
                self.standing = match &answered.answer {
                    PlanAnswer::Approved => PlanStanding::Approved,
                    PlanAnswer::Declined { reason } => PlanStanding::Declined { reason: reason.clone() },
                    PlanAnswer::EditRequested { note } => PlanStanding::SentBack { note: note.clone() },
                };
            }
            GraphEvent::AtomStarted(started) => {
                let progress = self.atoms.entry(started.atom.clone()).or_default();
                progress.runs.push(AtomRun { task: started.run, ended: None });
            }
            GraphEvent::AtomEnded(ended) => {
                if let AtomOutcome::Resolved { tip, .. } = &ended.outcome {
                    self.tip = Some(*tip);
                    self.labels.join(&ended.labels);
                }
                let runs = self.atoms.entry(ended.atom.clone()).or_default();
                if let Some(run) = runs.runs.iter_mut().find(|run| run.task == ended.run) {
                    run.ended = Some(ended.clone());
                }
            }
            GraphEvent::JoinChecked(checked) => {
                let passed = checked.results.iter().all(|result| result.passed);
                self.atoms.entry(checked.atom.clone()).or_default().joined = Some((checked.tip, passed));
            }
            GraphEvent::AtomObserved(observed) => {
                let progress = self.atoms.entry(observed.atom.clone()).or_default();
                progress.observed.extend(observed.paths.iter().cloned());
            }
            GraphEvent::ReviewAsked(asked) => {
                self.review = Some(Review { card: asked.card, why: asked.why.clone(), answer: None });
            }
            GraphEvent::ReviewAnswered(answered) if answered.granted => {
                self.granted += 1;
                self.review = None;
            }
            GraphEvent::ReviewAnswered(answered) => {
                if let Some(review) = &mut self.review {
                    review.answer = Some(answered.clone());
                }
            }
            GraphEvent::Applied(applied) => self.applied = Some(applied.tip),
            GraphEvent::PlannerCharged(charged) => self.planning.add(charged.usage, charged.cost, charged.unpriced),
            GraphEvent::Stopping(stopping) => self.stopping = Some(stopping.reason.clone()),
            GraphEvent::Parked(_) | GraphEvent::Woken(_) => {}
        }
    }

    /// Joined over all plans so far: what became of one is in the next.
    pub fn taint(&self) -> Taint {
        self.taint.unwrap_or(Taint::Auth)
    }

    /// Those who work for it now.
    pub fn running(&self) -> Vec<TaskId> {
        let planner = match self.standing {
            PlanStanding::BeingWritten(run) => Some(run),
            _ => None,
        };
        planner.into_iter().chain(self.atoms.values().filter_map(AtomProgress::running)).collect()
    }

    /// What all items have used, those of plans that were given up among them.
    pub fn work(&self) -> Bill {
        let mut work = self.former;
        let ended = self.atoms.values().flat_map(|progress| &progress.runs).filter_map(|run| run.ended.as_ref());
        ended.for_each(|ended| work.add(ended.usage, ended.cost, ended.unpriced));
        work
    }

    /// Whether checks say of everything that is there that it is right, and not only agents.
    pub fn is_verified(&self) -> bool {
        let Some(Plan(root)) = &self.plan else { return false };
        !root.verify.0.is_empty() || self.parts_are_verified(root)
    }

    fn parts_are_verified(&self, item: &Item) -> bool {
        if item.tasks.is_empty() {
            let ended = self.progress(&item.id).and_then(|progress| progress.runs.last()?.ended.as_ref());
            return ended.is_some_and(|ended| ended.verified);
        }
        let resolved = item.tasks.iter().filter(|part| self.is_resolved(part));
        resolved.into_iter().all(|part| !part.verify.0.is_empty() || self.parts_are_verified(part))
    }

    /// What became of the items, a line each, in the order of the document.
    pub fn summary(&self) -> Option<String> {
        let line = |item: &Item| {
            let binding = self.progress(&item.id)?.binding()?;
            Some(format!("{}: {}", item.id, binding.summary.lines().next().unwrap_or_default()))
        };
        let lines: Vec<String> = self.items().into_iter().filter_map(line).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    pub fn deliverables(&self) -> Vec<Deliverable> {
        let bindings = self.atoms.values().filter_map(AtomProgress::binding);
        bindings.flat_map(|binding| binding.artifacts.iter().cloned()).collect()
    }

    pub fn replans_left(&self) -> u32 {
        (MAX_REPLAN_DEPTH + self.granted).saturating_sub(self.replans)
    }

    /// One that nobody has answered.
    pub fn open_review(&self) -> Option<&Review> {
        self.review.as_ref().filter(|review| review.answer.is_none())
    }

    pub fn items(&self) -> Vec<&Item> {
        self.plan.as_ref().map(|Plan(root)| root.all()).unwrap_or_default()
    }

    pub fn progress(&self, atom: &AtomId) -> Option<&AtomProgress> {
        self.atoms.get(atom)
    }

    /// A task when its checks passed; what holds others when all of them are and its own checks pass on their work.
    pub fn is_resolved(&self, item: &Item) -> bool {
        if item.tasks.is_empty() {
            return self.progress(&item.id).is_some_and(|progress| progress.binding().is_some());
        }
        self.are_parts_resolved(item) && (item.verify.0.is_empty() || self.is_joined(item))
    }

    /// One of each group of choices is enough.
    pub fn are_parts_resolved(&self, item: &Item) -> bool {
        item.tasks.iter().all(|part| match &part.any_of {
            None => self.is_resolved(part),
            Some(group) => item
                .tasks
                .iter()
                .filter(|choice| choice.any_of.as_ref() == Some(group))
                .any(|choice| self.is_resolved(choice)),
        })
    }

    fn is_joined(&self, item: &Item) -> bool {
        let joined = self.progress(&item.id).and_then(|progress| progress.joined);
        joined.is_some_and(|(tip, passed)| passed && Some(tip) == self.tip)
    }

    /// What it says it touches, and what it was seen to.
    pub fn touches(&self, item: &Item) -> Touches {
        let mut touches = item.touches.clone();
        let ended = self
            .progress(&item.id)
            .into_iter()
            .flat_map(|progress| &progress.runs)
            .filter_map(|run| run.ended.as_ref());
        touches.paths.extend(ended.flat_map(|ended| ended.touched.iter().cloned()));
        let progress = self.progress(&item.id);
        touches.paths.extend(progress.into_iter().flat_map(|progress| progress.observed.iter().cloned()));
        touches
    }
}
