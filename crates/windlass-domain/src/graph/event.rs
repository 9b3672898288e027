//! The records of a work graph.

use serde::{Deserialize, Serialize};

use super::bill::Bill;
use super::correction::Corrected;
use super::objective::Objective;
use crate::check::CheckResult;
use crate::digest::Digest;
use crate::event::events;
use crate::id::{CardId, TaskId};
use crate::labels::Labels;
use crate::plan::{AtomId, Item, Plan};
use crate::port::TreeId;
use crate::result::{Deliverable, ErrorCode, ErrorDetails};
use crate::role_output::VerifierReport;
use crate::taint::Taint;
use crate::usage::{UsageMetrics, Usd};

events! {
    #[expect(clippy::large_enum_variant, reason = "a plan is proposed a few times, and nobody holds many of its events")]
    pub enum GraphEvent {
        PlannerStarted(PlannerStarted) = "planner.started",
        ObjectiveAligned(Objective) = "objective.aligned",
        PlanProposed(PlanProposed) = "plan.proposed",
        PlanAsked(PlanAsked) = "plan.asked",
        PlanAnswered(PlanAnswered) = "plan.answered",
        AtomStarted(AtomStarted) = "atom.started",
        AttemptStarted(AttemptStarted) = "attempt.started",
        ConsultStarted(ConsultStarted) = "consult.started",
        AtomInterrupted(AtomInterrupted) = "atom.interrupted",
        ProbeStarted(ProbeStarted) = "probe.started",
        ProbeEnded(ProbeEnded) = "probe.ended",
        ChoiceSwitched(ChoiceSwitched) = "choice.switched",
        SplitStarted(SplitStarted) = "split.started",
        SplitEnded(SplitEnded) = "split.ended",
        SinksReopened(SinksReopened) = "sinks.reopened",
        ChangeSought(ChangeSought) = "change.sought",
        Rebased(GraphRebased) = "graph.rebased",
        Corrected(Corrected) = "graph.corrected",
        AtomEnded(AtomEnded) = "atom.ended",
        AtomObserved(AtomObserved) = "atom.observed",
        JoinChecked(JoinChecked) = "join.checked",
        ReviewAsked(ReviewAsked) = "review.asked",
        ReviewAnswered(ReviewAnswered) = "review.answered",
        Bringing(GraphBringing) = "graph.bringing",
        Applied(GraphApplied) = "graph.applied",
        PlannerCharged(PlannerCharged) = "planner.charged",
        HelpersDismissed(HelpersDismissed) = "helpers.dismissed",
        Stopping(GraphStopping) = "graph.stopping",
        Parked(GraphParked) = "graph.parked",
        Woken(GraphWoken) = "graph.woken",
    }
}

/// Somebody is to write revision `revision`. A revision that follows a failure is a re-plan, of which there are few.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannerStarted {
    pub revision: u32,
    pub run: TaskId,
    /// Why there is a new one; of the first there is no reason but the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    pub is_replan: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanProposed {
    pub revision: u32,
    pub by: Proposer,
    /// What it is based on: the workspace as it was, or the work that was kept of an earlier plan.
    pub base: TreeId,
    /// None: the planner found no way, and says why.
    pub plan: Result<Plan, ErrorDetails>,
    /// The document, where a planner wrote one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Digest>,
    /// Joined over everything whoever wrote it had read.
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
    /// What was done before, where a file says so that it is begun from.
    #[serde(default, skip_serializing_if = "Remembered::is_nothing")]
    pub remembered: Remembered,
}

/// What somebody says was done before any of it was known here. Nobody has checked it; the checks of the whole will.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    pub resolved: Vec<(AtomId, Binding)>,
    /// By group.
    pub selected: Vec<(AtomId, AtomId)>,
    pub failed: Vec<(AtomId, AtomId)>,
}

impl Remembered {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What thinking about the plan has cost: it is paid from the plan's own budget, not from that of any item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannerCharged {
    pub run: TaskId,
    pub usage: UsageMetrics,
    pub cost: Usd,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
}

/// Those who looked into something for a planner, or were asked for advice, and whom nobody waits for any more. What they used is
/// still to come: the whole does not end before it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelpersDismissed {
    pub runs: Vec<TaskId>,
}

/// Somebody cancelled it: all who work for it were told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphStopping {
    pub reason: String,
}

/// There is nothing to do until somebody ends or answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphParked {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphWoken {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proposer {
    User,
    Planner(TaskId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanAsked {
    pub revision: u32,
    pub card: CardId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanAnswered {
    pub revision: u32,
    pub answer: PlanAnswer,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanAnswer {
    Approved,
    Declined {
        reason: String,
    },
    /// It is to be written again, with this in mind.
    EditRequested {
        note: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomStarted {
    pub atom: AtomId,
    pub run: TaskId,
}

/// Another attempt of a run, the first of which began with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptStarted {
    pub atom: AtomId,
    pub run: TaskId,
}

/// A planner is asked what to do differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsultStarted {
    pub atom: AtomId,
    pub run: TaskId,
}

/// A run was cut short by something that was not its fault, and goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomInterrupted {
    pub atom: AtomId,
    pub run: TaskId,
}

/// Somebody looks whether an atom can be done. For `choice`, before it is tried instead of another, at its first atom's expense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeStarted {
    pub atom: AtomId,
    pub run: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<AtomId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeEnded {
    pub atom: AtomId,
    pub run: TaskId,
    pub report: ProbeReport,
    pub bill: Bill,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}

/// What somebody who only looked says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeReport {
    pub feasible: bool,
    pub findings: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_estimate: Option<String>,
}

/// A way has failed, and the next is taken. Whatever rested on it is open again, and its work is not part of all any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoiceSwitched {
    pub group: AtomId,
    pub failed: AtomId,
    pub because: String,
    /// Besides what rests on it: atoms whose work could not be had without that of the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AtomId>,
    /// Those who worked on any of it, and whom nobody waits for any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dismissed: Vec<TaskId>,
    /// What came in after the first of it and stays, as it is without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Merged>,
}

/// The work of all, with that of this atom as the last that came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    pub atom: AtomId,
    pub tip: TreeId,
}

/// Somebody looks for smaller parts of an atom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitStarted {
    pub atom: AtomId,
    pub run: TaskId,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitEnded {
    pub atom: AtomId,
    pub run: TaskId,
    /// None where there are no smaller parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Item>,
    pub reason: String,
    pub bill: Bill,
    /// Joined over everything whoever wrote the parts had read.
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}

/// The checks of what holds them failed on the work of all: those that decide what it comes to go on, and know what failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinksReopened {
    pub holder: AtomId,
    pub sinks: Vec<AtomId>,
    pub because: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AtomEnded {
    pub atom: AtomId,
    pub run: TaskId,
    pub outcome: AtomOutcome,
    pub attempts: u32,
    pub usage: UsageMetrics,
    pub cost: Usd,
    /// What it changed, by path, in any attempt: declared or not, it does not run beside others that do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// Whether its checks said so, and not only its agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
    /// Of its files as it left them, for all who work on top of it.
    #[serde(default, skip_serializing_if = "Labels::is_baseline")]
    pub labels: Labels,
    /// Of its binding.
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
    /// What attempts left that did not become part of the work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub salvaged: Vec<Salvage>,
}

impl AtomEnded {
    pub const fn bill(&self) -> Bill {
        Bill { usage: self.usage, cost: self.cost, unpriced: self.unpriced }
    }
}

/// What an attempt that failed had changed: nobody else begins on the same while the item is worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomObserved {
    pub atom: AtomId,
    pub run: TaskId,
    pub paths: Vec<String>,
}

/// Every way that the runtime has to go on is used up: a person decides whether there is another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewAsked {
    pub card: CardId,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewAnswered {
    /// One more plan may be written.
    pub granted: bool,
    /// What the person said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Work that was kept though nobody merged it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Salvage {
    pub attempt: u32,
    pub tree: TreeId,
    /// Where git has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_ref: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtomOutcome {
    /// Its checks passed on `tip`, the work of all with its own in it.
    Resolved {
        tip: TreeId,
        binding: Binding,
    },
    Failed(ErrorDetails),
}

impl AtomOutcome {
    /// Whoever worked on it was sent away, and had not failed.
    pub fn is_called_off(&self) -> bool {
        matches!(self, Self::Failed(error) if error.error_code == ErrorCode::Cancelled)
    }
}

/// What replaces a resolved atom for those who depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    pub summary: String,
    /// What it published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Deliverable>,
    /// The files of the work that its worker names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// The checks of an item that holds others, on all of their work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinChecked {
    pub atom: AtomId,
    pub tip: TreeId,
    pub results: Vec<CheckResult>,
    /// What that comes to. Whoever records it need not say so, and old records do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<VerifierReport>,
}

/// A planner looks for the change that somebody's words ask for. It is paid from what is there for planning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSought {
    pub run: TaskId,
}

/// What it begins with: the folder, where that was changed after it was agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphRebased {
    pub base: TreeId,
}

/// The user's folder is about to have this, or has some of it: from here on nobody may want something else of the work. None: nothing
/// of it could be brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphBringing {
    pub tip: Option<TreeId>,
}

/// The user's folder has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphApplied {
    pub tip: TreeId,
    pub changed: u64,
    /// Of what was changed, what other programs obey without being asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obeyed: Vec<String>,
}
