//! The state of a work graph: a fold over its stream.

use std::collections::{BTreeMap, BTreeSet};

use super::bill::Bill;
use super::constraints::Constraints;
use super::correction::Corrected;
use super::event::{AtomEnded, AtomOutcome, Binding, Merged, ProbeReport, ReviewAnswered};
use super::objective::Objective;
use super::passes::Passes;
use super::work::{Measure, Node, Work};
use crate::budget::Budget;
use crate::check::CheckResult;
use crate::id::{CardId, TaskId};
use crate::labels::Labels;
use crate::plan::{AtomId, Item, Plan, Touches, touches};
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
    /// What was agreed on beforehand, where it is more than a plan.
    pub objective: Option<Objective>,
    /// As it was put before a person.
    pub plan: Option<Plan>,
    /// Why what was agreed on is as it was, where it was last wanted otherwise.
    pub unchanged: Option<ErrorDetails>,
    pub replans: u32,
    /// Its atoms as they stand, and who worked on them.
    pub work: Work,
    pub atoms: BTreeMap<AtomId, AtomProgress>,
    pub passes: Passes,
    /// What people changed on the way, oldest first.
    pub corrections: Vec<Corrected>,
    /// Atoms and choices of plans that were given up: they count against what there may ever be.
    pub(super) former_atoms: u32,
    pub(super) former_choices: u32,
    /// The tree that the checks of the whole were made on last, and whether they passed.
    pub checked: Option<(TreeId, bool)>,
    /// The workspace as it was, and the work so far.
    pub base: Option<TreeId>,
    pub tip: Option<TreeId>,
    /// How the tip came about: what the plan began with, and what came in since, in order.
    pub(super) floor: Option<TreeId>,
    pub(super) merges: Vec<Merged>,
    /// What is being brought to the user's folder, and what has been.
    pub bringing: Option<TreeId>,
    pub applied: Option<TreeId>,
    /// The approval that the work is done under.
    pub card: Option<CardId>,
    /// What planners have used, of all revisions.
    pub planning: Bill,
    /// What a person is asked when nothing else is left, and what they said.
    pub review: Option<Review>,
    /// Plans that people allowed besides.
    pub(super) granted: u32,
    /// Those who were dismissed and have not ended.
    pub leaving: BTreeSet<TaskId>,
    /// Planners who look for a change that somebody wants.
    pub seeking: BTreeSet<TaskId>,
    /// The last of them, whose finding nobody has taken up.
    pub sought: Option<TaskId>,
    /// Why it is being stopped.
    pub stopping: Option<String>,
    /// Whether nobody needs to be there until something happens.
    pub parked: bool,
    /// What work that is in the tip may have left in files.
    pub labels: Labels,
    /// Of the plan, by what whoever wrote it had read.
    pub(super) taint: Option<Taint>,
    /// Of items of plans that were given up.
    pub(super) former: Bill,
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
    /// What attempts of it were seen to change.
    pub observed: BTreeSet<String>,
    /// What somebody found who only looked, and what that cost.
    pub findings: Option<ProbeReport>,
    pub(super) looking: Bill,
    /// What a person says it came to.
    pub(super) overridden: Option<String>,
    /// What it came to before it was known here.
    pub(super) remembered: Option<Binding>,
    /// What the checks of an item that holds others said last.
    pub(super) checks: Vec<CheckResult>,
    /// Where its work came into that of all first, of `GraphState::merges`.
    pub(super) merged_at: Option<usize>,
    /// What failed of the whole when it was to go on.
    pub reopened: Option<String>,
    /// Which of its runs is the first since a way that it rested on was given up: it has everything it may use since then.
    pub(super) life: usize,
}

#[derive(Debug, Clone)]
pub struct AtomRun {
    pub task: TaskId,
    pub ended: Option<AtomEnded>,
    /// What came of it does not count any more: a way that it rested on was given up, or it has to go on.
    pub is_void: bool,
}

impl AtomProgress {
    pub fn running(&self) -> Option<TaskId> {
        self.runs.last().filter(|run| run.ended.is_none() && !run.is_void).map(|run| run.task)
    }

    fn last(&self) -> Option<&AtomOutcome> {
        let run = self.runs.last().filter(|run| !run.is_void)?;
        run.ended.as_ref().map(|ended| &ended.outcome)
    }

    pub fn binding(&self) -> Option<&Binding> {
        match self.last() {
            Some(AtomOutcome::Resolved { binding, .. }) => Some(binding),
            Some(AtomOutcome::Failed(_)) => None,
            None => self.remembered.as_ref(),
        }
    }

    /// What the checks of an item that holds others came to last.
    pub fn checks(&self) -> &[CheckResult] {
        &self.checks
    }

    /// What it came to: in its agent's words, or in those of a person who knows better.
    pub fn summary(&self) -> Option<&str> {
        let binding = self.binding()?;
        Some(self.overridden.as_deref().unwrap_or(&binding.summary))
    }

    pub fn failure(&self) -> Option<&ErrorDetails> {
        match self.last()? {
            AtomOutcome::Failed(error) => Some(error),
            AtomOutcome::Resolved { .. } => None,
        }
    }

    /// What those who work on it as `run` may use, or whoever is next: a budget is for all who ever do, attempts for this life.
    pub fn budget(&self, item: &Item, run: Option<TaskId>) -> Budget {
        let number = self.runs.iter().position(|known| Some(known.task) == run).unwrap_or(self.runs.len());
        let ended =
            |from: usize| self.runs.get(from..number).into_iter().flatten().filter_map(|run| run.ended.as_ref());
        let (mut usage, mut cost) = (self.looking.usage, self.looking.cost);
        for ended in ended(0) {
            usage += ended.usage;
            cost += ended.cost;
        }
        let attempts = ended(self.life).fold(0_u32, |sum, ended| sum.saturating_add(ended.attempts));
        Budget {
            max_tokens: item.budget.max_tokens.saturating_sub(usage.total_tokens),
            max_cost_usd: item.budget.max_cost_usd.minus(cost),
            max_wall_time_seconds: item.budget.max_wall_time_seconds.saturating_sub(usage.duration_ms / 1_000),
            max_attempts: item.budget.max_attempts.saturating_sub(attempts),
            ..item.budget.clone()
        }
    }

    /// What its runs have used so far: a budget is for all of them.
    pub fn used(&self) -> (u32, UsageMetrics, Usd) {
        let ended = self.runs.iter().filter_map(|run| run.ended.as_ref());
        ended.fold((0, self.looking.usage, self.looking.cost), |(attempts, mut usage, cost), ended| {
            usage += ended.usage;
            (attempts + ended.attempts, usage, cost.plus(ended.cost))
        })
    }
}

impl GraphState {
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
        planner.into_iter().chain(self.work.busy().filter_map(|node| node.standing.run())).collect()
    }

    /// What all items have used, those of plans that were given up among them.
    pub fn spent(&self) -> Bill {
        let mut spent = self.former;
        let ended = self.atoms.values().flat_map(|progress| &progress.runs).filter_map(|run| run.ended.as_ref());
        ended.for_each(|ended| spent.add(ended.bill()));
        self.atoms.values().for_each(|progress| spent.add(progress.looking));
        spent
    }

    /// Whether checks say of everything that is there that it is right, and not only agents.
    pub fn is_verified(&self) -> bool {
        self.work.root().is_some_and(|root| self.part_is_verified(root))
    }

    fn part_is_verified(&self, node: &Node) -> bool {
        if node.is_leaf() {
            let ended = self.progress(node.id()).and_then(|progress| progress.runs.last()?.ended.as_ref());
            return ended.is_some_and(|ended| ended.verified);
        }
        !node.item.verify.0.is_empty() || self.work.parts(node).all(|part| self.part_is_verified(part))
    }

    /// What became of the items, a line each, in the order of the document.
    pub fn summary(&self) -> Option<String> {
        let line = |item: &Item| {
            let summary = self.progress(&item.id)?.summary()?;
            Some(format!("{}: {}", item.id, summary.lines().next().unwrap_or_default()))
        };
        let lines: Vec<String> = self.items().into_iter().filter_map(line).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    pub fn deliverables(&self) -> Vec<Deliverable> {
        let bindings = self.atoms.values().filter_map(AtomProgress::binding);
        bindings.flat_map(|binding| binding.artifacts.iter().cloned()).collect()
    }

    pub fn replans_left(&self) -> u32 {
        let most = self.objective.as_ref().map_or(MAX_REPLAN_DEPTH, |agreed| agreed.constraints.max_replan_depth);
        most.saturating_add(self.granted).saturating_sub(self.replans)
    }

    /// What the graph is held to. What was there before counts against it.
    pub(super) fn constraints(&self) -> Constraints {
        let agreed = self.objective.as_ref().map_or_else(Constraints::of_plans, |agreed| agreed.constraints.clone());
        Constraints {
            max_atoms: agreed.max_atoms.saturating_sub(self.former_atoms),
            max_choices: agreed.max_choices.saturating_sub(self.former_choices),
            ..agreed
        }
    }

    /// What a person is asked about the whole right now.
    pub fn asks(&self) -> Option<CardId> {
        match self.standing {
            PlanStanding::Asked(card) => Some(card),
            _ => self.open_review().map(|review| review.card),
        }
    }

    /// One that nobody has answered.
    pub fn open_review(&self) -> Option<&Review> {
        self.review.as_ref().filter(|review| review.answer.is_none())
    }

    /// Whether it waits for a person to say that what was agreed on begins.
    pub fn is_aligned(&self) -> bool {
        self.objective.is_some() && self.card.is_none() && self.standing == PlanStanding::Proposed
    }

    pub fn items(&self) -> Vec<&Item> {
        self.work.nodes().iter().map(|node| &node.item).collect()
    }

    pub fn progress(&self, atom: &AtomId) -> Option<&AtomProgress> {
        self.atoms.get(atom)
    }

    pub fn is_resolved(&self, item: &Item) -> bool {
        self.work.find(&item.id).is_some_and(Node::is_resolved)
    }

    /// Whether there is nothing more to do: all is done, or what was agreed on is reached without it.
    pub fn is_reached(&self) -> bool {
        let is_satisfied =
            self.objective.is_some() && self.checked.is_some_and(|(tip, passed)| passed && Some(tip) == self.tip);
        is_satisfied || self.work.root().is_some_and(Node::is_resolved)
    }

    /// How many atoms and choices there ever were. Nobody worked under a plan that was only proposed: it does not count.
    pub(super) fn ever(&self) -> (u32, u32) {
        let has_begun = self.atoms.values().any(|progress| !progress.runs.is_empty());
        let (atoms, choices) = if has_begun { self.work.size() } else { (0, 0) };
        (self.former_atoms.saturating_add(atoms), self.former_choices.saturating_add(choices))
    }

    /// Whether there may ever be so many atoms and choices.
    pub fn has_room_for(&self, plan: &Plan) -> bool {
        let Some(agreed) = &self.objective else { return true };
        let (atoms, choices) = self.ever();
        let items = plan.0.all();
        let new_choices = items.iter().filter(|item| item.any_of.is_some()).count();
        let fits = |most: u32, ever: u32, new: usize| most.saturating_sub(ever) as usize >= new;
        fits(agreed.constraints.max_atoms, atoms, items.len())
            && fits(agreed.constraints.max_choices, choices, new_choices)
    }

    /// Whether somebody who was dismissed has not stopped working on it.
    pub fn is_being_left(&self, atom: &AtomId) -> bool {
        let runs = self.progress(atom).into_iter().flat_map(|progress| &progress.runs);
        runs.into_iter().any(|run| self.leaving.contains(&run.task))
    }

    /// Whether that one works, or worked, on an item, and is paid from its budget.
    pub fn is_of_an_atom(&self, run: TaskId) -> bool {
        self.atoms.values().flat_map(|progress| &progress.runs).any(|known| known.task == run)
    }

    /// What the last checks of an item that holds others complained of, a line each.
    pub fn failed_checks(&self, holder: &AtomId) -> String {
        let results = self.progress(holder).into_iter().flat_map(|progress| &progress.checks);
        let failed =
            results.filter(|result| !result.passed).map(|result| format!("- {}: {}", result.name, result.reason));
        failed.collect::<Vec<_>>().join("\n")
    }

    /// What an atom's budget has left, after all who worked on it and looked at it.
    pub fn left_of(&self, item: &Item) -> (u64, Usd) {
        let (_, usage, cost) = self.progress(&item.id).map(AtomProgress::used).unwrap_or_default();
        (item.budget.max_tokens.saturating_sub(usage.total_tokens), item.budget.max_cost_usd.minus(cost))
    }

    /// What is left to try: it falls with every move, and a person alone can raise it.
    pub fn measure(&self) -> Measure {
        self.work.measure(self.replans_left())
    }

    /// What it and whatever holds it say that they touch, and what it was seen to.
    pub fn touches(&self, item: &Item) -> Touches {
        let mut touches = touches(&self.work.line(&item.id));
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
