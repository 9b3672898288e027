//! Plan documents with everything they hold: `windlass-plan` reads them, their gates are held against the law's own reader, and whom
//! and what they name against what there is.

use windlass_domain::SkillSeen;
use windlass_domain::plan::{Item, ItemKind, Plan};
use windlass_plan::{Problems, parse_plan};

use crate::gates::read_own_gate;

/// Whom and what plans may name.
#[derive(Clone, Copy)]
pub struct There<'a> {
    pub skills: &'a [SkillSeen],
    /// None: anybody.
    pub agents: Option<&'a [String]>,
}

pub fn read_plan(document: &str) -> Result<Plan, Problems> {
    parse_plan(document, &|gate| read_own_gate(gate).map(drop))
}

/// Why a plan that can be read cannot be carried out here, a sentence for each reason.
pub fn unfit(Plan(root): &Plan, there: There<'_>) -> Vec<String> {
    root.all().into_iter().flat_map(|item| unfit_item(item, there)).collect()
}

fn unfit_item(item: &Item, There { skills, agents }: There<'_>) -> Vec<String> {
    let id = &item.id;
    let goal = (item.kind == ItemKind::Goal).then(|| {
        format!("`{id}` is a goal, which is looked at again and again and never done: plan tasks and projects")
    });
    let missing_agent = agents.filter(|agents| item.tasks.is_empty() && !agents.contains(&item.agent)).map(|agents| {
        let there = agents.iter().map(|agent| format!("`{agent}`")).collect::<Vec<_>>().join(", ");
        format!("`{id}` is for the agent `{}`, which is not there: this version has {there}", item.agent)
    });
    let is_there = |name: &&String| skills.iter().any(|skill| skill.name == **name);
    let missing = item.skills.iter().filter(|name| !is_there(name));
    let missing =
        missing.map(|name| format!("`{id}` names the skill `{name}`, which is not there: {}", those_there_are(skills)));
    goal.into_iter().chain(missing_agent).chain(missing).collect()
}

fn those_there_are(skills: &[SkillSeen]) -> String {
    match skills {
        [] => "there are none".to_owned(),
        some => {
            let names: Vec<String> = some.iter().map(|skill| format!("`{}`", skill.name)).collect();
            format!("there are {}", names.join(", "))
        }
    }
}
