//! What smaller parts of an atom may be: less of the same. Whoever approved the atom has approved them with it, so that they
//! stay within what it touches, uses and is done by.

use std::collections::BTreeSet;

use super::state::GraphState;
use crate::plan::{AtomId, Item};
use crate::usage::Usd;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    #[error("an item is split into two or more")]
    OnlyOne,
    #[error("{0} is the id of another item: choose one that no item of the plan has")]
    NameTaken(AtomId),
    #[error("{0} holds others or is a choice: parts are single items that all have to be done")]
    NotSingle(AtomId),
    #[error("{part} waits for {named}, which is none of the parts")]
    WaitsForOthers { part: AtomId, named: AtomId },
    #[error("the parts wait for each other in a circle")]
    Circle,
    #[error("{0} touches more than the item that it is a part of")]
    TouchesMore(AtomId),
    #[error("{0} has an agent, skills or gates that the item that it is a part of does not have")]
    OtherMeans(AtomId),
    #[error("together they may use more than is left of the item: {tokens} tokens and {cost_usd}")]
    CostsMore { tokens: u64, cost_usd: Usd },
    #[error("there may be no more than {0} more items")]
    TooMany(usize),
}

/// Whether `atom` may be replaced by these. None is a good answer: there are no smaller parts.
pub fn fits(graph: &GraphState, atom: &AtomId, children: &[Item]) -> Result<(), Misfit> {
    let Some(parent) = graph.work.item(atom).filter(|_| !children.is_empty()) else { return Ok(()) };
    if children.len() < 2 {
        return Err(Misfit::OnlyOne);
    }
    if children.len() > graph.work.atoms_left() {
        return Err(Misfit::TooMany(graph.work.atoms_left()));
    }
    let mut names = BTreeSet::new();
    for child in children {
        let id = &child.id;
        if graph.work.find(id).is_some() || graph.work.group(id).is_some() || !names.insert(id) {
            return Err(Misfit::NameTaken(id.clone()));
        }
        if !child.tasks.is_empty() || child.any_of.is_some() {
            return Err(Misfit::NotSingle(id.clone()));
        }
        let is_touched = |path: &String| parent.touches.paths.iter().any(|around| is_below(path, around));
        let has_services = child.touches.services.iter().all(|service| parent.touches.services.contains(service));
        if !(parent.touches.paths.is_empty() || child.touches.paths.iter().all(is_touched)) || !has_services {
            return Err(Misfit::TouchesMore(id.clone()));
        }
        let has_skills = child.skills.iter().all(|skill| parent.skills.contains(skill));
        if child.agent != parent.agent || !has_skills || !child.gates.is_empty() {
            return Err(Misfit::OtherMeans(id.clone()));
        }
    }
    order(children, &names)?;
    let (tokens, cost_usd) = graph.left_of(parent);
    let all_tokens = children.iter().fold(0_u64, |sum, child| sum.saturating_add(child.budget.max_tokens));
    let all_cost = children.iter().fold(Usd::ZERO, |sum, child| sum.plus(child.budget.max_cost_usd));
    if all_tokens > tokens || all_cost > cost_usd {
        return Err(Misfit::CostsMore { tokens, cost_usd });
    }
    Ok(())
}

fn is_below(path: &str, around: &str) -> bool {
    path.strip_prefix(around).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// They wait for each other only, and some order of them works.
fn order(children: &[Item], names: &BTreeSet<&AtomId>) -> Result<(), Misfit> {
    for child in children {
        if let Some(named) = child.depends_on.iter().find(|named| !names.contains(named)) {
            return Err(Misfit::WaitsForOthers { part: child.id.clone(), named: named.clone() });
        }
    }
    let mut done: BTreeSet<&AtomId> = BTreeSet::new();
    loop {
        let next = children
            .iter()
            .find(|child| !done.contains(&child.id) && child.depends_on.iter().all(|named| done.contains(named)));
        match next {
            Some(child) => done.insert(&child.id),
            None if done.len() == children.len() => return Ok(()),
            None => return Err(Misfit::Circle),
        };
    }
}
