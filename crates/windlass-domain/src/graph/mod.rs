//! The work graph of a planned task: which of its items are done, which may begin, and what comes next. Each item that is worked
//! on is an atom, and a task of its own (`atom.started` names it), with its own attempts, checks and budget; the graph knows
//! of it only how it began and how it ended. The stream is `graph/<task>`; its records are written by whoever drives the planned
//! task, but for `atom.ended`, `plan.proposed` by a planner and `planner.charged`, which stand in the commit that ends the part's
//! own task, and `graph.woken`, which stands beside whatever wakes it.

mod apply;
mod bill;
mod chronicle;
mod conflict;
mod constraints;
mod correction;
mod decide;
mod event;
mod former;
mod moves;
mod objective;
mod passes;
mod replay;
mod split;
mod state;
mod work;

pub use bill::Bill;
pub use chronicle::{Chronicle, GivenUp, Taken, Why};
pub use conflict::conflicts;
pub use constraints::{Constraints, MAX_INTERRUPTIONS, MAX_PROBES};
pub use correction::{Addition, CannotCorrect, Change, Corrected, Redrawn, draw};
pub use decide::{Correction, GraphAction, GraphRejected, Switch, decide};
pub use event::{
    AtomEnded, AtomInterrupted, AtomObserved, AtomOutcome, AtomStarted, AttemptStarted, Binding, ChangeSought,
    ChoiceSwitched, ConsultStarted, GraphApplied, GraphBringing, GraphEvent, GraphParked, GraphRebased, GraphStopping,
    GraphWoken, HelpersDismissed, JoinChecked, Merged, PlanAnswer, PlanAnswered, PlanAsked, PlanProposed,
    PlannerCharged, PlannerStarted, ProbeEnded, ProbeReport, ProbeStarted, Proposer, Remembered, ReviewAnswered,
    ReviewAsked, Salvage, SinksReopened, SplitEnded, SplitStarted,
};
pub use former::{FormerPlans, Repeated};
pub use moves::{GraphMove, next_moves};
pub use objective::Objective;
pub use passes::Passes;
pub use replay::{Replay, Step};
pub use split::{Misfit, fits};
pub use state::{AtomProgress, AtomRun, GraphState, MAX_REPLAN_DEPTH, PlanStanding, Review};
pub use work::{Group, Left, Measure, Memory, Node, Rung, Standing, Turn, Work, bound};
