//! What smaller parts of an atom may be: less of the same. Whoever approved the atom has approved them with it, so that they
//! stay within what it touches, uses and is done by.

use std::collections::BTreeSet;

use super::state::GraphState;
use crate::plan::{AtomId, Item, skills, touches};
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
    // What was shown of it is what it says and what all that hold it say.
    let line = graph.work.line(atom);
    let (agreed, known) = (touches(&line), skills(&line));
    let mut names = BTreeSet::new();
    for child in children {
        let id = &child.id;
        if graph.work.find(id).is_some() || graph.work.group(id).is_some() || !names.insert(id) {
            return Err(Misfit::NameTaken(id.clone()));
        }
        if !child.tasks.is_empty() || child.any_of.is_some() {
            return Err(Misfit::NotSingle(id.clone()));
        }
        let is_touched = |path: &String| agreed.paths.iter().any(|around| is_below(path, around));
        let has_services = child.touches.services.iter().all(|service| agreed.services.contains(service));
        if !(agreed.paths.is_empty() || child.touches.paths.iter().all(is_touched)) || !has_services {
            return Err(Misfit::TouchesMore(id.clone()));
        }
        let has_skills = child.skills.iter().all(|skill| known.contains(&skill.as_str()));
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

#[cfg(test)]
mod tests {
    use super::super::event::{GraphEvent, PlanProposed, Proposer, Remembered};
    use super::*;
    use crate::budget::Budget;
    use crate::digest::Digest;
    use crate::plan::Plan;
    use crate::port::TreeId;
    use crate::taint::Taint;

    fn id(name: &str) -> AtomId {
        AtomId::parse(name).expect("a plain word")
    }

    fn item(name: &str) -> Item {
        let Plan(item) = Plan::of_one(id(name), name.to_owned(), "Do it.".to_owned());
        item
    }

    /// `a` in a project that touches `src` and the database, and names a skill.
    fn graph() -> GraphState {
        let mut project = Item { tasks: vec![item("a")], ..item("project") };
        project.touches.paths = vec!["src".to_owned()];
        project.touches.services = vec!["database".to_owned()];
        project.skills = vec!["tests".to_owned()];
        let plan = Ok(Plan(Item { tasks: vec![project], ..item("whole") }));
        let (by, base, taint) = (Proposer::User, TreeId(Digest::of(b"base")), Taint::Auth);
        let mut graph = GraphState::default();
        let proposed =
            PlanProposed { revision: 1, by, base, plan, document: None, taint, remembered: Remembered::default() };
        graph.apply(&GraphEvent::PlanProposed(proposed));
        graph
    }

    /// Two parts, the first of which is changed.
    fn check(change: impl FnOnce(&mut Item), expected: Result<(), Misfit>) {
        let budget = Budget { max_tokens: 1, max_cost_usd: Usd::ZERO, ..Budget::default() };
        let mut parts = ["one", "two"].map(|name| Item { budget: budget.clone(), ..item(name) });
        change(&mut parts[0]);
        assert_eq!(fits(&graph(), &id("a"), &parts), expected);
    }

    #[test]
    fn parts_stay_within_what_was_shown_of_the_item_and_of_what_holds_it() {
        check(|_| {}, Ok(()));
        check(|part| part.touches.paths = vec!["src/lib.rs".to_owned()], Ok(()));
        check(|part| part.touches.paths = vec!["docs".to_owned()], Err(Misfit::TouchesMore(id("one"))));
        check(|part| part.touches.services = vec!["database".to_owned()], Ok(()));
        check(|part| part.touches.services = vec!["mail".to_owned()], Err(Misfit::TouchesMore(id("one"))));
        check(|part| part.skills = vec!["tests".to_owned()], Ok(()));
        check(|part| part.skills = vec!["tarot".to_owned()], Err(Misfit::OtherMeans(id("one"))));
    }
}
