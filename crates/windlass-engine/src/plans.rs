//! Plan documents with everything they hold: `windlass-plan` reads them, their gates are held against the law's own reader, and whom
//! and what they name against what there is.

use std::sync::Arc;

use windlass_domain::graph::{Constraints, Objective};
use windlass_domain::pattern::Pattern;
use windlass_domain::plan::{Item, ItemKind, Plan};
use windlass_domain::task::{Part, TaskCreated};
use windlass_domain::{BaseCase, SkillSeen};
use windlass_plan::{ObjectiveFile, Problems, parse_objective, parse_plan};
use windlass_policy::{MARKER, Redactor};

use crate::engine::Shared;
use crate::gates::read_own_gate;

/// What a planner is to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    Plan,
    /// What is wanted, and the graph to work through.
    Objective,
}

/// What is to be written, and whom and what it may name.
#[derive(Clone, Copy)]
pub struct There<'a> {
    pub writes: Writes,
    pub skills: &'a [SkillSeen],
    pub patterns: &'a [Arc<Pattern>],
    /// None: anybody.
    pub agents: Option<&'a [String]>,
    /// What it takes out of a plan is not there for a check to use.
    pub redactor: &'a Redactor,
}

impl<'a> There<'a> {
    /// As it was when a task was taken in.
    pub fn of(created: &'a TaskCreated, shared: &'a Shared) -> Self {
        let patterns = &created.command.execution_config.patterns;
        let (agents, redactor) = (shared.law.agents.as_deref(), &shared.redactor);
        let writes = match created.part_of.as_ref().map(|of| &of.part) {
            Some(Part::Plan { aligns: true, .. }) => Writes::Objective,
            _ => Writes::Plan,
        };
        Self { writes, skills: &created.skills, patterns, agents, redactor }
    }
}

/// What a planner wrote, as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub plan: Plan,
    pub objective: Option<Objective>,
}

pub fn read_written(document: &str, writes: Writes) -> Result<Written, Problems> {
    match writes {
        Writes::Plan => read_plan(document).map(|plan| Written { plan, objective: None }),
        Writes::Objective => {
            let ObjectiveFile { plan, objective, .. } = parse_objective(document)?;
            Ok(Written { plan, objective: Some(objective) })
        }
    }
}

/// Why what can be read cannot be carried out here, a sentence for each reason.
pub fn unfit_written(written: &Written, there: There<'_>) -> Vec<String> {
    let telling = |agreed: &Objective| {
        let checks = &agreed.base_case;
        (holds_secret(there.redactor, checks) || lost_secret(checks)).then(|| {
            "`base_case` holds what looks like a credential: have the command read it from a file instead".to_owned()
        })
    };
    let mut reasons = unfit(&written.plan, there);
    reasons.extend(written.objective.as_ref().and_then(telling));
    reasons.extend(written.objective.as_ref().and_then(|agreed| too_large(&written.plan, &agreed.constraints)));
    reasons
}

/// Why a graph cannot be within the limits that were agreed on.
pub fn too_large(Plan(root): &Plan, limits: &Constraints) -> Option<String> {
    let items = root.all();
    let choices = items.iter().filter(|item| item.any_of.is_some()).count();
    let (most_atoms, most_choices) = (limits.max_atoms, limits.max_choices);
    if items.len() > most_atoms as usize {
        let atoms = items.len();
        return Some(format!("it has {atoms} atoms with what holds them all, and `max_atoms` is {most_atoms}"));
    }
    (choices > most_choices as usize).then(|| format!("it has {choices} choices, and `max_choices` is {most_choices}"))
}

pub fn read_plan(document: &str) -> Result<Plan, Problems> {
    parse_plan(document, &|gate| read_own_gate(gate).map(drop))
}

/// Why a plan that can be read cannot be carried out here, a sentence for each reason.
pub fn unfit(Plan(root): &Plan, there: There<'_>) -> Vec<String> {
    root.all().into_iter().flat_map(|item| unfit_item(item, there)).collect()
}

/// Whether they would be other checks once they are kept.
pub fn holds_secret(redactor: &Redactor, checks: &BaseCase) -> bool {
    let checks = written(checks);
    // It may have looked, and found nothing.
    redactor.redact_json(&checks) != checks
}

/// Whether they are other checks already: what an agent said is read again as it was kept, after a crash or when it is told on.
fn lost_secret(checks: &BaseCase) -> bool {
    written(checks).contains(MARKER)
}

fn written(checks: &BaseCase) -> String {
    serde_json::to_string(checks).expect("checks are plain data")
}

fn unfit_item(item: &Item, There { skills, patterns, agents, redactor, .. }: There<'_>) -> Vec<String> {
    let id = &item.id;
    let goal = (item.kind == ItemKind::Goal).then(|| {
        format!("`{id}` is a goal, which is looked at again and again and never done: plan tasks and projects")
    });
    let missing_agent = agents.filter(|agents| item.tasks.is_empty() && !agents.contains(&item.agent)).map(|agents| {
        let there = agents.iter().map(|agent| format!("`{agent}`")).collect::<Vec<_>>().join(", ");
        format!("`{id}` is for the agent `{}`, which is not there: this version has {there}", item.agent)
    });
    let skill_names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    let is_there = |name: &&String| skills.iter().any(|skill| skill.name == **name);
    let missing = item.skills.iter().filter(|name| !is_there(name));
    let missing =
        missing.map(|name| format!("`{id}` names the skill `{name}`, which is not there: {}", named(&skill_names)));
    let is_known = item.pattern == Pattern::GENERIC || patterns.iter().any(|pattern| pattern.name == item.pattern);
    let missing_pattern = (!is_known).then(|| {
        let names: Vec<&str> = patterns.iter().map(|pattern| pattern.name.as_str()).collect();
        let there = named(&names);
        format!("`{id}` is of the pattern `{}`, which is not there: {there}", item.pattern)
    });
    // Not by its name, which is made of its command.
    let telling = (holds_secret(redactor, &item.verify) || lost_secret(&item.verify)).then(|| {
        format!(
            "`{id}` has a check that holds what looks like a credential: have the command read it from a file instead"
        )
    });
    goal.into_iter().chain(missing_agent).chain(missing_pattern).chain(missing).chain(telling).collect()
}

fn named(there: &[&str]) -> String {
    match there {
        [] => "there are none".to_owned(),
        some => format!("there are {}", some.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    }
}
