//! Plan documents with everything they hold: `windlass-plan` reads them, their gates are held against the law's own reader, and whom
//! and what they name against what there is.

use std::sync::Arc;

use windlass_domain::pattern::Pattern;
use windlass_domain::plan::{Item, ItemKind, Plan};
use windlass_domain::task::TaskCreated;
use windlass_domain::{BaseCase, SkillSeen};
use windlass_plan::{Problems, parse_plan};
use windlass_policy::Redactor;

use crate::gates::read_own_gate;
use crate::law::Law;

/// Whom and what plans may name.
#[derive(Clone, Copy)]
pub struct There<'a> {
    pub skills: &'a [SkillSeen],
    pub patterns: &'a [Arc<Pattern>],
    /// None: anybody.
    pub agents: Option<&'a [String]>,
}

impl<'a> There<'a> {
    /// As it was when a task was taken in.
    pub fn of(created: &'a TaskCreated, law: &'a Law) -> Self {
        let patterns = &created.command.execution_config.patterns;
        Self { skills: &created.skills, patterns, agents: law.agents.as_deref() }
    }
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
    let checks = serde_json::to_string(checks).expect("checks are plain data");
    // It may have looked, and found nothing.
    redactor.redact_json(&checks) != checks
}

fn unfit_item(item: &Item, There { skills, patterns, agents }: There<'_>) -> Vec<String> {
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
    goal.into_iter().chain(missing_agent).chain(missing_pattern).chain(missing).collect()
}

fn named(there: &[&str]) -> String {
    match there {
        [] => "there are none".to_owned(),
        some => format!("there are {}", some.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    }
}
