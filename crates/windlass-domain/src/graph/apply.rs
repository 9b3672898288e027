//! The fold of a work graph. It cannot fail: what `decide` would have refused changes what it can and no more.

use std::collections::BTreeMap;

use super::bill::Bill;
use super::correction::{Change, Corrected, redraw};
use super::event::{AtomEnded, AtomOutcome, GraphEvent, Merged, PlanAnswer, PlanProposed, Remembered};
use super::state::{AtomRun, GraphState, PlanStanding, Review};
use super::work::{Memory, Work};
use crate::id::TaskId;
use crate::plan::{AtomId, Item, Plan};

impl GraphState {
    pub fn apply(&mut self, event: &GraphEvent) {
        // Whatever there is something to do about wakes it; a bill, and what those at work do, is only noted.
        self.parked = match event {
            GraphEvent::Parked(_) => true,
            GraphEvent::PlannerCharged(charged) => self.parked && !self.is_last_to_leave(charged.run),
            GraphEvent::AtomObserved(_)
            | GraphEvent::AttemptStarted(_)
            | GraphEvent::ConsultStarted(_)
            | GraphEvent::AtomInterrupted(_)
            | GraphEvent::ChangeSought(_)
            | GraphEvent::HelpersDismissed(_) => self.parked,
            _ => false,
        };
        match event {
            GraphEvent::PlannerStarted(started) => {
                self.revision = started.revision;
                self.replans += u32::from(started.is_replan);
                self.standing = PlanStanding::BeingWritten(started.run);
            }
            GraphEvent::PlanProposed(proposed) => self.propose(proposed),
            GraphEvent::ObjectiveAligned(agreed) => self.objective = Some(agreed.clone()),
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
                progress.runs.push(AtomRun { task: started.run, ended: None, is_void: false });
                self.take_a_place();
                self.work.start(&started.atom, started.run);
            }
            GraphEvent::AttemptStarted(started) => {
                self.take_a_place();
                self.work.try_again(&started.atom);
            }
            GraphEvent::ConsultStarted(started) => {
                self.take_a_place();
                self.passes.skip();
                self.work.consult(&started.atom);
            }
            GraphEvent::AtomInterrupted(interrupted) => self.work.interrupt(&interrupted.atom),
            GraphEvent::ProbeStarted(started) => {
                self.take_a_place();
                self.work.probe(&started.atom, started.run, started.choice.as_ref());
            }
            GraphEvent::ProbeEnded(ended) => {
                let progress = self.atoms.entry(ended.atom.clone()).or_default();
                progress.looking.add(ended.bill);
                progress.findings = Some(ended.report.clone());
                if self.work.probed(&ended.atom, ended.run, ended.report.feasible) {
                    self.passes.progress();
                }
                self.leaving.remove(&ended.run);
            }
            GraphEvent::ChoiceSwitched(switched) => {
                let first = self.without(&switched.group, &switched.failed, &switched.also).first;
                for atom in self.work.switch(&switched.group, &switched.failed, &switched.also) {
                    self.forget(&atom);
                    self.live_again(&atom);
                }
                self.bring_in_anew(first, &switched.kept);
                self.leaving.extend(&switched.dismissed);
                self.passes.progress();
            }
            GraphEvent::SplitStarted(started) => {
                self.take_a_place();
                self.forget(&started.atom);
                self.work.look_for_parts(&started.atom, started.run);
            }
            GraphEvent::SplitEnded(ended) => {
                self.planning.add(ended.bill);
                self.leaving.remove(&ended.run);
                self.work.split(&ended.atom, ended.run, &ended.children);
                if !ended.children.is_empty() {
                    self.taint = Some(self.taint().join(ended.taint));
                    self.passes.progress();
                }
            }
            GraphEvent::SinksReopened(reopened) => {
                for atom in &reopened.sinks {
                    self.forget(atom);
                    self.atoms.entry(atom.clone()).or_default().reopened = Some(reopened.because.clone());
                }
                self.work.reopen(&reopened.sinks);
            }
            GraphEvent::Corrected(corrected) => self.correct(corrected),
            GraphEvent::AtomEnded(ended) => self.end(ended),
            GraphEvent::JoinChecked(checked) => {
                let passed = checked.results.iter().all(|result| result.passed);
                self.atoms.entry(checked.atom.clone()).or_default().checks.clone_from(&checked.results);
                if self.work.root().is_some_and(|root| *root.id() == checked.atom) {
                    self.checked = Some((checked.tip, passed));
                }
                if self.work.joined(&checked.atom, checked.tip, passed) {
                    self.passes.progress();
                }
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
            GraphEvent::Rebased(rebased) => {
                (self.base, self.tip, self.floor) = (Some(rebased.base), Some(rebased.base), Some(rebased.base));
            }
            GraphEvent::Bringing(bringing) => self.bringing = bringing.tip,
            GraphEvent::Applied(applied) => (self.applied, self.bringing) = (Some(applied.tip), None),
            GraphEvent::ChangeSought(sought) => {
                self.seeking.insert(sought.run);
                self.sought = Some(sought.run);
            }
            GraphEvent::PlannerCharged(charged) => {
                self.leaving.remove(&charged.run);
                self.seeking.remove(&charged.run);
                self.planning.add(Bill { usage: charged.usage, cost: charged.cost, unpriced: charged.unpriced });
            }
            GraphEvent::HelpersDismissed(dismissed) => {
                self.leaving.extend(&dismissed.runs);
                for atom in self.work.release(&dismissed.runs) {
                    self.forget(&atom);
                }
            }
            GraphEvent::Stopping(stopping) => self.stopping = Some(stopping.reason.clone()),
            GraphEvent::Parked(_) | GraphEvent::Woken(_) => {}
        }
    }

    fn propose(&mut self, proposed: &PlanProposed) {
        self.revision = proposed.revision;
        self.base.get_or_insert(proposed.base);
        self.tip.get_or_insert(proposed.base);
        self.taint = Some(self.taint().join(proposed.taint));
        let mut plan = match &proposed.plan {
            Ok(plan) => plan.clone(),
            // What was agreed on before it was wanted otherwise can still be begun.
            Err(error) if self.objective.is_some() && self.plan.is_some() && self.card.is_none() => {
                (self.standing, self.unchanged) = (PlanStanding::Proposed, Some(error.clone()));
                return;
            }
            Err(error) => {
                self.standing = PlanStanding::Impossible(error.clone());
                return;
            }
        };
        self.unchanged = None;
        if let Some(agreed) = &self.objective {
            plan.0.verify = agreed.base_case.clone();
        }
        (self.former_atoms, self.former_choices) = self.ever();
        self.former = self.spent();
        self.atoms = BTreeMap::new();
        (self.floor, self.merges) = (self.tip, Vec::new());
        let Remembered { resolved, selected, failed } = &proposed.remembered;
        for (atom, binding) in resolved {
            self.atoms.entry(atom.clone()).or_default().remembered = Some(binding.clone());
        }
        let resolved = resolved.iter().map(|(atom, _)| atom.clone()).collect();
        let memory = Memory { resolved, selected: selected.clone(), failed: failed.clone(), ..Memory::default() };
        self.work = Work::plant_with(&plan, self.constraints(), &memory);
        self.plan = Some(plan);
        self.standing = PlanStanding::Proposed;
    }

    fn take_a_place(&mut self) {
        let is_anybody_busy = !self.running().is_empty();
        self.passes.start(self.work.constraints(), is_anybody_busy);
    }

    fn end(&mut self, ended: &AtomEnded) {
        let progress = self.atoms.entry(ended.atom.clone()).or_default();
        let Some(run) = progress.runs.iter_mut().find(|run| run.task == ended.run) else { return };
        run.ended = Some(ended.clone());
        if run.is_void {
            self.leaving.remove(&ended.run);
            return;
        }
        match &ended.outcome {
            AtomOutcome::Resolved { tip, .. } => {
                self.bring_in(Merged { atom: ended.atom.clone(), tip: *tip });
                self.labels.join(&ended.labels);
                self.passes.progress();
                let lost = self.work.resolve(&ended.atom, ended.attempts, *tip);
                self.dismiss(&lost);
            }
            AtomOutcome::Failed(_) => {
                self.passes.skip();
                self.work.fail(&ended.atom, ended.attempts);
            }
        }
    }

    fn correct(&mut self, corrected: &Corrected) {
        self.corrections.push(corrected.clone());
        self.sought = None;
        let Ok(redrawn) = redraw(self, &corrected.change, &corrected.also) else { return };
        for atom in self.work.release(&corrected.dismissed) {
            self.forget(&atom);
        }
        self.leaving.extend(&corrected.dismissed);
        self.bring_in_anew(self.without_these(&redrawn.undone).first, &corrected.kept);
        redrawn.undone.iter().for_each(|atom| self.forget(atom));
        if let Change::Binding { atom, summary } = &corrected.change
            && let Some(progress) = self.atoms.get_mut(atom)
        {
            progress.overridden = Some(summary.clone());
        }
        self.objective = redrawn.objective;
        self.work = Work::plant_with(&redrawn.plan, self.constraints(), &redrawn.memory);
        let open = self.work.nodes().iter().filter(|node| !node.is_resolved());
        let open: Vec<AtomId> = open.map(|node| node.id().clone()).collect();
        open.iter().for_each(|atom| self.live_again(atom));
        self.plan = Some(Plan(seen(redrawn.plan.0, self.plan.as_ref(), &corrected.change)));
        self.card = corrected.card.or(self.card);
        self.taint = corrected.taint.map(|taint| self.taint().join(taint)).or(self.taint);
        (self.checked, self.review) = (None, None);
        self.passes.skip();
    }

    /// It may be tried as often as if nobody had.
    fn live_again(&mut self, atom: &AtomId) {
        if let Some(progress) = self.atoms.get_mut(atom) {
            progress.life = progress.runs.len();
            progress.reopened = None;
        }
    }

    /// What came of these does not count, and nobody waits for those who are at it.
    fn dismiss(&mut self, atoms: &[AtomId]) {
        for atom in atoms {
            let running = self.atoms.get(atom).and_then(super::state::AtomProgress::running);
            self.leaving.extend(running);
            self.forget(atom);
        }
    }

    fn forget(&mut self, atom: &AtomId) {
        let Some(progress) = self.atoms.get_mut(atom) else { return };
        progress.remembered = None;
        progress.runs.iter_mut().for_each(|run| run.is_void = true);
    }

    fn is_last_to_leave(&self, run: TaskId) -> bool {
        self.leaving.len() == 1 && self.leaving.contains(&run)
    }
}

/// The graph as a person has seen it: what was split off on the way is in it, but nobody has seen what it says it touches, however often
/// something else was changed since.
fn seen(mut item: Item, before: Option<&Plan>, change: &Change) -> Item {
    let added: Vec<&Item> = match change {
        Change::Graph { add, .. } => add.iter().flat_map(|addition| addition.item.all()).collect(),
        _ => Vec::new(),
    };
    let known = before.map(|Plan(root)| root.all()).unwrap_or_default();
    let shown = known.into_iter().chain(added).find(|shown| shown.id == item.id);
    item.touches = shown.map(|shown| shown.touches.clone()).unwrap_or_default();
    item.tasks = item.tasks.into_iter().map(|part| seen(part, before, change)).collect();
    item
}
