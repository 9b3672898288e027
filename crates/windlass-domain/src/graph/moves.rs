//! What is done next, from the graph alone. Several moves may be made at once; those who make them commit what came of each, and
//! ask again. Where there is none, something is being waited for, and nobody needs to be there.

use super::conflict::conflicts;
use super::event::ReviewAnswered;
use super::state::{AtomProgress, GraphState, PlanStanding};
use super::work::{Node, Rung, Standing};
use crate::plan::AtomId;
use crate::port::TreeId;
use crate::result::{ErrorCode, ErrorDetails};

#[derive(Debug, Clone, PartialEq)]
pub enum GraphMove {
    /// Have somebody write revision `revision`.
    StartPlanner {
        revision: u32,
        because: Option<String>,
        is_replan: bool,
    },
    /// Put the plan before a person.
    Ask {
        revision: u32,
    },
    StartAtom {
        atom: AtomId,
    },
    /// Have somebody look whether it can be done, for `choice` where that would be tried next.
    Probe {
        atom: AtomId,
        choice: Option<AtomId>,
    },
    /// Give up a way, and take the next.
    Switch {
        group: AtomId,
        failed: AtomId,
        because: String,
    },
    /// Have somebody look for smaller parts.
    Split {
        atom: AtomId,
        because: String,
    },
    Reopen {
        holder: AtomId,
        sinks: Vec<AtomId>,
    },
    CheckJoin {
        atom: AtomId,
        tip: TreeId,
    },
    /// What they do is not needed any more.
    Dismiss,
    /// Bring the work into the user's folder.
    Apply {
        from: TreeId,
        to: TreeId,
    },
    /// Ask a person whether there is another way.
    Escalate {
        why: String,
    },
    Complete,
    Fail(ErrorDetails),
    /// All who worked for it have stopped.
    Cancelled(String),
}

/// Every move that can be made now, of which at most `places` have somebody at work.
pub fn next_moves(graph: &GraphState, places: usize) -> Vec<GraphMove> {
    let mut moves = moves_of(graph, places);
    // The whole ends when everybody has left: what they used is part of what it came to.
    moves.retain(|next| graph.leaving.is_empty() || !next.is_end());
    moves
}

impl GraphMove {
    const fn is_end(&self) -> bool {
        matches!(self, Self::Complete | Self::Fail(_) | Self::Cancelled(_))
    }
}

fn moves_of(graph: &GraphState, places: usize) -> Vec<GraphMove> {
    if let Some(reason) = &graph.stopping {
        let is_at_rest = graph.running().is_empty();
        return is_at_rest.then(|| GraphMove::Cancelled(reason.clone())).into_iter().collect();
    }
    if let Some(review) = &graph.review {
        let given_up = |answer: &ReviewAnswered| {
            let note = if answer.note.is_empty() { "it was not given another try" } else { &answer.note };
            fail(ErrorCode::ChecksFailed, format!("{} ({note})", review.why))
        };
        return review.answer.iter().map(given_up).collect();
    }
    match &graph.standing {
        PlanStanding::Wanted => vec![GraphMove::StartPlanner { revision: 1, because: None, is_replan: false }],
        PlanStanding::BeingWritten(_) | PlanStanding::Asked(_) => Vec::new(),
        // Whoever agreed on it says when it begins.
        PlanStanding::Proposed if graph.is_aligned() => Vec::new(),
        PlanStanding::Proposed => vec![GraphMove::Ask { revision: graph.revision }],
        PlanStanding::SentBack { note } => {
            vec![GraphMove::StartPlanner {
                revision: graph.revision + 1,
                because: Some(note.clone()),
                is_replan: false,
            }]
        }
        PlanStanding::Declined { reason } => {
            vec![fail(ErrorCode::ApprovalDenied, format!("the plan was declined: {reason}"))]
        }
        PlanStanding::Impossible(error) => vec![GraphMove::Fail(error.clone())],
        PlanStanding::Approved => work(graph, places),
    }
}

fn work(graph: &GraphState, places: usize) -> Vec<GraphMove> {
    let (Some(base), Some(tip), Some(root)) = (graph.base, graph.tip, graph.work.root()) else { return Vec::new() };
    if graph.is_reached() {
        return vec![end(graph, base, tip)];
    }
    // What was agreed on may be reached with any change, and then nothing else is done.
    let is_looked_at = graph.checked.is_some_and(|(on, _)| on == tip);
    if graph.objective.is_some() && !root.item.verify.0.is_empty() && !is_looked_at {
        return vec![GraphMove::CheckJoin { atom: root.id().clone(), tip }];
    }
    let mut moves = checks(graph, tip);
    if graph.passes.are_used_up(graph.work.constraints(), !graph.running().is_empty()) {
        if moves.is_empty() && graph.running().is_empty() {
            let most = graph.passes.iteration;
            moves.push(fail(ErrorCode::MaxIterationsExceeded, format!("all {most} passes that it may make are made")));
        }
        return moves;
    }
    let next = climb(graph, places);
    // Going back changes what there is to do: it is looked at anew after that.
    if !next.is_empty() {
        return next;
    }
    moves.extend(starts(graph, places));
    if moves.is_empty() && graph.running().is_empty() && graph.leaving.is_empty() {
        moves.push(give_up(graph));
    }
    moves
}

/// All that was wanted is there.
fn end(graph: &GraphState, base: TreeId, tip: TreeId) -> GraphMove {
    if !graph.running().is_empty() {
        return GraphMove::Dismiss;
    }
    match stale(graph, tip) {
        Some(node) => GraphMove::CheckJoin { atom: node.id().clone(), tip },
        None if graph.applied == Some(tip) => GraphMove::Complete,
        None => GraphMove::Apply { from: base, to: tip },
    }
}

/// Something that is done and was checked before others changed the work, by checks that nobody has made on `tip`.
fn stale(graph: &GraphState, tip: TreeId) -> Option<&Node> {
    // An objective has checks of the whole.
    if graph.objective.is_some() {
        return None;
    }
    let nodes = graph.work.nodes();
    let made = nodes.iter().filter(|node| node.joined == Some((tip, true)));
    let is_made = |check| made.clone().any(|node| node.item.verify.0.contains(check));
    nodes.iter().find(|node| {
        let is_old = node.is_resolved() && node.joined.is_some_and(|(on, _)| on != tip);
        is_old && graph.work.is_needed(node.id()) && !node.item.verify.0.iter().all(is_made)
    })
}

fn checks(graph: &GraphState, tip: TreeId) -> Vec<GraphMove> {
    let is_due = |node: &&Node| node.joined.is_none_or(|(on, _)| on != tip);
    let due = graph.work.joining().find(is_due);
    due.map(|node| GraphMove::CheckJoin { atom: node.id().clone(), tip }).into_iter().collect()
}

/// What is tried where something failed, one thing at a time.
fn climb(graph: &GraphState, places: usize) -> Vec<GraphMove> {
    let is_stalled = graph.passes.is_stalled(graph.work.constraints());
    let stuck = graph.work.stuck().filter_map(|node| Some((node, graph.work.rung(node.id())?)));
    let unmet = graph.work.unmet().filter(|node| node.joined.is_some_and(|(on, _)| Some(on) == graph.tip));
    let unmet = unmet.filter_map(|node| Some((node, graph.work.rung_of_join(node.id(), is_stalled)?)));
    let has_place = graph.work.busy().count() < places;
    let next = stuck.chain(unmet).find_map(|(node, rung)| match rung {
        Rung::Wait => None,
        Rung::Probe { choice, atom, .. } => has_place.then_some(GraphMove::Probe { atom, choice: Some(choice) }),
        Rung::Switch { group, failed, .. } => Some(GraphMove::Switch { group, failed, because: told(graph, node) }),
        // Each may use all that is left for planning.
        Rung::Split { .. } if graph.work.busy().any(|node| matches!(node.standing, Standing::Splitting(_))) => None,
        Rung::Split { atom } => has_place.then(|| GraphMove::Split { atom, because: told(graph, node) }),
        Rung::Reopen { holder, sinks } => Some(GraphMove::Reopen { holder, sinks }),
    });
    next.into_iter().collect()
}

/// Those that are in nobody's way, as many as there are places.
fn starts(graph: &GraphState, places: usize) -> Vec<GraphMove> {
    let mut busy: Vec<_> = graph.work.busy().map(|node| graph.touches(&node.item)).collect();
    let mut moves = Vec::new();
    for node in graph.work.ready() {
        if busy.len() >= places {
            break;
        }
        // What they have used is not known before they have left.
        if graph.is_being_left(node.id()) {
            continue;
        }
        let touches = graph.touches(&node.item);
        if busy.iter().any(|other| conflicts(&touches, other)) {
            continue;
        }
        busy.push(touches);
        let atom = node.id().clone();
        let looks_first = node.item.probe && node.probed.is_none() && node.left.probes > 0;
        moves.push(if looks_first { GraphMove::Probe { atom, choice: None } } else { GraphMove::StartAtom { atom } });
    }
    moves
}

/// Nothing runs, nothing can begin, and not all is done: another plan, or the end.
fn give_up(graph: &GraphState) -> GraphMove {
    let failed: Vec<&Node> = graph.work.stuck().chain(graph.work.unmet()).collect();
    let named: Vec<&str> = failed.iter().map(|node| node.id().as_str()).collect();
    let told: Vec<String> = failed.iter().map(|node| told(graph, node)).collect();
    let (named, told) = match failed.is_empty() {
        true => ("nothing in it can begin, and it".to_owned(), vec!["nothing in the plan can begin".to_owned()]),
        false => (named.join(", "), told),
    };
    if graph.replans_left() == 0 {
        return GraphMove::Escalate { why: format!("{named} failed, and no plan is left to try: {}", told.join("; ")) };
    }
    GraphMove::StartPlanner { revision: graph.revision + 1, because: Some(told.join("\n")), is_replan: true }
}

fn told(graph: &GraphState, node: &Node) -> String {
    let progress = graph.progress(node.id());
    if let Some(error) = progress.and_then(AtomProgress::failure) {
        return format!("{}: {}", node.id(), error.message);
    }
    match progress.and_then(|progress| progress.findings.as_ref()).filter(|report| !report.feasible) {
        Some(report) => format!("{}: it cannot be done: {}", node.id(), report.findings),
        None if node.is_leaf() && node.joined.is_none_or(|(_, passed)| passed) => {
            format!("{}: it could not be done, nor in smaller parts", node.id())
        }
        None if node.is_leaf() => {
            format!("{}: its checks passed, and fail since others have done their work", node.id())
        }
        None => format!("{}: its checks fail on the work of all of its parts", node.id()),
    }
}

fn fail(code: ErrorCode, message: String) -> GraphMove {
    GraphMove::Fail(ErrorDetails::new(code, message))
}
