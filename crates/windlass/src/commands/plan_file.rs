//! A plan document that somebody wrote, read whole; or everything that is wrong with it.

use std::path::Path;

use windlass_domain::plan::{Item, ItemKind, Plan};
use windlass_engine::read_plan;

use crate::exit::WrongUse;
use crate::text_file::read_text;

pub fn plan_file(file: &Path) -> Result<Plan, WrongUse> {
    let path = file.display();
    let text = read_text(file).map_err(|error| {
        WrongUse::new(format!("{path}: {error}")).hint("name a plan document; docs/plans.md shows one")
    })?;
    read_plan(&text).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(|problem| format!("{path}:{problem}")).collect();
        WrongUse::new(told.join("\n")).hint("docs/plans.md has every field")
    })
}

/// One that can be carried out as it stands.
pub fn plan_to_run(file: &Path) -> Result<Plan, WrongUse> {
    let plan = plan_file(file)?;
    let path = file.display();
    let Plan(root) = &plan;
    if let Some(goal) = root.all().into_iter().find(|item| item.kind == ItemKind::Goal) {
        let message = format!("{path}: `{}` is a goal, which is looked at again and again and never done", goal.id);
        return Err(WrongUse::new(message).hint(format!("to have it looked at: windlass goals add {path}")));
    }
    let is_foreign = |item: &&Item| item.tasks.is_empty() && item.agent != "executor";
    if let Some(item) = root.all().into_iter().find(is_foreign) {
        let message = format!("{path}: `{}` is for the agent `{}`, which is not there", item.id, item.agent);
        return Err(WrongUse::new(message).hint("this version has one: executor"));
    }
    Ok(plan)
}
