//! What a planned task does next, from its graph alone. Several moves may be made at once; those who make them commit what came
//! of each, and ask again. Where there is none, something is being waited for, and nobody needs to be there.

use std::collections::BTreeSet;

use super::conflict::conflicts;
use super::event::ReviewAnswered;
use super::state::{AtomProgress, GraphState, PlanStanding};
use crate::plan::{AtomId, Item, Plan};
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
    CheckJoin {
        atom: AtomId,
        tip: TreeId,
    },
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

/// Every move that can be made now, of which at most `places` begin work on an atom.
pub fn next_moves(graph: &GraphState, places: usize) -> Vec<GraphMove> {
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
    let Some(Plan(root)) = &graph.plan else { return Vec::new() };
    let (Some(base), Some(tip)) = (graph.base, graph.tip) else { return Vec::new() };
    if graph.is_resolved(root) {
        return vec![match graph.applied {
            Some(applied) if applied == tip => GraphMove::Complete,
            _ => GraphMove::Apply { from: base, to: tip },
        }];
    }
    let walk = Walk::of(graph, root);
    let mut moves: Vec<GraphMove> =
        walk.startable(places).map(|item| GraphMove::StartAtom { atom: item.id.clone() }).collect();
    moves.extend(walk.joins(tip));
    if moves.is_empty() && walk.running.is_empty() {
        moves.push(walk.give_up());
    }
    moves
}

/// The items that are needed and can be worked on, in the order of the document.
struct Walk<'a> {
    graph: &'a GraphState,
    open: Vec<&'a Item>,
    joining: Vec<&'a Item>,
    running: Vec<&'a Item>,
    failed: Vec<&'a Item>,
}

impl<'a> Walk<'a> {
    fn of(graph: &'a GraphState, root: &'a Item) -> Self {
        let mut walk = Self { graph, open: Vec::new(), joining: Vec::new(), running: Vec::new(), failed: Vec::new() };
        walk.enter(root, &[]);
        walk
    }

    /// `before` is what everything in here waits for.
    fn enter(&mut self, item: &'a Item, before: &[&'a AtomId]) {
        if self.graph.is_resolved(item) {
            return;
        }
        let before: Vec<&AtomId> = before.iter().copied().chain(&item.depends_on).collect();
        let progress = self.graph.progress(&item.id);
        if item.tasks.is_empty() {
            match progress {
                Some(progress) if progress.running().is_some() => self.running.push(item),
                Some(progress) if progress.failure().is_some() => self.failed.push(item),
                _ if before.iter().all(|name| self.is_done(name)) => self.open.push(item),
                _ => {}
            }
            return;
        }
        for part in &item.tasks {
            if self.is_needed(part, item) {
                self.enter(part, &before);
            }
        }
        if self.graph.are_parts_resolved(item) {
            match progress.and_then(|progress| progress.joined) {
                Some((tip, false)) if Some(tip) == self.graph.tip => self.failed.push(item),
                _ => self.joining.push(item),
            }
        }
    }

    /// Of a group, the first choice that has not failed, as long as none is resolved.
    fn is_needed(&self, part: &Item, holder: &Item) -> bool {
        let Some(group) = &part.any_of else { return true };
        let mut choices = holder.tasks.iter().filter(|choice| choice.any_of.as_ref() == Some(group));
        let chosen = choices
            .clone()
            .find(|choice| self.graph.is_resolved(choice))
            .or_else(|| choices.find(|choice| !self.has_failed(choice)));
        chosen.is_some_and(|chosen| chosen.id == part.id)
    }

    fn has_failed(&self, item: &Item) -> bool {
        let here = self.graph.progress(&item.id).is_some_and(|progress| progress.failure().is_some());
        here || item.tasks.iter().any(|part| part.any_of.is_none() && self.has_failed(part))
    }

    /// An item by its id, or a group by its name; a choice means its group.
    fn is_done(&self, name: &AtomId) -> bool {
        let items = self.graph.items();
        let group = items.iter().find(|item| item.id == *name).map_or(Some(name), |item| item.any_of.as_ref());
        match group {
            Some(group) => items.iter().any(|item| item.any_of.as_ref() == Some(group) && self.graph.is_resolved(item)),
            None => items.iter().any(|item| item.id == *name && self.graph.is_resolved(item)),
        }
    }

    /// Those that are in nobody's way, as many as there are places.
    fn startable(&self, places: usize) -> impl Iterator<Item = &'a Item> {
        let mut busy: Vec<&Item> = self.running.clone();
        let mut chosen = Vec::new();
        for item in &self.open {
            let touches = self.graph.touches(item);
            let is_free = busy.iter().all(|other| !conflicts(&touches, &self.graph.touches(other)));
            if busy.len() < places && is_free {
                busy.push(item);
                chosen.push(*item);
            }
        }
        chosen.into_iter()
    }

    /// Checks over the work of others run while nobody changes it.
    fn joins(&self, tip: TreeId) -> Option<GraphMove> {
        let item = self.joining.first().filter(|_| self.running.is_empty())?;
        Some(GraphMove::CheckJoin { atom: item.id.clone(), tip })
    }

    /// Nothing runs, nothing can begin, and not all is done: another plan, or the end.
    fn give_up(&self) -> GraphMove {
        let named: BTreeSet<&str> = self.failed.iter().map(|item| item.id.as_str()).collect();
        let named = named.into_iter().collect::<Vec<_>>().join(", ");
        let told: Vec<String> = self.failed.iter().map(|item| self.told(item)).collect();
        if self.graph.replans_left() == 0 {
            return GraphMove::Escalate {
                why: format!("{named} failed, and no plan is left to try: {}", told.join("; ")),
            };
        }
        GraphMove::StartPlanner { revision: self.graph.revision + 1, because: Some(told.join("\n")), is_replan: true }
    }

    fn told(&self, item: &Item) -> String {
        let progress = self.graph.progress(&item.id);
        match progress.and_then(AtomProgress::failure) {
            Some(error) => format!("{}: {}", item.id, error.message),
            None => format!("{}: its checks fail on the work of all of its parts", item.id),
        }
    }
}

fn fail(code: ErrorCode, message: String) -> GraphMove {
    GraphMove::Fail(ErrorDetails::new(code, message))
}
