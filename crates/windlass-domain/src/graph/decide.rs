//! What may happen to a work graph, as `next_moves` says what should. Total and pure: whatever the driver believes, nothing begins
//! under a plan that nobody agreed to, no item is worked on twice at once, and what is done is not done again.

use super::correction::{CannotCorrect, Change, Corrected, draw};
use super::event::{
    AtomEnded, AtomInterrupted, AtomObserved, AtomOutcome, AtomStarted, AttemptStarted, ChangeSought, ChoiceSwitched,
    ConsultStarted, GraphApplied, GraphBringing, GraphEvent, GraphParked, GraphRebased, GraphStopping, GraphWoken,
    HelpersDismissed, JoinChecked, Merged, PlanAnswer, PlanAnswered, PlanAsked, PlanProposed, PlannerCharged,
    PlannerStarted, ProbeEnded, ProbeStarted, ReviewAnswered, ReviewAsked, SinksReopened, SplitEnded, SplitStarted,
};
use super::objective::Objective;
use super::split::{Misfit, fits};
use super::state::{AtomProgress, GraphState, PlanStanding};
use super::work::{Node, Rung, Standing};
use crate::id::{CardId, TaskId};
use crate::plan::{AtomId, Plan};
use crate::port::TreeId;
use crate::role_output::VerifierReport;
use crate::taint::Taint;
use crate::time::Wall;

#[derive(Debug, Clone)]
pub enum GraphAction {
    StartPlanner(PlannerStarted),
    Propose(Box<PlanProposed>),
    Ask(PlanAsked),
    Answer(PlanAnswered),
    Align(Box<Objective>),
    /// What was written for a person to agree to is to be written again, before it was begun.
    SendBack {
        note: String,
    },
    StartAtom(AtomStarted),
    /// The same run tries once more, asks for advice, or was cut short and goes on.
    TryAgain(AttemptStarted),
    Consult(ConsultStarted),
    Interrupt(AtomInterrupted),
    StartProbe(ProbeStarted),
    EndProbe(ProbeEnded),
    Switch(Switch),
    StartSplit(SplitStarted),
    EndSplit(Box<SplitEnded>),
    Reopen(SinksReopened),
    EndAtom(Box<AtomEnded>),
    Correct(Box<Correction>),
    Observe(AtomObserved),
    CheckJoin(JoinChecked),
    AskReview(ReviewAsked),
    AnswerReview(ReviewAnswered),
    /// What is brought to the user's folder now; none where that came to nothing.
    Bring(Option<TreeId>),
    /// Has this planner look for a change.
    Seek(TaskId),
    /// Begins with this instead of what was there when it was agreed on.
    Rebase(TreeId),
    Apply(GraphApplied),
    Charge(PlannerCharged),
    Dismiss {
        runs: Vec<TaskId>,
    },
    Stop {
        reason: String,
    },
    Park,
    Wake,
}

/// What a person changes, and what stays of the work without what that undoes.
#[derive(Debug, Clone)]
pub struct Correction {
    pub at: Wall,
    pub description: String,
    pub change: Change,
    pub kept: Vec<Merged>,
    /// What cannot be had without what goes.
    pub also: Vec<AtomId>,
    /// What it is approved with.
    pub card: Option<CardId>,
    /// Of whoever worked it out, where that was an agent.
    pub taint: Option<Taint>,
}

/// A way is given up, and with `also` what cannot be had without it.
#[derive(Debug, Clone)]
pub struct Switch {
    pub group: AtomId,
    pub failed: AtomId,
    pub because: String,
    pub also: Vec<AtomId>,
    pub kept: Vec<Merged>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphRejected {
    #[error("this is about another revision of the plan")]
    OtherRevision,
    #[error("the plan does not stand there")]
    OtherStanding,
    #[error("no plans are left to try")]
    NoReplansLeft,
    #[error("the plan has no such item to work on")]
    NoSuchAtom,
    #[error("the item is being worked on, or done")]
    AtomTaken,
    #[error("the item is not being worked on by that task")]
    OtherRun,
    #[error("this is not the work that there is")]
    OtherTree,
    #[error("it does not wait")]
    NotParked,
    #[error("nothing of the kind is left to try for this item")]
    NoneLeft,
    #[error("all passes that it may make are made")]
    NoPassesLeft,
    #[error("nothing became less in the last passes: something else is tried")]
    Stalled,
    #[error("it has more items or choices than there may ever be")]
    TooLarge,
    #[error("there is no reason for that now")]
    NotNow,
    #[error("it is being stopped")]
    Stopping,
    #[error(transparent)]
    Misfit(#[from] Misfit),
    #[error(transparent)]
    CannotCorrect(#[from] CannotCorrect),
}

pub fn decide(graph: &GraphState, action: GraphAction) -> Result<GraphEvent, GraphRejected> {
    match action {
        GraphAction::StartPlanner(started) => start_planner(graph, started),
        GraphAction::Propose(proposed) => propose(graph, *proposed),
        GraphAction::Ask(asked) => match graph.standing {
            PlanStanding::Proposed if asked.revision == graph.revision => Ok(GraphEvent::PlanAsked(asked)),
            PlanStanding::Proposed => Err(GraphRejected::OtherRevision),
            _ => Err(GraphRejected::OtherStanding),
        },
        GraphAction::Answer(answered) => match graph.standing {
            PlanStanding::Asked(_) if answered.revision == graph.revision => Ok(GraphEvent::PlanAnswered(answered)),
            PlanStanding::Asked(_) => Err(GraphRejected::OtherRevision),
            _ => Err(GraphRejected::OtherStanding),
        },
        GraphAction::Align(agreed) if graph.card.is_none() && is_being_written(graph) => {
            Ok(GraphEvent::ObjectiveAligned(*agreed))
        }
        GraphAction::Align(_) => Err(GraphRejected::OtherStanding),
        GraphAction::SendBack { note } if graph.is_aligned() => {
            let answer = PlanAnswer::EditRequested { note };
            Ok(GraphEvent::PlanAnswered(PlanAnswered { revision: graph.revision, answer }))
        }
        GraphAction::SendBack { .. } => Err(GraphRejected::OtherStanding),
        GraphAction::StartAtom(started) => start_atom(graph, started),
        GraphAction::TryAgain(started) => try_again(graph, started),
        GraphAction::Consult(started) => {
            let node = worked_on(graph, &started.atom, started.run)?;
            may_start(graph)?;
            left(node.left.consults)?;
            Ok(GraphEvent::ConsultStarted(started))
        }
        GraphAction::Interrupt(interrupted) => {
            left(worked_on(graph, &interrupted.atom, interrupted.run)?.left.interruptions)?;
            Ok(GraphEvent::AtomInterrupted(interrupted))
        }
        GraphAction::StartProbe(started) => start_probe(graph, started),
        GraphAction::EndProbe(ended) => match standing(graph, &ended.atom) {
            Some(Standing::Probing(run)) if run == ended.run => Ok(GraphEvent::ProbeEnded(ended)),
            _ if graph.leaving.contains(&ended.run) => Ok(GraphEvent::ProbeEnded(ended)),
            _ => Err(GraphRejected::OtherRun),
        },
        GraphAction::Switch(wanted) => switch(graph, wanted),
        GraphAction::StartSplit(started) => start_split(graph, started),
        GraphAction::EndSplit(ended) => match standing(graph, &ended.atom) {
            Some(Standing::Splitting(run)) if run == ended.run => {
                fits(graph, &ended.atom, &ended.children)?;
                Ok(GraphEvent::SplitEnded(*ended))
            }
            _ if graph.leaving.contains(&ended.run) => Ok(GraphEvent::SplitEnded(*ended)),
            _ => Err(GraphRejected::OtherRun),
        },
        GraphAction::Reopen(wanted) => reopen(graph, wanted),
        GraphAction::EndAtom(ended) => end_atom(graph, *ended),
        GraphAction::Correct(wanted) => correct(graph, *wanted),
        GraphAction::Observe(observed) => match graph.progress(&observed.atom).and_then(AtomProgress::running) {
            Some(run) if run == observed.run => Ok(GraphEvent::AtomObserved(observed)),
            _ => Err(GraphRejected::OtherRun),
        },
        GraphAction::AskReview(asked) if graph.review.is_none() && !is_anything_running(graph) => {
            Ok(GraphEvent::ReviewAsked(asked))
        }
        GraphAction::AskReview(_) => Err(GraphRejected::OtherStanding),
        GraphAction::AnswerReview(answered) if graph.open_review().is_some() => {
            Ok(GraphEvent::ReviewAnswered(answered))
        }
        GraphAction::AnswerReview(_) => Err(GraphRejected::OtherStanding),
        GraphAction::CheckJoin(checked) => {
            approved(graph)?;
            let node = graph.work.find(&checked.atom).ok_or(GraphRejected::NoSuchAtom)?;
            if node.item.verify.0.is_empty() {
                return Err(GraphRejected::NoSuchAtom);
            }
            if Some(checked.tip) != graph.tip || checked.results.len() != node.item.verify.0.len() {
                return Err(GraphRejected::OtherTree);
            }
            let report = Some(VerifierReport::of(&checked.results, &[]));
            Ok(GraphEvent::JoinChecked(JoinChecked { report, ..checked }))
        }
        GraphAction::Seek(run) => approved(graph).map(|()| GraphEvent::ChangeSought(ChangeSought { run })),
        GraphAction::Rebase(base) if graph.is_aligned() => Ok(GraphEvent::Rebased(GraphRebased { base })),
        GraphAction::Rebase(_) => Err(GraphRejected::OtherStanding),
        GraphAction::Bring(Some(tip)) if Some(tip) != graph.tip => Err(GraphRejected::OtherTree),
        GraphAction::Bring(tip) => approved(graph).map(|()| GraphEvent::Bringing(GraphBringing { tip })),
        GraphAction::Apply(applied) if Some(applied.tip) == graph.tip => {
            approved(graph).map(|()| GraphEvent::Applied(applied))
        }
        GraphAction::Apply(_) => Err(GraphRejected::OtherTree),
        GraphAction::Charge(charged) => Ok(GraphEvent::PlannerCharged(charged)),
        GraphAction::Dismiss { runs } => Ok(GraphEvent::HelpersDismissed(HelpersDismissed { runs })),
        GraphAction::Stop { reason } => Ok(GraphEvent::Stopping(GraphStopping { reason })),
        GraphAction::Park => Ok(GraphEvent::Parked(GraphParked {})),
        GraphAction::Wake if graph.parked => Ok(GraphEvent::Woken(GraphWoken {})),
        GraphAction::Wake => Err(GraphRejected::NotParked),
    }
}

/// Nobody has agreed to anything, and it is still open what to.
const fn is_being_written(graph: &GraphState) -> bool {
    matches!(graph.standing, PlanStanding::Wanted | PlanStanding::BeingWritten(_))
}

fn approved(graph: &GraphState) -> Result<(), GraphRejected> {
    if graph.standing == PlanStanding::Approved { Ok(()) } else { Err(GraphRejected::OtherStanding) }
}

fn is_anything_running(graph: &GraphState) -> bool {
    graph.work.busy().next().is_some()
}

fn start_planner(graph: &GraphState, started: PlannerStarted) -> Result<GraphEvent, GraphRejected> {
    let follows = match (&graph.standing, started.is_replan) {
        (PlanStanding::Wanted | PlanStanding::SentBack { .. }, false) => true,
        // Whoever still works on the old plan would work on nothing.
        (PlanStanding::Approved, true) => !is_anything_running(graph),
        _ => false,
    };
    if !follows {
        return Err(GraphRejected::OtherStanding);
    }
    if started.is_replan && graph.replans_left() == 0 {
        return Err(GraphRejected::NoReplansLeft);
    }
    if started.revision != graph.revision + 1 {
        return Err(GraphRejected::OtherRevision);
    }
    Ok(GraphEvent::PlannerStarted(started))
}

fn propose(graph: &GraphState, proposed: PlanProposed) -> Result<GraphEvent, GraphRejected> {
    let expected = match (&graph.standing, proposed.by) {
        (PlanStanding::Wanted, super::event::Proposer::User) => 1,
        (PlanStanding::BeingWritten(run), super::event::Proposer::Planner(by)) if *run == by => graph.revision,
        _ => return Err(GraphRejected::OtherStanding),
    };
    if proposed.revision != expected {
        return Err(GraphRejected::OtherRevision);
    }
    if proposed.plan.as_ref().is_ok_and(|plan: &Plan| !graph.has_room_for(plan)) {
        return Err(GraphRejected::TooLarge);
    }
    Ok(GraphEvent::PlanProposed(proposed))
}

fn standing(graph: &GraphState, atom: &AtomId) -> Option<Standing> {
    graph.work.find(atom).map(|node| node.standing)
}

const fn left(number: u32) -> Result<(), GraphRejected> {
    if number > 0 { Ok(()) } else { Err(GraphRejected::NoneLeft) }
}

/// Whether anybody may begin anything.
fn may_start(graph: &GraphState) -> Result<(), GraphRejected> {
    approved(graph)?;
    if graph.stopping.is_some() {
        return Err(GraphRejected::Stopping);
    }
    if graph.passes.are_used_up(graph.work.constraints(), !graph.running().is_empty()) {
        return Err(GraphRejected::NoPassesLeft);
    }
    Ok(())
}

fn worked_on<'a>(graph: &'a GraphState, atom: &AtomId, run: TaskId) -> Result<&'a Node, GraphRejected> {
    let node = graph.work.find(atom).ok_or(GraphRejected::NoSuchAtom)?;
    if node.standing == Standing::Running(run) { Ok(node) } else { Err(GraphRejected::OtherRun) }
}

fn start_atom(graph: &GraphState, started: AtomStarted) -> Result<GraphEvent, GraphRejected> {
    approved(graph)?;
    let node = graph.work.find(&started.atom).filter(|node| node.is_leaf()).ok_or(GraphRejected::NoSuchAtom)?;
    if node.standing != Standing::Ready || graph.is_being_left(&started.atom) {
        return Err(GraphRejected::AtomTaken);
    }
    may_start(graph)?;
    if !node.may_begin() {
        return Err(GraphRejected::NoneLeft);
    }
    Ok(GraphEvent::AtomStarted(started))
}

fn try_again(graph: &GraphState, started: AttemptStarted) -> Result<GraphEvent, GraphRejected> {
    let node = worked_on(graph, &started.atom, started.run)?;
    may_start(graph)?;
    left(node.left.attempts)?;
    if graph.passes.is_stalled(graph.work.constraints()) {
        return Err(GraphRejected::Stalled);
    }
    Ok(GraphEvent::AttemptStarted(started))
}

fn start_probe(graph: &GraphState, started: ProbeStarted) -> Result<GraphEvent, GraphRejected> {
    may_start(graph)?;
    let node = graph.work.find(&started.atom).ok_or(GraphRejected::NoSuchAtom)?;
    left(node.left.probes)?;
    let is_due = match &started.choice {
        None => node.standing == Standing::Ready,
        Some(choice) => wanted(graph).any(
            |rung| matches!(rung, Rung::Probe { choice: next, atom, .. } if next == *choice && atom == started.atom),
        ),
    };
    if is_due { Ok(GraphEvent::ProbeStarted(started)) } else { Err(GraphRejected::NotNow) }
}

/// What the ladder says about everything that failed.
fn wanted(graph: &GraphState) -> impl Iterator<Item = Rung> {
    let is_stalled = graph.passes.is_stalled(graph.work.constraints());
    let stuck = graph.work.stuck().filter_map(|node| graph.work.rung(node.id()));
    stuck.chain(graph.work.unmet().filter_map(move |node| graph.work.rung_of_join(node.id(), is_stalled)))
}

fn switch(graph: &GraphState, switch: Switch) -> Result<GraphEvent, GraphRejected> {
    approved(graph)?;
    let is_due = |rung: Rung| matches!(rung, Rung::Switch { group, failed, .. } if group == switch.group && failed == switch.failed);
    if !wanted(graph).any(is_due) {
        return Err(GraphRejected::NotNow);
    }
    let affected = graph.work.affected(&switch.group, &switch.failed, &switch.also);
    let dismissed = affected.iter().filter_map(|node| node.standing.run()).collect();
    let Switch { group, failed, because, also, kept } = switch;
    let replay = graph.without(&group, &failed, &also);
    if !kept.iter().map(|merged| &merged.atom).eq(replay.later.iter().map(|step| &step.atom)) {
        return Err(GraphRejected::OtherTree);
    }
    Ok(GraphEvent::ChoiceSwitched(ChoiceSwitched { group, failed, because, also, dismissed, kept }))
}

fn start_split(graph: &GraphState, started: SplitStarted) -> Result<GraphEvent, GraphRejected> {
    may_start(graph)?;
    let is_due = wanted(graph).any(|rung| matches!(rung, Rung::Split { atom } if atom == started.atom));
    if is_due { Ok(GraphEvent::SplitStarted(started)) } else { Err(GraphRejected::NotNow) }
}

fn reopen(graph: &GraphState, reopened: SinksReopened) -> Result<GraphEvent, GraphRejected> {
    approved(graph)?;
    let is_due = wanted(graph).any(
        |rung| matches!(rung, Rung::Reopen { holder, sinks } if holder == reopened.holder && sinks == reopened.sinks),
    );
    if is_due { Ok(GraphEvent::SinksReopened(reopened)) } else { Err(GraphRejected::NotNow) }
}

/// Whoever is at work is interrupted: what they do is for what was wanted before.
fn correct(graph: &GraphState, wanted: Correction) -> Result<GraphEvent, GraphRejected> {
    approved(graph)?;
    if graph.stopping.is_some() {
        return Err(GraphRejected::Stopping);
    }
    // What is taken out of the work would stay in the folder.
    if graph.bringing.is_some() {
        return Err(GraphRejected::NotNow);
    }
    let Correction { at, description, change, kept, also, card, taint } = wanted;
    let redrawn = draw(graph, &change, &also)?;
    let replay = graph.without_these(&redrawn.undone);
    if !kept.iter().map(|merged| &merged.atom).eq(replay.later.iter().map(|step| &step.atom)) {
        return Err(GraphRejected::OtherTree);
    }
    let (trail_cleared, dismissed) = (redrawn.trail_cleared, graph.running());
    Ok(GraphEvent::Corrected(Corrected { at, description, change, trail_cleared, dismissed, kept, also, card, taint }))
}

fn end_atom(graph: &GraphState, ended: AtomEnded) -> Result<GraphEvent, GraphRejected> {
    let is_current = standing(graph, &ended.atom) == Some(Standing::Running(ended.run));
    // Nobody waits for it: what it came to is only counted.
    let has_left = graph.leaving.contains(&ended.run) && matches!(ended.outcome, AtomOutcome::Failed(_));
    if is_current || has_left { Ok(GraphEvent::AtomEnded(ended)) } else { Err(GraphRejected::OtherRun) }
}
