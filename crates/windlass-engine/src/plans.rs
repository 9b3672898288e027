//! Plan documents with everything they hold: `windlass-plan` reads them, their gates are held against the law's own reader, and whom
//! and what they name against what there is.

use windlass_domain::SkillSeen;
use windlass_domain::plan::{Item, ItemKind, Plan};
use windlass_plan::{Problems, parse_plan};

use crate::gates::read_own_gate;

/// Who works on items.
const AGENT: &str = "executor";

pub fn read_plan(document: &str) -> Result<Plan, Problems> {
    parse_plan(document, &|gate| read_own_gate(gate).map(drop))
}

/// Why a plan that can be read cannot be carried out here, a sentence for each reason.
pub fn unfit(Plan(root): &Plan, skills: &[SkillSeen]) -> Vec<String> {
    root.all().into_iter().flat_map(|item| unfit_item(item, skills)).collect()
}

fn unfit_item(item: &Item, skills: &[SkillSeen]) -> Vec<String> {
    let id = &item.id;
    let goal = (item.kind == ItemKind::Goal).then(|| {
        format!("`{id}` is a goal, which is looked at again and again and never done: plan tasks and projects")
    });
    let agent = (item.tasks.is_empty() && item.agent != AGENT).then(|| {
        format!("`{id}` is for the agent `{}`, which is not there: this version has one, `{AGENT}`", item.agent)
    });
    let is_there = |name: &&String| skills.iter().any(|skill| skill.name == **name);
    let missing = item.skills.iter().filter(|name| !is_there(name));
    let missing =
        missing.map(|name| format!("`{id}` names the skill `{name}`, which is not there: {}", those_there_are(skills)));
    goal.into_iter().chain(agent).chain(missing).collect()
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
