//! What may happen to a work graph, as `next_moves` says what should. Total and pure: whatever the driver believes, nothing begins
//! under a plan that nobody agreed to, no item is worked on twice at once, and what is done is not done again.

use super::event::{
    AtomEnded, AtomObserved, AtomStarted, GraphApplied, GraphEvent, GraphParked, GraphStopping, GraphWoken,
    JoinChecked, PlanAnswered, PlanAsked, PlanProposed, PlannerCharged, PlannerStarted, ReviewAnswered, ReviewAsked,
};
use super::state::{AtomProgress, GraphState, PlanStanding};
use crate::plan::AtomId;

#[derive(Debug, Clone)]
pub enum GraphAction {
    StartPlanner(PlannerStarted),
    Propose(Box<PlanProposed>),
    Ask(PlanAsked),
    Answer(PlanAnswered),
    StartAtom(AtomStarted),
    EndAtom(Box<AtomEnded>),
    Observe(AtomObserved),
    CheckJoin(JoinChecked),
    AskReview(ReviewAsked),
    AnswerReview(ReviewAnswered),
    Apply(GraphApplied),
    Charge(PlannerCharged),
    Stop { reason: String },
    Park,
    Wake,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
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
        GraphAction::StartAtom(started) => start_atom(graph, started),
        GraphAction::EndAtom(ended) => end_atom(graph, *ended),
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
            let item = graph.items().into_iter().find(|item| item.id == checked.atom && !item.tasks.is_empty());
            let item = item.ok_or(GraphRejected::NoSuchAtom)?;
            if Some(checked.tip) != graph.tip || checked.results.len() != item.verify.0.len() {
                return Err(GraphRejected::OtherTree);
            }
            Ok(GraphEvent::JoinChecked(checked))
        }
        GraphAction::Apply(applied) if Some(applied.tip) == graph.tip => {
            approved(graph).map(|()| GraphEvent::Applied(applied))
        }
        GraphAction::Apply(_) => Err(GraphRejected::OtherTree),
        GraphAction::Charge(charged) => Ok(GraphEvent::PlannerCharged(charged)),
        GraphAction::Stop { reason } => Ok(GraphEvent::Stopping(GraphStopping { reason })),
        GraphAction::Park => Ok(GraphEvent::Parked(GraphParked {})),
        GraphAction::Wake if graph.parked => Ok(GraphEvent::Woken(GraphWoken {})),
        GraphAction::Wake => Err(GraphRejected::NotParked),
    }
}

fn approved(graph: &GraphState) -> Result<(), GraphRejected> {
    if graph.standing == PlanStanding::Approved { Ok(()) } else { Err(GraphRejected::OtherStanding) }
}

fn is_anything_running(graph: &GraphState) -> bool {
    graph.atoms.values().any(|progress| progress.running().is_some())
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
    Ok(GraphEvent::PlanProposed(proposed))
}

fn start_atom(graph: &GraphState, started: AtomStarted) -> Result<GraphEvent, GraphRejected> {
    approved(graph)?;
    let is_work = |atom: &AtomId| graph.items().iter().any(|item| item.id == *atom && item.tasks.is_empty());
    if !is_work(&started.atom) {
        return Err(GraphRejected::NoSuchAtom);
    }
    let progress = graph.progress(&started.atom);
    if progress.is_some_and(|progress| progress.running().is_some() || progress.binding().is_some()) {
        return Err(GraphRejected::AtomTaken);
    }
    Ok(GraphEvent::AtomStarted(started))
}

fn end_atom(graph: &GraphState, ended: AtomEnded) -> Result<GraphEvent, GraphRejected> {
    let running = graph.progress(&ended.atom).and_then(AtomProgress::running);
    if running != Some(ended.run) {
        return Err(GraphRejected::OtherRun);
    }
    Ok(GraphEvent::AtomEnded(ended))
}
