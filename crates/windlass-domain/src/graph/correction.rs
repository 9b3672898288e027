//! Redirecting (seed 004 §3.4, contracts §7): a person changes what was agreed on, the graph, its limits, or what an atom came to. What
//! that touches is open again with everything it may use, and its work is taken out; the rest stays as it is. Nothing but this
//! gives a graph more than it had.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::constraints::Constraints;
use super::event::Merged;
use super::objective::Objective;
use super::state::GraphState;
use super::work::{Memory, Need, Turn, Work};
use crate::check::BaseCase;
use crate::id::{CardId, TaskId};
use crate::plan::{AtomId, Item, ItemKind, Plan};
use crate::taint::Taint;
use crate::time::Wall;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Corrected {
    pub at: Wall,
    /// What the person meant, in a sentence.
    pub description: String,
    pub change: Change,
    pub trail_cleared: bool,
    /// Those who were at work, and whom nobody waits for any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dismissed: Vec<TaskId>,
    /// What came in after the first of what goes and stays, as it is without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Merged>,
    /// Besides what it touches: atoms whose work could not be had without that of the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AtomId>,
    /// The approval that the work is done under from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<CardId>,
    /// Of what an agent had read that worked it out, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taint: Option<Taint>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Change {
    /// What was agreed on: past choices were made for something else.
    #[serde(rename = "objective_change")]
    Objective { objective: Box<Objective> },
    #[serde(rename = "dag_adjustment")]
    Graph {
        #[serde(default)]
        add: Vec<Addition>,
        #[serde(default)]
        drop: Vec<AtomId>,
        /// By group.
        #[serde(default)]
        select: Vec<(AtomId, AtomId)>,
    },
    #[serde(rename = "constraint_change")]
    Constraints { constraints: Constraints },
    /// What an atom came to, in other words.
    #[serde(rename = "bindings_override")]
    Binding { atom: AtomId, summary: String },
}

/// A new atom, and what is to hold it; none for the whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Addition {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<AtomId>,
    pub item: Item,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotCorrect {
    #[error("there is no atom `{0}`")]
    NoSuchAtom(AtomId),
    #[error("there is no group `{0}`")]
    NoSuchGroup(AtomId),
    #[error("`{choice}` is none of the choices of `{group}`")]
    NoSuchChoice { group: AtomId, choice: AtomId },
    #[error("`{0}` is the id of another atom: choose one that none has")]
    NameTaken(AtomId),
    #[error("`{by}` waits for `{atom}`: drop that as well, or change it first")]
    StillNeeded { atom: AtomId, by: AtomId },
    #[error("`{atom}` waits for `{named}`, which there is not or which comes after it")]
    WaitsForNothing { atom: AtomId, named: AtomId },
    #[error("without `{0}` its group leaves no choice: drop all choices of the group, or leave two")]
    NoChoiceLeft(AtomId),
    #[error("`{0}` holds nothing: name an atom that has parts, or none for the whole")]
    HoldsNothing(AtomId),
    #[error("`{0}` is not done: there is nothing to say otherwise")]
    NotResolved(AtomId),
    #[error("the whole cannot be dropped; stop it instead")]
    TheWhole,
    #[error("a machine must be able to tell when it is done: give it at least one check")]
    NoCheck,
    #[error("the goal is empty: say what is to be reached")]
    NoGoal,
    #[error("of {0} passes that it may make, as many are made: allow more, or stop it")]
    NoPassLeft(u32),
    #[error("there may be no more than {0} atoms in all")]
    TooMany(u32),
    #[error("nothing would be left to do: keep at least one atom, or stop it instead")]
    NothingLeft,
    #[error("`{0}` leaves no choice: name at least two, or make it no group")]
    OneChoice(AtomId),
    #[error("these would wait for each other for ever: {}; leave out what one of them waits for", way(.0))]
    Circle(Vec<AtomId>),
    #[error(
        "`{choice}` would be a choice of `{group}`, whose choices stand in `{holder}`: add it there, or to another group"
    )]
    ChoiceElsewhere { choice: AtomId, group: AtomId, holder: AtomId },
    #[error("it is so already: nothing would be different")]
    SoAlready,
    #[error("there is nothing to change yet")]
    NoGraph,
}

/// What a change comes to.
pub struct Redrawn {
    pub plan: Plan,
    pub(super) memory: Memory,
    pub objective: Option<Objective>,
    /// Atoms whose work does not count any more.
    pub undone: BTreeSet<AtomId>,
    pub trail_cleared: bool,
}

fn way(names: &[AtomId]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" → ")
}

/// What may be asked for now: whatever can be redrawn, if nothing in it waits for itself.
pub fn draw(graph: &GraphState, change: &Change, also: &[AtomId]) -> Result<Redrawn, CannotCorrect> {
    let is_so = match (change, &graph.objective) {
        (Change::Objective { objective }, Some(agreed)) => **objective == *agreed,
        (Change::Constraints { constraints }, Some(agreed)) => *constraints == agreed.constraints,
        _ => false,
    };
    if is_so {
        return Err(CannotCorrect::SoAlready);
    }
    let redrawn = redraw(graph, change, also)?;
    // Whoever goes on with it makes a pass.
    let most = redrawn.objective.as_ref().and_then(|agreed| agreed.constraints.max_iterations);
    if let Some(most) = most.filter(|most| *most <= graph.passes.iteration) {
        return Err(CannotCorrect::NoPassLeft(most));
    }
    if let Change::Graph { add, .. } = change {
        add.iter().try_for_each(|addition| redrawn.joins_its_group(addition))?;
        if let Some(circle) = Work::sown(&redrawn.plan, graph.constraints()).circle() {
            return Err(CannotCorrect::Circle(circle));
        }
    }
    Ok(redrawn)
}

/// With `also`, whose work cannot be had without what goes. What was once taken is redrawn for ever, hence no rule that came later is here.
pub(super) fn redraw(graph: &GraphState, change: &Change, also: &[AtomId]) -> Result<Redrawn, CannotCorrect> {
    let work = &graph.work;
    let plan = work.plan().ok_or(CannotCorrect::NoGraph)?;
    let memory = renewed(work);
    let objective = graph.objective.clone();
    let mut redrawn = Redrawn { plan, memory, objective, undone: BTreeSet::new(), trail_cleared: false };
    match change {
        Change::Objective { objective } => {
            if objective.base_case.0.is_empty() {
                return Err(CannotCorrect::NoCheck);
            }
            if objective.goal.trim().is_empty() {
                return Err(CannotCorrect::NoGoal);
            }
            redrawn.aim_at(objective);
            let groups = work.groups().iter().map(|group| group.id.clone());
            redrawn.unsettle(work, groups.collect());
            redrawn.trail_cleared = true;
        }
        Change::Constraints { constraints } => {
            if let Some(most) = constraints.max_iterations.filter(|most| *most <= graph.passes.iteration) {
                return Err(CannotCorrect::NoPassLeft(most));
            }
            redrawn.objective =
                redrawn.objective.map(|agreed| Objective { constraints: constraints.clone(), ..agreed });
        }
        Change::Binding { atom, .. } => {
            let at = work.at(atom).ok_or_else(|| CannotCorrect::NoSuchAtom(atom.clone()))?;
            if !work.nodes()[at].is_resolved() {
                return Err(CannotCorrect::NotResolved(atom.clone()));
            }
            let undone: BTreeSet<AtomId> = work.named(work.rests_on(Need::Atom(at)));
            // Choices that were made after it were made for what it came to then.
            let groups = work.groups_of(&undone);
            redrawn.undone.extend(undone);
            redrawn.trail_cleared = !groups.is_empty();
            redrawn.unsettle(work, groups);
        }
        Change::Graph { add, drop, select } => {
            for atom in drop {
                redrawn.drop(work, atom, drop)?;
            }
            for addition in add {
                redrawn.add(work, addition)?;
            }
            for (group, choice) in select {
                redrawn.select(work, group, choice)?;
            }
            redrawn.every_group_has_choices(add)?;
        }
    }
    for at in also.iter().filter_map(|atom| work.at(atom)) {
        redrawn.undone.insert(work.nodes()[at].id().clone());
        redrawn.undone.extend(work.named(work.rests_on(Need::Atom(at))));
    }
    let most = redrawn.objective.as_ref().map_or(u32::MAX, |agreed| agreed.constraints.max_atoms);
    if graph.former_atoms as usize + redrawn.plan.0.all().len() > most as usize {
        return Err(CannotCorrect::TooMany(most));
    }
    if redrawn.plan.0.tasks.is_empty() {
        return Err(CannotCorrect::NothingLeft);
    }
    let undone = &redrawn.undone;
    // Whatever was there, the whole is looked at again.
    let whole = &redrawn.plan.0.id;
    redrawn.memory.resolved.retain(|atom| atom != whole && !undone.contains(atom));
    for node in undone.iter().filter_map(|atom| work.find(atom)) {
        redrawn.memory.left.insert(node.id().clone(), Work::full(&node.item, node.left.splits));
    }
    Ok(redrawn)
}

/// What it remembers, with everything that what is not done may use.
fn renewed(work: &Work) -> Memory {
    let mut memory = work.memory();
    for node in work.nodes().iter().filter(|node| !node.is_resolved()) {
        memory.left.insert(node.id().clone(), Work::full(&node.item, node.left.splits));
    }
    memory
}

impl Redrawn {
    /// Whoever works on it from here on is told of this, and held to it.
    fn aim_at(&mut self, objective: &Objective) {
        let root = &mut self.plan.0;
        let former = std::mem::replace(&mut root.verify, objective.base_case.clone());
        hold_to(root, &former, &objective.base_case);
        root.title = objective.title();
        root.briefing.context = objective.context();
        if let Some(before) = &self.objective {
            // One atom for all of it says what the goal says.
            for part in root.tasks.iter_mut().filter(|part| part.briefing.what_to_do == before.goal) {
                part.title = objective.title();
                part.briefing.what_to_do.clone_from(&objective.goal);
            }
        }
        self.objective = Some(objective.clone());
    }

    /// The choices of these groups are open again, and whatever rests on them.
    fn unsettle(&mut self, work: &Work, mut groups: BTreeSet<AtomId>) {
        for group in groups.clone() {
            let under = work.under(&group);
            // Those inside of its choices too.
            groups.extend(work.groups_of(&under).into_iter().filter(|inner| work.is_within(inner, &group)));
            self.undone.extend(under);
        }
        self.memory.selected.retain(|(group, _)| !groups.contains(group));
        self.memory.failed.retain(|(group, _)| !groups.contains(group));
        self.memory.trail.retain(|turn| !groups.contains(&turn.group));
    }

    fn every_group_has_choices(&self, add: &[Addition]) -> Result<(), CannotCorrect> {
        let items = self.plan.0.all();
        for group in add.iter().filter_map(|addition| addition.item.any_of.as_ref()) {
            if items.iter().filter(|item| item.any_of.as_ref() == Some(group)).count() < 2 {
                return Err(CannotCorrect::OneChoice(group.clone()));
            }
        }
        Ok(())
    }

    /// The choices of a group stand in one list, under a name that no atom has.
    fn joins_its_group(&self, addition: &Addition) -> Result<(), CannotCorrect> {
        let Some(group) = &addition.item.any_of else { return Ok(()) };
        let items = self.plan.0.all();
        if items.iter().any(|item| item.id == *group) {
            return Err(CannotCorrect::NameTaken(group.clone()));
        }
        let to = addition.to.as_ref().unwrap_or(&self.plan.0.id);
        let has_choice = |holder: &&&Item| holder.tasks.iter().any(|part| part.any_of.as_ref() == Some(group));
        match items.iter().filter(has_choice).find(|holder| holder.id != *to) {
            Some(holder) => {
                let (choice, group, holder) = (addition.item.id.clone(), group.clone(), holder.id.clone());
                Err(CannotCorrect::ChoiceElsewhere { choice, group, holder })
            }
            None => Ok(()),
        }
    }

    fn select(&mut self, work: &Work, group: &AtomId, choice: &AtomId) -> Result<(), CannotCorrect> {
        if work.group(group).is_none() {
            return Err(CannotCorrect::NoSuchGroup(group.clone()));
        }
        let is_choice = work.item(choice).is_some_and(|item| item.any_of.as_ref() == Some(group));
        if !is_choice {
            return Err(CannotCorrect::NoSuchChoice { group: group.clone(), choice: choice.clone() });
        }
        let is_so_already = self.memory.selected.contains(&(group.clone(), choice.clone()));
        if !is_so_already {
            let failed: Vec<_> =
                self.memory.failed.iter().filter(|(of, other)| of == group && other != choice).cloned().collect();
            self.unsettle(work, BTreeSet::from([group.clone()]));
            self.memory.failed.extend(failed);
            self.memory.selected.push((group.clone(), choice.clone()));
            self.memory.trail.push(Turn { group: group.clone(), choice: choice.clone() });
        }
        Ok(())
    }

    fn drop(&mut self, work: &Work, atom: &AtomId, also: &[AtomId]) -> Result<(), CannotCorrect> {
        let at = work.at(atom).ok_or_else(|| CannotCorrect::NoSuchAtom(atom.clone()))?;
        if at == 0 {
            return Err(CannotCorrect::TheWhole);
        }
        let inside = work.named(work.inside(at));
        let is_dropped = |id: &AtomId| inside.contains(id) || also.contains(id);
        let group = work.item(atom).and_then(|item| item.any_of.clone());
        // With the last of its choices a group goes.
        let goes = |named: &AtomId| {
            let stays = |item: &&Item| item.any_of.as_ref() == Some(named) && !is_dropped(&item.id);
            inside.contains(named) || (group.as_ref() == Some(named) && !self.plan.0.all().iter().any(stays))
        };
        let waits = |item: &&Item| !is_dropped(&item.id) && item.depends_on.iter().any(goes);
        if let Some(by) = self.plan.0.all().into_iter().find(waits) {
            return Err(CannotCorrect::StillNeeded { atom: atom.clone(), by: by.id.clone() });
        }
        if let Some(group) = group {
            let others = self
                .plan
                .0
                .all()
                .into_iter()
                .filter(|item| item.any_of.as_ref() == Some(&group) && !is_dropped(&item.id));
            if others.count() == 1 {
                return Err(CannotCorrect::NoChoiceLeft(atom.clone()));
            }
            // A way that was not taken is missed by nobody.
            if self.memory.selected.contains(&(group.clone(), atom.clone())) {
                let failed: Vec<_> = self.memory.failed.iter().filter(|(of, _)| *of == group).cloned().collect();
                self.unsettle(work, BTreeSet::from([group]));
                self.memory.failed.extend(failed);
            }
            self.memory.failed.retain(|(_, choice)| choice != atom);
        }
        // What held it is another whole without it.
        self.memory.resolved.retain(|done| !work.line(atom).iter().any(|around| around.id == *done));
        self.undone.extend(inside);
        remove(&mut self.plan.0, atom);
        Ok(())
    }

    fn add(&mut self, work: &Work, addition: &Addition) -> Result<(), CannotCorrect> {
        let Addition { to, item } = addition;
        let known: BTreeSet<AtomId> = self.plan.0.all().into_iter().map(|item| item.id.clone()).collect();
        let is_group = |name: &AtomId| self.plan.0.all().iter().any(|item| item.any_of.as_ref() == Some(name));
        for new in item.all() {
            if known.contains(&new.id) || work.find(&new.id).is_some() || is_group(&new.id) {
                return Err(CannotCorrect::NameTaken(new.id.clone()));
            }
        }
        let mut before = BTreeSet::new();
        for new in item.all() {
            let is_there = |named: &&AtomId| known.contains(*named) || before.contains(*named) || is_group(named);
            if let Some(named) = new.depends_on.iter().find(|named| !is_there(named)) {
                return Err(CannotCorrect::WaitsForNothing { atom: new.id.clone(), named: named.clone() });
            }
            before.insert(&new.id);
        }
        let root = self.plan.0.id.clone();
        let to = to.clone().unwrap_or(root);
        let holder = find_mut(&mut self.plan.0, &to).ok_or_else(|| CannotCorrect::NoSuchAtom(to.clone()))?;
        if holder.kind != ItemKind::Project && holder.tasks.is_empty() {
            return Err(CannotCorrect::HoldsNothing(to));
        }
        holder.tasks.push(item.clone());
        // What holds it is not done any more, and waits for it.
        self.memory.resolved.retain(|done| !work.line(&to).iter().any(|around| around.id == *done));
        Ok(())
    }
}

/// What was held to the checks of the whole is held to the new ones.
fn hold_to(item: &mut Item, former: &BaseCase, checks: &BaseCase) {
    for part in &mut item.tasks {
        if part.verify == *former {
            part.verify = checks.clone();
        }
        hold_to(part, former, checks);
    }
}

fn remove(item: &mut Item, atom: &AtomId) {
    item.tasks.retain(|part| part.id != *atom);
    item.tasks.iter_mut().for_each(|part| remove(part, atom));
}

fn find_mut<'a>(item: &'a mut Item, atom: &AtomId) -> Option<&'a mut Item> {
    if item.id == *atom {
        return Some(item);
    }
    item.tasks.iter_mut().find_map(|part| find_mut(part, atom))
}
