//! The work graph of a planned task: which of its items are done, which may begin, and what comes next. Each item that is worked
//! on is an atom, and a task of its own (`atom.started` names it), with its own attempts, checks and budget; the graph knows
//! of it only how it began and how it ended. The stream is `graph/<task>`; its records are written by whoever drives the planned
//! task, but for `atom.ended`, `plan.proposed` by a planner and `planner.charged`, which stand in the commit that ends the part's
//! own task, and `graph.woken`, which stands beside whatever wakes it.

mod conflict;
mod decide;
mod event;
mod moves;
mod state;

pub use conflict::conflicts;
pub use decide::{GraphAction, GraphRejected, decide};
pub use event::{
    AtomEnded, AtomObserved, AtomOutcome, AtomStarted, Binding, GraphApplied, GraphEvent, GraphParked, GraphStopping,
    GraphWoken, JoinChecked, PlanAnswer, PlanAnswered, PlanAsked, PlanProposed, PlannerCharged, PlannerStarted,
    Proposer, ReviewAnswered, ReviewAsked, Salvage,
};
pub use moves::{GraphMove, next_moves};
pub use state::{AtomProgress, AtomRun, Bill, GraphState, MAX_REPLAN_DEPTH, PlanStanding, Review};
